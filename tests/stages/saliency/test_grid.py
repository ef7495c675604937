"""Sizes and positions: multiples of the stride, every pixel covered, nothing outside."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from omibench.params.stages.saliency import SaliencyParams
from omibench.stages.saliency.maps import fit_size, list_positions

PAPER = SaliencyParams()
SIDES = st.integers(1, 6000)


def test_the_grid_of_the_paper() -> None:
    assert fit_size((1234, 631), PAPER) == (1234, 631), "the original resolution"
    found = list_positions((448, 336), PAPER)
    assert len(found) == 15 * 11
    assert (found[0], found[1], found[-1]) == ((0, 0, 56), (28, 0, 56), (392, 280, 56))


@given(SIDES, SIDES, st.sampled_from([(56, 28), (64, 32), (40, 12)]))
def test_a_picture_is_fitted_and_covered(wide: int, high: int, steps: tuple[int, int]) -> None:
    patch, stride = steps
    params = SaliencyParams(patch=patch, stride=stride, max_pixels=60_000)
    width, height = fit_size((wide, high), params)
    assert width % stride == height % stride == 0
    assert min(width, height) >= patch
    least = -(-patch // stride) * stride
    assert width * height <= 60_000 or (width, height).count(least) or max(width, height) == least
    found = list_positions((width, height), params)
    for axis, length in enumerate((width, height)):
        starts = sorted({place[axis] for place in found})
        assert starts[0] == 0
        assert starts[-1] + patch == length
        assert all(b - a <= patch for a, b in pairwise(starts))


@given(SIDES, SIDES)
def test_an_original_picture_is_covered_to_its_edges(wide: int, high: int) -> None:
    found = list_positions((wide, high), PAPER)
    for axis, length in enumerate((wide, high)):
        starts = sorted({place[axis] for place in found})
        assert starts[0] == 0
        assert starts[-1] < length <= starts[-1] + 56
        assert all(b - a <= 28 for a, b in pairwise(starts))


def test_a_stride_beyond_the_patch_is_refused() -> None:
    with pytest.raises(ValidationError, match="would never be covered"):
        SaliencyParams(patch=28, stride=56)
