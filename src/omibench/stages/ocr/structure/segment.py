"""The numbered lines that start problems, and the blocks between them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import NamedTuple

from omibench.stages.ocr.layout.layout import Item, Line
from omibench.stages.ocr.structure.numbering import (
    NAMED,
    Number,
    format_label,
    is_end,
    opens_section,
    read_number,
    read_rare_number,
    section_name,
)

_WEIGHT = dict.fromkeys(NAMED, 2.0) | {"code": 1.3, "heading": 0.9}


class Patience(NamedTuple):
    """The maximum number of skipped numbers, and the cost of each."""

    gap: int = 3
    cost: float = 0.6


QUESTIONS = Patience()
SOLUTIONS = Patience(gap=60, cost=0.05)
"""Not every problem of a paper has a solution."""
RARE = Patience(gap=2, cost=1.1)
"""A number in an ambiguous style must not be one too far."""


@dataclass(frozen=True, slots=True)
class CandidateLine:
    """A line that may start a problem: its position in the flow and its appearance."""

    index: int
    number: Number
    indent: float
    bold: bool
    size: float


def find_candidates(
    flow: Sequence[Item], read: Callable[[str], Number | None] = read_number
) -> list[CandidateLine]:
    """Return every line that starts, at the left of its row, with a possible problem number.

    Of lines for parts of one problem ("B2 a)", "B2 b)") only the first starts it.
    """
    candidates: list[CandidateLine] = []
    last: dict[tuple[str, str], int] = {}
    for index, item in enumerate(flow):
        if isinstance(item, Line) and item.upright and item.starts:
            number = read(item.text)
            if number:
                kind = (number.style, number.prefix)
                repeats = number.part and last.get(kind) == number.value
                last[kind] = number.value
                if not repeats:
                    candidates.append(
                        CandidateLine(index, number, item.indent, item.bold, item.size)
                    )
    return candidates


def best_chain(
    candidates: Sequence[CandidateLine], patience: Patience = QUESTIONS
) -> list[CandidateLine]:
    """Return the most plausible sequence of problem numbers, by dynamic programming.

    Each member scores one. Skipped numbers, a changed indent, weight or type size, and a late first
    number have a cost. A chain has one style of numbering, and styles with a word for the problem
    ("Problem 3", "第3题") count double. Of equal chains the later one wins, so a list of
    instructions does not replace the first problems; but if two chains alternate, such as "1) Let"
    and "X1 be", the earlier one wins. A list that restarts in several named problems numbers their
    parts.
    """
    ranked = sorted(find_chains(candidates, patience), key=lambda pair: -pair[0])
    if not ranked:
        return []
    top, best = ranked[0]
    best = next((c for score, c in ranked[1:] if score == top and _takes_turns(c, best)), best)
    for _, chain in ranked[1:]:
        if chain[0].number.style in NAMED and holds_lists(chain, candidates, best):
            best = chain
            break
    return _outer(candidates, best, patience) if _is_plausible(best) else []


def _takes_turns(first: Sequence[CandidateLine], second: Sequence[CandidateLine]) -> bool:
    """Return whether each number of `second` is between two of `first`, the last one after them."""
    if len(first) != len(second):
        return False
    order = [c.index for pair in zip(first, second, strict=True) for c in pair]
    return order == sorted(order)


def _outer(
    candidates: Sequence[CandidateLine], chain: list[CandidateLine], patience: Patience
) -> list[CandidateLine]:
    """Return the chain, or one further left with a problem that contains the whole chain as a list.

    A longer list below the last number further left may be the paper, below its instructions.
    """
    kind = (chain[0].number.style, chain[0].number.prefix)
    max_indent = min(c.indent for c in chain) - 8
    outer_candidates = [c for c in candidates if c.indent < max_indent]
    outer_candidates = [c for c in outer_candidates if (c.number.style, c.number.prefix) == kind]
    if len(outer_candidates) < 2:
        return chain
    outer = _chain(outer_candidates, patience)[1]
    outer_counts = {sum(o.index < c.index for o in outer) for c in chain}
    if len(outer) < 2 or outer[0].number.value != 1 or len(outer_counts) > 1:
        return chain
    last = outer_counts == {len(outer)}
    return outer if outer_counts != {0} and (not last or len(chain) <= len(outer)) else chain


def find_chains(
    candidates: Sequence[CandidateLine], patience: Patience
) -> list[tuple[float, list[CandidateLine]]]:
    """Return the best chain of each style and prefix, with its score."""
    kinds: dict[tuple[str, str], list[CandidateLine]] = defaultdict(list)
    for candidate in candidates:
        kinds[candidate.number.style, candidate.number.prefix].append(candidate)
    return [_chain(members, patience) for members in reversed(kinds.values())]


def _chain(
    candidates: Sequence[CandidateLine], patience: Patience
) -> tuple[float, list[CandidateLine]]:
    best: list[float] = []
    predecessors: list[int | None] = []
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
        predecessors.append(parent)
        by_value.setdefault(value, []).append(k)
    last: int | None = max(range(len(best)), key=lambda k: (best[k], k))
    score = best[last or 0] * _WEIGHT.get(candidates[0].number.style, 1.0)
    chain = []
    while last is not None:
        chain.append(candidates[last])
        last = predecessors[last]
    chain.reverse()
    return score, chain


def _change(a: CandidateLine, b: CandidateLine) -> float:
    moved = min(0.8, max(0.0, abs(a.indent - b.indent) - 8) / 20)
    return moved + 0.5 * (a.bold != b.bold) + 0.4 * (abs(a.size - b.size) > 1.2)


def holds_lists(
    outer: Sequence[CandidateLine],
    candidates: Sequence[CandidateLine],
    inner: Sequence[CandidateLine],
) -> bool:
    """Return whether the numbering of `inner` starts with 1 in at least two problems of `outer`."""
    if len(outer) < 2 or outer[0].number.value != 1:
        return False
    style = inner[0].number.style
    first_indices = [c.index for c in candidates if c.number.style == style and c.number.value == 1]
    ends = [*(c.index for c in outer[1:]), float("inf")]
    return (
        sum(
            any(c.index < first_index < end for first_index in first_indices)
            for c, end in zip(outer, ends, strict=True)
        )
        > 1
    )


def _is_plausible(chain: Sequence[CandidateLine]) -> bool:
    if len(chain) > 1:
        return True
    number = chain[0].number
    return number.style in NAMED or (chain[0].bold and not number.prefix)


_MISREAD = re.compile(r"([\dlIi|OoSsBZz]{1,3})\s*(?:[.,:;、．·)）\]]\s*|(?=[^\W\d_]))(?=\S)")
_DIGITS = str.maketrans("lIi|OoSsBZz", "11110055822")


def mend_chain(flow: Sequence[Item], chain: Sequence[CandidateLine]) -> list[CandidateLine]:
    """Return a chain with the numbers that an engine misread ("l." for "1.", "5," for "5.").

    This applies only if a number is missing and exactly one line of the engine, in the margin of
    the numbers, can be it.
    """
    mended_chain = list(chain[:1])
    if chain and chain[0].number.value == 2:
        mended_chain = [*_misread(flow, 1, 0, chain[0]), chain[0]]
    for before, after in pairwise(chain):
        for value in range(before.number.value + 1, after.number.value):
            mended_chain += _misread(flow, value, mended_chain[-1].index + 1, after)
        mended_chain.append(after)
    return mended_chain


def _misread(
    flow: Sequence[Item], value: int, start: int, after: CandidateLine
) -> list[CandidateLine]:
    lines = []
    for index in range(start, after.index):
        item = flow[index]
        if not isinstance(item, Line) or item.engine == "textlayer" or not item.starts:
            continue
        match = _MISREAD.match(item.text)
        read = match[1].translate(_DIGITS) if match else ""
        if match and read.endswith(str(value)) and abs(item.indent - after.indent) < item.size:
            number = Number(value, after.number.style, match.end(), after.number.prefix)
            lines.append(CandidateLine(index, number, item.indent, item.bold, item.size))
    return lines if len(lines) == 1 else []


# Cut a paper into problems: the best chain of numbers, and the blocks between them.

_TITLE_ABOVE = 10
"""The maximum number of lines between the title of a section and its first problem."""


@dataclass(slots=True)
class ProblemBlock:
    """One problem in the paper: its label, and its items up to the next one.

    `number` is unique in the paper: `7`, or `B2`, `II.3` if sections restart the count. `end` is
    the start of the text on the first line.
    """

    number: str
    items: list[Item]
    value: int = 0
    end: int = 0
    section: str = ""


Section = tuple[str, list[CandidateLine]]
"""Problems that are numbered together; the name is empty if a paper has one count."""


def find_sections(
    flow: Sequence[Item], size: float, patience: Patience = QUESTIONS
) -> list[Section]:
    """Return the numbering of a paper: one section, or several that restart with 1.

    Ambiguous styles such as `(3)` are tried last. `size` is the type size of the
    body, in points: titles of sections are larger, bold or well known.
    """
    candidates = find_candidates(flow)
    sections = _split_by_prefix(candidates, patience) or _make_single_section(
        best_chain(candidates, patience)
    )
    rare = _rarely_numbered(flow, sections, patience)
    if rare:
        sections, candidates = rare
    if len(sections) != 1 or sections[0][1][0].number.prefix:
        return sections
    parts = _split_by_title(flow, candidates, sections[0][1], size, patience) or sections
    return [(name, mend_chain(flow, chain)) for name, chain in parts]


def _rarely_numbered(
    flow: Sequence[Item], sections: Sequence[Section], patience: Patience
) -> tuple[list[Section], list[CandidateLine]] | None:
    """Return the numbering in an ambiguous style, with its candidates.

    It is used only if it is the only style, or if the other is a list inside one of its problems.
    """
    candidates = find_candidates(flow, read_rare_number)
    margin = min((c.indent for c in candidates), default=0.0) + 30
    candidates = [c for c in candidates if c.number.style != "bare" or c.indent < margin]
    chain = best_chain(candidates, RARE if patience is QUESTIONS else patience)
    if not chain:
        return None
    if sections:
        usual = [c for _, members in sections for c in members]
        inset = min(c.indent for c in usual) > median(c.indent for c in chain) + 8
        usual_counts = {sum(c.index < u.index for c in chain) for u in usual}
        if len(chain) <= len(usual) or not inset or len(usual_counts) > 1:
            return None
    return _make_single_section(chain), candidates


def _make_single_section(chain: list[CandidateLine]) -> list[Section]:
    return [(chain[0].number.prefix, chain)] if chain else []


def _split_by_prefix(candidates: Sequence[CandidateLine], patience: Patience) -> list[Section]:
    """Return sections whose letter is part of each number ("A1", "B1"), if they score best."""
    found = find_chains(candidates, patience)
    plain = [pair for pair in found if not pair[1][0].number.prefix]
    lettered = [pair for pair in found if pair[1][0].number.prefix]
    chosen_chains: list[tuple[float, list[CandidateLine]]] = []
    for score, chain in sorted(lettered, key=lambda pair: -pair[0]):
        begins = chain[0].number.value == 1 and (len(chain) > 1 or bool(chosen_chains))
        same_style = (
            not chosen_chains or chain[0].number.style == chosen_chains[0][1][0].number.style
        )
        if (
            begins
            and same_style
            and not any(_overlap(chain, other_chain) for _, other_chain in chosen_chains)
        ):
            chosen_chains.append((score, chain))
    total = sum(score for score, _ in chosen_chains)
    if sum(len(chain) for _, chain in chosen_chains) < 2 or any(
        score >= total for score, _ in plain
    ):
        return []
    if any(
        chain[0].number.style in NAMED and holds_lists(chain, candidates, chosen_chains[0][1])
        for _, chain in plain
    ):
        return []
    chains = sorted((chain for _, chain in chosen_chains), key=lambda chain: chain[0].index)
    return [(chain[0].number.prefix, chain) for chain in chains]


def _overlap(a: Sequence[CandidateLine], b: Sequence[CandidateLine]) -> bool:
    return a[0].index <= b[-1].index and b[0].index <= a[-1].index


def _split_by_title(
    flow: Sequence[Item],
    candidates: Sequence[CandidateLine],
    whole_chain: list[CandidateLine],
    size: float,
    patience: Patience,
) -> list[Section]:
    """Return sections with titles whose numbers restart with 1, if any."""
    style = whole_chain[0].number.style
    same_style = [c for c in candidates if c.number.style == style]
    titles = [i for i, item in enumerate(flow) if opens_section(item, size)]
    starts: dict[int, str] = {}
    margin = 0.0
    for candidate in same_style:
        above = [t for t in titles if candidate.index - _TITLE_ABOVE <= t < candidate.index]
        between = [c for c in same_style if above and above[-1] < c.index < candidate.index]
        if above and not between and candidate.number.value == 1:
            item = flow[above[-1]]
            starts[above[-1]] = section_name(item.text) if isinstance(item, Line) else ""
            margin = max(margin, candidate.indent + 8)
    same_style = [c for c in same_style if c.indent <= margin]
    cuts = sorted(starts)
    if not cuts:
        return []
    if whole_chain[0].index < cuts[0]:
        cuts, starts = [0, *cuts], {0: "", **starts}
    parts = []
    for begin, end in pairwise([*cuts, len(flow)]):
        chain = best_chain([c for c in same_style if begin <= c.index < end], patience)
        if chain and chain[0].number.value == 1:
            parts.append((starts[begin], chain))
    if len(parts) < 2 or sum(len(chain) for _, chain in parts) <= len(whole_chain):
        return []
    names = [name for name, _ in parts]
    if len(set(names)) < len(names) or "" in names:
        names = [str(k + 1) for k in range(len(parts))]
    return [(name, chain) for name, (_, chain) in zip(names, parts, strict=True)]


def all_blocks(
    flow: Sequence[Item], size: float, patience: Patience = QUESTIONS
) -> tuple[list[Item], list[ProblemBlock]]:
    """Return the items before the first problem of a paper, and the blocks of all its sections.

    The last one ends with `END OF PAPER`, if the paper has it.
    """
    starts = [(name, c) for name, chain in find_sections(flow, size, patience) for c in chain]
    if not starts:
        return list(flow), []
    last = starts[-1][1].index
    end = next((i for i in range(last + 1, len(flow)) if is_end(flow[i])), len(flow))
    ends = [*(c.index for _, c in starts[1:]), end]
    blocks = [
        ProblemBlock(
            format_label(name, c.number.value), list(flow[c.index : end]), c.number.value,
            c.number.end, name,
        )
        for (name, c), end in zip(starts, ends, strict=True)
    ]  # fmt: skip
    return list(flow[: starts[0][1].index]), blocks
