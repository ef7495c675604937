"""Flows that are started in one study's folder with the parameters of another study."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml
from tests.extras import require_extra
from tests.workflows_support import flow, rebuild, study_folder

from model_server.handle import ServerHandle
from omibench.answers.judges import gptscore

require_extra("flows", "prefect")
pytestmark = [pytest.mark.slow, pytest.mark.long, pytest.mark.timeout(600)]

FLOWS = ("evaluate", "judge", "rationales", "reevaluate")
GRADED = {gptscore.CLOSING: "It holds.\nANSWER: consistent"}
PROBLEMS = 2
WRITTEN = {
    "evaluate": ["results/analyze/report.html", "store/claims"],
    "judge": ["results/score/old-one/cot.parquet", "store/claims"],
    "rationales": ["results/rationale/problems.jsonl"],
    "reevaluate": ["results/infer/new-1", "results/reevaluate/journal.json", "board/changes.md"],
}
"""What a flow leaves in the folder of its study."""


@pytest.fixture
def here(tmp_path: Path, root: Path, endpoint: ServerHandle, prefect_home: Path) -> Path:
    """The folder in which flows are started: a study with a frozen dataset and its journal."""
    folder = study_folder(tmp_path / "here", root, endpoint.openai_url)
    rebuild(folder, prefect_home, "freeze_all")
    for name in ("results/reevaluate/journal.json", "board/changes.md", "store/kept.jsonl"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("{}")
    return folder


@pytest.fixture
def there(tmp_path: Path, root: Path, endpoint: ServerHandle) -> Path:
    """The folder of another study."""
    endpoint.configure(models=["old-one", "new-1"], replies=GRADED)
    return study_folder(tmp_path / "there", root, endpoint.openai_url, problems=PROBLEMS)


@pytest.fixture
def start(
    here: Path, there: Path, prefect_home: Path, api_url: str
) -> Callable[[str, str], tuple[int, str]]:
    """Run a flow from `here` on `there`; the exit code and what it said. `here` stays as it is."""

    def run(name: str, params: str) -> tuple[int, str]:
        before, seen = contents(here), listing(here)
        done = flow(name, here, prefect_home, api_url, params, PYTHONDONTWRITEBYTECODE="1")
        said = done.stdout + done.stderr
        assert contents(here) == before, said
        assert listing(here) == seen, said
        assert f"{params}: runs in the folder of its study, {there}" in said
        return done.returncode, said

    return run


def contents(folder: Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in listing(folder) if name[-1] != "/"}


def listing(folder: Path) -> list[str]:
    paths = sorted(folder.rglob("*"))
    return [f"{path.relative_to(folder)}{'/' * path.is_dir()}" for path in paths]


def change(folder: Path, name: str, **blocks: Any) -> None:
    """Give the study what a flow works on: exam papers for `rationales`, a judge for `judge`."""
    file = folder / "params.yaml"
    params = yaml.safe_load(file.read_text("utf-8"))
    if name == "rationales":
        params = {
            "study": {"name": "papers"},
            "benchmark": {"name": "papers"},
            "ocr": {"sources": "sample/sources.yaml"},
        }
    if name == "judge":
        params["models"]["grader"] = params["models"]["old-one"]
        params["score"]["judge"] = "grader"
    file.write_text(yaml.safe_dump(params | blocks))


@pytest.mark.parametrize("name", FLOWS)
def test_what_fails_there_deletes_nothing_here(
    name: str, there: Path, endpoint: ServerHandle,
    start: Callable[[str, str], tuple[int, str]],
) -> None:  # fmt: skip
    if name == "rationales":
        (there / "sample").mkdir()
        (there / "sample/exam.pdf").write_text("no PDF")
        (there / "sample/sources.yaml").write_text("sources:\n- {name: a, paper: exam.pdf}\n")
        change(there, name)
        job = "ocr"
    else:
        items = there / "data/items.parquet"
        pl.read_parquet(items).with_columns(options=pl.lit("one")).write_parquet(items)
        # With a relative path, the study would find no data in another folder, and freeze nothing.
        change(there, name, data=str(there / "data"))
        job = "freeze"
    params = (there / "params.yaml").read_bytes()
    code, said = start(name, str(there / "params.yaml"))
    assert code == 3, said
    assert f"omibench: snakemake failed with exit code 1 in {there}" in said
    assert "omibench: " in (there / f"logs/{job}/{job}.log").read_text()
    assert not (there / f"results/{job}").exists()
    assert (there / "params.yaml").read_bytes() == params
    assert not (there / "results/reevaluate/journal.json").exists()
    assert (there / ".snakemake/omibench.lock").read_text() == ""
    assert endpoint.stats()["paid"] == 0


@pytest.mark.parametrize("name", FLOWS)
def test_everything_is_written_there(
    name: str, there: Path, root: Path, start: Callable[[str, str], tuple[int, str]]
) -> None:
    if name == "rationales":
        shutil.copytree(root / "sample", there / "sample")
        sources = there / "sample/sources.yaml"
        listed = yaml.safe_load(sources.read_text("utf-8"))["sources"]
        chosen = [source for source in listed if source["name"] == "physics"]
        sources.write_text(yaml.safe_dump({"sources": chosen}))
    if name == "evaluate":  # the rules that omibench ships are used
        (there / "Snakefile").unlink()
        shutil.rmtree(there / "rules")
    if name != "reevaluate":  # it keeps the file's comments, which `change` does not
        change(there, name)
    code, said = start(name, "../there/params.yaml")
    assert code == 0, said
    for written in [*WRITTEN[name], "logs", ".snakemake/log"]:
        assert (there / written).exists(), written
    models = yaml.safe_load((there / "params.yaml").read_text("utf-8")).get("models", {})
    assert ("new-1" in models) == (name == "reevaluate")
