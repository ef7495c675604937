"""Reasons why a response has no answer: refused, loop, truncated, empty or unparsed.

These are separate outcomes (design, section 7): counted as wrong under published rules and as
unknown in the bounds. They are checked only if no answer was found.
"""

from __future__ import annotations

from glyphtex import lazy_re as re
from omibench.schemas.verdict import VerdictOutcome

LOOP_REPEATS = 5
LOOP_CHARS = 200
_LOOP_WINDOW = 4_000
_PASSAGE = 16

_REFUSAL = re.compile(
    r"\bi(?:'|’)?\s*(?:am|m)?\s*(?:sorry|unable to|not able to|afraid)"
    r"|\bi\s+(?:can\s?not|can(?:'|’)t|won(?:'|’)t|will not|could not|couldn(?:'|’)t|must decline)"
    r"|\bas an ai\b|\bunable to (?:assist|help|comply|answer|provide|view|see|determine)"
    r"|\b(?:sorry|apologi[sz]e)\b|抱歉|对不起|无法(?:回答|提供|协助|确定)|不能(?:回答|提供|协助)"
    r"|\bno puedo\b|\blo siento\b|\bnão posso\b|\bdesculpe\b|\bje ne peux pas\b|\bтакже не могу\b"
    r"|\bне могу\b|\bизвините\b",
    re.IGNORECASE,
)
_REFUSAL_HEAD = 240
_REFUSAL_SHORT = 1_200


def is_refusal(text: str) -> bool:
    """Return whether a response declines to answer, at its start or throughout."""
    if len(text) <= _REFUSAL_SHORT:
        return _REFUSAL.search(text) is not None
    return _REFUSAL.search(text[:_REFUSAL_HEAD]) is not None


def is_loop(text: str) -> bool:
    """Return whether the text ends in one passage repeated 5 times or more over 200 characters or
    more.

    The passage can be cut off: the last 4,000 characters are compared with themselves, moved by
    every distance at which their last 16 characters occur again.
    """
    tail = text.rstrip()[-_LOOP_WINDOW:][::-1]
    period = tail.find(tail[:_PASSAGE], 1)
    while 0 < period <= len(tail) // LOOP_REPEATS:
        length = max(LOOP_CHARS, LOOP_REPEATS * period)
        if length <= len(tail) and tail[period:length] == tail[: length - period]:
            return True
        period = tail.find(tail[:_PASSAGE], period + 1)
    return False


def failure(text: str, finish_reason: str | None) -> VerdictOutcome | None:
    """Return the outcome of a response without an answer; None if no reason is evident."""
    if not text.strip():
        return "truncated" if finish_reason == "length" else "empty"
    if is_loop(text):
        return "loop"
    if is_refusal(text):
        return "refused"
    return "truncated" if finish_reason == "length" else None
