"""scripts/prose.py counts unusual words in prose; `make lint` checks the project with it."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).parents[1] / "scripts/prose.py"


@pytest.fixture(scope="module")
def prose() -> ModuleType:
    """The script as a module."""
    spec = importlib.util.spec_from_file_location("count_prose", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, "utf-8")
    return path


def test_prose_of_code_is_docstrings_comments_and_texts(prose: ModuleType, tmp_path: Path) -> None:
    code = (
        '"""It stands here."""\n'
        "# a comment beside it\n"
        'NAME = "stands"\n'
        'TEXT = f"{NAME} is no number here"\n'
        "stands_beside = `1` if False else 2\n".replace("`1`", "1")
    )
    texts = prose.collect_prose([write(tmp_path, "a.py", code)], tmp_path)
    assert [place for place, _ in prose.find_uses(texts, "stands")] == ["a.py:1"]
    assert [place for place, _ in prose.find_uses(texts, "beside")] == ["a.py:2"]
    assert [place for place, _ in prose.find_uses(texts, "is no")] == ["a.py:4"]


def test_code_of_pages_is_no_prose(prose: ModuleType, tmp_path: Path) -> None:
    page = "It `stands` [here](beside.md).\n\n```sh\nstands\n```\n\nIt stands.\n"
    texts = prose.collect_prose([write(tmp_path, "a.md", page)], tmp_path)
    assert [place for place, _ in prose.find_uses(texts, "stands")] == ["a.md:7"]
    assert list(prose.find_uses(texts, "beside")) == []


def test_a_use_in_a_long_text_has_its_line(prose: ModuleType, tmp_path: Path) -> None:
    texts = prose.collect_prose(
        [write(tmp_path, "a.py", '"""One.\n\nTwo words here.\nIt stands.\n"""\n')], tmp_path
    )
    assert [place for place, _ in prose.find_uses(texts, "stands")] == ["a.py:4"]


def test_rates_are_uses_in_10000_words(prose: ModuleType, tmp_path: Path) -> None:
    page = "word " * 999 + "stands\n"
    texts = prose.collect_prose([write(tmp_path, "a.md", page)], tmp_path)
    assert prose.count_words(texts) == 1000
    assert prose.measure(texts)["stands"] == pytest.approx(10)


@pytest.mark.parametrize(
    ("kind", "text", "uses"),
    [
        ("is no", "it is no longer there, and is no more than one", 0),
        ("is no", "it is no number", 1),
        ("stands", "a stand-in and a stand-alone one", 0),
        ("nobody", "Nobody knows whoever it was", 2),
    ],
)
def test_what_is_counted(prose: ModuleType, kind: str, text: str, uses: int) -> None:
    assert sum(1 for _ in prose.find_uses([prose.Text("a", 1, text)], kind)) == uses


def test_check_names_the_word_over_its_limit(
    prose: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path, "a.md", "It stands here.\n")
    assert prose.main(["--folder", str(tmp_path), "--check"]) == 1
    assert "stands: 3333.33 in 10,000 words, but the limit is 1.90" in capsys.readouterr().out
