"""What a translated problem said before stays beside the frozen dataset."""

from __future__ import annotations

from pathlib import Path

from omibench.schemas.problem import Original, OriginalRow, Problem
from omibench.stages.freeze.rows import list_originals, read_originals, write_originals


def make_problem(identity: str, original: Original | None) -> Problem:
    return Problem(
        id=identity,
        question="How long?",
        source="s",
        source_sha256="",
        number="1",
        pages=[1],
        original=original,
    )


def test_originals_of_translated_problems_are_kept(tmp_path: Path) -> None:
    original = Original(language="es", question="¿Cuánto mide?", translator="model")
    rows = list_originals([make_problem("a", original), make_problem("b", None)])
    assert rows == [OriginalRow(id="a", original=original)]
    write_originals(tmp_path, rows)
    assert read_originals(tmp_path) == rows


def test_originals_of_an_earlier_freeze_go(tmp_path: Path) -> None:
    original = Original(language="es", question="¿Cuánto mide?", translator="model")
    write_originals(tmp_path, [OriginalRow(id="a", original=original)])
    write_originals(tmp_path, [])
    assert read_originals(tmp_path) == []
    assert (tmp_path / "originals.jsonl").is_file()


def test_a_freeze_without_the_file_has_none(tmp_path: Path) -> None:
    assert read_originals(tmp_path) == []
