"""The engine that comes with the environment, on small pages."""

from __future__ import annotations

import numpy as np
import pytest
from tests.stages.ocr.engines.pages import LINES, page_picture

from omibench.stages.ocr.engines.engine import quarter_turned
from omibench.stages.ocr.engines.rapidocr import RapidOcr, lies_on_side

# The engine that comes with the environment, on small pages.

pytest.importorskip("rapidocr")


@pytest.fixture(scope="module")
def engine() -> RapidOcr:
    """One session for all tests."""
    return RapidOcr()


def letters(text: str) -> str:
    return "".join(text.split())


def test_every_line_has_its_text_its_place_and_a_confidence(engine: RapidOcr) -> None:
    found = sorted(engine.read(page_picture()), key=lambda r: r.quad[0][1])
    assert [letters(r.text) for r in found] == [letters(text) for text in LINES]
    scale = 100 / 72
    for k, reading in enumerate(found):
        assert reading.quad[0][0] == pytest.approx(30 * scale, abs=8)
        assert reading.quad[2][1] == pytest.approx((60 + 40 * k) * scale, abs=8)
        assert 0.8 < (reading.confidence or 0) <= 1


@pytest.mark.parametrize(
    "turn", [0, 90, *(pytest.param(turn, marks=pytest.mark.slow) for turn in (180, 270))]
)
def test_a_turned_page_is_turned_back_and_an_upright_one_is_not(
    engine: RapidOcr, turn: int
) -> None:
    picture, turned = engine.upright(quarter_turned(page_picture(), turn))
    assert turned == (360 - turn) % 360
    assert picture.shape == page_picture().shape
    assert letters(LINES[0]) in {letters(r.text) for r in engine.read(picture)}


@pytest.mark.slow
def test_a_shadow_hides_nothing(engine: RapidOcr) -> None:
    picture = page_picture().astype(np.float32)
    shade = np.linspace(0.25, 1.0, picture.shape[1])[None, :, None]
    found = engine.read((picture * shade).astype(np.uint8))
    assert {letters(text) for text in LINES} <= {letters(r.text) for r in found}


def test_nothing_is_read_on_an_empty_page(engine: RapidOcr) -> None:
    empty = np.full((200, 300, 3), 240, np.uint8)
    picture, turn = engine.upright(empty)
    assert (engine.read(picture), turn) == ([], 0)


def test_its_networks_spend_no_time_on_numbers_next_to_zero(engine: RapidOcr) -> None:
    # The model is loaded when it is first used, and must be on the engine's thread.
    model = engine._call(engine._ocr._load_det_model)
    options = model.session.session.get_session_options()
    assert options.get_session_config_entry("session.set_denormal_as_zero") == "1"
    tiny, one = map(float, ("5e-324", "1"))
    assert engine._call(lambda: tiny * one) == 0.0
    assert tiny * one > 0, "the rest of the process computes with them as before"


def test_a_faint_line_is_kept_only_if_it_is_long(engine: RapidOcr) -> None:
    from rapidocr.ch_ppocr_det.utils import DBPostProcess

    assert engine.name == "rapidocr"
    widths, scores = (300, 60, 60), [0.4, 0.4, 0.6]
    boxes = np.array(
        [[(5, y), (5 + w, y), (5 + w, y + 20), (5, y + 20)]
         for y, w in zip((10, 50, 90), widths, strict=True)], np.int32
    )  # fmt: skip
    kept, kept_scores = DBPostProcess().filter_det_res(boxes, scores, 200, 400)
    assert [int(box[0][1]) for box in kept] == [10, 90]
    assert kept_scores == [0.4, 0.6]


# Which way lines run is told from ink alone.

pytest.importorskip("cv2")


@pytest.mark.parametrize(("turn", "lies"), [(0, False), (90, True), (180, False), (270, True)])
def test_a_page_on_its_side_is_told_from_one_that_stands(turn: int, lies: bool) -> None:
    assert lies_on_side(quarter_turned(page_picture(), turn)) is lies


@pytest.mark.parametrize("shape", [(1, 1), (3, 900), (200, 300)])
def test_an_empty_picture_of_any_shape_lies_on_no_side(shape: tuple[int, int]) -> None:
    assert not lies_on_side(np.full((*shape, 3), 240, np.uint8))
