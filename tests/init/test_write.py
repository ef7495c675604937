"""A new study is written whole or not at all, and over nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from omibench.errors import OutputError
from omibench.params.study import parse_study
from omibench.study.init.contents import StudyFiles, write_study

FILES = StudyFiles(
    {"params.yaml": "a\n", "profiles/default/config.yaml": "b\n", ".gitignore": "é\n"},
    parse_study({"study": {"name": "s"}}, "test"),
)


def entries(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*")}


def test_a_folder_is_made_with_those_above_it(tmp_path: Path) -> None:
    write_study(tmp_path / "x/my study", FILES)
    assert entries(tmp_path / "x/my study") == {*FILES.texts, "profiles", "profiles/default"}
    assert (tmp_path / "x/my study/.gitignore").read_text("utf-8") == "é\n"


def test_other_files_of_a_folder_stay(tmp_path: Path) -> None:
    (tmp_path / "papers").mkdir()
    write_study(tmp_path, FILES)
    assert {"papers", *FILES.texts} <= entries(tmp_path)


@pytest.mark.parametrize("name", ["params.yaml", "profiles", ".gitignore"])
def test_nothing_is_overwritten_and_nothing_written_beside_it(tmp_path: Path, name: str) -> None:
    (tmp_path / name).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OutputError, match=rf"{name} already exists and nothing is overwritten"):
        write_study(tmp_path, FILES)
    assert entries(tmp_path) == {name}


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_nothing_is_left_of_what_could_not_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    rename = Path.rename

    def fail_at_the_last(self: Path, target: Path) -> Path:
        if target.name == "profiles":
            raise error
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", fail_at_the_last)
    kind = OutputError if isinstance(error, OSError) else KeyboardInterrupt
    with pytest.raises(kind):
        write_study(tmp_path / "x/study", FILES)
    assert entries(tmp_path) == set()


def test_a_file_in_the_way_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match=r"study: cannot be written: its path leads through"):
        write_study(tmp_path / "file/study", FILES)
