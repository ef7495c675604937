"""olmOCR: what it is shown, and pages made of its replies."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from tests.stages.ocr.engines.presets.pictures import ScriptedModel, build_job, draw_page

from omibench.schemas.request import ImagePart, Response, TextPart
from omibench.stages.ocr.engines.olmocr import PROMPT, parse_reply, read_pages
from omibench.stages.ocr.engines.readers import ReadPage

FRONT = """---
primary_language: en
is_rotation_valid: {upright}
rotation_correction: {turn}
is_table: False
is_diagram: False
---
"""
UPRIGHT = FRONT.format(upright="True", turn=0)
BODY = r"""# Thermodynamics

**3.** A piston of area \(S = \pi r^2\) moves by
\[
x = \frac{p V}{S}
\]
as in Figure 1. Prices are \$5 and ____ is blank.

![A drawing of a piston](page_100_400_500_200.png)

Figure 1: A piston.

<table><tr><th>t / s</th><th>x / m</th></tr><tr><td>1</td><td>\(x_1\)</td></tr></table>
"""


def read(folder: Path, *replies: str | Response, width: int = 1030, height: int = 1288) -> ReadPage:
    """The page that a sequence of replies makes."""
    model = ScriptedModel(lambda words, count: replies[count])
    (page,) = read_pages([draw_page(folder, width, height)], build_job(model, folder))
    assert page is not None
    return page


def test_it_is_shown_words_and_then_a_page_of_1288_pixels(tmp_path: Path) -> None:
    model = ScriptedModel(lambda words, count: UPRIGHT + "1. Who?")
    read_pages([draw_page(tmp_path, 1600, 2400)], build_job(model, tmp_path))
    (request,) = model.requests
    (message,) = request.conversation.messages
    assert [type(part) for part in message.parts] == [TextPart, ImagePart]
    assert message.parts[0].text == PROMPT.text  # type: ignore[union-attr]
    assert model.sizes() == [(859, 1288)]
    assert (request.decoding.temperature, request.decoding.max_tokens) == (0.1, 8000)
    assert request.tags.role == "page_reader"


def test_a_reply_is_lines_formulas_rows_of_tables_and_figures(tmp_path: Path) -> None:
    page = read(tmp_path, UPRIGHT + BODY)
    assert [line.text for line in page.lines] == [
        "Thermodynamics",
        r"3. A piston of area $S = \pi r^2$ moves by",
        r"$x = \frac{p V}{S}$",
        r"as in Figure 1. Prices are \$5 and ____ is blank.",
        "Figure 1: A piston.",
        "t / s | x / m",
        "1 | $x_1$",
    ]
    assert page.figures == [(100, 400, 600, 600)]
    above = [line.quad[2][1] for line in page.lines[:4]]
    below = [line.quad[0][1] for line in page.lines[4:]]
    assert max(above) < 400
    assert min(below) > 600
    assert (page.engine, page.turn, page.incomplete) == ("olmocr", 0, False)


def test_a_page_on_its_side_is_turned_and_asked_for_once_more(tmp_path: Path) -> None:
    lying = FRONT.format(upright="False", turn=90) + "l ? l l"
    model = ScriptedModel(lambda words, count: [lying, UPRIGHT + "1. Who?"][count])
    (page,) = read_pages([draw_page(tmp_path, 1000, 800)], build_job(model, tmp_path))
    assert page is not None
    assert (page.turn, [line.text for line in page.lines]) == (90, ["1. Who?"])
    assert (page.width, page.height) == (1030, 1288)
    first, second = (Image.open(r.conversation.images[0].path) for r in model.requests)
    assert (first.getpixel((5, 5)), second.getpixel((second.width - 5, 5))) == ((0, 0, 0),) * 2


def test_a_page_that_lies_however_it_is_turned_is_asked_for_twice_and_no_more(
    tmp_path: Path,
) -> None:
    lying = FRONT.format(upright="False", turn=180) + "1. Who?"
    assert [line.text for line in read(tmp_path, lying, lying).lines] == ["1. Who?"]


@pytest.mark.parametrize(
    "reply",
    [
        Response(text=UPRIGHT + "1. Who", outcome="truncated"),
        UPRIGHT + "1. Who? " + "and then " * 60,
        Response(text="", outcome="provider_error"),
    ],
)
def test_a_reply_that_broke_off_or_ran_into_a_loop_is_no_page(
    tmp_path: Path, reply: str | Response
) -> None:
    model = ScriptedModel(lambda words, count: reply)
    assert read_pages([draw_page(tmp_path)], build_job(model, tmp_path)) == [None]


def test_an_empty_page_has_no_lines(tmp_path: Path) -> None:
    page = read(tmp_path, UPRIGHT)
    assert (page.lines, page.figures, page.incomplete) == ([], [], False)


@pytest.mark.parametrize(
    "name", ["figure.png", "page_0_0_0_0.png", "page_2000_0_10_10.png", "../../etc/passwd"]
)
def test_a_figure_without_a_place_on_the_page_is_said_to_be_missing(
    tmp_path: Path, name: str
) -> None:
    page = read(tmp_path, f"{UPRIGHT}1. Who?\n![a ball]({name})\nNobody.")
    assert (page.figures, page.incomplete) == ([], True)
    assert [line.text for line in page.lines] == ["1. Who?", "Nobody."]


def test_front_matter_is_read_by_its_fields_whatever_else_it_says() -> None:
    assert parse_reply("1. Who?") == (0, "1. Who?")
    assert parse_reply(FRONT.format(upright="False", turn=270) + "x") == (270, "x")
    assert parse_reply(FRONT.format(upright="False", turn=45) + "x") == (0, "x")
    assert parse_reply(FRONT.format(upright="True", turn=90) + "x") == (0, "x")
    assert parse_reply("---\r\n!!python/object/apply:os.system [id]\r\n---\r\nx") == (0, "x")
    assert parse_reply("---\nis_rotation_valid: False\nrotation_correction: 90").turn == 90


@given(st.text(alphabet="-#*|$\\[]()<>!_{}\n apbd/tr:9", max_size=300))
def test_no_reply_breaks_the_reader(text: str) -> None:
    assert parse_reply(text).turn in (0, 90, 180, 270)


@pytest.mark.parametrize(
    "unit", ["\\[ a ", "<table>", "<td ", "**a ", "![", "$$", "--- ", "| ", "\\("]
)
def test_hostile_replies_are_read_in_bounded_time(tmp_path: Path, unit: str) -> None:
    text = UPRIGHT + unit * (200_000 // len(unit)) + " an end that is no repetition"
    began = time.process_time()
    page = read(tmp_path, text)
    assert len(page.lines) <= 3000
    assert time.process_time() - began < 5
