"""Cost of requests before they are sent: tokens of texts and pictures, and their price."""

from __future__ import annotations

import re
import string
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from functools import cache, lru_cache, partial
from math import ceil, floor, sqrt
from statistics import fmean
from typing import Any, NamedTuple

from omibench.errors import OmibenchError
from omibench.files.pictures import READERS
from omibench.files.reading import open_regular
from omibench.params.models.base import ImageTokens, ModelBlock, Price, ServedModel
from omibench.params.models.providers import LocalModel
from omibench.schemas.request import Conversation, Request, Response, TextPart


def openai_tiles(
    width: int, height: int, *, detail: str = "high", base: int = 85, tile: int = 170
) -> int:
    """Count OpenAI's tiles: fit into 2048 x 2048, short side down to 768, then squares of 512.

    `detail` low is `base` alone for any size; auto counts as high. Source: OpenAI, guide "Images
    and vision", calculating costs.
    """
    if detail == "low":
        return base
    scale = min(1.0, 2048 / max(width, height))
    scale = min(scale, 768 / min(width, height))
    across, down = (ceil(round(side * scale, 6) / 512) for side in (width, height))
    return base + tile * across * down


def openai_patches(
    width: int, height: int, *, multiplier: float = 2.46, most: int | None = None
) -> int:
    """Count OpenAI's patches of 32 x 32 pixels, times the model's multiplier.

    An image of more than `most` patches is scaled down until a whole number of them fits along
    its sides. Source: OpenAI, guide "Images and vision", calculating costs.
    """
    across, down = ceil(width / 32), ceil(height / 32)
    if most is not None and across * down > most:
        shrink = sqrt(most * 32 * 32 / (width * height))
        wide, high = width * shrink / 32, height * shrink / 32
        shrink *= min(floor(wide) / wide or 1.0, floor(high) / high or 1.0)
        across = max(1, ceil(round(width * shrink / 32, 6)))
        down = max(1, ceil(round(height * shrink / 32, 6)))
        across, down = min(across, most), min(down, max(1, most // across))
    return ceil(round(across * down * multiplier, 6))


def anthropic(width: int, height: int, *, longest: int = 2576, most: int = 4784) -> int:
    """Count Claude's patches of 28 x 28 pixels after resizing the image to the limits.

    It is scaled to the largest size of the same shape with a long edge of at most `longest`
    pixels and at most `most` covering patches. Source: Anthropic, "Vision" (evaluate image size)
    and "Coordinates and bounding boxes" (how Claude resizes and pads images). Models before Opus
    4.7 use 1568 pixels and 1568 patches.
    """
    limit = min(Fraction(1), Fraction(longest, max(width, height)))
    if (patches := _patches(width, height, limit)) <= most:
        return patches
    # The number of patches changes only if a side is a whole number of them.
    across, down = _along(width, height, limit, most), _along(height, width, limit, most)
    if across * height >= down * width:
        return max(1, across * _ceil(height * across, width))
    return down * _ceil(width * down, height)


def _patches(width: int, height: int, scale: Fraction) -> int:
    return max(1, ceil(width * scale / 28)) * max(1, ceil(height * scale / 28))


def _along(side: int, other_side: int, limit: Fraction, cap: int) -> int:
    """Return the most whole patches of a side within `cap`, scaled by less than `limit`; or 0."""
    bound = _ceil(side * limit.numerator, 28 * limit.denominator) - 1
    # The total grows with the patches along one side, so the first excess is decisive.
    return bisect_right(range(1, bound + 1), cap, key=lambda n: n * _ceil(other_side * n, side))


def _ceil(numerator: int, denominator: int) -> int:
    return -(-numerator // denominator)


def gemini(width: int, height: int, *, fixed: int | None = None) -> int:
    """Count Gemini's tiles up to version 2.5; from version 3 the `fixed` tokens of a resolution.

    An image of up to 384 pixels on both sides is 258 tokens. Otherwise the tile size is the
    short side over 1.5, between 256 and 768 pixels, at 258 tokens per tile. Source: Google,
    "Image understanding" (calculate tokens) and "Media resolution" (280, 560, 1120 or 2240
    tokens).
    """
    if fixed is not None:
        return fixed
    if width <= 384 and height <= 384:
        return 258
    unit = min(768, max(256, floor(min(width, height) / 1.5)))
    return 258 * ceil(width / unit) * ceil(height / unit)


def qwen_vl(
    width: int,
    height: int,
    *,
    patch: int = 28,
    min_pixels: int | None = None,
    max_pixels: int | None = None,
) -> int:
    """Count Qwen-VL's merged patches and the two tokens around them.

    `patch` is 28 pixels for Qwen2-VL and Qwen2.5-VL and 32 for Qwen3-VL. The sides are rounded
    to whole patches, then the image is scaled to 4 to 16384 patches, or to the given pixels.
    Source: Qwen2.5-VL's image processor (`smart_resize`) and Alibaba Cloud Model Studio, "Visual
    understanding" (h_bar * w_bar / token_pixels + 2).
    """
    smallest, largest = min_pixels or 4 * patch**2, max_pixels or 16384 * patch**2
    high, wide = (max(patch, round(side / patch) * patch) for side in (height, width))
    if high * wide > largest:
        shrink = sqrt(height * width / largest)
        high, wide = (max(patch, floor(s / shrink / patch) * patch) for s in (height, width))
    elif high * wide < smallest:
        grow = sqrt(smallest / (height * width))
        high, wide = (ceil(side * grow / patch) * patch for side in (height, width))
    return high * wide // patch**2 + 2


# Options of each provider's image formula for served models, by the prefix of the model id.
#
# The table was read from the providers' pages on 2026-11-21. Unknown models get the largest
# published options, so that plans overestimate and budgets are kept.

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
        return ImageFormula(dearest, is_declared=False)
    served = model.id.lower()
    listed = next((own for start, own in _FAMILIES[name] if re.match(start, served)), None)
    options = _DEAREST.get(name, {}) if listed is None else listed
    fixed = tuple({**options, **model.image_options(name)}.items())
    return ImageFormula(partial(_count_image, name, fixed), listed is not None, name)


@lru_cache(maxsize=65536)
def _count_image(name: ImageTokens, options: Options, width: int, height: int) -> int:
    return _FORMULAS[name](width, height, **dict(options))


# A plan evaluates the same few sizes for every model, setting and judge.
@lru_cache(maxsize=65536)
def dearest(width: int, height: int) -> int:
    """Return the maximum tokens of an image of this size over all published formulas."""
    return max(f(width, height, **_DEAREST.get(name, {})) for name, f in _FORMULAS.items())


# Tokens of a conversation: expected number and upper bound.

MESSAGE_TOKENS = 4
"""Tokens that a chat template adds to each message, from OpenAI's cookbook."""
TOOLS_BYTES = 1024
"""Bytes of a provider's own text about tools, in addition to the tools: up to about 500 tokens."""
CHARACTERS_PER_TOKEN = {"letters": 4.0, "marks": 1.6, "ideographs": 1.1, "others": 2.2}
"""Latin letters and spaces; digits and punctuation, as in formulas; Chinese, Japanese and Korean;
every other script.
"""

CACHED_CHARACTERS = 4096
"""Maximum length of a text whose token count is cached: longer texts rarely repeat."""
_LETTERS = (string.ascii_letters + string.whitespace).encode()
_MARKS = (string.digits + string.punctuation).encode()
_IDEOGRAPHS = re.compile(r"[ᄀ-ᇿ⺀-鿿가-힯豈-﫿＀-￯\U00020000-\U0003ffff]")


class InputTokens(NamedTuple):
    """Tokens of a request; `unmeasured` counts images of unreadable size."""

    text: int
    images: int
    unmeasured: int = 0

    @property
    def all(self) -> int:
        """Sum of text and image tokens."""
        return self.text + self.images


def estimate_text_tokens(text: str) -> int:
    """Estimate the tokens of a text from its characters by script and `CHARACTERS_PER_TOKEN`.

    Providers publish 4 English characters per token; the other numbers are our estimates, which
    the plan corrects with the model's responses in the store.
    """
    return _measure_text(text)[0]


def _measure_text(text: str) -> tuple[int, int]:
    """Return the expected tokens of a text and its length in UTF-8 bytes."""
    return _count(text) if len(text) > CACHED_CHARACTERS else _count_cached(text)


def _count(text: str) -> tuple[int, int]:
    raw = text.encode("utf-8", "surrogatepass")
    non_letters = raw.translate(None, _LETTERS)
    letters = len(raw) - len(non_letters)
    marks = len(non_letters) - len(non_letters.translate(None, _MARKS))
    ideographs = 0 if len(raw) == len(text) else len(_IDEOGRAPHS.findall(text))
    counts = {"letters": letters, "marks": marks, "ideographs": ideographs}
    counts["others"] = len(text) - letters - marks - ideographs
    tokens = ceil(sum(n / CHARACTERS_PER_TOKEN[kind] for kind, n in counts.items()))
    return tokens, len(raw)


_count_cached = lru_cache(maxsize=65536)(_count)  # every model gets the same questions


def estimate_input(conversation: Conversation, formula: ImageFormula) -> InputTokens:
    """Return the expected input tokens of one conversation."""
    text = sum(estimate_text_tokens(t) for t in _texts(conversation))
    sizes = [image_size(image.path) for image in conversation.images]
    return InputTokens(
        text=text + MESSAGE_TOKENS * (len(conversation.messages) + 1),
        images=sum(formula(size) for size in sizes),
        unmeasured=sizes.count(None),
    )


def bound_input(conversation: Conversation, formula: ImageFormula) -> int:
    """Return an upper bound of input tokens for any provider, used for budget reservations.

    A text token is at least one byte of UTF-8 in every byte-level or byte-fallback tokenizer.
    The bound adds 32 tokens per message and 128 per request for the chat template, and for each
    image its formula and 16 tokens.
    """
    text = sum(_measure_text(t)[1] for t in _texts(conversation))
    sizes = [image_size(image.path) for image in conversation.images]
    images = [formula(size) + 16 for size in sizes]
    return text + 128 + 32 * len(conversation.messages) + sum(images)


@cache
def image_size(path: str) -> tuple[int, int] | None:
    """Read width and height in pixels from the header of an image file; None if unreadable."""
    from PIL import Image

    try:
        with open_regular(path) as file, Image.open(file, formats=READERS) as image:
            return image.size
    except (
        OmibenchError,
        OSError,
        ValueError,
        SyntaxError,
        Image.DecompressionBombError,
    ):
        return None


def _texts(conversation: Conversation) -> list[str]:
    """Yield all billed texts: of the turns, their tool calls, and the available tools."""
    messages = conversation.messages
    texts = [p.text for m in messages for p in m.parts if isinstance(p, TextPart)]
    texts += [text for m in messages for c in m.calls for text in (c.id, c.name, c.arguments)]
    texts += [m.carried for m in messages if m.carried]
    texts += [tool.model_dump_json() for tool in conversation.tools]
    return texts + ([" " * TOOLS_BYTES] if conversation.tools else [])


# Dollar costs of requests at a model's dated price, and the maximum cost of one attempt.


def worst_case(model: ServedModel, price: Price, requests: Sequence[Request]) -> float:
    """Return the maximum cost in US dollars of one attempt at samples of one conversation.

    Input counts once, at the highest of the input prices, as written to a cache if the provider
    bills that. Output counts as `max_tokens` for every sample, at the highest output price.
    """
    return add_worst_cases(model, price, [requests])


def add_worst_cases(model: ServedModel, price: Price, calls: Iterable[Sequence[Request]]) -> float:
    """Return the maximum cost in US dollars of one attempt at several calls; see `worst_case`."""
    input_price = max(price.input * model.cache_write_factor, price.highest("input"))
    dear = price.model_copy(update={"input": input_price, "output": price.highest("output")})
    formula = image_formula(model)
    return sum(
        dear.compute_dollars(
            bound_input(call[0].conversation, formula),
            sum(request.decoding.max_tokens for request in call),
            batch=model.is_batch,
        )
        for call in calls
    )


def usd_text(usd: float) -> str:
    """Format US dollars: cents, or three digits below one dollar."""
    if usd == 0 or usd >= 1:
        return f"${usd:,.2f}"
    return f"${usd:.3g}" if usd >= 1e-4 else "under $0.0001"


# Token and latency statistics of a model's earlier responses, for estimates.

Answered = tuple[Request, Response]


class History(NamedTuple):
    """Means over `responses` responses; None if no provider reported them.

    `input_factor` is the ratio of reported to estimated input tokens, `image_tokens` the output
    tokens of drawn pictures.
    """

    responses: int = 0
    output_tokens: float | None = None
    latency_s: float | None = None
    input_factor: float | None = None
    image_tokens: float | None = None


NO_HISTORY = History()


def learn(calls: Iterable[Sequence[Answered]], formula: ImageFormula) -> History:
    """Compute statistics of calls, each with the samples of one conversation."""
    outputs: list[int] = []
    drawn: list[int] = []
    latencies: list[float] = []
    counted = ruled = responses = 0
    for call in calls:
        usages = [response.usage for _, response in call]
        responses += len(call)
        outputs += [u.output_tokens for u in usages if u.output_tokens is not None]
        drawn += [u.image_output_tokens for u in usages if u.image_output_tokens is not None]
        latencies += [r.latency_s for _, r in call if r.latency_s is not None]
        inputs = [u.input_tokens for u in usages if u.input_tokens is not None]
        if call and len(inputs) == len(call):
            counted += sum(inputs)
            ruled += estimate_input(call[0][0].conversation, formula).all
    return History(
        responses=responses,
        output_tokens=fmean(outputs) if outputs else None,
        image_tokens=fmean(drawn) if drawn else None,
        latency_s=fmean(latencies) if latencies else None,
        input_factor=counted / ruled if counted and ruled else None,
    )


# Estimates of calls to a model: tokens, dollars and hours, expected and maximum.

EXPECTED_SHARE = 0.25
"""Expected share of `max_tokens` used by a response if the store has none."""
TOKENS_PER_S = 50.0
"""Assumed output tokens per second of a call after `FIRST_TOKEN_S`, without stored latencies."""
FIRST_TOKEN_S = 2.0


class CostEstimate(NamedTuple):
    """Resources of a number of calls. Dollars are None for a paid model without a price.

    `text`, `images` and `output` are expected tokens, `output_most` is the sum of `max_tokens`;
    `unmeasured` counts images of unreadable size. `hours` is None if unknown.
    """

    calls: int = 0
    text: float = 0
    images: float = 0
    unmeasured: int = 0
    output: float = 0
    output_most: int = 0
    usd: float | None = 0.0
    usd_most: float | None = 0.0
    hours: float | None = 0.0


def estimate(
    model: ModelBlock, calls: Sequence[Sequence[Request]], history: History = NO_HISTORY
) -> CostEstimate:
    """Estimate calls, each with samples of one conversation whose input is counted once."""
    if not calls:
        return CostEstimate()
    formula = image_formula(model)
    inputs = [estimate_input(call[0].conversation, formula) for call in calls]
    factor = history.input_factor or 1.0
    limits = [request.decoding.max_tokens for call in calls for request in call]
    drawn = _pictures(model, history)
    output = sum(min(limit, max(drawn, _output(history, limit))) for limit in limits)
    text, images = (factor * sum(i[part] for i in inputs) for part in (0, 1))
    of_pictures = sum(min(limit, drawn) for limit in limits)
    usd, usd_most = _dollars(model, calls, text + images, output, of_pictures)
    return CostEstimate(
        calls=len(calls),
        text=text,
        images=images,
        unmeasured=sum(i.unmeasured for i in inputs),
        output=output,
        output_most=sum(limits),
        usd=usd,
        usd_most=usd_most,
        hours=_hours(model, len(calls), text + images, output, history),
    )


def _output(history: History, max_tokens: int) -> float:
    if history.output_tokens is None:
        return EXPECTED_SHARE * max_tokens
    return history.output_tokens


def _pictures(model: ModelBlock, history: History) -> float:
    """Return the expected output tokens of the pictures in one reply."""
    draws = model.draws if isinstance(model, ServedModel) else None
    if history.image_tokens is not None or draws is None:
        return history.image_tokens or 0.0
    return draws.pictures * draws.tokens


def _dollars(
    model: ModelBlock,
    calls: Sequence[Sequence[Request]],
    sent: float,
    output: float,
    of_pictures: float,
) -> tuple[float | None, float | None]:
    if not model.is_paid:
        return 0.0, 0.0
    if not isinstance(model, ServedModel) or (price := model.price) is None:
        return None, None
    worst_usd = add_worst_cases(model, price, calls)
    expected_usd = price.compute_dollars(
        sent, output, batch=model.is_batch, image_output_tokens=of_pictures
    )
    return min(worst_usd, expected_usd), worst_usd


def _hours(
    model: ModelBlock, calls: int, sent: float, output: float, history: History
) -> float | None:
    """Return the longest of the times set by requests/min, tokens/min and concurrency."""
    if not isinstance(model, ServedModel):
        return 0.0
    if model.is_batch or isinstance(model, LocalModel):
        return None
    limits = model.limits
    latency = history.latency_s or FIRST_TOKEN_S + output / calls / TOKENS_PER_S
    minutes = [calls * latency / min(limits.concurrency, calls) / 60]
    if limits.requests_per_minute:
        minutes.append(calls / limits.requests_per_minute)
    if limits.tokens_per_minute:
        minutes.append((sent + output) / limits.tokens_per_minute)
    return max(minutes) / 60
