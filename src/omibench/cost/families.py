"""Options of each provider's image formula for served models, by the prefix of the model id.

The table was read from the providers' pages on 2026-11-21. Unknown models get the largest
published options, so that plans overestimate and budgets are kept.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple, cast

from omibench.cost.images import anthropic, gemini, openai_patches, openai_tiles, qwen_vl
from omibench.params.models.base import ImageTokens, ModelBlock, ServedModel

Options = tuple[tuple[str, Any], ...]
UNMEASURED = (4096, 4096)
"""Assumed size in pixels of an image that cannot be measured."""


class ImageFormula(NamedTuple):
    """Token count of one image from its width and height.

    `is_declared` is false if the block declares no formula or the table lacks the model; then
    the largest published numbers apply. `name` is the declared formula, if any.
    """

    tokens: Callable[[int, int], int]
    is_declared: bool = True
    name: ImageTokens | None = None

    def __call__(self, size: tuple[int, int] | None) -> int:
        """Return the tokens of an image of this size, or of one with unknown size."""
        return self.tokens(*(size or UNMEASURED))


_FORMULAS: dict[ImageTokens, Callable[..., int]] = {
    "openai-tiles": openai_tiles,
    "openai-patches": openai_patches,
    "anthropic": anthropic,
    "gemini": gemini,
    "qwen-vl": qwen_vl,
}
_DEAREST: dict[ImageTokens, dict[str, Any]] = {
    "openai-tiles": {"base": 2833, "tile": 5667},
    "gemini": {"fixed": 2240},
}
_FAMILIES: dict[ImageTokens, tuple[tuple[str, dict[str, Any]], ...]] = {
    "openai-tiles": (
        (r"gpt-4o-mini", {"base": 2833, "tile": 5667}),
        (r"gpt-4o|gpt-4\.1|gpt-4\.5", {"base": 85, "tile": 170}),
        (r"gpt-5(\.1)?(-\d|-chat|$)", {"base": 70, "tile": 140}),
        (r"o1|o3", {"base": 75, "tile": 150}),
    ),
    "openai-patches": (
        (r"gpt-(4\.1|5)-mini", {"multiplier": 1.62, "most": 1536}),
        (r"gpt-(4\.1|5)-nano", {"multiplier": 2.46, "most": 1536}),
        (r"o4-mini", {"multiplier": 1.72, "most": 1536}),
        (r"gpt-5\.[2-9]|gpt-[6-9]", {"multiplier": 1.2}),
    ),
    "anthropic": (
        (
            r"claude-3|claude-(sonnet|haiku)-4|claude-opus-4(-[0156]\b|-\d{8}|$)",
            {"longest": 1568, "most": 1568},
        ),
        (r"claude-", {}),
    ),
    "gemini": (
        (r"gemini-(1|2)", {}),
        (r"gemini-[3-9]", {"fixed": 1120}),
    ),
    "qwen-vl": (
        (r"(.*/)?(qwen3|qwen-vl)", {"patch": 32}),
        (r"(.*/)?(qwen2|qvq)", {"patch": 28}),
    ),
}


def image_formula(model: ModelBlock) -> ImageFormula:
    """Return how images are counted for a model; simulated and replayed ones use no tokens."""
    if not isinstance(model, ServedModel):
        return ImageFormula(lambda width, height: 0)
    name = model.image_tokens
    if name is None:
        return _UNDECLARED
    return _formula(name, model.id, tuple(model.image_options(name).items()))


@lru_cache(maxsize=1024)
def _formula(name: ImageTokens, served: str, declared: Options) -> ImageFormula:
    options = _options(name, served)
    is_listed = options is not None
    chosen = _DEAREST.get(name, {}) if options is None else options
    return ImageFormula(_bind_options(name, {**chosen, **dict(declared)}), is_listed, name)


# A plan evaluates the same few sizes for every model, setting and judge.
@lru_cache(maxsize=65536)
def dearest(width: int, height: int) -> int:
    """Return the maximum tokens of an image of this size over all published formulas."""
    return max(f(width, height, **_DEAREST.get(name, {})) for name, f in _FORMULAS.items())


_UNDECLARED = ImageFormula(dearest, is_declared=False)


def _options(formula: ImageTokens, served: str) -> Mapping[str, Any] | None:
    name = served.lower()
    return next((o for start, o in _FAMILIES[formula] if re.match(start, name)), None)


def _bind_options(formula: ImageTokens, options: Mapping[str, Any]) -> Callable[[int, int], int]:
    function = _FORMULAS[formula]
    return cast(
        "Callable[[int, int], int]",
        lru_cache(maxsize=65536)(lambda width, height: function(width, height, **options)),
    )
