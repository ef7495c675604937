"""Accuracies over all problems from a sample: what they are made of, and when there are none."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.stages.analyze.conftest import Folders, make_study, study_values

from omibench.errors import FileFormatError
from omibench.graph.inputs import list_named_files
from omibench.params.setting import Cell
from omibench.params.study import Study, parse_study
from omibench.schemas.tables import ResponseRow, VerdictRow, write_parquet
from omibench.stages.analyze.analysis import Analysis

PROBLEMS = 80
SAMPLE = 60
NEW = "sim-weak"


@pytest.fixture
def full(tmp_path: Path) -> Folders:
    """The earlier study, in which each model answered all problems."""
    return make_study(tmp_path / "full", per_subject=PROBLEMS // 4)


def limit_study(full: Folders, limit: object = None, **analyze: object) -> Study:
    """The parameters of the later study: a sample, and the earlier results."""
    values: dict[str, Any] = study_values(full_results=str(full.freeze.parent), **analyze)
    values["study"]["limit"] = limit or {"sample": SAMPLE}
    return parse_study(values, "test")


def open_sample(full: Folders, study: Study) -> Analysis:
    """The later study, with the earlier answers to its problems."""
    folder = full.freeze.parent.with_name("sample")
    shutil.copytree(full.freeze, folder / "freeze")
    limit = study.study.limit
    assert limit is not None
    for cell in study.cells:
        name = f"{cell.model}/{cell.setting}.parquet"
        chosen = limit.select(pl.read_parquet(full.infer / name)["id"].unique().to_list())
        for stage, row in (("infer", ResponseRow), ("score", VerdictRow)):
            rows = pl.read_parquet(full.freeze.with_name(stage) / name)
            kept = rows.filter(pl.col("id").is_in(chosen)).to_dicts()
            write_parquet(folder / stage / name, [row(**one) for one in kept], row)
    later = Folders(*(folder / part.name for part in full[:4]), study)
    return later.open(study)


def test_the_estimate_is_the_regression_on_what_other_models_found_hard(full: Folders) -> None:
    study = limit_study(full)
    analysis = open_sample(full, study)
    table = analysis.find_rows("sampled")
    assert table is not None
    assert table.height == len(study.cells)
    row = table.row(
        by_predicate=(pl.col("model") == NEW) & (pl.col("setting") == "cot"), named=True
    )
    assert (row["n"], row["of"], row["others"]) == (SAMPLE, PROBLEMS, 2)
    assert row["simulated"]
    verdicts = pl.concat(
        pl.read_parquet(full.score / f"{cell.model}/{cell.setting}.parquet")
        .filter(rules="robust")
        .select("id", "verdict", model=pl.lit(cell.model))
        for cell in study.cells
        if cell.model != NEW or cell.setting == "cot"
    )
    others = dict(
        verdicts.filter(pl.col("model") != NEW).group_by("id").agg(pl.col("verdict").mean()).rows()
    )
    own = dict(verdicts.filter(model=NEW).select("id", "verdict").rows())
    assert study.study.limit
    sample = sorted(study.study.limit.select(list(own)))
    slope, start = np.polyfit([others[id] for id in sample], [own[id] for id in sample], 1)
    assert row["estimate"] == pytest.approx(start + slope * np.mean([*others.values()]))
    assert row["plain"] == pytest.approx(np.mean([own[id] for id in sample]))
    assert row["low"] < row["estimate"] < row["high"]
    leaderboard = analysis.rows("accuracy").filter(model=NEW, setting="cot", rules="robust")
    assert row["plain"] in leaderboard["estimate"], "the leaderboard has another number"


@pytest.mark.slow
def test_the_report_says_how_the_numbers_were_made(full: Folders) -> None:
    study = limit_study(full)
    analysis = open_sample(full, study)
    Folders(*(analysis.folder / part.name for part in full[:4]), study).analyze()
    page = (analysis.folder / "analyze/report.html").read_text("utf-8")
    card = page.partition('id="sampled"')[2].partition("</section>")[0]
    assert f"a random sample of {SAMPLE} of {PROBLEMS} problems" in card
    assert "2 other models of" in card
    assert "SIMULATED" in card
    files = list_named_files(study, "analyze")
    assert str(full.freeze / "manifest.json") in files
    assert str(full.score / NEW / "cot.parquet") in files


def test_a_part_that_is_no_random_sample_has_no_estimate(
    full: Folders, caplog: pytest.LogCaptureFixture
) -> None:
    assert open_sample(full, limit_study(full, {"n": SAMPLE})).find_rows("sampled") is None
    assert "analyze.full_results: is not used, since study.limit is not a random" in caplog.text


def test_earlier_results_of_other_answers_or_of_a_part_are_refused(full: Folders) -> None:
    analysis = open_sample(full, limit_study(full))
    for cell in analysis.study.cells:
        if cell != Cell("sim-strong", "cot"):
            name = f"{cell.model}/{cell.setting}.parquet"
            (full.score / name).write_bytes(
                (analysis.results.infer.with_name("score") / name).read_bytes()
            )
            (full.infer / name).write_bytes((analysis.results.infer / name).read_bytes())
    found = analysis.rows("sampled")
    assert set(found["model"]) == {"sim-middle", NEW}, "who answered all is their own other"
    assert set(found["others"]) == {1}
    study = limit_study(full, main_scorer="emma")
    full.score.joinpath("sim-strong/cot.parquet").unlink()
    later = Folders(*(analysis.folder / part.name for part in full[:4]), study)
    with pytest.raises(FileFormatError, match=r"no cell of .* verdicts of emma on all 80 problems"):
        later.open(study).find_rows("sampled")
    manifest = full.freeze / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"answers_sha256": "', '"answers_sha256": "0'))
    with pytest.raises(FileFormatError, match="other problems or gold answers"):
        later.open(study).find_rows("sampled")
