"""`omibench new`: each template is written, passes its own test, and names its use."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from omibench.errors import OutputError, ParamsError
from omibench.files.programs import isolate_env
from omibench.study.scaffold.write import KINDS, write_part


def run_tests(folder: Path) -> None:
    """Run all tests of a folder in a process of its own: they pass."""
    done = subprocess.run(
        [sys.executable, "-P", "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:randomly",
         "-n", "0", "--import-mode=importlib", str(folder)],
        env=isolate_env(dict(os.environ)), cwd=folder, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
def test_new_plug_ins(tmp_path: Path) -> None:
    folder = tmp_path / "study"
    folder.mkdir()
    for kind in KINDS:
        part = write_part(kind, f"their-{kind}", folder)
        assert part.usage.startswith(f"plugins: [their_{kind.replace('-', '_')}.py]\n")
    run_tests(folder)


@pytest.mark.parametrize("name", ["My-rules", "1st", "a/b", "../up", "a--b", "", "class"])
def test_a_name_is_checked(tmp_path: Path, name: str) -> None:
    with pytest.raises(ParamsError, match="is not a valid name"):
        write_part("scorer", name, tmp_path)


def test_a_taken_name_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ParamsError, match=r"^new scorer: the name 'emma' is taken; choose another"):
        write_part("scorer", "emma", tmp_path)
    with pytest.raises(ParamsError, match="'scorers' is not a kind of part; did you mean 'scorer'"):
        write_part("scorers", "mine", tmp_path)


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / "test_mine.py").write_text("mine")
    with pytest.raises(OutputError, match="already exists"):
        write_part("scorer", "mine", tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["test_mine.py"]
