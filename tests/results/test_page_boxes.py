"""The lines of a problem are found again on its page."""

from __future__ import annotations

from pathlib import Path

import pytest

from omibench.results.paper_pages import PaperPages, find_boxes, scale_box
from omibench.schemas.pages import PageLine, PagePicture, PageText
from omibench.schemas.problem import Figure, Original, Question
from omibench.schemas.tables import write_jsonl
from review_tasks.makers import make_problem

LINES = [
    "Problem 3. [Physics] A rod of length two metres lies on",
    "a rough table beside a wall, and slides down.",
    "How long is it in Figure 2?",
    "A) one metre or more than that",
    "4. Another problem of the page begins here",
]
QUESTION = (
    "A rod of length two metres lies on a rough table beside a wall, and slides down. How long is "
    "it in Figure 2?"
)


def make_page(lines: list[str], number: int = 1) -> PageText:
    placed = [
        PageLine(text=text, bbox=(50, 100 + 20 * k, 500, 115 + 20 * k), engine="textlayer")
        for k, text in enumerate(lines)
    ]
    return PageText(
        source="ipho", page=number, text="\n".join(lines), engine="textlayer", lines=placed
    )


def test_a_block_begins_with_the_number_and_ends_before_the_next_problem(tmp_path: Path) -> None:
    problem = make_problem(3, tmp_path, question=QUESTION, choices=None)
    assert find_boxes(problem, make_page(LINES)) == [(50, 100, 500, 155)]
    assert find_boxes(problem, make_page(["Nothing of it", "stands on this page at all"])) == []


def test_the_original_counts_and_figures_have_boxes(tmp_path: Path) -> None:
    original = Original(language="es", question=QUESTION, translator="m")
    problem = make_problem(3, tmp_path, choices=None, original=original)
    figure = problem.images[0].model_copy(update={"bbox": (1, 2, 3, 4), "page": 1})
    problem = problem.model_copy(update={"images": [figure]})
    assert find_boxes(problem, make_page(LINES)) == [(50, 100, 500, 155), (1, 2, 3, 4)]
    assert find_boxes(problem, make_page([], number=2)) == []


def test_another_column_is_a_block_of_its_own(tmp_path: Path) -> None:
    problem = make_problem(3, tmp_path, question=QUESTION, choices=None)
    page = make_page(LINES[:2])
    first, second = page.lines
    moved = second.model_copy(update={"bbox": (600, 20, 900, 35)})
    page = page.model_copy(update={"lines": [first, moved]})
    assert find_boxes(problem, page) == [(50, 100, 500, 115), (600, 20, 900, 35)]


def test_lines_left_out_and_short_ones_make_no_box(tmp_path: Path) -> None:
    problem = make_problem(3, tmp_path, question=QUESTION, choices=None)
    page = make_page(["rod of", *LINES[:1]])
    furniture = page.lines[1].model_copy(update={"left_out": "furniture"})
    page = page.model_copy(update={"lines": [page.lines[0], furniture]})
    assert find_boxes(problem, page) == []


def test_boxes_are_shares_of_the_page() -> None:
    assert scale_box((-5, 50, 100, 300), 200, 200) == (0.0, 0.25, 0.5, 1.0)


# The pages of papers on which items stand, with boxes.


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
