"""The look at a paper: its boxes, its problems, and nothing that text could do to the page."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path

import pymupdf
import pytest
from tests.stages.ocr.conftest import bomb
from typer.testing import CliRunner

from command_line import app
from omibench.explore.ocr_view import make_look_writer
from omibench.params.stages.ocr import OcrParams
from omibench.schemas.problem import Problem
from omibench.schemas.tables import read_jsonl
from omibench.stages.ocr import read_papers

EVIL = "</title><script>alert(1)</script>"
SCRIPTS = ("katex.min", "mhchem.min", "formulas", "corrections")


def paper(folder: Path, name: str = "shapes.pdf") -> Path:
    """Two pages: a problem with a figure and choices, a hostile one, and a foot on each page."""
    pdf = pymupdf.open()
    page = pdf.new_page()
    page.insert_text((72, 100), "1. Which of the numbers is that of Figure 1?")
    page.draw_circle((200, 200), 60)
    page.draw_line((140, 200), (260, 200))
    page.insert_text((160, 290), "Figure 1: A round thing.", fontsize=9)
    for k, letter in enumerate("ABC"):
        page.insert_text((72, 330 + 16 * k), f"({letter}) {k + 3}")
    page.insert_text((72, 420), f"2. What does {EVIL} mean, and is $x^2 < 1$ for it?")
    page = pdf.new_page()
    page.insert_text((72, 100), "and this goes on with the second problem for a while longer.")
    page.insert_text((72, 160), "3. How many sides does a square have? Give the number.")
    for page in pdf:
        page.insert_text((250, 820), f"Page {page.number + 1}", fontsize=8)
    pdf.save(folder / name)
    return folder / name


@pytest.fixture(scope="module")
def looked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a paper that was read with a look, and of one that could not be read."""
    out = tmp_path_factory.mktemp("look")
    broken = out / "broken.pdf"
    broken.write_bytes(b"%PDF-1.7 nothing else")
    read_papers(
        [paper(out), broken], out / "ocr", OcrParams(), look=make_look_writer(out / "looks")
    )
    return out


@pytest.fixture(scope="module")
def page(looked: Path) -> str:
    return (looked / "looks/shapes.pdf.html").read_text("utf-8")


def test_every_problem_is_shown_with_its_text_figures_and_choices(page: str, looked: Path) -> None:
    problems = read_jsonl(looked / "ocr/problems.jsonl", Problem)
    assert [p.number for p in problems] == ["1", "2", "3"]
    shown = unescape(re.sub(r"<[^>]+>", " ", page))
    for problem in problems:
        for line in re.sub(r"\[IMAGE\d+\]", "\n", problem.question).splitlines():
            assert line in shown, line
    (figure,) = problems[0].images
    assert page.count(figure.sha256) == 1
    assert figure.bbox is not None
    assert f'viewBox="{figure.bbox[0]} {figure.bbox[1]}' in page
    assert [
        f'<b>({letter})</b> <span class="tex">{k}' in page for k, letter in enumerate("ABC", 3)
    ] == [True] * 3


def test_boxes_lead_to_problems_and_problems_to_boxes(page: str) -> None:
    ids = re.findall(r'\bid="([^"]+)"', page)
    assert len(ids) == len(set(ids))
    targets = set(re.findall(r'href="#([^"]+)"', page))
    assert targets <= set(ids)
    assert {"q1", "q2", "q3", "page1", "page2"} <= targets
    kinds = set(re.findall(r'<g class="k-(\w+)"', page))
    assert {"statement", "choice", "figure", "line", "furniture"} <= kinds
    assert "Continued here: <a" in page


def test_what_a_paper_says_is_text_and_never_markup(page: str) -> None:
    scripts = re.findall(r"<script[^>]*>", page)
    assert scripts == [f'<script defer src="formulas/{name}.js">' for name in SCRIPTS]
    assert re.search(r"&lt;/title ?&gt; ?&lt;script ?&gt; ?alert\(1\)", page)
    assert "default-src 'none'" in unescape(page)
    assert not re.search(r"""(?:src|href)=["'](?!#|data:image/jpeg;base64,|formulas/)""", page)


def test_a_paper_that_could_not_be_read_gets_a_page_that_says_why(looked: Path) -> None:
    page = (looked / "looks/broken.pdf.html").read_text("utf-8")
    assert "pdf_damaged" in page
    assert "no page can be read: get the file again" in page


@pytest.mark.slow
def test_a_page_with_a_huge_image_is_named_and_not_shown(tmp_path: Path) -> None:
    (tmp_path / "bomb.pdf").write_bytes(bomb())
    read_papers(
        [tmp_path / "bomb.pdf"], tmp_path, OcrParams(), look=make_look_writer(tmp_path / "looks")
    )
    page = (tmp_path / "looks/bomb.pdf.html").read_text("utf-8")
    assert "image_too_large" in page
    assert "it declares too many pixels" in page
    assert "data:image" not in page


@pytest.mark.slow
def test_without_a_look_nothing_is_drawn_and_the_results_are_the_same(
    looked: Path, tmp_path: Path
) -> None:
    read_papers([looked / "shapes.pdf"], tmp_path, OcrParams())
    assert sorted(p.name for p in tmp_path.iterdir()) == [
        "formulas", "images", "pages.jsonl", "problems.jsonl", "report.json",
    ]  # fmt: skip
    with_look = (looked / "ocr/problems.jsonl").read_text("utf-8")
    assert (tmp_path / "problems.jsonl").read_text("utf-8") == with_look


@pytest.mark.slow
def test_the_command_writes_looks_and_names_a_folder_that_cannot_be(tmp_path: Path) -> None:
    arguments = ["ocr", str(paper(tmp_path)), "--out", str(tmp_path / "ocr"), "--look"]
    done = CliRunner().invoke(app, [*arguments, str(tmp_path / "looks")])
    assert done.exit_code == 0
    problems = tmp_path / "ocr" / "problems.jsonl"
    count = len(problems.read_text("utf-8").splitlines())
    assert count > 1
    assert f"\n{count} problems, 0 with an answer: {problems}" in done.output
    assert (tmp_path / "looks/shapes.pdf.html").is_file()
    refused = CliRunner().invoke(app, [*arguments, str(tmp_path / "shapes.pdf")])
    assert refused.exit_code != 0


@pytest.mark.slow
def test_sixty_pages_stay_below_twenty_megabytes(tmp_path: Path) -> None:
    pdf = pymupdf.open()
    for number in range(60):
        page = pdf.new_page()
        for k in range(55):
            page.insert_text(
                (50, 60 + 13 * k), f"{number} {k} " + "every line is full of text " * 3
            )
    pdf.save(tmp_path / "long.pdf")
    read_papers([tmp_path / "long.pdf"], tmp_path, OcrParams(), look=make_look_writer(tmp_path))
    assert (tmp_path / "long.pdf.html").stat().st_size < 20_000_000
