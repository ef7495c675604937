"""DVC reads every study that `omibench init` makes."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.command_line import call_main
from tests.extras import require_extra

from omibench.files.yaml_file import list_dates

STUDIES = ["omibench", "emma", "emma_mini", "emma_recorded", "usnco_v", "mathreal"]
BENCHMARKS = ["omibench", "emma", "folder"]


def test_no_date_that_ships_is_without_quotes(root: Path) -> None:
    files = [
        *(root / "studies").rglob("*.yaml"),
        *(root / "src/omibench/study/init/templates").iterdir(),
    ]
    for file in [*files, root / "params.yaml"]:
        text = file.read_text("utf-8")
        # What is behind `#` becomes a parameter as soon as a user wants it.
        shown = re.sub(r"^#", "", text, flags=re.MULTILINE)
        assert not re.search(r": \d{4}-\d\d-\d\d\b", shown), file
        assert file.suffix != ".yaml" or list_dates(text) == [], file


@pytest.mark.slow
def test_dvc_status_reads_every_template_and_study(tmp_path: Path, root: Path) -> None:
    require_extra("workflow", "dvc")
    (tmp_path / "papers").mkdir()
    (tmp_path / "papers/a.pdf").write_bytes((root / "sample/papers/physics.pdf").read_bytes())
    folder = tmp_path / "all"
    folder.mkdir()
    programs = {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    environment = {**os.environ, **programs, "DVC_NO_ANALYTICS": "1"}

    def run(*words: str) -> str:
        done = subprocess.run(
            words, cwd=folder, env=environment, text=True, check=False,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout
        return done.stdout

    run("git", "init", "-q")
    run("dvc", "init", "-q")
    made = [("--papers", "papers")]
    made += [("--study", name) for name in STUDIES]
    made += [("--benchmark", name) for name in BENCHMARKS]
    for number, (option, value) in enumerate(made):
        study = folder / f"study-{number}"
        done = call_main("init", study, option, value, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    status = run("dvc", "status")
    assert all(f"study-{number}/dvc.yaml:freeze" in status for number in range(len(made)))
