"""Tesseract by its command: a stand-in prints the table that the real one prints."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from omibench.errors import MissingInputError
from omibench.params.stages.ocr import OcrParams
from omibench.stages.ocr import read_papers
from omibench.stages.ocr.engines.tesseract import LANGUAGES, Tesseract, group_words, list_languages

HEAD = (
    "level\tpage_num\tblock_num\tpar_num\tline_num\tword_num\tleft\ttop\twidth\theight\tconf\ttext"
)
WORDS = [
    "4\t1\t1\t1\t1\t0\t10\t20\t200\t18\t-1\t",
    "5\t1\t1\t1\t1\t1\t10\t20\t20\t18\t90.0\t1.",
    '5\t1\t1\t1\t1\t2\t40\t22\t60\t16\t80.0\t"Who',
    "5\t1\t1\t1\t2\t1\t10\t50\t90\t18\t70.0\tknows?",
    "5\t1\t1\t1\t2\t2\t110\t50\t9\t18\t10.0\t ",
]
TABLE = "\n".join([HEAD, *WORDS])


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A command `tesseract` on the path that notes what it was told."""
    folder = tmp_path / "bin"
    folder.mkdir()
    program = folder / "tesseract"
    program.write_text(
        f"#!{sys.executable}\n"
        "import sys, pathlib\n"
        "if sys.argv[1:] == ['--list-langs']:\n"
        "    print('List of available languages (3):\\nchi_sim\\neng\\nosd')\n"
        "    sys.exit()\n"
        "data = sys.stdin.buffer.read()\n"
        f"pathlib.Path({str(tmp_path / 'told')!r}).write_text(' '.join(sys.argv[1:]))\n"
        "assert data.startswith(b'\\x89PNG')\n"
        f"print({TABLE!r})\n",
        "utf-8",
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(folder))
    list_languages.cache_clear()
    return tmp_path / "told"


def test_words_make_lines_with_boxes_and_confidences(command: Path) -> None:
    first, second = Tesseract().read(np.full((100, 300, 3), 255, np.uint8))
    assert (first.text, second.text) == ('1. "Who', "knows?")
    assert first.quad == ((10, 20), (100, 20), (100, 38), (10, 38))
    assert first.confidence == pytest.approx(0.85)
    assert "-l eng+chi_sim" in command.read_text("utf-8")


def test_the_languages_can_be_chosen(command: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(LANGUAGES, "por")
    Tesseract().read(np.full((10, 10, 3), 255, np.uint8))
    assert "-l por" in command.read_text("utf-8")


def test_a_table_without_words_has_no_lines() -> None:
    assert list(group_words(HEAD)) == []


def test_a_missing_command_is_told_before_anything_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MissingInputError, match="install the package tesseract-ocr"):
        Tesseract()
    with pytest.raises(MissingInputError, match="the command `tesseract` was not found"):
        read_papers([tmp_path / "x.pdf"], tmp_path / "out", OcrParams(engine="tesseract"))
    assert not (tmp_path / "out").exists()
