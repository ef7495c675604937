"""Visible text of a response, which can contain an answer, in time linear in its length.

Nothing is judged here: invisible content (thinking, invisible characters) is removed, and the
size is limited for later, more expensive steps.
"""

from __future__ import annotations

from glyphtex import lazy_re as re

TAIL_CHARS = 40_000
HEAD_CHARS = 4_000

_INVISIBLE = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]"
)
_INVISIBLE_ASCII = bytes([*range(9), 11, 12, *range(14, 32), 127])
_FULL_WIDTH = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)} | {0x3000: 0x20}
_WIDE_BYTES = (b"\xef\xbc", b"\xef\xbd", b"\xe3\x80\x80")
"""In UTF-8 every full-width character begins with one of these."""
_WIDE = re.compile("[\uff01-\uff5e\u3000]+")
_THINK_TAGS = ("think", "thinking", "thought", "reasoning")
_THINK_MARK = re.compile(rf"</?(?:{'|'.join(_THINK_TAGS)})>")


def drop_hidden_text(text: str) -> str:
    """Return the visible part of a response: no thinking, invisible or full-width characters.

    Of a long text, only the first 4,000 and the last 40,000 characters are kept: answers are at
    an end, and an output of megabytes must not cost more than a long one.
    """
    text = find_answering_part(text)
    if len(text) > HEAD_CHARS + TAIL_CHARS:
        text = f"{text[:HEAD_CHARS]}\n{text[-TAIL_CHARS:]}"
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if text.isascii():  # several times as fast as checking each character below
        text = text.encode("ascii").translate(None, _INVISIBLE_ASCII).decode("ascii")
    else:
        if not text.replace("\n", "").isprintable():
            text = _INVISIBLE.sub("", text)
        data = text.encode("utf-8", "surrogatepass")
        if any(mark in data for mark in _WIDE_BYTES):  # much faster than searching without a match
            text = _WIDE.sub(lambda m: m.group().translate(_FULL_WIDTH), text)
    return text.strip()


def find_answering_part(text: str) -> str:
    """Return the text after the last closed thinking block, up to an unclosed one."""
    if "<" not in text or not _THINK_MARK.search(text):
        return text
    for tag in _THINK_TAGS:
        closed = text.rfind(f"</{tag}>")
        if closed >= 0:
            text = text[closed + len(tag) + 3 :]
        opened = text.find(f"<{tag}>")
        if opened >= 0:
            text = text[:opened]
    return text
