"""A paper cut into drafts of problems, with the stems that several problems share."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from omibench.schemas.problem import ProblemWarning, Subject
from omibench.stages.ocr.layout.layout import Item, Line, Picture, get_lines, get_text
from omibench.stages.ocr.structure.choices import Option, split_choices
from omibench.stages.ocr.structure.document import Document
from omibench.stages.ocr.structure.keys import Key
from omibench.stages.ocr.structure.numbering import (
    asks_for_work,
    figure_numbers,
    format_label,
    is_heading,
    leading_tag,
    leaves_blank,
    read_number,
    split_answers,
    subject_word,
    without_titles,
)
from omibench.stages.ocr.structure.segment import ProblemBlock, all_blocks
from omibench.stages.ocr.structure.solutions import (
    empty_blanks,
    read_heading_answers,
    split_inline,
    without_arrows,
)

_NOUNS = (
    "problems?|questions?|exercises?|items?|tasks?|problemas?|preguntas?|ejercicios?|quest[õo]es|"
    "exerc[íi]cios?|aufgaben|fragen|probl[èe]mes?|exercices?|第"
)
_JOIN = r"(?:\s*,\s*(?:and|y|e|und|et)?\s*|\s*(?:and|y|e|und|et|&|和|与|及|、)\s*)"
_SPAN = r"\s*(?:-|–|—|~|～|至|到|to|through|bis|al?|até)\s*"
_RANGE = rf"(?P<range>\d{{1,3}}(?:(?:{_SPAN}|{_JOIN})\d{{1,3}})+)"
_NUMBERED = re.compile(rf"(?:{_NOUNS})\s*{_RANGE}(?!\d)\s*题?", re.I)
_NEXT = re.compile(
    r"(?:next|following|siguientes|pr[óo]xim[ao]s|n[äa]chsten)\s+(?P<count>two|three|four|five|dos|tres|"
    rf"cuatro|duas|dois|tr[êe]s|quatro|zwei|drei|vier|\d)\s+(?:{_NOUNS})\b",
    re.I,
)
_INTRODUCES = re.compile(
    r"\b(?:information|following|refers?|uses?|used|based|relevant|concern|appl(?:y|ies)|stem|figures?|"
    r"data|passage|text|context|informaci[óo]n|siguiente|refieren|datos|informa[çc][õo]es|seguinte|texto|"
    r"dados|angaben|beziehen|folgende)\b|材料|根据|回答|下列",
    re.I,
)
_COUNTS = {
    "two": 2, "three": 3, "four": 4, "five": 5, "dos": 2, "cuatro": 4, "duas": 2,
    "dois": 2, "três": 3, "tres": 3, "quatro": 4, "zwei": 2, "drei": 3, "vier": 4,
}  # fmt: skip
_MAX_PROBLEMS = 20


@dataclass(frozen=True, slots=True)
class Stem:
    """The items before the problems `numbers` that belong to each of them."""

    numbers: tuple[int, ...]
    items: tuple[Item, ...]

    @property
    def name(self) -> str:
        return f"{self.numbers[0]}-{self.numbers[-1]}"


def split_stem(items: Sequence[Item], following: int) -> tuple[list[Item], Stem | None]:
    """Split the items before problem `following` into its predecessor's items and a shared stem.

    A stem starts with a line that lists at least two problems, of which `following` is the first.
    """
    for index, item in enumerate(items):
        if not isinstance(item, Line) or not item.starts or not item.upright:
            continue
        after = next(iter(get_lines(items[index + 1 :])), None)
        numbers, end = stem_numbers(item.text, after.text if after else "", following)
        if numbers:
            line, place = item, index
            if after and end > len(item.text) + 1:
                line, place, end = after, items.index(after, index + 1), end - len(item.text) - 1
            if not re.match(r"\s*[.:：。]|\s*$", line.text[end:]):
                return list(items[:index]), Stem(numbers, tuple(items[index:]))
            remainder = line.text[end:].lstrip(" .:：。）)")
            opening = [replace(line, text=remainder)] if remainder else []
            between = items[index + 1 : place]
            return list(items[:index]), Stem(numbers, (*between, *opening, *items[place + 1 :]))
    return list(items), None


def stem_numbers(line: str, after: str, following: int) -> tuple[tuple[int, ...], int]:
    """Return the problems for which a line starts a stem, and the end of their mention.

    The end is a place in the line, a space and the line `after` it. Empty if the line does not
    start a stem for `following` and later problems.
    """
    text = f"{line} {after}"
    match = _NUMBERED.search(text)
    if match and match.start() < len(line):
        numbers = parse_range(match["range"])
        leads = match.start() == 0 or _INTRODUCES.search(text[: match.end() + 40])
        if leads and len(numbers) > 1 and numbers[0] == following:
            return numbers, match.end()
    match = _NEXT.search(text)
    if match and match.start() < len(line) and _INTRODUCES.search(line[: match.start()]):
        word = match["count"].lower()
        count = int(word) if word.isdigit() else _COUNTS[word]
        return tuple(range(following, following + count)), match.end()
    return (), 0


def parse_range(text: str) -> tuple[int, ...]:
    """Parse `3 and 4`, `3-5`, `10, 11, and 12`, `21 a 23` to the numbers they represent.

    Empty if a range runs backwards or has more than 20 problems.
    """
    numbers: list[int] = []
    parts = re.split(r"(\d+)", text)
    for between, digits in zip(parts[0::2], parts[1::2], strict=False):
        value = int(digits)
        if numbers and re.fullmatch(_SPAN, between, re.I):
            if not 0 < value - numbers[-1] < _MAX_PROBLEMS:
                return ()
            numbers += range(numbers[-1] + 1, value + 1)
        else:
            numbers.append(value)
    return tuple(numbers) if numbers == sorted(set(numbers)) else ()


# Detect documents that have only solutions and no questions.

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
    head = [line.text for line in get_lines(preamble)][:_TITLE]
    if not any(_SOLUTIONS.search(line) for line in head):
        return False
    return sum(map(_asks, drafts)) < _ASKING * len(drafts)


def _asks(draft: Draft) -> bool:
    if draft.options:
        return True
    text = get_text(draft.statement)
    sentences = re.split(r"(?<=[.。?？!:：;；])\s*", text)
    return leaves_blank(text) or any(asks_for_work(sentence) for sentence in sentences)


# Cut a paper into drafts of problems: stem, items, choices, subject.

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
    if solution and not options and not get_lines(statement):
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
    texts = [get_text(block.items) for block in blocks]
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
    words = [subject_word(i.text) for i in get_lines(items) if is_heading(i.text)]
    return next((w for w in reversed(words) if w), None)


def _is_removed(draft: Draft) -> bool:
    """Return whether the text only states that the problem was withdrawn from the test."""
    text = get_text(draft.items)
    return len(text) < _SHORT and _REMOVED.search(text) is not None


def _warn_of_gaps(drafts: Sequence[Draft]) -> None:
    for before, after in pairwise(drafts):
        if after.section == before.section and after.value != before.value + 1:
            detail = f"{before.number} is followed by {after.number}"
            after.warnings.append(ProblemWarning("number_gap", detail))


# Read a photograph of one problem, with or without its number.


def only_problem(document: Document) -> list[Draft]:
    """Return the whole page as one problem; none if it is empty.

    Its number is that of its first numbered line, and the text above that line belongs to it;
    without any it is problem 1.
    """
    items: list[Item] = list(document.flow)
    if not get_lines(items):
        return []
    for index, item in enumerate(items):
        number = read_number(item.text) if isinstance(item, Line) and item.starts else None
        if isinstance(item, Line) and number:
            items[index] = replace(item, text=item.text[number.end :].lstrip())
            break
    else:
        number = None
    statement, options = split_choices([i for i in items if not isinstance(i, Line) or i.text])
    value = number.value if number else 1
    pages = sorted({item.page for item in document.flow})
    return [Draft(str(value), pages, without_arrows(statement), options, None, None, value=value)]
