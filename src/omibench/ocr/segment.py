"""A paper cut into problems: the best chain of numbers, and the blocks between them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from omibench.ocr.layout import Item, Line
from omibench.ocr.numbering import NAMED, Number, label_of, number_of, rare_number_of
from omibench.ocr.titles import is_end, opens_section, section_name

_WEIGHT = dict.fromkeys(NAMED, 2.0) | {"code": 1.3, "heading": 0.9}


class Patience(NamedTuple):
    """How many numbers a chain may skip at once, and what each skipped one costs it."""

    gap: int = 3
    cost: float = 0.6


QUESTIONS = Patience()
SOLUTIONS = Patience(gap=60, cost=0.05)
"""Not every problem of a paper has a solution."""
RARE = Patience(gap=2, cost=1.1)
"""A number in a style that mostly means something else must not be one too far."""
_TITLE_ABOVE = 10
"""Lines between the title of a section and its first problem, at most."""


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
    """One problem as it stands in the paper: what it is called, and its items up to the next one.

    `number` is unique in the paper: `7`, or `B2`, `II.3` where sections count anew. `end` is where
    the text begins on the first line.
    """

    number: str
    items: list[Item]
    value: int = 0
    end: int = 0
    section: str = ""


class Section(NamedTuple):
    """Problems that are counted together; the name is empty where a paper counts through."""

    name: str
    chain: list[Candidate]


def candidates_of(
    flow: Sequence[Item], read: Callable[[str], Number | None] = number_of
) -> list[Candidate]:
    """Every line that begins, at the left of its row, with what may be a problem's number.

    Of lines that name parts of one problem ("B2 a)", "B2 b)") only the first begins it.
    """
    found: list[Candidate] = []
    last: dict[tuple[str, str], int] = {}
    for index, item in enumerate(flow):
        if isinstance(item, Line) and item.upright and item.starts:
            number = read(item.text)
            if number:
                kind = (number.style, number.prefix)
                repeats = number.part and last.get(kind) == number.value
                last[kind] = number.value
                if not repeats:
                    found.append(Candidate(index, number, item.indent, item.bold, item.size))
    return found


def sections_of(flow: Sequence[Item], size: float, patience: Patience = QUESTIONS) -> list[Section]:
    """The numbering of a paper: one section, or several that each begin with 1 again.

    Styles that mostly mean something else, such as `(3)`, are tried where there is no other.
    `size` is that of the body, in points: titles of sections are larger, bold or well known.
    """
    candidates = candidates_of(flow)
    found = _by_prefix(candidates, patience) or _in_one(best_chain(candidates, patience))
    if not found:
        rare = candidates_of(flow, rare_number_of)
        margin = min((c.indent for c in rare), default=0.0) + 30
        rare = [c for c in rare if c.number.style != "bare" or c.indent < margin]
        found = _in_one(best_chain(rare, RARE if patience is QUESTIONS else patience))
        candidates = rare
    if len(found) != 1 or found[0].chain[0].number.prefix:
        return found
    return _by_title(flow, candidates, found[0].chain, size, patience) or found


def best_chain(candidates: Sequence[Candidate], patience: Patience = QUESTIONS) -> list[Candidate]:
    """The most plausible sequence of problem numbers, by dynamic programming.

    Each member counts one. Skipped numbers, a changed indent, weight or type
    size, and a late first number cost; a chain keeps to one style of numbering, and styles that
    name the problem ("Problem 3", "第3题") count double. Of equal chains the later one wins, so a
    list of instructions does not take the place of the first problems. A list that begins anew in
    several named problems numbers their parts.
    """
    ranked = sorted(_chains(candidates, patience), key=lambda pair: -pair[0])
    if not ranked:
        return []
    best = ranked[0][1]
    for _, chain in ranked[1:]:
        if chain[0].number.style in NAMED and _holds_lists(chain, candidates, best):
            best = chain
            break
    return best if _is_plausible(best) else []


def _chains(
    candidates: Sequence[Candidate], patience: Patience
) -> list[tuple[float, list[Candidate]]]:
    """The best chain of each style and prefix, with its score."""
    kinds: dict[tuple[str, str], list[Candidate]] = defaultdict(list)
    for candidate in candidates:
        kinds[candidate.number.style, candidate.number.prefix].append(candidate)
    return [_chain(members, patience) for members in reversed(kinds.values())]


def _chain(candidates: Sequence[Candidate], patience: Patience) -> tuple[float, list[Candidate]]:
    best: list[float] = []
    back: list[int | None] = []
    by_value: dict[int, list[int]] = {}
    for k, candidate in enumerate(candidates):
        value = candidate.number.value
        score, parent = 1 - min(3.0, 0.3 * (value - 1)), None
        for gap in range(patience.gap + 1):
            for earlier in by_value.get(value - 1 - gap, ()):
                linked = (
                    1
                    + best[earlier]
                    - patience.cost * gap
                    - _change(candidates[earlier], candidate)
                )
                if linked >= score:
                    score, parent = linked, earlier
        best.append(score)
        back.append(parent)
        by_value.setdefault(value, []).append(k)
    last: int | None = max(range(len(best)), key=lambda k: (best[k], k))
    score = best[last or 0] * _WEIGHT.get(candidates[0].number.style, 1.0)
    chain = []
    while last is not None:
        chain.append(candidates[last])
        last = back[last]
    chain.reverse()
    return score, chain


def _change(a: Candidate, b: Candidate) -> float:
    moved = min(0.8, max(0.0, abs(a.indent - b.indent) - 8) / 20)
    return moved + 0.5 * (a.bold != b.bold) + 0.4 * (abs(a.size - b.size) > 1.2)


def _holds_lists(
    outer: Sequence[Candidate], candidates: Sequence[Candidate], inner: Sequence[Candidate]
) -> bool:
    """Whether the numbering of `inner` begins with 1 in at least two problems of `outer`."""
    if len(outer) < 2 or outer[0].number.value != 1:
        return False
    style = inner[0].number.style
    ones = [c.index for c in candidates if c.number.style == style and c.number.value == 1]
    ends = [*(c.index for c in outer[1:]), float("inf")]
    return (
        sum(any(c.index < one < end for one in ones) for c, end in zip(outer, ends, strict=True))
        > 1
    )


def _is_plausible(chain: Sequence[Candidate]) -> bool:
    if len(chain) > 1:
        return True
    number = chain[0].number
    return number.style in NAMED or (chain[0].bold and not number.prefix)


def _in_one(chain: list[Candidate]) -> list[Section]:
    return [Section(chain[0].number.prefix, chain)] if chain else []


def _by_prefix(candidates: Sequence[Candidate], patience: Patience) -> list[Section]:
    """Sections whose letter is a part of each number ("A1", "B1"), where they outdo others."""
    plain = [pair for pair in _chains(candidates, patience) if not pair[1][0].number.prefix]
    lettered = [pair for pair in _chains(candidates, patience) if pair[1][0].number.prefix]
    taken: list[tuple[float, list[Candidate]]] = []
    for score, chain in sorted(lettered, key=lambda pair: -pair[0]):
        begins = chain[0].number.value == 1 and (len(chain) > 1 or bool(taken))
        same = not taken or chain[0].number.style == taken[0][1][0].number.style
        if begins and same and not any(_overlap(chain, other) for _, other in taken):
            taken.append((score, chain))
    total = sum(score for score, _ in taken)
    if sum(len(chain) for _, chain in taken) < 2 or any(score >= total for score, _ in plain):
        return []
    if any(
        chain[0].number.style in NAMED and _holds_lists(chain, candidates, taken[0][1])
        for _, chain in plain
    ):
        return []
    chains = sorted((chain for _, chain in taken), key=lambda chain: chain[0].index)
    return [Section(chain[0].number.prefix, chain) for chain in chains]


def _overlap(a: Sequence[Candidate], b: Sequence[Candidate]) -> bool:
    return a[0].index <= b[-1].index and b[0].index <= a[-1].index


def _by_title(
    flow: Sequence[Item],
    candidates: Sequence[Candidate],
    whole: list[Candidate],
    size: float,
    patience: Patience,
) -> list[Section]:
    """Sections with titles of their own whose numbers begin with 1 again; else none."""
    style = whole[0].number.style
    same = [c for c in candidates if c.number.style == style]
    titles = [i for i, item in enumerate(flow) if opens_section(item, size)]
    starts: dict[int, str] = {}
    for candidate in same:
        above = [t for t in titles if candidate.index - _TITLE_ABOVE <= t < candidate.index]
        between = [c for c in same if above and above[-1] < c.index < candidate.index]
        if above and not between and candidate.number.value == 1:
            item = flow[above[-1]]
            starts[above[-1]] = section_name(item.text) if isinstance(item, Line) else ""
    cuts = sorted(starts)
    if not cuts:
        return []
    if whole[0].index < cuts[0]:
        cuts, starts = [0, *cuts], {0: "", **starts}
    parts = []
    for begin, end in pairwise([*cuts, len(flow)]):
        chain = best_chain([c for c in same if begin <= c.index < end], patience)
        if chain and chain[0].number.value == 1:
            parts.append((starts[begin], chain))
    if len(parts) < 2 or sum(len(chain) for _, chain in parts) <= len(whole):
        return []
    names = [name for name, _ in parts]
    if len(set(names)) < len(names) or "" in names:
        names = [str(k + 1) for k in range(len(parts))]
    return [Section(name, chain) for name, (_, chain) in zip(names, parts, strict=True)]


def blocks_of(flow: Sequence[Item], chain: Sequence[Candidate], section: str = "") -> list[Block]:
    """The items of each problem of a chain, up to the next one or the end of the flow."""
    ends = [*(c.index for c in chain[1:]), len(flow)][: len(chain)]
    return [
        Block(
            label_of(section, c.number.value), list(flow[c.index : end]), c.number.value,
            c.number.end, section,
        )
        for c, end in zip(chain, ends, strict=True)
    ]  # fmt: skip


def all_blocks(
    flow: Sequence[Item], size: float, patience: Patience = QUESTIONS
) -> tuple[list[Item], list[Block]]:
    """What stands before the first problem of a paper, and the blocks of all its sections."""
    sections = sections_of(flow, size, patience)
    if not sections:
        return list(flow), []
    ends = [*(section.chain[0].index for section in sections[1:]), _end(flow, sections[-1].chain)]
    blocks: list[Block] = []
    for section, end in zip(sections, ends, strict=True):
        blocks += blocks_of(flow[:end], section.chain, section.name)
    return list(flow[: sections[0].chain[0].index]), blocks


def _end(flow: Sequence[Item], chain: Sequence[Candidate]) -> int:
    """Where the paper ends: at `END OF PAPER` after the last number, else with its last item."""
    last = chain[-1].index
    return next((i for i in range(last + 1, len(flow)) if is_end(flow[i])), len(flow))
