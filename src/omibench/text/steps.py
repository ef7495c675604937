"""Splitting of a worked solution: reasoning without the final answer, divided into steps."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

_OPENING: Final = re.compile(r"\A[\s{]*reasoning[ \t]*:[ \t]*", re.IGNORECASE)
_FINAL: Final = re.compile(
    r"(?:^|(?<=[.!?。])[ \t])[ \t*#>_]*final answer\b[^\n]*"
    r"(?:\n\s*(?:\$\$|\\\[)?\s*\\boxed[^\n]*)?",
    re.IGNORECASE | re.MULTILINE,
)
_MARK: Final = re.compile(
    r"#{1,6}[ \t]|\*{0,2}(?:step[ \t]*\d|第[一二三四五六七八九十\d]+步)"
    r"|\d{1,2}[.)][ \t]|[-*•][ \t]",
    re.IGNORECASE,
)
"""Start of a line that opens a step: a heading, `Step 2`, a number, a bullet."""
_HEADING: Final = re.compile(
    r"#{1,6}[ \t][^\n]*|\*\*[^\n*]+\*\*:?|\*{0,2}step[ \t]*\d{1,2}[.:]?\*{0,2}:?", re.IGNORECASE
)
_FORMULA_FIRST: Final = re.compile(r"\$\$|\\\[|\\begin\b|[=≈<>]")
_SENTENCE_END: Final = re.compile(r"(?<=[.!?])\s+(?=[^\W\d_]|\$|\\)|(?<=[。！？])")
_ABBREVIATION: Final = re.compile(r"\b(?:e\.g|i\.e|figs?|eqs?|cf|vs|approx|resp)\.$", re.IGNORECASE)


def strip_final_answer(text: str) -> str:
    r"""Return the reasoning of a reply of the form `Reasoning: ... Final Answer: \boxed{...}`.

    Args:
        text: Unchanged reply (OMIBench, A.3.1: a trace and an explicit final answer).

    Returns:
        The reply without its opening word and the lines that state the final answer.
    """
    return _FINAL.sub("", _OPENING.sub("", text, count=1)).strip(" \t\n{}")


def split_steps(text: str) -> list[str]:
    """Split reasoning into its steps s_1 ... s_m (OMIBench, section 3.1).

    A step ends at an empty line, and begins at a heading, a numbered line or a bullet. A heading
    belongs to the text after it, a displayed formula to the text before it. Reasoning of a
    single paragraph is split into sentences.

    Args:
        text: Reasoning without its final answer.

    Returns:
        Non-empty steps in order. Together they contain all of the text except the white space
        between them.
    """
    blocks = _join_blocks(_list_blocks(text))
    return blocks if len(blocks) != 1 else _split_sentences(blocks[0])


def _list_blocks(text: str) -> Iterator[str]:
    lines: list[str] = []
    displayed = False
    for line in text.splitlines():
        opens_step = bool(_MARK.match(line.lstrip()))
        if not displayed and lines and (not line.strip() or opens_step):
            yield "\n".join(lines).strip()
            lines = []
        displayed = _ends_displayed(line, displayed)
        if line.strip() or lines:
            lines.append(line)
    if lines:
        yield "\n".join(lines).strip()


def _ends_displayed(line: str, displayed: bool) -> bool:
    """Return whether the end of a line is within a displayed formula or a code block."""
    if line.count("$$") % 2 or line.lstrip().startswith("```"):
        return not displayed
    opened, closed = line.rfind("\\["), line.rfind("\\]")
    return displayed if opened == closed else opened > closed


def _join_blocks(blocks: Iterator[str]) -> list[str]:
    joined: list[str] = []
    for block in blocks:
        continues = bool(joined) and (
            _HEADING.fullmatch(joined[-1].rpartition("\n")[2]) or _FORMULA_FIRST.match(block)
        )
        if continues:
            joined[-1] = f"{joined[-1]}\n{block}"
        else:
            joined.append(block)
    return joined


def _split_sentences(text: str) -> list[str]:
    sentences: list[str] = []
    for piece in _SENTENCE_END.split(text):
        if sentences and _is_unfinished(sentences[-1]):
            sentences[-1] = f"{sentences[-1]} {piece}"
        elif piece.strip():
            sentences.append(piece)
    return [sentence.strip() for sentence in sentences]


def _is_unfinished(sentence: str) -> bool:
    """Return whether a full stop ends an abbreviation or is within a formula."""
    return sentence.count("$") % 2 == 1 or bool(_ABBREVIATION.search(sentence[-8:]))
