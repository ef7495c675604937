"""Problems put together: statement, `[IMAGEi]` where the figures stand, choices, answer."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from omibench.ocr.choices import Option, split_choices
from omibench.ocr.document import Document
from omibench.ocr.keys import Key
from omibench.ocr.layout import Item, Line, Picture
from omibench.ocr.numbering import number_of
from omibench.ocr.segment import Block, best_chain, blocks_of, candidates_of, split_answers
from omibench.ocr.solutions import own_answers
from omibench.ocr.sources import Source
from omibench.ocr.stems import Stem, split_stem
from omibench.ocr.subjects import is_heading, leading_tag, subject_word
from omibench.ocr.text import paragraphs
from omibench.problem import Choice, Figure, Problem, Subject

_BROKEN = re.compile("[\ufffd\ue000-\uf8ff]|\\(cid:\\d+\\)")
_REFERENCE = re.compile(r"(?:figures?|fig\.|figuras?|abbildung(?:en)?|图)\s*(\d{1,3})", re.I)


@dataclass(slots=True)
class Draft:
    """One problem before its pictures are rendered and its answer is known."""

    number: int
    pages: list[int]
    items: list[Item]
    options: list[Option]
    stem: Stem | None
    subject: Subject | None
    warnings: list[str] = field(default_factory=list)

    @property
    def statement(self) -> list[Item]:
        return [*(self.stem.items if self.stem else ()), *self.items]

    @property
    def pictures(self) -> list[Picture]:
        shown = [item for item in self.statement if isinstance(item, Picture)]
        return [*shown, *(o.picture for o in self.options if o.picture)]


@dataclass(slots=True)
class Paper:
    """What a paper holds: its problems, and the section of answers at its end, if any."""

    drafts: list[Draft]
    answers: list[Item]
    own: Key = field(default_factory=Key)
    """Answers that head the blocks, where the paper is itself a list of solutions."""


def read_paper(document: Document) -> Paper:
    """Cut a paper into problems with their stems, figures and choices."""
    flow, answers = split_answers(document.flow, document.size)
    chain = best_chain(candidates_of(flow))
    if not chain:
        return Paper([], answers)
    blocks = blocks_of(flow, chain)
    own = own_answers(blocks)
    _give_by_reference(blocks, flow[: chain[0].index])
    stems: list[Stem] = []
    _, stem = split_stem(flow[: chain[0].index], blocks[0].number)
    stems += [stem] if stem else []
    subject = _last_subject(flow[: chain[0].index])
    drafts = []
    for block, following in zip(blocks, [*blocks[1:], None], strict=True):
        if following:
            block.items, stem = split_stem(block.items, following.number)
            stems += [stem] if stem else []
        headings = [i for i in block.items[1:] if _is_section(i, document.size)]
        block.items = [i for i in block.items if not any(i is h for h in headings)]
        mine = next((s for s in stems if block.number in s.numbers), None)
        drafts.append(_draft(block, mine, subject))
        subject = _last_subject(headings) or subject
    _warn_of_gaps(drafts)
    return Paper(drafts, answers, own)


def _draft(block: Block, stem: Stem | None, subject: Subject | None) -> Draft:
    head = block.items[0]
    pages = sorted({item.page for item in block.items})
    items = list(block.items)
    if isinstance(head, Line) and (number := number_of(head.text)):
        tag, text = leading_tag(head.text[number.end :].lstrip())
        subject = tag or subject
        items = [replace(head, text=text), *items[1:]] if text else items[1:]
    statement, options = split_choices(items)
    return Draft(block.number, pages, statement, options, stem, subject)


def _give_by_reference(blocks: Sequence[Block], preamble: Sequence[Item]) -> None:
    """Move a numbered figure to the only problem that refers to it, where its own does not."""
    texts = [" ".join(i.text for i in b.items if isinstance(i, Line)) for b in blocks]
    refers = [set(_REFERENCE.findall(text)) for text in texts]
    for item in preamble:
        if isinstance(item, Picture) and item.number:
            wanting = [k for k, numbers in enumerate(refers) if item.number in numbers]
            if len(wanting) == 1:
                blocks[wanting[0]].items.append(item)
    for k, block in enumerate(blocks):
        for item in [i for i in block.items if isinstance(i, Picture) and i.number]:
            wanting = [j for j, numbers in enumerate(refers) if item.number in numbers]
            if len(wanting) == 1 and wanting[0] == k + 1:
                block.items = [i for i in block.items if i is not item]
                blocks[k + 1].items.append(item)


def _is_section(item: Item, size: float) -> bool:
    if not isinstance(item, Line) or not item.starts:
        return False
    return (item.bold or item.size > 1.05 * size) and is_heading(item.text)


def _last_subject(items: Sequence[Item]) -> Subject | None:
    words = [subject_word(i.text) for i in items if isinstance(i, Line) and is_heading(i.text)]
    return next((w for w in reversed(words) if w), None)


def _warn_of_gaps(drafts: Sequence[Draft]) -> None:
    for before, after in zip(drafts, drafts[1:], strict=False):
        if after.number != before.number + 1:
            after.warnings.append(f"number_gap: {before.number} is followed by {after.number}")


def to_problem(
    draft: Draft,
    source: Source,
    source_sha256: str,
    figures: Mapping[int, Figure],
    words: frozenset[str],
) -> Problem:
    """The row of problems.jsonl, without answer and solution.

    `figures` maps id(picture) to the figure that was cut out for it.
    """
    images = [figures[id(picture)] for picture in draft.pictures]
    place = {id(picture): k for k, picture in enumerate(draft.pictures)}
    stem = marked_text(draft.stem.items, place, words) if draft.stem else ""
    own = marked_text(draft.items, place, words)
    question = "\n\n".join(part for part in (stem, own) if part)
    choices = [_choice(option, place, words) for option in draft.options]
    identity = f"{source.slug}-{draft.number}"
    subject = source.subject if source.subject not in (None, "other") else draft.subject
    return Problem(
        id=identity,
        source=source.name,
        source_sha256=source_sha256,
        number=str(draft.number),
        pages=draft.pages,
        question=question,
        images=images,
        choices=choices or None,
        subject=subject or "other",
        language=source.language,
        group=f"{source.slug}-{draft.stem.name}" if draft.stem else identity,
        competition=source.competition,
        year=source.year,
        warnings=[*draft.warnings, *_warnings(draft, question, choices)],
    )


def marked_text(items: Sequence[Item], place: Mapping[int, int], words: frozenset[str]) -> str:
    """The text of items with `[IMAGEi]` and the caption where each picture stands."""
    parts: list[str] = []
    run: list[Line] = []
    for item in items:
        if isinstance(item, Line):
            run.append(item)
            continue
        parts += [paragraphs(run, words)] if run else []
        run = []
        mark = f"[IMAGE{place[id(item)]}]"
        parts.append(f"{mark}\n{item.caption}" if item.caption else mark)
    parts += [paragraphs(run, words)] if run else []
    return "\n\n".join(part for part in parts if part)


def _choice(option: Option, place: Mapping[int, int], words: frozenset[str]) -> Choice:
    text = " ".join(paragraphs(option.lines, words).split())
    if option.picture:
        return Choice(label=option.letter, text=text or None, image=place[id(option.picture)])
    return Choice(label=option.letter, text=text)


def _warnings(draft: Draft, question: str, choices: Sequence[Choice]) -> list[str]:
    found = []
    texts = [question, *(choice.text or "" for choice in choices)]
    if any(_BROKEN.search(text) for text in texts):
        found.append("garbled_text: characters that the font does not explain")
    lines = [
        *(i for i in draft.statement if isinstance(i, Line)),
        *(ln for o in draft.options for ln in o.lines),
    ]
    if any(line.stacked for line in lines):
        found.append("math_suspect: a formula of several rows was read as one")
    empty = [choice.label for choice in choices if choice.image is None and not choice.text]
    if empty:
        found.append(f"choice_empty: {', '.join(empty)}")
    captioned = {p.number for p in draft.pictures if p.number}
    missing = [n for n in dict.fromkeys(_REFERENCE.findall(question)) if n not in captioned]
    if captioned and missing:
        found.append(f"figure_missing: {', '.join(missing)}")
    return found


def with_answers(
    problem: Problem, key: Key, stated: Key, solution: str | None, marked: Sequence[str]
) -> Problem:
    """The problem with the answer of the key, else of its solution, else of its own marks."""
    number = int(problem.number)
    given = [answer for answer in (key.get(number), stated.get(number)) if answer]
    given += [list(marked)] if marked else []
    warnings = list(problem.warnings)
    if len(given) > 1 and given[0] != given[1]:
        warnings.append(f"answer_conflict: key {given[0]}, solution {given[1]}")
    if number in key.doubtful | stated.doubtful:
        warnings.append("answer_doubtful: the key gives this number twice")
    if number in key.cancelled | stated.cancelled:
        warnings.append("answer_cancelled")
    return problem.model_copy(
        update={
            "answer": given[0] if given else None,
            "solution": solution,
            "warnings": warnings,
        }
    )
