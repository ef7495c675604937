"""Folders that hold data of others are known by their names and by what lies in them."""

from __future__ import annotations

from pathlib import Path

import pytest

from omibench.files.locations import MARKS, describe_data_folder

NAMES = {"results": "results", "deep/store": "the store"}


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ("results", "results, the folder of results"),
        ("results/a/b.yaml", "results, the folder of results"),
        ("deep/store/x", "deep/store, the folder of the store"),
        ("deep/x", None),
        ("results2/x", None),
        ("results/../x", None),
    ],
)
def test_a_folder_of_data_is_known_by_its_name(
    path: str, place: str | None, tmp_path: Path
) -> None:
    assert describe_data_folder(tmp_path / path, tmp_path, NAMES) == place


@pytest.mark.parametrize("mark", MARKS)
def test_a_folder_of_data_is_known_by_what_lies_in_it(mark: str, tmp_path: Path) -> None:
    (tmp_path / "some" / "place").mkdir(parents=True)
    (tmp_path / "some" / mark).touch()
    expected = f"some, which contains {MARKS[mark]} ({mark})"
    for path in ("some", "some/place", "some/place/x.yaml"):
        assert describe_data_folder(tmp_path / path, tmp_path, {}) == expected
        assert describe_data_folder(tmp_path / path, tmp_path / "elsewhere", {}) == expected


def test_marks_above_the_folder_that_commands_run_in_do_not_count(tmp_path: Path) -> None:
    (tmp_path / "questions.jsonl").touch()
    root = tmp_path / "study"
    assert describe_data_folder(root / "params.yaml", root, {}) is None


def test_a_link_does_not_hide_where_a_file_lies(tmp_path: Path) -> None:
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "params.yaml").touch()
    (tmp_path / "link.yaml").symlink_to("results/params.yaml")
    place = describe_data_folder(tmp_path / "link.yaml", tmp_path, NAMES)
    assert place == "results, the folder of results"
