"""Rows of a table as lines."""

from __future__ import annotations

from omibench.text.terminal import align_columns


def test_texts_stand_left_and_numbers_right() -> None:
    lines = align_columns([("name", "tasks", "note"), ("ann", 7, ""), ("roberta", 123, "new")])
    assert lines == ["name     tasks  note", "ann          7", "roberta    123  new"]
