"""Versions rise as changes ask for."""

from __future__ import annotations

import pytest

from omibench.datasets.release.changes import MAJOR, MINOR, ReleaseChange, check_version
from omibench.errors import FileFormatError, ParamsError


@pytest.mark.parametrize(
    ("before", "after", "level", "is_enough"),
    [
        ("1.2.3", "1.2.4", None, True),
        ("1.2.3", "1.2.3", None, False),
        ("1.2.3", "1.3.0", MINOR, True),
        ("1.2.3", "1.2.4", MINOR, False),
        ("1.9.0", "1.10.0", MINOR, True),
        ("1.2.3", "2.0.0", MAJOR, True),
        ("1.2.3", "1.9.0", MAJOR, False),
        ("1.2.3-draft", "1.2.4", None, True),
    ],
)
def test_a_version_is_enough_for_its_changes(
    before: str, after: str, level: int | None, is_enough: bool
) -> None:
    changes = [] if level is None else [ReleaseChange("any", level, ["a"])]
    if is_enough:
        check_version(before, after, changes)
    else:
        with pytest.raises(ParamsError, match=f"previous release is {before}"):
            check_version(before, after, changes)


def test_a_version_of_others_may_be_no_version() -> None:
    with pytest.raises(FileFormatError, match=r": not of the form 1\.2\.3"):
        check_version("latest", "1.0.0", [])
