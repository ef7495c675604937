"""Cut a paper into drafts of problems: stem, items, choices, subject."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from omibench.schemas.problem import Subject
from omibench.schemas.problem_warning import ProblemWarning
from omibench.stages.ocr.keys.blanks import empty_blanks
from omibench.stages.ocr.keys.inline import split_inline, without_arrows
from omibench.stages.ocr.keys.keys import Key
from omibench.stages.ocr.keys.solutions import read_heading_answers
from omibench.stages.ocr.layout.layout import Item, Line, Picture
from omibench.stages.ocr.structure.choices import split_choices
from omibench.stages.ocr.structure.document import Document
from omibench.stages.ocr.structure.numbering import format_label
from omibench.stages.ocr.structure.pairing import Option
from omibench.stages.ocr.structure.references import figure_numbers
from omibench.stages.ocr.structure.segment import ProblemBlock, all_blocks
from omibench.stages.ocr.structure.solved import holds_solutions_alone
from omibench.stages.ocr.structure.stems import Stem, split_stem
from omibench.stages.ocr.structure.subjects import is_heading, leading_tag, subject_word
from omibench.stages.ocr.structure.titles import split_answers, without_titles

_REMOVED = re.compile(
    r"(?:problem|question|item) (?:is|was|has been) (?:removed|cancel+ed|withdrawn|voided|deleted)"
    r"|quest[ãa]o (?:foi )?anulada|本题(?:已)?(?:作废|取消)",
    re.I,
)
_SHORT = 120


@dataclass(slots=True)
class Draft:
    """One problem before its pictures are rendered and its answer is known.

    `solution` is the text of its key block, and `answer` the answer as printed there. If there is
    nothing else, as in a list of solutions, `items` is empty.
    """

    number: str
    pages: list[int]
    items: list[Item]
    options: list[Option]
    stem: Stem | None
    subject: Subject | None
    solution: list[Item] = field(default_factory=list)
    answer: list[str] = field(default_factory=list)
    warnings: list[ProblemWarning] = field(default_factory=list)
    value: int = 0
    section: str = ""

    @property
    def group(self) -> str:
        """The identifier of the group with one stem: `10-12`, with the section's name first."""
        return format_label(self.section, self.stem.name) if self.stem else self.number

    @property
    def statement(self) -> list[Item]:
        return [*(self.stem.items if self.stem else ()), *self.items]

    @property
    def pictures(self) -> list[Picture]:
        """The pictures of the statement and its choices; those of the solution only if there is
        nothing else."""
        items = self.statement if self.items or self.options else self.solution
        pictures = [item for item in items if isinstance(item, Picture)]
        return [*pictures, *(o.picture for o in self.options if o.picture)]


@dataclass(slots=True)
class Paper:
    """The contents of a paper: its problems, and the section of answers at its end, if any."""

    drafts: list[Draft]
    answers: list[Item]
    block_key: Key = field(default_factory=Key)
    """Answers in the problems' blocks: at their start, marked, in blanks, or below."""
    solved: bool = False
    """Whether it has only solutions and no questions."""


def read_paper(document: Document) -> Paper:
    """Cut a paper into problems with their stems, figures and choices."""
    flow, answers = split_answers(document.flow, document.size)
    preamble, blocks = all_blocks(flow, document.size)
    if not blocks:
        return Paper([], answers)
    key = read_heading_answers(blocks)
    headed = key.answers.keys() | key.cancelled
    _give_by_reference(blocks, preamble)
    stems: dict[str, list[Stem]] = {}
    _, stem = split_stem(preamble, blocks[0].value)
    stems[blocks[0].section] = [stem] if stem else []
    subject = _last_subject(preamble)
    drafts = []
    for block, following in zip(blocks, [*blocks[1:], None], strict=True):
        if following:
            block.items, stem = split_stem(block.items, following.value)
            stems.setdefault(following.section, []).extend([stem] if stem else [])
        restarts = following is not None and following.section != block.section
        block.items, headings = without_titles(block.items, document.size, restarts=restarts)
        shared_stem = next(
            (s for s in stems.get(block.section, []) if block.value in s.numbers), None
        )
        drafts.append(_draft(block, shared_stem, subject, headed=block.number in headed))
        subject = _last_subject(headings) or subject
    _empty_blanks(drafts)
    for draft in drafts:
        for answer in draft.answer:
            key.add(draft.number, answer)
    key.cancelled |= {draft.number for draft in drafts if _is_removed(draft)}
    _warn_of_gaps(drafts)
    return Paper(drafts, answers, key, solved=holds_solutions_alone(drafts, preamble))


def _draft(
    block: ProblemBlock, stem: Stem | None, subject: Subject | None, *, headed: bool
) -> Draft:
    """Return the draft of a block; a block `headed` by its answer has only a solution."""
    head = block.items[0]
    pages = sorted({item.page for item in block.items})
    items = list(block.items)
    if isinstance(head, Line):
        tag, text = leading_tag(head.text[block.end :].lstrip())
        subject = tag or subject
        items = [replace(head, text=text), *items[1:]] if text else items[1:]
    draft = Draft(
        block.number, pages, [], [], None, subject, value=block.value, section=block.section
    )
    if headed:
        draft.solution = items
        return draft
    question, solution, answer = split_inline(items)
    statement, options = split_choices(question)
    statement = without_arrows(statement)
    if solution and not options and not any(isinstance(item, Line) for item in statement):
        statement, solution, stem = [], [*statement, *solution], None
    marked = [", ".join(o.letter for o in options if o.correct)]
    draft.items, draft.options, draft.stem, draft.solution = statement, options, stem, solution
    draft.answer = marked if marked != [""] else answer
    return draft


def _empty_blanks(drafts: Sequence[Draft]) -> None:
    statements = [(draft.items, [o.letter for o in draft.options]) for draft in drafts]
    for draft, (items, letter) in zip(drafts, empty_blanks(statements), strict=True):
        draft.items = items
        draft.answer = [letter] if letter and not draft.answer else draft.answer


def _give_by_reference(blocks: Sequence[ProblemBlock], preamble: Sequence[Item]) -> None:
    """Move a numbered figure to the only problem that refers to it, if its own problem does not."""
    texts = [" ".join(i.text for i in b.items if isinstance(i, Line)) for b in blocks]
    refers = [set(figure_numbers(text)) for text in texts]
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


def _last_subject(items: Sequence[Item]) -> Subject | None:
    words = [subject_word(i.text) for i in items if isinstance(i, Line) and is_heading(i.text)]
    return next((w for w in reversed(words) if w), None)


def _is_removed(draft: Draft) -> bool:
    """Return whether the text only states that the problem was withdrawn from the test."""
    text = " ".join(i.text for i in draft.items if isinstance(i, Line))
    return len(text) < _SHORT and _REMOVED.search(text) is not None


def _warn_of_gaps(drafts: Sequence[Draft]) -> None:
    for before, after in pairwise(drafts):
        if after.section == before.section and after.value != before.value + 1:
            detail = f"{before.number} is followed by {after.number}"
            after.warnings.append(ProblemWarning("number_gap", detail))
