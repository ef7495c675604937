"""`omibench run` with the parameters of a study in another folder."""

from __future__ import annotations

import json
import socket
from pathlib import Path

import pytest
from tests.extras import require_extra

from command_line import call_main
from omibench.plugins.allowance import allow_folder

require_extra("workflow", "snakemake")

FAILS = 'rule all:\n    output: "results/freeze.txt"\n    shell: "echo > {output}; exit 7"\n'
PARAMS = "study: {name: small}\n"


@pytest.fixture
def here(tmp_path: Path) -> Path:
    """A study with results; the folder `there` beside it is one whose only job fails."""
    for name in ("here", "there"):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "Snakefile").write_text(FAILS)
        allow_folder(folder)
        (folder / "params.yaml").write_text(PARAMS)
    (tmp_path / "here/results").mkdir()
    (tmp_path / "here/results/kept.txt").write_text("ours")
    return tmp_path / "here"


def contents(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


@pytest.mark.slow
def test_a_failing_run_of_another_study_touches_nothing_here(here: Path) -> None:
    before = contents(here)
    there = here.parent / "there"
    done = call_main("run", "-c", "1", "--params", there / "params.yaml", cwd=here)
    assert done.returncode == 3, done.stderr
    assert f"params.yaml: runs in the folder of its study, {there}" in done.stderr
    assert contents(here) == before
    assert (there / ".snakemake/log").is_dir()


@pytest.mark.slow
def test_the_report_of_another_study_is_named_from_here(here: Path) -> None:
    before = contents(here)
    there = here.parent / "there"
    (there / "Snakefile").write_text(FAILS.replace("exit 7", "true"))
    done = call_main("run", "-c", "1", "--params", "../there/params.yaml", cwd=here)
    assert (done.returncode, done.stdout) == (0, f"results: {there}/results/\n"), done.stderr
    assert contents(here) == before
    assert (there / "results/freeze.txt").is_file()


def test_a_folder_without_rules_is_refused(here: Path) -> None:
    (here.parent / "there/Snakefile").unlink()
    before = contents(here)
    done = call_main("run", "--params", "../there/params.yaml", cwd=here)
    assert done.returncode == 2
    assert f"run: {here.parent / 'there'} has no Snakefile; " in done.stderr
    assert contents(here) == before


@pytest.mark.slow
def test_a_dead_run_is_continued_in_its_folder(here: Path) -> None:
    before = contents(here)
    there = here.parent / "there"
    (there / "Snakefile").write_text(FAILS.replace("exit 7", "true"))
    runs = there / "results/runs"
    runs.mkdir(parents=True)
    run = {
        "time": 1e9, "pid": 4_000_000, "host": socket.gethostname(), "process": "1",
        "command": ["snakemake", "--cores", "1"], "cluster": None, "jobs": [], "current": [],
    }  # fmt: skip
    (runs / "20261122T100000.jsonl").write_text(json.dumps(run) + "\n")
    done = call_main("run", "--params", "../there/params.yaml", cwd=here)
    assert done.returncode == 0, done.stdout + done.stderr
    assert (there / "results/freeze.txt").is_file()
    assert contents(here) == before
