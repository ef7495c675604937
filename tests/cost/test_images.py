"""Image tokens against the worked examples that the providers publish."""

from __future__ import annotations

from fractions import Fraction
from math import ceil

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from omibench.models.cost import anthropic, gemini, openai_patches, openai_tiles, qwen_vl

SIDES = st.integers(1, 9000)
OLDER_CLAUDE = {"longest": 1568, "most": 1568}


def test_openai_tiles_as_in_its_guide() -> None:
    """A 1024 square shrinks to 768: 4 tiles. 2048 x 4096 shrinks to 768 x 1536: 6. Low is flat."""
    assert openai_tiles(1024, 1024) == 765
    assert openai_tiles(2048, 4096) == 1105
    assert openai_tiles(4096, 8192, detail="low") == 85
    assert openai_tiles(1024, 1024, base=70, tile=140) == 630
    assert openai_tiles(512, 512) == 255
    assert openai_tiles(512, 513) == 425


def test_openai_patches_as_in_its_guide() -> None:
    """1024 x 1024 is 1024 patches; 1800 x 2400 would be 4275 and shrinks to 33 x 44."""
    assert openai_patches(1024, 1024, multiplier=1, most=1536) == 1024
    assert openai_patches(1800, 2400, multiplier=1, most=1536) == 1452
    assert openai_patches(1024, 1024, multiplier=1.62, most=1536) == 1659
    assert openai_patches(2048, 1536, multiplier=1.2) == ceil(64 * 48 * 1.2)


@pytest.mark.parametrize(
    ("ratio", "largest"),
    [
        ((1, 1), (1092, 1092)),
        ((3, 4), (951, 1268)),
        ((2, 3), (896, 1344)),
        ((9, 16), (819, 1456)),
        ((1, 2), (784, 1568)),
    ],
)
def test_claude_scales_to_the_sizes_that_its_guide_prints(
    ratio: tuple[int, int], largest: tuple[int, int]
) -> None:
    """The table of the largest sizes that are not scaled down, for models before Opus 4.7."""
    whole = ceil(largest[0] / 28) * ceil(largest[1] / 28)
    assert anthropic(*largest, **OLDER_CLAUDE) == whole <= 1568
    assert anthropic(ratio[0] * 3000, ratio[1] * 3000, **OLDER_CLAUDE) == whole


@given(SIDES, SIDES, st.sampled_from([(2576, 4784), (1568, 1568), (2576, 3)]))
@example(100_000, 1, (1568, 1568))
@example(4096, 4096, (2576, 4784))
def test_claude_takes_the_largest_scale_of_all_that_fit(
    width: int, height: int, limits: tuple[int, int]
) -> None:
    """Against a search of every scale at which a side is a whole number of patches."""
    longest, most = limits

    def patches(scale: Fraction) -> int:
        return max(1, ceil(width * scale / 28)) * max(1, ceil(height * scale / 28))

    whole = min(Fraction(1), Fraction(longest, max(width, height)))
    steps = [Fraction(28 * n, side) for side in (width, height) for n in range(1, longest)]
    fitting = [s for s in steps if s < whole and patches(s) <= most]
    best = whole if patches(whole) <= most else max(fitting, default=Fraction(0))
    assert anthropic(width, height, longest=longest, most=most) == patches(best)


def test_gemini_as_in_its_guide() -> None:
    """Small images are 258 tokens; 960 x 540 has a crop unit of 360: 3 x 2 tiles."""
    assert gemini(384, 384) == 258
    assert gemini(960, 540) == 6 * 258
    assert gemini(3000, 3000) == 16 * 258
    assert gemini(3000, 3000, fixed=1120) == 1120


def test_qwen_vl_as_in_its_model_card() -> None:
    """4 to 16384 tokens an image and two around it; sides are rounded to whole patches."""
    assert qwen_vl(1, 1) - 2 == 4
    assert 16384 * 0.98 < qwen_vl(9000, 9000) - 2 <= 16384
    assert qwen_vl(1024, 768) - 2 == 37 * 27
    assert qwen_vl(1024, 768, patch=32) - 2 == 32 * 24
    assert qwen_vl(4000, 3000, max_pixels=1280 * 28 * 28) - 2 <= 1280


@pytest.mark.slow
def test_qwen_vl_resizes_as_its_own_image_processor() -> None:
    module = pytest.importorskip("transformers.models.qwen2_vl.image_processing_pil_qwen2_vl")
    for wide, high in [(1, 1), (1024, 768), (333, 777), (4000, 3000), (9000, 100), (30, 5900)]:
        tall, broad = module.smart_resize(high, wide, 28, 56 * 56, 16384 * 28 * 28)
        assert qwen_vl(wide, high) - 2 == tall * broad // 28**2


@given(SIDES, SIDES)
def test_an_image_on_its_side_costs_the_same(wide: int, high: int) -> None:
    for formula in (openai_tiles, anthropic, gemini):
        assert formula(wide, high) == formula(high, wide)
