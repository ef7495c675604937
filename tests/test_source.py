"""The hash of a stage's source changes with its meaning, and with nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from omibench import source


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small omibench: ocr imports ground, infer imports ground and store lazily."""
    for name, text in {
        "__init__.py": "",
        "ground.py": '"""Ground."""\n\nLIMIT = 3\n',
        "ocr/__init__.py": "from omibench.ground import LIMIT\n",
        "ocr/pages.py": "def pages(n: int) -> int:\n    '''Pages.'''\n    return n\n",
        "ocr/template.txt": "hello",
        "infer/__init__.py": "def run():\n    from omibench.store import Store\n    Store()\n",
        "store/__init__.py": "class Store:\n    pass\n",
        "docs.py": "UNUSED = 1\n",
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(source, "PACKAGE", tmp_path)
    source._imports.cache_clear()
    yield tmp_path
    source._imports.cache_clear()


def hashes() -> dict[str, str]:
    source._imports.cache_clear()
    return {stage: source.source_hash(stage) for stage in ("ocr", "infer")}


@pytest.mark.parametrize(
    ("file", "text", "reruns"),
    [
        ("ground.py", '"""Ground."""\n\nLIMIT = 4\n', {"ocr"}),
        ("ground.py", '"""Other words."""\n\n# why three\nLIMIT = 3\n', set()),
        ("ocr/pages.py", "def pages(n: int) -> int:\n    return n\n", set()),
        ("ocr/pages.py", "def pages(n: int) -> int:\n    return n + 1\n", {"ocr"}),
        ("ocr/new.py", "X = 1\n", {"ocr"}),
        ("ocr/template.txt", "other", {"ocr"}),
        ("store/__init__.py", "class Store:\n    size = 1\n", {"infer"}),
        ("docs.py", "UNUSED = 2\n", set()),
    ],
)
def test_what_an_edit_reruns(package: Path, file: str, text: str, reruns: set[str]) -> None:
    before = hashes()
    (package / file).write_text(text)
    after = hashes()
    assert {stage for stage in before if before[stage] != after[stage]} == reruns


def test_the_real_stages_reach_the_ground_floor() -> None:
    for stage in ("ocr", "filter", "rationale", "freeze", "infer", "score", "analyze"):
        closure = source.import_closure(f"omibench.{stage}")
        assert f"omibench.{stage}" in closure
        assert "omibench.errors" in closure, stage
        assert len(source.source_hash(stage)) == 16
    assert not any(m.startswith("omibench.models") for m in source.import_closure("omibench.ocr"))
