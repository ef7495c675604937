"""What a file of source means, and what is kept of it between runs."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest

from omibench.plugins import sources as meaning
from omibench.plugins.sources import Meanings, read_source

TEXT = "import json\n\nLIMIT = 3\n"


@pytest.fixture
def module(tmp_path: Path) -> Path:
    path = tmp_path / "module.py"
    path.write_text(TEXT)
    return path


def test_the_meaning_does_not_hang_on_how_python_prints_trees() -> None:
    """Versions of Python name different empty fields in `ast.dump`; ours names none."""
    spelt = meaning._spell(ast.parse("def f(): return [1]"))
    assert "None" not in spelt
    assert "[]" not in spelt


def test_what_was_kept_is_not_read_again(
    tmp_path: Path, module: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "deep/meanings.json"
    first = Meanings(file)
    found = first.of(module, module.parent)
    first.save()
    assert found == read_source(TEXT)
    monkeypatch.setattr(meaning, "read_source", None)
    assert Meanings(file).of(module, module.parent) == found
    assert [p.name for p in file.parent.iterdir()] == ["meanings.json"]


def test_a_file_that_changed_is_read_again(tmp_path: Path, module: Path) -> None:
    own = Meanings(tmp_path / "meanings.json")
    before = own.of(module, module.parent)
    module.write_text(TEXT.replace("3", "4"))
    assert own.of(module, module.parent).meaning != before.meaning
    module.write_text(f"# why\n{TEXT}")
    assert own.of(module, module.parent) == before


@pytest.mark.parametrize("kept", ["", "{", "[]", '{"reader": "x", "files": {}}'])
def test_what_cannot_be_used_is_read_anew(tmp_path: Path, module: Path, kept: str) -> None:
    file = tmp_path / "meanings.json"
    file.write_text(kept)
    assert Meanings(file).of(module, module.parent) == read_source(TEXT)


def test_another_version_of_the_reader_uses_none_of_it(tmp_path: Path, module: Path) -> None:
    file = tmp_path / "meanings.json"
    own = Meanings(file)
    own.of(module, module.parent)
    own.save()
    kept = json.loads(file.read_text())
    kept["reader"] = "another"
    for _, source in kept["files"].values():
        source[0] = "what it meant then"
    file.write_text(json.dumps(kept))
    assert Meanings(file).of(module, module.parent) == read_source(TEXT)


def test_a_folder_that_takes_no_file_is_no_mistake(tmp_path: Path, module: Path) -> None:
    (tmp_path / "deep").write_text("a file")
    found = Meanings(tmp_path / "deep/meanings.json")
    found.of(module, module.parent)
    found.save()
