"""The file that people edit: written the same way twice, read back, mistakes named."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from omibench.errors import FileFormatError
from omibench.schemas.problem import Problem
from omibench.stages.rationale.labels.label_file import (
    ItemLabels,
    check_labels,
    read_labels,
    write_labels,
)

Make = Callable[..., Problem]


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    file = tmp_path / "labels.yaml"
    items = {"physics-1": ItemLabels(subfield="öptics: waves")}
    for _ in range(2):
        write_labels(file, {"physics": {"öptics: waves": ["thin #1", "lenses"]}}, items)
    labels = read_labels(file)
    assert labels.subfields == {"physics": {"öptics: waves": ["thin #1", "lenses"]}}
    assert labels.items == items


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("subfields: {phisics: {optics: []}}", "labels.yaml: subfields.phisics: "),
        ("subfields: {physics: [optics]}", "labels.yaml: subfields.physics: "),
        ("subfield: {}", "labels.yaml: subfield: "),
        ("items: {physics-1: {topics: []}}", "labels.yaml: items.physics-1.topics: "),
    ],
)
def test_a_mistake_is_one_line_with_its_place(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "labels.yaml").write_text(text)
    with pytest.raises(FileFormatError) as raised:
        read_labels(tmp_path / "labels.yaml")
    assert message in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "items: {physics-2: {topics: [a]}}",
            "problem 'physics-2' not found; did you mean 'physics-1'",
        ),
        (
            "{subfields: {physics: {optics: []}}, items: {physics-1: {subfield: optic}}}",
            "'optic' is not a subfield of physics in this file; did you mean 'optics'",
        ),
    ],
)
def test_unknown_names_are_told(make: Make, tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "labels.yaml").write_text(text)
    labels = read_labels(tmp_path / "labels.yaml")
    with pytest.raises(FileFormatError, match=message):
        check_labels(labels, [make()], "labels.yaml")
