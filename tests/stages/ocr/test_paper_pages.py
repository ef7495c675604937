"""Pictures of the pages on which problems stand: upright, within bounds, by another process."""

from __future__ import annotations

import hashlib
import io
import logging
import sys
from pathlib import Path

import pymupdf
import pytest

from omibench.errors import PaperError
from omibench.params.stages.ocr import OcrParams
from omibench.schemas.pages import PagePicture, PageText
from omibench.schemas.tables import read_jsonl, write_jsonl
from omibench.stages.ocr import page_pictures
from omibench.stages.ocr.page_pictures import PagesJob, draw_pages, write_page_pictures
from omibench.stages.ocr.sources.manifest import Source
from review_tasks.makers import make_problem
from small_freeze import make_picture


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """What was read of a paper of four pages: problems on the second and the turned third."""
    with pymupdf.open() as pdf:
        for rotation in (0, 0, 0, 90):
            page = pdf.new_page(width=300, height=600)
            page.insert_text((20, 100), "How far does it roll?")
            page.set_rotation(rotation)
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
        with pymupdf.open(out / row.file) as picture:
            drawn = picture[0].rect
        assert round(drawn.width / drawn.height, 2) == row.width / row.height
    assert len(list((out / "pages").rglob("*.jpg"))) == len(rows)


@pytest.mark.slow
def test_none_are_drawn_where_none_are_wanted_and_earlier_ones_go(out: Path) -> None:
    write_page_pictures(out, list_sources(out), OcrParams())
    assert write_page_pictures(out, list_sources(out), OcrParams(page_pictures=False)) == []
    assert (out / "page_pictures.jsonl").read_text() == ""
    assert list((out / "pages").iterdir()) == []


def test_a_paper_that_cannot_be_drawn_is_named(out: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        assert write_page_pictures(out, list_sources(out), OcrParams(max_pages=3)) == []
    assert "ipho.pdf: its pages cannot be drawn" in caplog.text
    assert "has 4 pages, but only 3 are allowed; items of this paper are shown with" in caplog.text


def test_a_broken_paper_is_named_and_draw_pages_raises(
    out: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (out.parent / "ipho.pdf").write_bytes(b"%PDF-1.4 broken")
    with caplog.at_level(logging.WARNING):
        assert write_page_pictures(out, list_sources(out), OcrParams()) == []
    assert "ipho.pdf: its pages cannot be drawn: " in caplog.text
    with pytest.raises(PaperError, match=r"ipho\.pdf: its pages cannot be drawn: "):
        draw_pages(list_sources(out)[0], {1: 0.0}, out, OcrParams())


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


def draw_here(out: Path, turns: dict[int, float]) -> list[tuple[int, float, float]]:
    """Do the job of the process in this one; return each page with its size."""
    job = PagesJob(source=list_sources(out)[0], turns=turns, folder=out, params=OcrParams())
    written = io.StringIO()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stdin", io.StringIO(job.model_dump_json()))
        patch.setattr(sys, "stdout", written)
        patch.setattr(page_pictures, "limit_cpu", lambda seconds: None)
        patch.setattr(page_pictures, "limit_memory", lambda mebibytes: None)
        page_pictures.main()
    rows = page_pictures._PICTURES.validate_json(written.getvalue())
    return [(row.page, row.width, row.height) for row in rows]


@pytest.mark.parametrize(
    ("turns", "drawn"),
    [
        ({4: 0.0, 7: 0.0}, [(4, 600, 300)]),  # upright as the paper states; there is no page 7
        ({1: 90.0}, [(1, 600, 300)]),
        ({1: 88.6}, [(1, 600, 300)]),
    ],
)
def test_a_page_is_turned_as_its_reader_did(
    out: Path, turns: dict[int, float], drawn: list[tuple[int, float, float]]
) -> None:
    assert draw_here(out, turns) == drawn


def test_what_was_too_large_to_be_read_is_not_drawn(
    out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page_pictures, "has_huge_image", lambda page: True)
    assert draw_here(out, {1: 0.0}) == []
