"""The lines of a problem are found again on its page."""

from __future__ import annotations

from pathlib import Path

from omibench.results.paper_pages import find_boxes, scale_box
from omibench.schemas.pages import PageLine, PageText
from omibench.schemas.problem import Original
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
