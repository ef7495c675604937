"""Detect documents that have only solutions and no questions."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from omibench.stages.ocr.layout.layout import Item, Line
from omibench.stages.ocr.structure.tasks import asks_for_work, leaves_blank

if TYPE_CHECKING:
    from omibench.stages.ocr.structure.drafts import Draft

_FEWEST = 3
_SOLVED = 0.8
_ASKING = 0.2
_TITLE = 8
"""The number of lines at the start of a document that can be its title."""
_SOLUTIONS = re.compile(
    r"\b(?:(?:worked |model |full |suggested |official )?solutions?|mark(?:ing)? schemes?|"
    r"soluciones|resoluci[óo]n(?:es)?|resolu[çc](?:[ãa]o|[õo]es)|solu[çc](?:[ãa]o|[õo]es)|"
    r"gabarito|corrig[ée]s?|l[öo]sungen|musterl[öo]sung(?:en)?|soluzioni|rozwi[ąa]zania|"
    r"řešení|решени[ея]|розв.язки)\b|参考答案|试题解答|解答例|模範解答|详解|解析",
    re.I,
)


def holds_solutions_alone(drafts: Sequence[Draft], preamble: Sequence[Item]) -> bool:
    """Return whether nearly all problems are solutions, or a solutions title has no question
    below."""
    if len(drafts) < _FEWEST:
        return False
    solved = sum(bool(d.solution) and not d.items and not d.options for d in drafts)
    if solved >= _SOLVED * len(drafts):
        return True
    head = [item.text for item in preamble if isinstance(item, Line)][:_TITLE]
    if not any(_SOLUTIONS.search(line) for line in head):
        return False
    return sum(map(_asks, drafts)) < _ASKING * len(drafts)


def _asks(draft: Draft) -> bool:
    if draft.options:
        return True
    text = " ".join(item.text for item in draft.statement if isinstance(item, Line))
    sentences = re.split(r"(?<=[.。?？!:：;；])\s*", text)
    return leaves_blank(text) or any(asks_for_work(sentence) for sentence in sentences)
