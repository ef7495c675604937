"""Join lines to paragraphs."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from omibench.schemas.image_marks import IMAGE_MARK
from omibench.stages.ocr.layout.layout import Line

_LIST = re.compile(r"[(（](?:\d{1,2}|[a-z]|[ivx]{1,4})[)）]|[•·▪–-]\s|\d{1,2}[.)]\s")
_CLOSES = re.compile(r"[.,;:!?)\]](?!\w)")
"""Punctuation after a formula that was broken over two lines."""
_CJK = re.compile(r"[\u3000-\u303f\u3400-\u9fff\uff00-\uffef]")


def paragraphs(lines: Sequence[Line], words: Collection[str] = ()) -> str:
    """Return the text of lines: one space within a paragraph, a blank line between paragraphs.

    A word divided at a line's end is joined; if the hyphen may belong to the word, the forms
    elsewhere in the paper (`words`) decide.
    """
    text = ""
    last: Line | None = None
    for line in lines:
        if last is None or not text:
            text += line.text
        elif _breaks(last, line):
            text += "\n\n" + line.text
        else:
            text = _join_texts(text, line.text, words)
        last = line
    return re.sub(r" ?\u00ad ?", "", text).strip()


def without_marks(text: str) -> str:
    """Escape a printed `[IMAGE0]`, so that it is not taken for the mark of a figure."""
    return IMAGE_MARK.sub(r"[IMAGE \1]", text)


def collect_words(lines: Sequence[Line]) -> frozenset[str]:
    """Return every word of a paper in lower case, with hyphens."""
    return frozenset(w.lower() for line in lines for w in re.findall(r"\w[\w-]*\w", line.text))


def _breaks(above: Line, line: Line) -> bool:
    if line.page != above.page or line.box.y0 < above.box.y0 - line.size:
        return re.search(r"[.!?。！？:：]$", above.text) is not None
    level = _find_last_baseline(above)
    if abs(line.baseline - level) <= 0.8 * line.size:
        return False
    if line.starts and _LIST.match(line.text):
        return True
    return line.baseline - level > 1.75 * max(line.size, above.size)


def _find_last_baseline(line: Line) -> float:
    """Return the baseline of a line, or of the line in which its broken formula ends."""
    parts = [part for formula in line.formulas[-1:] for part in formula.region.following]
    return line.baseline - (parts[-1].dy if parts else 0.0)


def _join_texts(text: str, continuation: str, words: Collection[str]) -> str:
    if text.endswith("\u00ad"):
        return text[:-1] + continuation
    head = re.search(r"(\w+)-$", text)
    tail = re.match(r"[a-zà-ÿ]+", continuation)
    if head and tail and not head[1].isdigit():
        joined_word, hyphened = (head[1] + tail[0]).lower(), f"{head[1]}-{tail[0]}".lower()
        keep = hyphened in words and joined_word not in words
        return text + continuation if keep else text[:-1] + continuation
    if text and continuation and _CJK.match(text[-1]) and _CJK.match(continuation[0]):
        return text + continuation
    if text.endswith("$") and _CLOSES.match(continuation):
        return text + continuation
    return f"{text} {continuation}"
