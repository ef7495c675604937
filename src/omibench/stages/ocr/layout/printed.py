"""Select the printed lines of a photograph, without handwriting and labels of figures."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from statistics import median

from omibench.stages.ocr.layout.layout import Line

_SURE = 0.87
"""The confidence below which a line counts as handwriting, since engines are trained on print."""
_SURE_OF_WORDS = 0.76
_SURE_OF_CHOICES = 0.6
_SLACK = 0.08
_LARGE = 1.55
_LONG = 8
_WORD = re.compile(r"[^\W\d_]{3}|[\u3400-\u9fff]{2}")
_HAN = re.compile(r"[\u3400-\u9fff]")
_MEASURE = re.compile(
    r"[^\w(=]*\d+(?:\.\d+)?\s*(?:mm|cm|dm|km|m|kg|g|s|厘米|分米|毫米|千米|米|厘|分|秒|吨|元)?[²³]?[\W_]*"
)
_CHOICE = re.compile(r"[(]?[A-H][.、:)]|[(]\d{1,2}[)]|\d{1,2}[.、](?!\d)|[①-⑳]")
_UNITS = re.compile(r"[(]?(?:平方|立方)?(?:厘米|分米|毫米|千米|米)[23]?[)]?")
_SUM = r"[\d\s.,:a-z()\[\]<>/%²³^#△□]"
_CALCULATION = re.compile(rf"{_SUM}*[\d)\]a-z]?\s*[=+\-×x*÷≈]{_SUM}*(?:[=+\-×x*÷≈]{_SUM}*)*", re.I)
_RESULT = re.compile(r"^\s*=|=\s*\.?\d")
_REPLY = re.compile(r"[答解][,:;!.。：，；！]?")
_SHORT = 5


def find_unprinted_lines(lines: Sequence[Line]) -> dict[int, str]:
    """Return id(line) and reason of lines of a photograph that are not printed text.

    `handwriting` marks uncertain lines, calculations and replies; `label` marks short isolated
    lines, such as letters and measures of figures. If no long line is read with confidence, all
    lines stay.
    """
    texts = {id(line): unicodedata.normalize("NFKC", line.text) for line in lines}
    words = [
        line
        for line in lines
        if len(line.text) >= _LONG
        and _WORD.search(texts[id(line)])
        and not _REPLY.match(texts[id(line)])
    ]
    if not words:
        return {}
    confidences = sorted(ln.confidence or 1.0 for ln in words for _ in ln.text)
    usual = confidences[len(confidences) * 2 // 3]
    height = median(ln.box.height for ln in words for _ in ln.text)
    sure = min(_SURE, usual - _SLACK)
    reasons: dict[int, str] = {}
    for line in lines:
        reason = _reason(line, texts[id(line)], words, sure, height)
        if reason:
            reasons[id(line)] = reason
    return reasons


def _reason(line: Line, text: str, words: Sequence[Line], sure: float, height: float) -> str | None:
    confidence = 1.0 if line.confidence is None else line.confidence
    worked = _CALCULATION.fullmatch(_UNITS.sub("", text)) is not None
    worded = _WORD.search(text) is not None and not worked
    mixed = "=" in text and 2 * len(_HAN.findall(text)) < len(text)
    fewest = min(sure, _SURE_OF_WORDS) if worded and not mixed else sure
    if _CHOICE.match(text) and len(text) > 3:
        fewest = min(fewest, _SURE_OF_CHOICES)
    if confidence < fewest or (_REPLY.match(text) and confidence < 0.97):
        return "handwriting"
    if _MEASURE.fullmatch(text) and not _shares_row(line, words):
        return "label"
    if worded and _HAN.search(text):
        return None
    row = _shares_row(line, words)
    if line.box.height > _LARGE * height and not row:
        return "handwriting"
    if worked and (_RESULT.search(text) or not row) and not _CHOICE.match(text):
        return "handwriting"
    return "label" if len(text) <= _SHORT and not row and not _CHOICE.match(text) else None


def _shares_row(line: Line, words: Sequence[Line]) -> bool:
    """Return whether a line of words is on the same row."""
    return any(
        word_line is not line
        and -line.box.gap_y(word_line.box) > 0.5 * min(line.box.height, word_line.box.height)
        for word_line in words
    )
