"""Tokens of a conversation: expected number and upper bound."""

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
    return _measure_text(text).tokens


class _TextSize(NamedTuple):
    """Return the expected tokens of a text and its length in UTF-8 bytes."""

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
    text = sum(_measure_text(t).bytes for t in _texts(conversation))
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
