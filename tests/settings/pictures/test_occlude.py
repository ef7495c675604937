"""Occluding: a patch of the right size, wholly inside, and nothing else."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from omibench.settings.pictures import occlude


@settings(max_examples=30)
@given(st.integers(8, 200), st.integers(8, 200), st.floats(0.02, 1), st.integers(0, 9))
def test_a_patch_hides_its_share_and_nothing_else(
    wide: int, high: int, share: float, seed: int
) -> None:
    hidden = np.asarray(occlude(Image.new("RGB", (wide, high), "red"), share, seed, "ab"))
    black = (hidden == 0).all(axis=2)
    rows, columns = np.flatnonzero(black.any(axis=1)), np.flatnonzero(black.any(axis=0))
    assert black[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1].all(), "one rectangle"
    assert abs(len(rows) - high * share**0.5) <= 1
    assert abs(len(columns) - wide * share**0.5) <= 1
    assert (hidden[~black] == (255, 0, 0)).all()
