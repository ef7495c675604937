"""Results that somebody changed after they were made are refused by name, or rebuilt."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import polars as pl
import pytest
import yaml
from tests.conftest import Build
from tests.integration.small_study import Copy, make

pytestmark = [pytest.mark.slow, pytest.mark.long]

RUN = ("snakemake", "--cores", "2")
NOTHING = "Nothing to be done"


@pytest.fixture(scope="module")
def built(build_once: Build, root: Path) -> Copy:
    """One model under two settings, built."""

    def fill(folder: Path) -> None:
        make(root, folder / "study", models=1, settings=2).run(*RUN)

    return Copy(build_once("changed", fill) / "study")


@pytest.fixture
def study(built: Copy, tmp_path: Path) -> Copy:
    return built.copy(tmp_path / "study")


def edit_verdicts(folder: Path) -> Path:
    path = folder / "results/score/sim-a/cot.parquet"
    pl.read_parquet(path).with_columns(verdict=1.0).write_parquet(path)
    return path


def exchange_answers(folder: Path) -> Path:
    cells = [folder / f"results/infer/sim-a/{name}.parquet" for name in ("cot", "direct")]
    contents = [cell.read_bytes() for cell in cells]
    for cell, content in zip(cells, reversed(contents), strict=True):
        cell.write_bytes(content)
    return cells[0]


def exchange_picture(folder: Path) -> Path:
    first, second, *_ = sorted((folder / "results/freeze/images").rglob("*.png"))
    first.write_bytes(second.read_bytes())
    return first


def edit_metrics(folder: Path) -> Path:
    path = folder / "results/analyze/metrics.json"
    metrics = json.loads(path.read_text("utf-8"))
    metrics["sim-a"]["cot"]["acc"] = 1.0
    path.write_text(json.dumps(metrics))
    return path


def cut_off(folder: Path) -> Path:
    path = folder / "results/infer/sim-a/cot.parquet"
    state = path.stat()
    path.write_bytes(path.read_bytes()[:500])
    os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))
    return path


def refusal(study: Copy, *command: str) -> str:
    """The one line in which omibench refuses."""
    lines = study.run(*command, ok=False).strip().splitlines()
    assert "Traceback" not in "".join(lines)
    # Before it: the profile, and a remark on models that this small study does not ask.
    assert len(lines) <= 3
    assert lines[-1].startswith("omibench: ")
    return lines[-1]


EDITS = (edit_verdicts, exchange_answers, exchange_picture, edit_metrics, cut_off)


@pytest.mark.timeout(600)
def test_whatever_was_changed_is_named_and_what_is_brought_back_is_read(study: Copy) -> None:
    results = study.folder / "results"
    for edit in EDITS:
        shutil.copytree(results, study.folder / "before")
        changed = edit(study.folder).relative_to(study.folder)
        said = refusal(study, "snakemake", "-n")
        assert f"{changed} was " in said, edit
        assert "after it was made" in said
        shutil.rmtree(results)
        (study.folder / "before").rename(results)
    assert NOTHING in study.to_do()


@pytest.mark.timeout(600)
def test_one_command_makes_anew_what_was_changed(study: Copy) -> None:
    report = (study.folder / "results/analyze/report.html").read_bytes()
    edit_verdicts(study.folder)
    exchange_picture(study.folder)
    said = refusal(study, "omibench", "trust", "--verify")
    again = said.partition("`snakemake --cores all --forcerun ")[2].partition("`")[0].split()
    assert again == ["results/freeze/images", "results/score/sim-a/cot.parquet"]
    study.run(*RUN, "--forcerun", *again)
    assert NOTHING in study.to_do()
    assert (study.folder / "results/analyze/report.html").read_bytes() == report
    verified = study.run("omibench", "trust", "--verify")
    assert "are as their jobs wrote them" in verified
    assert "not known" not in verified, "pages, plots and tables are noted beside the outputs"
    tables = sorted((study.folder / "results/analyze").glob("*.csv"))
    page = next(path for path in tables if path.name != "main.csv")
    page.write_text("mine")
    assert NOTHING in study.to_do(), "nothing is made from this table"
    assert f"{page.relative_to(study.folder)} was" in refusal(
        study, "omibench", "trust", "--verify"
    )


@pytest.mark.timeout(600)
def test_verdicts_edited_with_their_old_time_are_refused_by_the_job_that_reads_them(
    study: Copy,
) -> None:
    path = study.folder / "results/score/sim-a/cot.parquet"
    state, content = path.stat(), bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))
    assert NOTHING in study.to_do()
    said = study.run(*RUN, "--forcerun", "analyze", ok=False)
    assert "results/score/sim-a/cot.parquet was edited or exchanged after it was made" in (
        (study.folder / "logs/analyze/analyze.log").read_text("utf-8") + said
    )


@pytest.mark.timeout(600)
def test_after_ocr_by_hand_one_line_says_the_way_out(study: Copy) -> None:
    made = ("omibench", "ocr", "--manifest", "sample/sources.yaml", "--out", "results/ocr")
    study.run("rm", "-r", "results", ".snakemake")
    study.run(*made)
    said = refusal(study, "snakemake", "-n")
    assert "results/ocr: was made outside the graph" in said
    assert "trust" not in said
    assert "dvc" not in said
    command = said.partition("(`")[2].partition("`)")[0]
    study.run(*command.split())
    assert "ocr" in study.to_do()
    assert (study.folder / "results-ocr-by-hand/problems.jsonl").is_file()


@pytest.mark.timeout(600)
def test_a_dry_run_before_freeze_says_why_it_lists_jobs_that_may_not_run(study: Copy) -> None:
    review = study.folder / "sample/review.yaml"
    decision = {
        "problem": "physics-2", "decision": "edit", "reviewer": "a reader", "date": "2026-11-21",
        "reason": "The key has a misprint.", "edit": {"answer": ["0.25 A"]},
    }  # fmt: skip
    review.write_text(review.read_text("utf-8") + yaml.safe_dump([decision]))
    said = study.to_do().strip().splitlines()[-1]
    assert said.startswith("omibench: freeze runs first")
    assert "of the 2 infer jobs in this list, only those with changed questions" in said
