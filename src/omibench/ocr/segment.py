"""A paper cut into problems: the best chain of numbers, and the blocks between them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from omibench.ocr.layout import Item, Line
from omibench.ocr.numbering import Number, number_of

MAX_GAP = 3
_WEIGHT = {"word": 2.0, "di": 2.0, "example": 2.0, "code": 1.3, "heading": 0.9}
_ANSWER_TITLE = re.compile(
    r"[\W\d_]*(?:answer key|answers?|solutions?|worked solutions|keys?|clave(?: de respuestas)?|"
    r"respuestas|soluciones|gabarito|respostas|resolu[çc][ãa]o|solu[çc][õo]es|l[öo]sungen|"
    r"l[öo]sungsschl[üu]ssel|参考答案|答案|参考答案及解析|解答)[\W_]*",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A line that may begin a problem: its place in the flow and how it looks."""

    index: int
    number: Number
    indent: float
    bold: bool
    size: float


@dataclass(slots=True)
class Block:
    """One problem as it stands in the paper: its number and what follows up to the next one."""

    number: int
    items: list[Item]


def candidates_of(flow: Sequence[Item]) -> list[Candidate]:
    """Every line that begins, at the left of its row, with what may be a problem's number."""
    found = []
    for index, item in enumerate(flow):
        if isinstance(item, Line) and item.upright and item.starts:
            number = number_of(item.text)
            if number:
                found.append(Candidate(index, number, item.indent, item.bold, item.size))
    return found


def best_chain(candidates: Sequence[Candidate]) -> list[Candidate]:
    """The most plausible sequence of problem numbers, by dynamic programming.

    Each member counts one. Skipped numbers (at most 3 in a row), a changed indent, weight or type
    size, and a late first number cost; a chain keeps to one style of numbering, and styles that
    name the problem ("Problem 3", "第3题") count double. Of equal chains the later one wins, so a
    list of instructions does not take the place of the first problems.
    """
    best: list[float] = []
    back: list[int | None] = []
    by_value: dict[tuple[str, int], list[int]] = {}
    for k, candidate in enumerate(candidates):
        value, style = candidate.number.value, candidate.number.style
        score, parent = 1 - min(3.0, 0.3 * (value - 1)), None
        for gap in range(MAX_GAP + 1):
            for earlier in by_value.get((style, value - 1 - gap), ()):
                linked = 1 + best[earlier] - 0.6 * gap - _change(candidates[earlier], candidate)
                if linked >= score:
                    score, parent = linked, earlier
        best.append(score)
        back.append(parent)
        by_value.setdefault((style, value), []).append(k)
    if not best:
        return []
    ranked = [
        score * _WEIGHT.get(c.number.style, 1.0) for score, c in zip(best, candidates, strict=True)
    ]
    last: int | None = max(range(len(best)), key=lambda k: (ranked[k], k))
    chain = []
    while last is not None:
        chain.append(candidates[last])
        last = back[last]
    chain.reverse()
    return chain if _is_plausible(chain) else []


def _change(a: Candidate, b: Candidate) -> float:
    moved = min(0.8, max(0.0, abs(a.indent - b.indent) - 8) / 20)
    return moved + 0.5 * (a.bold != b.bold) + 0.4 * (abs(a.size - b.size) > 1.2)


def _is_plausible(chain: Sequence[Candidate]) -> bool:
    if len(chain) > 1:
        return True
    return chain[0].bold or chain[0].number.style != "plain"


def blocks_of(flow: Sequence[Item], chain: Sequence[Candidate]) -> list[Block]:
    """The items of each problem of the chain; its number is cut off the first line."""
    ends = [*(c.index for c in chain[1:]), len(flow)][: len(chain)]
    return [
        Block(c.number.value, list(flow[c.index : end])) for c, end in zip(chain, ends, strict=True)
    ]


def split_answers(flow: Sequence[Item], size: float) -> tuple[list[Item], list[Item]]:
    """The paper itself and the section of answers at its end, if it has one.

    The section begins with a title of its own, such as "Answer key" or 参考答案, that is set in
    bold or in larger type than `size`, and it follows at least two numbered lines.
    """
    numbered = 0
    for index, item in enumerate(flow):
        if not isinstance(item, Line):
            continue
        title = item.starts and (item.bold or item.size > 1.1 * size)
        if numbered >= 2 and title and _ANSWER_TITLE.fullmatch(item.text):
            return list(flow[:index]), list(flow[index + 1 :])
        numbered += item.starts and number_of(item.text) is not None
    return list(flow), []
