"""Tokens of a conversation: what is expected, and what it can be at most."""

from __future__ import annotations

import re
import string
from functools import cache, lru_cache
from math import ceil
from typing import NamedTuple

from omibench.cost.families import ImageFormula
from omibench.errors import OmibenchError
from omibench.files.intake import open_regular
from omibench.files.intake.picture import READERS
from omibench.schemas.request import Conversation, TextPart

MESSAGE_TOKENS = 4
"""Tokens that a chat template puts around one message, as OpenAI's cookbook counts them."""
TOOLS_BYTES = 1024
"""Bytes that a provider's own words on tools take besides the tools: up to about 500 tokens."""
CHARACTERS_PER_TOKEN = {"letters": 4.0, "marks": 1.6, "ideographs": 1.1, "others": 2.2}
"""Letters of the Latin alphabet and spaces; digits and punctuation, which formulas are made of;
Chinese, Japanese and Korean; every other script."""

CACHED_CHARACTERS = 4096
"""Characters of a text whose tokens are remembered: longer ones are mostly shown once."""
_LETTERS = (string.ascii_letters + string.whitespace).encode()
_MARKS = (string.digits + string.punctuation).encode()
_IDEOGRAPHS = re.compile(r"[ᄀ-ᇿ⺀-鿿가-힯豈-﫿＀-￯\U00020000-\U0003ffff]")


class InputTokens(NamedTuple):
    """Tokens of what is sent; `unmeasured` of its images have a size that could not be read."""

    text: int
    images: int
    unmeasured: int = 0

    @property
    def all(self) -> int:
        """Text and images together."""
        return self.text + self.images


def estimate_text_tokens(text: str) -> int:
    """About how many tokens a text is: its characters by script, `CHARACTERS_PER_TOKEN` of each.

    The providers print 4 English characters a token; the other numbers are our rule, which the
    plan corrects by the responses of the model that the store holds.
    """
    return _measure_text(text).tokens


class _TextSize(NamedTuple):
    """The tokens of a text as they are expected, and its bytes of UTF-8."""

    tokens: int
    bytes: int


def _measure_text(text: str) -> _TextSize:
    return _count(text) if len(text) > CACHED_CHARACTERS else _count_cached(text)


def _count(text: str) -> _TextSize:
    raw = text.encode("utf-8", "surrogatepass")
    non_letters = raw.translate(None, _LETTERS)
    letters, marks = (
        len(raw) - len(non_letters),
        len(non_letters) - len(non_letters.translate(None, _MARKS)),
    )
    ideographs = 0 if len(raw) == len(text) else len(_IDEOGRAPHS.findall(text))
    counts = {"letters": letters, "marks": marks, "ideographs": ideographs}
    counts["others"] = len(text) - letters - marks - ideographs
    tokens = ceil(sum(n / CHARACTERS_PER_TOKEN[kind] for kind, n in counts.items()))
    return _TextSize(tokens, len(raw))


_count_cached = lru_cache(maxsize=65536)(_count)  # every model is asked the same questions


def estimate_input(conversation: Conversation, formula: ImageFormula) -> InputTokens:
    """Input tokens to expect of one conversation."""
    text = sum(estimate_text_tokens(t) for t in _texts(conversation))
    sizes = [image_size(image.path) for image in conversation.images]
    return InputTokens(
        text=text + MESSAGE_TOKENS * (len(conversation.messages) + 1),
        images=sum(formula(size) for size in sizes),
        unmeasured=sizes.count(None),
    )


def bound_input(conversation: Conversation, formula: ImageFormula) -> int:
    """Input tokens that no provider exceeds: the bound that a budget reserves.

    A token of text is at least one byte of UTF-8 in every byte-level or byte-fallback tokenizer;
    a chat template takes at most 32 tokens a message and 128 in all; an image is what its formula
    gives, and 16 tokens around it.
    """
    text = sum(_measure_text(t).bytes for t in _texts(conversation))
    sizes = [image_size(image.path) for image in conversation.images]
    images = [formula(size) + 16 for size in sizes]
    return text + 128 + 32 * len(conversation.messages) + sum(images)


@cache
def image_size(path: str) -> tuple[int, int] | None:
    """Width and height in pixels from the head of an image file; None when it has none to read."""
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
    """All words that a provider counts: of the turns, of their calls, and of the tools on offer."""
    messages = conversation.messages
    texts = [p.text for m in messages for p in m.parts if isinstance(p, TextPart)]
    texts += [text for m in messages for c in m.calls for text in (c.id, c.name, c.arguments)]
    texts += [m.carried for m in messages if m.carried]
    texts += [tool.model_dump_json() for tool in conversation.tools]
    return texts + ([" " * TOOLS_BYTES] if conversation.tools else [])
