"""`omibench new`: each template is written, passes its own test, and touches what is promised."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from omibench.errors import OutputError, ParamsError
from omibench.files.isolated import isolate_env
from omibench.scaffold.kinds import KINDS
from omibench.scaffold.write import is_checkout, write_part


@pytest.fixture
def checkout(tmp_path: Path, root: Path) -> Path:
    """As much of a checkout as new parts are added to and tested in."""
    folder = tmp_path / "checkout"
    without_caches = shutil.ignore_patterns("__pycache__")
    shutil.copytree(root / "src/omibench", folder / "src/omibench", ignore=without_caches)
    for file in ("pyproject.toml", "tests/conftest.py"):
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(root / file, folder / file)
    return folder


def hashes(folder: Path) -> dict[str, str]:
    """The hash of every file of a folder, by its path there."""
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file()
    }


def run_tests(folder: Path, *, source: Path | None = None) -> None:
    """Run all tests of a folder in a process of its own: they pass."""
    path = {"PYTHONPATH": str(source)} if source else {}
    done = subprocess.run(
        [sys.executable, "-P", "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:randomly",
         "-n", "0", "--import-mode=importlib", str(folder)],
        env=isolate_env({**os.environ, **path}), cwd=folder, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


def check_style(folder: Path, files: list[Path]) -> None:
    """What was written is styled as the pyproject.toml of its folder asks."""
    ruff = Path(sys.executable).with_name("ruff")
    for command in ("check", "format --check"):
        done = subprocess.run(
            [ruff, *command.split(), "--no-cache", *files],
            cwd=folder, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
def test_new_parts_of_a_checkout(checkout: Path) -> None:
    assert is_checkout(checkout)
    created = list[Path]()
    for kind, place in KINDS.items():
        before = hashes(checkout)
        part = write_part(kind, f"my-{kind}", checkout, as_plugin=False)
        after = hashes(checkout)
        assert all(after[file] == before[file] for file in before), kind
        assert {path.relative_to(checkout).as_posix() for path in part.created} == (
            after.keys() - before.keys()
        )
        assert (checkout / f"src/omibench/{place.folder}/my_{kind}.py") in part.created
        created += part.created
    check_style(checkout, created)
    run_tests(checkout / "tests", source=checkout / "src")


def test_new_plug_ins(tmp_path: Path) -> None:
    folder = tmp_path / "study"
    folder.mkdir()
    assert not is_checkout(folder)
    for kind in KINDS:
        part = write_part(kind, f"their-{kind}", folder, as_plugin=True)
        assert part.usage.startswith(f"plugins: [their_{kind}.py]\n")
    run_tests(folder)


@pytest.mark.parametrize("name", ["My-rules", "1st", "a/b", "../up", "a--b", "", "class"])
def test_a_name_is_checked(tmp_path: Path, name: str) -> None:
    with pytest.raises(ParamsError, match="is not a valid name"):
        write_part("rules", name, tmp_path, as_plugin=True)


def test_a_taken_name_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ParamsError, match=r"^new rules: the name 'emma' is taken; choose another"):
        write_part("rules", "emma", tmp_path, as_plugin=True)
    with pytest.raises(ParamsError, match="'rule' is not a kind of part; did you mean 'rules'"):
        write_part("rule", "mine", tmp_path, as_plugin=True)


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / "test_mine.py").write_text("mine")
    with pytest.raises(OutputError, match="already exists"):
        write_part("rules", "mine", tmp_path, as_plugin=True)
    assert [path.name for path in tmp_path.iterdir()] == ["test_mine.py"]
