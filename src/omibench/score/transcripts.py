"""How near a text that was read is to what is printed: by characters, wherever they stand.

Both texts are compared without what engines and typists differ in though nothing was misread:
space, forms of punctuation and width, and the commands of LaTeX.
"""

from __future__ import annotations

import re
import unicodedata

_COMMANDS = re.compile(
    r"\\(?:text|mathrm|mathbf|mathit|operatorname|left|right|begin|end|displaystyle|q?quad|[,;:! ])"
)
_DROPPED = re.compile(r"[\\${}\s_^]")
_MARKS = str.maketrans(
    {
        "。": ".", "、": ",", "．": ".", "，": ",", "；": ";", "：": ":", "？": "?", "！": "!",
        "（": "(", "）": ")", "“": '"', "”": '"', "‘": "'", "’": "'", "−": "-", "–": "-", "—": "-",
        "×": "x", "·": "·",
    }
)  # fmt: skip


def bare(text: str) -> str:
    """A text as it is compared: NFKC, one form of each mark, lower case, no space, no LaTeX."""
    plain = unicodedata.normalize("NFKC", text).translate(_MARKS)
    return _DROPPED.sub("", _COMMANDS.sub("", plain)).lower()


def similarity(text: str, reference: str) -> float:
    """One less the normalised Levenshtein distance of the bare texts, in [0, 1]."""
    from rapidfuzz.distance import Levenshtein

    return Levenshtein.normalized_similarity(bare(text), bare(reference))


def best_window(text: str, reference: str) -> float:
    """The similarity of the best window: text around what was asked for costs nothing; [0, 1]."""
    from rapidfuzz import fuzz

    one, other = bare(text), bare(reference)
    return fuzz.partial_ratio(one, other) / 100 if one and other else float(one == other)
