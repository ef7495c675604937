"""Cut a paper into problems: the best chain of numbers, and the blocks between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import NamedTuple

from omibench.stages.ocr.layout.layout import Item, Line
from omibench.stages.ocr.structure.chains import (
    QUESTIONS,
    RARE,
    CandidateLine,
    Patience,
    best_chain,
    find_candidates,
    find_chains,
    holds_lists,
    mend_chain,
)
from omibench.stages.ocr.structure.numbering import NAMED, format_label, read_rare_number
from omibench.stages.ocr.structure.titles import is_end, opens_section, section_name

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


class PaperSection(NamedTuple):
    """Problems that are numbered together; the name is empty if a paper has one count."""

    name: str
    chain: list[CandidateLine]


def find_sections(
    flow: Sequence[Item], size: float, patience: Patience = QUESTIONS
) -> list[PaperSection]:
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
    if len(sections) != 1 or sections[0].chain[0].number.prefix:
        return sections
    parts = _split_by_title(flow, candidates, sections[0].chain, size, patience) or sections
    return [PaperSection(name, mend_chain(flow, chain)) for name, chain in parts]


def _rarely_numbered(
    flow: Sequence[Item], sections: Sequence[PaperSection], patience: Patience
) -> tuple[list[PaperSection], list[CandidateLine]] | None:
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
        usual = [c for section in sections for c in section.chain]
        inset = min(c.indent for c in usual) > median(c.indent for c in chain) + 8
        usual_counts = {sum(c.index < u.index for c in chain) for u in usual}
        if len(chain) <= len(usual) or not inset or len(usual_counts) > 1:
            return None
    return _make_single_section(chain), candidates


def _make_single_section(chain: list[CandidateLine]) -> list[PaperSection]:
    return [PaperSection(chain[0].number.prefix, chain)] if chain else []


def _split_by_prefix(candidates: Sequence[CandidateLine], patience: Patience) -> list[PaperSection]:
    """Return sections whose letter is part of each number ("A1", "B1"), if they score best."""
    plain = [pair for pair in find_chains(candidates, patience) if not pair[1][0].number.prefix]
    lettered = [pair for pair in find_chains(candidates, patience) if pair[1][0].number.prefix]
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
    return [PaperSection(chain[0].number.prefix, chain) for chain in chains]


def _overlap(a: Sequence[CandidateLine], b: Sequence[CandidateLine]) -> bool:
    return a[0].index <= b[-1].index and b[0].index <= a[-1].index


def _split_by_title(
    flow: Sequence[Item],
    candidates: Sequence[CandidateLine],
    whole_chain: list[CandidateLine],
    size: float,
    patience: Patience,
) -> list[PaperSection]:
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
    return [PaperSection(name, chain) for name, (_, chain) in zip(names, parts, strict=True)]


def split_blocks(
    flow: Sequence[Item], chain: Sequence[CandidateLine], section: str = ""
) -> list[ProblemBlock]:
    """Return the items of each problem of a chain, up to the next one or the end of the flow."""
    ends = [*(c.index for c in chain[1:]), len(flow)][: len(chain)]
    return [
        ProblemBlock(
            format_label(section, c.number.value), list(flow[c.index : end]), c.number.value,
            c.number.end, section,
        )
        for c, end in zip(chain, ends, strict=True)
    ]  # fmt: skip


def all_blocks(
    flow: Sequence[Item], size: float, patience: Patience = QUESTIONS
) -> tuple[list[Item], list[ProblemBlock]]:
    """Return the items before the first problem of a paper, and the blocks of all its sections."""
    sections = find_sections(flow, size, patience)
    if not sections:
        return list(flow), []
    ends = [*(section.chain[0].index for section in sections[1:]), _end(flow, sections[-1].chain)]
    blocks: list[ProblemBlock] = []
    for section, end in zip(sections, ends, strict=True):
        blocks += split_blocks(flow[:end], section.chain, section.name)
    return list(flow[: sections[0].chain[0].index]), blocks


def _end(flow: Sequence[Item], chain: Sequence[CandidateLine]) -> int:
    """Return the end of the paper: `END OF PAPER` after the last number, otherwise its last
    item."""
    last = chain[-1].index
    return next((i for i in range(last + 1, len(flow)) if is_end(flow[i])), len(flow))
