"""`dvc plots` in a folder of `omibench init`: with the page that docs/keeping.md names, offline."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.command_line import call_main
from tests.extras import require_extra

FETCHED = re.compile(r"<script[^>]+src=")


@pytest.mark.slow
def test_plots_load_nothing_once_the_page_is_installed(tmp_path: Path, root: Path) -> None:
    require_extra("workflow", "dvc")
    folder = tmp_path / "study"
    assert call_main("init", folder, "--benchmark", "emma").returncode == 0
    programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": programs, "DVC_NO_ANALYTICS": "1"}

    def run(command: str) -> None:
        done = subprocess.run(
            command, shell=True, cwd=folder, env=environment, text=True, check=False,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout

    run("git init -q && dvc init -q")
    for name, column in (("accuracy", "setting"), ("by_images", "bin")):
        plots = folder / "results/analyze/plots" / name
        plots.mkdir(parents=True)
        (plots / "gpt-5-mini.csv").write_text(f"model,{column},acc\ngpt-5-mini,one,50.0\n")
    run("dvc plots show --out before")
    assert FETCHED.search((folder / "before/index.html").read_text("utf-8"))
    guide = (root / "docs/keeping.md").read_text("utf-8")
    (commands,) = re.findall(r"```sh\n(python -m omibench\.web\.plots_page.*?)```", guide, re.S)
    run(commands)
    run("dvc plots show --out after")
    page = (folder / "after/index.html").read_text("utf-8")
    assert "Accuracy by setting" in page
    assert "gpt-5-mini" in page
    assert not FETCHED.search(page)
