"""Which way lines run is told from ink alone."""

from __future__ import annotations

import numpy as np
import pytest
from tests.stages.ocr.engines.pages import page_picture

from omibench.stages.ocr.engines.engine import quarter_turned
from omibench.stages.ocr.engines.rapidocr import lies_on_side

pytest.importorskip("cv2")


@pytest.mark.parametrize(("turn", "lies"), [(0, False), (90, True), (180, False), (270, True)])
def test_a_page_on_its_side_is_told_from_one_that_stands(turn: int, lies: bool) -> None:
    assert lies_on_side(quarter_turned(page_picture(), turn)) is lies


@pytest.mark.parametrize("shape", [(1, 1), (3, 900), (200, 300)])
def test_an_empty_picture_of_any_shape_lies_on_no_side(shape: tuple[int, int]) -> None:
    assert not lies_on_side(np.full((*shape, 3), 240, np.uint8))
