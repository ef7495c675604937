"""MinerU: layouts, crops of blocks, and pages made of both."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from tests.stages.ocr.engines.presets.pictures import ScriptedModel, build_job, draw_page

from omibench.errors import ModelError
from omibench.schemas.request import Response
from omibench.stages.ocr.engines.mineru import (
    LAYOUT_TASK,
    SYSTEM,
    parse_layout,
    read_block,
    read_pages,
)
from omibench.stages.ocr.engines.readers import ReadPage


def block(box: str, kind: str, direction: str = "up") -> str:
    return f"<|box_start|>{box}<|box_end|><|ref_start|>{kind}<|ref_end|><|rotate_{direction}|>\n"


LAYOUT = (
    block("050 040 950 140", "text")
    + block("300 160 700 220", "equation")
    + block("100 300 600 600", "image")
    + block("100 610 600 640", "image_caption")
    + block("050 660 950 760", "table")
    + block("050 040 950 760", "list")
)
REPLIES = {
    "Layout Detection:": LAYOUT,
    "Text Recognition:": r"4. A ball of mass \( m \) falls. What is its speed?",
    "Formula Recognition:": "\\[\nv = \\sqrt { 2 g h }\n\\]",
    "Table Recognition:": "<fcel>t<fcel>x<nl><fcel>1<ecel><nl><fcel>2<lcel><nl>",
}


def answer(words: str, count: int) -> str:
    task = words.rpartition("\n")[2]
    return "Figure 1: A ball." if task.startswith("Text") and count else REPLIES[task]


def read(
    folder: Path, reply: Callable[[str, int], str | Response] = answer, width: int = 800
) -> tuple[ReadPage | None, ScriptedModel]:
    """The page that replies make, and the model that gave them."""
    model = ScriptedModel(reply)
    (page,) = read_pages([draw_page(folder, width, 1800 - width)], build_job(model, folder))
    return page, model


def test_a_page_is_laid_out_and_then_read_block_by_block(tmp_path: Path) -> None:
    page, model = read(tmp_path)
    assert page is not None
    layout, *crops = model.requests
    assert [m.role for m in layout.conversation.messages] == ["system", "user"]
    assert layout.conversation.text == f"{SYSTEM}\n[image]\n{LAYOUT_TASK}"
    assert len(crops) == 4
    assert model.sizes() == [(1036, 1036), (720, 100), (320, 60), (400, 30), (720, 100)]
    prose = " ".join(line.text for line in page.lines)
    assert prose == (
        r"4. A ball of mass $m$ falls. What is its speed? $v = \sqrt { 2 g h }$ "
        "Figure 1: A ball. t | x 1 | 2"
    )
    assert page.figures == [(80, 300, 480, 600)]
    assert (page.engine, page.turn, page.incomplete) == ("mineru", 0, False)
    (formula,) = [line for line in page.lines if "sqrt" in line.text]
    assert 160 <= formula.quad[0][1] < formula.quad[2][1] <= 220
    rows = [line for line in page.lines if line.quad[0][1] >= 660]
    assert [line.text for line in rows] == ["t | x", "1 |", "2"]
    assert rows[0].quad[2][1] < rows[1].quad[0][1]


def test_a_page_on_its_side_is_turned_and_laid_out_again(tmp_path: Path) -> None:
    lying = block("100 100 200 900", "text", "right")
    layouts = [lying, block("100 100 900 200", "text")]

    def reply(words: str, count: int) -> str:
        return layouts[count] if words.endswith("Layout Detection:") else "1. Who?"

    page, model = read(tmp_path, reply, 1000)
    assert page is not None
    assert (page.turn, page.width, page.height) == (270, 800, 1000)
    assert model.sizes()[-1] == (640, 100)
    second = Image.open(model.requests[1].conversation.images[0].path)
    assert second.getpixel((5, second.height - 5)) == (0, 0, 0)


@pytest.mark.parametrize(
    ("task", "text"), [("Formula Recognition:", "x + x +"), ("Layout Detection:", LAYOUT[:120])]
)
def test_what_broke_off_makes_the_page_incomplete(tmp_path: Path, task: str, text: str) -> None:
    def reply(words: str, count: int) -> str | Response:
        broken = Response(text=text, outcome="truncated")
        return broken if words.endswith(task) else answer(words, count)

    page, _ = read(tmp_path, reply)
    assert page is not None
    assert (page.incomplete, bool(page.lines)) == (True, True)
    assert not [line for line in page.lines if "sqrt" in line.text]


def test_without_a_layout_there_is_no_page_and_dropped_tokens_are_named(tmp_path: Path) -> None:
    nothing = Response(text="", outcome="provider_error")
    assert read(tmp_path, lambda words, count: nothing)[0] is None
    with pytest.raises(ModelError, match="skip_special_tokens: false"):
        read(tmp_path, lambda words, count: "050 040 950 140text\n050 300 950 600image\n")


def test_slivers_are_enlarged_and_strips_widened(tmp_path: Path) -> None:
    thin = block("000 500 1000 505", "text")
    _, model = read(tmp_path, lambda words, count: thin if "Layout" in words else "1. Who?")
    width, height = model.sizes()[-1]
    assert height >= 28
    assert width <= 50 * height


def test_blocks_outside_of_the_page_are_passed_over_and_others_kept() -> None:
    reply = (
        block("900 100 100 200", "Text")
        + block("10 10 10 90", "text")
        + block("0 0 1200 20", "text")
        + block("1 2 3 4", "poem", "left")
    )
    assert parse_layout(reply) == [
        ("text", (100, 100, 900, 200), 0),
        ("poem", (1, 2, 3, 4), 270),
    ]
    assert len(parse_layout(block("1 2 3 4", "text") * 900)) == 500


@given(st.text(alphabet="<|box_start>end0123456789 ref\nrotate", max_size=300))
def test_no_layout_breaks_the_reader(reply: str) -> None:
    for found in parse_layout(reply):
        assert 0 <= found.box[0] < found.box[2] <= 1000


@pytest.mark.parametrize(
    ("kind", "reply", "text"),
    [
        ("equation", r"\[ a = b \]", "$a = b$"),
        ("equation", "a = b", "$a = b$"),
        ("equation", "", ""),
        ("text", r"If \(x\) is *large*, \(y=1\).", "If $x$ is large, $y=1$."),
        ("table", "<table><tr><td>1</td><td>x &lt; 3</td></tr></table>", "1 | x < 3"),
        ("table", "<fcel>a<fcel>\\(b^2\\)<nl>", "a | $b^2$"),
        ("table", "no table at all", "no table at all"),
    ],
)
def test_replies_about_blocks_become_text(kind: str, reply: str, text: str) -> None:
    assert read_block(kind, reply) == text
