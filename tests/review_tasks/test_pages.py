"""The pages of papers beside their problems, with boxes."""

from __future__ import annotations

from pathlib import Path

import pymupdf
import pytest

from omibench.errors import MissingInputError, PaperError
from omibench.params.stages.ocr import OcrParams
from omibench.review.tasks.photographs import draw_problem_pages, list_drawn_pages, show_pages
from omibench.schemas.pages import PageLine, PagePicture, PageText
from omibench.schemas.problem import Problem
from omibench.schemas.tables import write_jsonl
from omibench.stages.ocr.sources.manifest import Source
from review_tasks.makers import make_problem
from small_freeze import make_picture

TEXT = "A rod of length two metres lies on a rough table."


@pytest.fixture
def paper(tmp_path: Path) -> Path:
    with pymupdf.open() as pdf:
        for number in range(3):
            page = pdf.new_page(width=400, height=600)
            page.insert_text((40, 100), f"{number + 1}. {TEXT}")
        pdf.save(tmp_path / "ipho.pdf")
    return tmp_path / "ipho.pdf"


def make_text(page: int, turn: float = 0.0) -> PageText:
    line = PageLine(text=f"1. {TEXT}", bbox=(40, 90, 300, 105), engine="textlayer")
    return PageText(
        source="ipho", page=page, text=line.text, engine="textlayer", turn=turn, lines=[line]
    )


def draw(problems: list[Problem], paper: Path, folder: Path, *texts: PageText) -> object:
    source = Source(name="ipho", paper=str(paper))
    return draw_problem_pages(problems, texts, [source], folder, OcrParams())


def test_each_page_is_drawn_once_and_has_the_boxes_of_its_problem(
    paper: Path, tmp_path: Path
) -> None:
    problems = [
        make_problem(1, tmp_path, question=TEXT, pages=[1, 2]),
        make_problem(2, tmp_path, question="Another text altogether.", pages=[2, 9]),
    ]
    texts = [make_text(1), make_text(2)]
    pages = draw(problems, paper, tmp_path, *texts)
    assert list(pages) == [("ipho", 1), ("ipho", 2)]  # type: ignore[call-overload]
    show = show_pages(pages, texts)  # type: ignore[arg-type]
    first, second = show(problems[0])
    assert (first.picture.part, first.picture.label, first.picture.suffix) == (
        "page", "Page 1", "jpg",
    )  # fmt: skip
    assert first.picture.boxes == [(0.1, 0.15, 0.75, 0.175)]
    assert first.path.read_bytes() != second.path.read_bytes()
    (other,) = show(problems[1])
    assert other.picture.boxes == []
    assert other.picture.sha256 == second.picture.sha256


def test_pages_that_ocr_has_drawn_are_not_drawn_again(paper: Path, tmp_path: Path) -> None:
    problem = make_problem(1, tmp_path, question=TEXT, pages=[1])
    picture = tmp_path / "ocr" / "pages" / "ipho" / "p0001.jpg"
    picture.parent.mkdir(parents=True)
    picture.write_bytes(make_picture(1))
    rows = [
        PagePicture(
            source="ipho", page=page, file=f"pages/ipho/p000{page}.jpg", sha256="0" * 64,
            width=400, height=600,
        )
        for page in (1, 2)
    ]  # fmt: skip
    write_jsonl(tmp_path / "ocr" / "page_pictures.jsonl", rows)
    drawn = list_drawn_pages(tmp_path / "ocr")
    assert list(drawn) == [("ipho", 1)]  # the other's file is not there
    paper.unlink()
    pages = draw_problem_pages([problem], [make_text(1)], [], tmp_path, OcrParams(), drawn=drawn)
    (shown,) = show_pages(pages, [make_text(1)])(problem)
    assert shown.path == picture
    assert shown.picture.boxes == [(0.1, 0.15, 0.75, 0.175)]


def test_a_page_that_was_turned_to_be_read_is_shown_as_it_was_read(
    paper: Path, tmp_path: Path
) -> None:
    problem = make_problem(1, tmp_path, question=TEXT)
    pages = draw([problem], paper, tmp_path, make_text(1, turn=90.5))
    page, _ = pages["ipho", 1]  # type: ignore[index]
    assert (page.width, page.height) == (600, 400)


def test_a_photograph_is_shown_as_it_was_taken(tmp_path: Path) -> None:
    photograph = tmp_path / "ipho.png"
    photograph.write_bytes(make_picture(1))
    problem = make_problem(1, tmp_path, question=TEXT)
    pages = draw([problem], photograph, tmp_path, make_text(1))
    (shown,) = show_pages(pages, [make_text(1)])(problem)  # type: ignore[arg-type]
    assert shown.path == photograph
    assert shown.picture.boxes == []


def test_papers_that_cannot_be_drawn_are_one_line(paper: Path, tmp_path: Path) -> None:
    problem = make_problem(1, tmp_path)
    with pytest.raises(MissingInputError, match="paper 'other' is not in the sources"):
        draw([problem.model_copy(update={"source": "other"})], paper, tmp_path)
    paper.write_bytes(b"%PDF-1.4 broken")
    with pytest.raises(PaperError, match=r"ipho\.pdf: its pages cannot be drawn: "):
        draw([problem], paper, tmp_path)
    paper.unlink()
    with pytest.raises(MissingInputError, match=r"ipho\.pdf not found"):
        draw([problem], paper, tmp_path)


@pytest.mark.slow
def test_the_sample_papers_have_their_problems_in_boxes(
    sample_papers: Path, root: Path, tmp_path: Path
) -> None:
    from omibench.schemas.tables import read_jsonl
    from omibench.stages.ocr.sources.manifest import load_manifest

    problems = [
        problem
        for problem in read_jsonl(sample_papers / "problems.jsonl", Problem)
        if problem.source == "physics"
    ]
    texts = read_jsonl(sample_papers / "pages.jsonl", PageText)
    sources = load_manifest(root / "sample/sources.yaml")
    pages = draw_problem_pages(problems, texts, sources, tmp_path, OcrParams())
    show = show_pages(pages, texts)
    for problem in problems:
        pictures = list(show(problem))
        assert [file.picture.label for file in pictures] == [f"Page {n}" for n in problem.pages]
        texts_boxes = len(pictures[0].picture.boxes) - sum(
            figure.page == problem.pages[0] for figure in problem.images
        )
        assert texts_boxes > 0
