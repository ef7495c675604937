"""Pictures of the pages on which problems stand."""

from __future__ import annotations

import hashlib
import logging
from pathlib import Path

import pymupdf
import pytest

from omibench.params.stages.ocr import OcrParams
from omibench.schemas.pages import PagePicture, PageText
from omibench.schemas.tables import read_jsonl, write_jsonl
from omibench.stages.ocr.page_pictures import write_page_pictures
from omibench.stages.ocr.sources.manifest import Source
from review_tasks.makers import make_problem
from small_freeze import make_picture


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """What was read of a paper of four pages: problems on the second and the turned third."""
    with pymupdf.open() as pdf:
        for _ in range(4):
            pdf.new_page(width=300, height=600).insert_text((20, 100), "How far does it roll?")
        pdf.save(tmp_path / "ipho.pdf")
    folder = tmp_path / "ocr"
    folder.mkdir()
    texts = [
        PageText(source="ipho", page=n, text="", engine="textlayer", turn=90.0 * (n == 3))
        for n in range(1, 5)
    ]
    write_jsonl(folder / "pages.jsonl", texts)
    problems = [make_problem(1, tmp_path, pages=[2]), make_problem(2, tmp_path, pages=[2, 3])]
    write_jsonl(folder / "problems.jsonl", problems)
    return folder


def list_sources(out: Path) -> list[Source]:
    return [Source(name="ipho", paper=str(out.parent / "ipho.pdf"))]


def test_pages_with_problems_are_drawn_upright(out: Path) -> None:
    rows = write_page_pictures(out, list_sources(out), OcrParams())
    assert [(row.page, row.width, row.height) for row in rows] == [(2, 300, 600), (3, 600, 300)]
    assert read_jsonl(out / "page_pictures.jsonl", PagePicture) == rows
    for row in rows:
        data = (out / row.file).read_bytes()
        assert data.startswith(b"\xff\xd8")
        assert hashlib.sha256(data).hexdigest() == row.sha256
    assert len(list((out / "pages").rglob("*.jpg"))) == len(rows)


@pytest.mark.slow
def test_none_are_drawn_where_none_are_wanted_and_earlier_ones_go(out: Path) -> None:
    write_page_pictures(out, list_sources(out), OcrParams())
    assert write_page_pictures(out, list_sources(out), OcrParams(page_pictures=False)) == []
    assert (out / "page_pictures.jsonl").read_text() == ""
    assert list((out / "pages").iterdir()) == []


def test_a_paper_that_cannot_be_drawn_is_named(out: Path, caplog: pytest.LogCaptureFixture) -> None:
    (out.parent / "ipho.pdf").write_bytes(b"%PDF-1.4 broken")
    with caplog.at_level(logging.WARNING):
        assert write_page_pictures(out, list_sources(out), OcrParams()) == []
    assert "ipho.pdf: its pages cannot be drawn" in caplog.text
    assert "are shown without its pages" in caplog.text


def test_an_encrypted_paper_is_drawn_with_its_password(
    out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paper = out.parent / "ipho.pdf"
    with pymupdf.open(paper) as pdf:
        pdf.save(
            out.parent / "locked.pdf", encryption=pymupdf.PDF_ENCRYPT_AES_256, user_pw="open it"
        )
    (out.parent / "locked.pdf").replace(paper)
    monkeypatch.setenv("PAPER_PASSWORD", "open it")
    rows = write_page_pictures(out, list_sources(out), OcrParams(), "PAPER_PASSWORD")
    assert [row.page for row in rows] == [2, 3]


def test_a_photograph_is_not_drawn(out: Path) -> None:
    photograph = out.parent / "ipho.png"
    photograph.write_bytes(make_picture(1))
    assert write_page_pictures(out, [Source(name="ipho", paper=str(photograph))], OcrParams()) == []
