"""The pages of papers on which items stand, with boxes."""

from __future__ import annotations

from pathlib import Path

import pytest

from omibench.results.paper_pages import PaperPages
from omibench.schemas.pages import PageLine, PagePicture, PageText
from omibench.schemas.problem import Figure, Question
from omibench.schemas.tables import write_jsonl
from review_tasks.makers import make_problem

TEXT = "A rod of length two metres lies on a rough table."
FIGURE = (100.0, 300.0, 200.0, 450.0)


def make_row(page: int, file: str) -> PagePicture:
    return PagePicture(
        source="ipho", page=page, file=file, sha256=str(page) * 64, width=400, height=600
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """What `ocr` wrote: an item on page 2, its figure on page 3."""
    out = tmp_path / "ocr"
    line = PageLine(text=f"1. {TEXT}", bbox=(40, 90, 300, 105), engine="textlayer")
    texts = [
        PageText(source="ipho", page=n, text="", engine="textlayer", lines=[line] if n == 2 else [])
        for n in (2, 3)
    ]
    write_jsonl(out / "pages.jsonl", texts)
    write_jsonl(out / "problems.jsonl", [make_problem(1, tmp_path, question=TEXT, pages=[2])])
    rows = [make_row(n, f"pages/ipho/p000{n}.jpg") for n in (2, 3)]
    write_jsonl(out / "page_pictures.jsonl", rows)
    for row in rows:
        (out / row.file).parent.mkdir(parents=True, exist_ok=True)
        (out / row.file).write_bytes(b"\xff\xd8")
    return out


def make_question(folder: Path, **values: object) -> Question:
    problem = make_problem(1, folder.parent, question="In another language by now.", pages=[2])
    figure = Figure(file="images/a.png", sha256="a" * 64, page=3, bbox=FIGURE)
    return Question.model_validate(
        {"id": problem.id, "question": "?", "images": [figure], "source": "ipho", "pages": [2]}
        | values
    )


def test_an_item_has_the_boxes_of_its_text_and_its_figures(folder: Path) -> None:
    text, figure = PaperPages(folder).find_pages(make_question(folder))
    assert (text.label, text.boxes) == ("Page 2", ((0.1, 0.15, 0.75, 0.175),))
    assert (figure.label, figure.boxes) == ("Page 3", ((0.25, 0.5, 0.5, 0.75),))
    assert (text.path, text.sha256) == (folder / "pages/ipho/p0002.jpg", "2" * 64)


def test_an_item_that_was_not_read_there_has_the_boxes_of_its_figures(folder: Path) -> None:
    text, figure = PaperPages(folder).find_pages(make_question(folder, id="elsewhere"))
    assert text.boxes == ()
    assert figure.boxes == ((0.25, 0.5, 0.5, 0.75),)


def test_a_page_whose_picture_is_gone_is_left_out(folder: Path) -> None:
    (folder / "pages/ipho/p0002.jpg").unlink()
    assert [page.number for page in PaperPages(folder).find_pages(make_question(folder))] == [3]


def test_other_papers_and_no_pages_give_none(folder: Path) -> None:
    assert PaperPages(folder).find_pages(make_question(folder, source="other")) == []
    assert PaperPages(folder).find_pages(make_question(folder, source=None)) == []
    assert PaperPages(folder.parent).find_pages(make_question(folder)) == []


def test_no_name_leads_out_of_the_folder(folder: Path) -> None:
    rows = [make_row(2, "../../secret.jpg"), make_row(3, "pages/ipho/p0003.jpg")]
    write_jsonl(folder / "page_pictures.jsonl", rows)
    assert list(PaperPages(folder).pictures) == [("ipho", 3)]
    (folder / "page_pictures.jsonl").write_text("{broken\n")
    assert PaperPages(folder).find_pages(make_question(folder)) == []
