"""Pages of a paper as pictures: in a process of its own, upright, within bounds."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pymupdf
import pytest

from omibench.errors import PaperError
from omibench.stages.ocr import page_pictures
from omibench.stages.ocr.page_pictures import DrawnPage, PagesJob, draw_pages


@pytest.fixture
def paper(tmp_path: Path) -> Path:
    with pymupdf.open() as pdf:
        for rotation in (0, 90):
            page = pdf.new_page(width=300, height=600)
            page.insert_text((20, 100), "How far does it roll?")
            page.set_rotation(rotation)
        pdf.save(tmp_path / "paper.pdf")
    return tmp_path / "paper.pdf"


def run(paper: Path, folder: Path, capsys: pytest.CaptureFixture[str], **values: object) -> object:
    """The same in this process."""
    job = {"paper": str(paper), "turns": {1: 0.0}, "folder": folder, "max_pages": 9}
    text = PagesJob.model_validate(job | {"memory_mb": 2**20} | values).model_dump_json()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stdin", io.StringIO(text))
        patch.setattr(page_pictures, "limit_cpu", lambda seconds: None)
        patch.setattr(page_pictures, "limit_memory", lambda mebibytes: None)
        page_pictures.main()
    return json.loads(capsys.readouterr().out)


def test_pages_are_drawn_by_another_process(paper: Path, tmp_path: Path) -> None:
    pages = draw_pages(str(paper), {2: 0.0, 7: 0.0}, tmp_path, 9, 2048)
    assert pages == [DrawnPage(page=2, file="p0002.jpg", width=600, height=300)]
    with pymupdf.open(tmp_path / "p0002.jpg") as picture:
        assert round(picture[0].rect.width / picture[0].rect.height, 2) == 2.0


def test_a_page_is_turned_as_its_reader_did(
    paper: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    level, skewed = (run(paper, tmp_path, capsys, turns={1: turn}) for turn in (90.0, 88.6))
    assert level == skewed == [{"page": 1, "file": "p0001.jpg", "width": 600, "height": 300}]


def test_a_long_paper_is_refused(
    paper: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="has 2 pages, but only 1 are allowed"):
        run(paper, tmp_path, capsys, max_pages=1)
    with pytest.raises(
        PaperError, match=r"its pages cannot be drawn: .*has 2 pages, but only 1 are"
    ):
        draw_pages(str(paper), {1: 0.0}, tmp_path, 1, 2048)


def test_what_was_too_large_to_be_read_is_not_drawn(
    paper: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page_pictures, "has_huge_image", lambda page: True)
    assert run(paper, tmp_path, capsys) == []
