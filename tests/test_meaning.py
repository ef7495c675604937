"""What a file of source means, and what is kept of it between runs."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest

from omibench import meaning
from omibench.meaning import Meanings, read_source

TEXT = b"import json\n\nLIMIT = 3\n"


def test_the_meaning_does_not_hang_on_how_python_prints_trees() -> None:
    """Versions of Python name different empty fields in `ast.dump`; ours names none."""
    spelt = meaning._spelt(ast.parse("def f(): return [1]"))
    assert "None" not in spelt
    assert "[]" not in spelt


def test_what_was_kept_is_not_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "deep/meanings.json"
    first = Meanings(file)
    found = first.of(TEXT)
    first.save()
    assert found == read_source(TEXT.decode())
    monkeypatch.setattr(meaning, "read_source", None)
    assert Meanings(file).of(TEXT) == found
    assert [p.name for p in file.parent.iterdir()] == ["meanings.json"]


@pytest.mark.parametrize("kept", ["", "{", "[]", '{"reader": "x", "sources": {}}'])
def test_what_cannot_be_used_is_read_anew(tmp_path: Path, kept: str) -> None:
    file = tmp_path / "meanings.json"
    file.write_text(kept)
    assert Meanings(file).of(TEXT) == read_source(TEXT.decode())


def test_another_version_of_the_reader_uses_none_of_it(tmp_path: Path) -> None:
    file = tmp_path / "meanings.json"
    own = Meanings(file)
    own.of(TEXT)
    own.save()
    kept = json.loads(file.read_text())
    kept["reader"] = "another"
    for entry in kept["sources"].values():
        entry[0] = "what it meant then"
    file.write_text(json.dumps(kept))
    assert Meanings(file).of(TEXT) == read_source(TEXT.decode())


def test_a_folder_that_takes_no_file_is_no_mistake(tmp_path: Path) -> None:
    (tmp_path / "deep").write_text("a file")
    found = Meanings(tmp_path / "deep/meanings.json")
    found.of(TEXT)
    found.save()
