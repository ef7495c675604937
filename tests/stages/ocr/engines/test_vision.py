"""A model that reads pages: what it is asked, how its replies are read, and a whole run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.stages.ocr.engines.presets.pictures import ScriptedModel
from typer.testing import CliRunner

from command_line import app
from omibench.schemas.pages import PageText
from omibench.schemas.request import ImagePart, Response
from omibench.schemas.tables import read_jsonl
from omibench.stages.ocr.engines.page_models import PageJob, PresetPage
from omibench.stages.ocr.engines.readers import ReadPage
from omibench.stages.ocr.engines.vision import read_figure_edges, read_pages

PAGE = PresetPage("paper#p1", ImagePart(sha256="0" * 64), 1000, 2000)
TEXT = "1. What is $v_0$?\n[FIGURE 1]\nFigure 1: A ball.\n2. And where?\n[FIGURE 7]"
FIGURES = '{"figure": 1, "left": 100, "top": 250, "right": 500, "bottom": 400}'


def read(text: str | Response, figures: str = "") -> tuple[ReadPage | None, ScriptedModel]:
    """What two replies make of a page, and the model that gave them."""
    model = ScriptedModel(lambda words, count: text if "line by line" in words else figures)
    (page,) = read_pages([PAGE], PageJob(model, Path(), "study"))
    return page, model


def test_lines_stand_above_and_below_the_figures_among_them() -> None:
    page, model = read(TEXT, FIGURES)
    for request in model.requests:
        assert request.tags.role == "page_reader"
        assert request.conversation.images == [PAGE.image]
    assert page is not None
    assert page.figures == [(100, 500, 500, 800)]
    above, caption, below = page.lines
    assert above.quad[2][1] < 500
    assert 800 < caption.quad[0][1] < below.quad[0][1]


def test_a_reply_that_broke_off_is_no_page_and_figures_may_be_missing() -> None:
    assert read(Response(text=TEXT, outcome="truncated"), FIGURES)[0] is None
    page, _ = read(TEXT, "I see a ball.")
    assert page is not None
    assert page.figures == []
    assert page.lines[0].text == "1. What is $v_0$?"


@given(st.text(alphabet='{}":,figure left top right bottom0123456789-.[]\n', max_size=200))
def test_no_reply_breaks_the_reader_of_figures(reply: str) -> None:
    for box in read_figure_edges(reply).values():
        assert 0 <= box[0] < box[2] <= 1000
        assert 0 <= box[1] < box[3] <= 1000


@given(
    st.lists(st.sampled_from(["a line", "[FIGURE 1]", "[FIGURE 2]", "", "```"]), max_size=12),
    st.floats(0, 900),
    st.floats(0, 900),
)
def test_lines_keep_their_order_whatever_stands_among_them(
    lines: list[str], one: float, other: float
) -> None:
    figure = '{{"figure": {}, "left": {}, "top": {}, "right": {}, "bottom": {}}}'
    first, second = figure.format(1, 0, one, 500, one + 50), figure.format(2, 500, other, 900, 990)
    page, _ = read("\n".join(lines), f"{first}\n{second}")
    assert page is not None
    found = page.lines
    assert len(found) == lines.count("a line")
    tops = [ln.quad[0][1] for ln in found]
    assert tops == sorted(tops)


@pytest.mark.slow
def test_a_simulated_model_reads_the_scan_of_the_sample_through_the_store(
    tmp_path: Path, root: Path
) -> None:
    oracle = {"provider": "simulated", "oracle": str(root / "sample/oracle.jsonl")}
    params = {
        "study": {"store": str(tmp_path / "store")},
        "ocr": {"engine": "vision", "reader": "sim"},
        "models": {"sim": {**oracle, "error_rate": 0.0}},
    }
    manifest = tmp_path / "sources.yaml"
    paper = str(root / "sample/papers/scan.pdf")
    manifest.write_text(json.dumps({"sources": [{"name": "scan", "paper": paper}]}), "utf-8")
    told = ["ocr", "--manifest", str(manifest), "--out", str(tmp_path / "out")]
    done = CliRunner().invoke(app, [*told, "--params", json.dumps(params)])
    assert done.exit_code == 0, done.output
    (page,) = read_jsonl(tmp_path / "out/pages.jsonl", PageText)
    assert page.engine == "vision"
    assert "The arrows in Figure 1 show" in page.text
    kept = [file for file in (tmp_path / "store").rglob("*.jsonl") if file.stat().st_size]
    assert kept
    params["ocr"] = {"engine": "vision", "reader": "nobody"}
    wrong = CliRunner().invoke(app, [*told, "--params", json.dumps(params)])
    assert "nobody" in str(wrong.exception)
