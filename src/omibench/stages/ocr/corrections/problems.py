"""Apply corrections to the problems of a source, and state the outcome of each."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from pydantic import ValidationError

from omibench.errors import OmibenchError
from omibench.files.pictures import read_picture
from omibench.files.reading import resolve_within
from omibench.files.writing import write_atomically
from omibench.schemas.pages import CorrectionRow, CorrectionStatus
from omibench.schemas.problem import (
    CORRECTED,
    IMAGE_MARK,
    Choice,
    Figure,
    Problem,
    ProblemWarning,
    list_image_marks,
    write_image_mark,
)
from omibench.stages.ocr.corrections.entry import (
    INK_UNREAD,
    Correction,
    CorrectionEntry,
    FigureChange,
    Split,
    describe_answer,
    describe_choices,
    describe_figure,
    drop_corrected_doubts,
    is_same_reading,
)
from omibench.stages.ocr.layout.crops import crop_box
from omibench.stages.ocr.layout.layout import Box
from omibench.stages.ocr.structure.assemble import BROKEN
from omibench.stages.ocr.structure.keys import as_letters

if TYPE_CHECKING:
    import pymupdf


# The outcome of each correction of one source.

MISFIT = "correction_misfit"
"""The code of the warning that a correction no longer fits a problem."""


def list_first(entries: Sequence[str], separator: str, most: int = 5) -> str:
    """Return the first few entries in one line, and the number of the others."""
    more = f" and {len(entries) - most} more" if len(entries) > most else ""
    return f"{separator.join(entries[:most])}{more}"


class CorrectionLog:
    """Notes on the corrections of one source, in order of application.

    `paper` is the path of its paper; corrections of other files are listed with their names.
    """

    def __init__(self, entries: Sequence[CorrectionEntry], paper: str = "") -> None:
        self._paper = paper
        self._rows = {entry.number: self._make_row(entry) for entry in entries}

    @property
    def rows(self) -> list[CorrectionRow]:
        """One row per correction, in file order."""
        return list(self._rows.values())

    def note(self, entry: CorrectionEntry, status: CorrectionStatus, reason: str = "") -> None:
        """Note the outcome of a correction."""
        self._update(entry.number, status=status, reason=reason)

    def is_settled(self, entry: CorrectionEntry) -> bool:
        """Return whether a correction was applied, or the reading agrees with it."""
        return self._rows[entry.number].status != "misfit"

    def add_problem(self, entry: CorrectionEntry, number: str) -> None:
        """Note that a correction affects a problem."""
        row = self._rows[entry.number]
        if number not in row.problems:
            self._update(entry.number, problems=[*row.problems, number])

    def warn_problems(self, problems: Sequence[Problem]) -> list[Problem]:
        """Return the problems with a warning for each correction that changed them or no longer
        fits."""
        by_number: dict[str, list[ProblemWarning]] = {}
        for row in self.rows:
            if warning := _make_warning(row):
                for number in row.problems:
                    by_number.setdefault(number, []).append(warning)
        return [problem.warn(*by_number.get(problem.number, ())) for problem in problems]

    def _make_row(self, entry: CorrectionEntry) -> CorrectionRow:
        correction = entry.correction
        is_elsewhere = correction.page is not None and entry.file != self._paper
        return CorrectionRow(
            line=entry.line,
            place=correction.place,
            file=Path(entry.file).name if is_elsewhere else "",
            kind=correction.kind,
            by=correction.by,
            status="misfit",
            reason=f"no {correction.place} was read",
            problems=[] if correction.problem is None else [correction.problem],
        )

    def _update(self, number: int, **changes: object) -> None:
        self._rows[number] = self._rows[number].model_copy(update=changes)


def _make_warning(row: CorrectionRow) -> ProblemWarning | None:
    if row.status == "applied":
        return ProblemWarning(CORRECTED, f"{row.kind} by {row.by}")
    if row.status == "misfit":
        return ProblemWarning(MISFIT, f"{row.kind} by {row.by} (line {row.line}): {row.reason}")
    return None


# Split and merge problems, before answers are assigned to them.

GAP = "number_gap"
"""The code of the warning that the number before a problem is missing."""


class MisfitError(Exception):
    """The reason why a correction does not fit the reading."""


def correct_structure(
    problems: Sequence[Problem], entries: Sequence[CorrectionEntry], log: CorrectionLog
) -> list[Problem]:
    """Merge and split problems, in file order.

    Args:
        problems: Problems of one paper as read, in order.
        entries: Corrections of the paper; only `merge` and `split` are applied.
        log: Receives the outcome of each.

    Returns:
        The problems; the second part of a split problem follows the first.
    """
    corrected = list(problems)
    for entry in entries:
        if entry.correction.merge is None and entry.correction.split is None:
            continue
        place = find_place(corrected, entry.correction.problem)
        if place is None:
            continue
        try:
            if not is_same_reading(entry.correction.was, corrected[place].question):
                raise MisfitError("the current reading is another statement")
            corrected = _change(corrected, place, entry)
        except MisfitError as error:
            log.note(entry, "misfit", str(error))
            continue
        log.note(entry, "applied")
        if entry.correction.split is not None:
            log.add_problem(entry, entry.correction.split.number)
    return corrected


def find_place(problems: Sequence[Problem], number: str | None) -> int | None:
    """Return the index of the problem with a number; None if absent."""
    return next((k for k, problem in enumerate(problems) if problem.number == number), None)


def select_images(
    problem: Problem, keep: Iterable[int], question: str, choices: Sequence[Choice] | None
) -> Problem:
    """Return a problem with some of its images, and renumber the marks in its texts.

    Args:
        problem: Original problem.
        keep: Numbers of the images to keep, in order.
        question: New statement, with the original image numbers.
        choices: New choices, likewise.
    """
    kept = list(dict.fromkeys(keep))
    numbers = {number: k for k, number in enumerate(kept)}

    def renumber(text: str) -> str:
        return _rewrite_marks(text, numbers.get)

    return validate(
        problem,
        question=renumber(question),
        images=[problem.images[number] for number in kept],
        choices=[
            choice.model_copy(
                update={
                    "text": None if choice.text is None else renumber(choice.text),
                    "image": None if choice.image is None else numbers.get(choice.image),
                }
            )
            for choice in choices
        ]
        if choices
        else None,
    )


def validate(problem: Problem, **changes: object) -> Problem:
    """Return a problem with other fields; raise MisfitError if they are invalid."""
    try:
        return Problem.model_validate(
            {**{name: getattr(problem, name) for name in Problem.model_fields}, **changes}
        )
    except ValidationError as error:
        message = error.errors()[0]["msg"].removeprefix("Value error, ")
        raise MisfitError(message) from None


def _change(problems: list[Problem], place: int, entry: CorrectionEntry) -> list[Problem]:
    correction = entry.correction
    if correction.split is not None:
        number = correction.split.number
        if find_place(problems, number) is not None:
            raise MisfitError(f"problem {number} already exists")
        parts = [*split_problem(problems[place], correction.split)]
        behind = [_close_gap(problem, problems[place].number) for problem in problems[place + 1 :]]
        return [*problems[:place], *parts, *behind]
    other = find_place(problems, correction.merge)
    if other is None:
        raise MisfitError(f"no problem {correction.merge} was read")
    merged = merge_problems(problems[place], problems[other])
    return [merged if k == place else problem for k, problem in enumerate(problems) if k != other]


def split_problem(problem: Problem, split: Split) -> tuple[Problem, Problem]:
    """Split a problem: the second has the text from a given place on, and its figures.

    Raises:
        MisfitError: The text is not in the problem, or not unique.
    """
    pattern = re.compile(r"\s+".join(map(re.escape, split.at.split())))
    choices = list(problem.choices or [])
    texts = [problem.question, *(choice.text or "" for choice in choices)]
    matches = [(k, match) for k, text in enumerate(texts) for match in pattern.finditer(text)]
    if len(matches) != 1:
        raise MisfitError(f"the text of `at` occurs {len(matches)} times in it")
    ((k, match),) = matches
    head, tail = texts[k][: match.start()].rstrip(), texts[k][match.start() :]
    if k == 0:
        first: tuple[str, list[Choice]] = (head, [])
        second = (tail, choices)
    else:
        broken = choices[k - 1].model_copy(update={"text": head or None})
        is_empty = broken.text is None and broken.image is None
        first = (problem.question, [*choices[: k - 1], *([] if is_empty else [broken])])
        second = (tail, choices[k:])
    moved = _list_images(*second)
    stay = [number for number in range(len(problem.images)) if number not in moved]
    stay = sorted({*stay, *_list_images(*first)})
    identity = f"{problem.id.removesuffix(problem.number)}{split.number}"
    new = problem.model_copy(
        update={
            "id": identity,
            "number": split.number,
            "group": identity if problem.group == problem.id else problem.group,
            "answer": None,
            "solution": None,
        }
    )
    parts = select_images(problem, stay, *first), select_images(new, moved, *second)
    return drop_corrected_doubts(parts[0]), drop_corrected_doubts(parts[1])


def merge_problems(problem: Problem, other: Problem) -> Problem:
    """Merge two problems: append statement, choices and figures of the second to the first.

    Raises:
        MisfitError: Both have a choice with the same letter.
    """
    labels = {choice.label for choice in problem.choices or []}
    twins = sorted(labels & {choice.label for choice in other.choices or []})
    if twins:
        raise MisfitError(f"both have a choice {twins[0]}")
    shift = len(problem.images)
    moved = select_images(
        other.model_copy(update={"images": [*problem.images, *other.images]}),
        range(shift + len(other.images)),
        _rewrite_marks(other.question, lambda number: number + shift),
        [_shift_choice(choice, shift) for choice in other.choices or []],
    )
    texts = [problem.question, moved.question]
    solutions = [text for text in (problem.solution, other.solution) if text]
    return validate(
        problem,
        question="\n\n".join(filter(None, texts)),
        images=moved.images,
        choices=[*(problem.choices or []), *(moved.choices or [])] or None,
        pages=sorted({*problem.pages, *other.pages}),
        solution="\n\n".join(solutions) or None,
        doubtful_formulas=[*problem.doubtful_formulas, *other.doubtful_formulas],
        warnings=list(dict.fromkeys([*problem.warnings, *other.warnings])),
    )


def _shift_choice(choice: Choice, shift: int) -> Choice:
    return choice.model_copy(
        update={
            "text": choice.text and _rewrite_marks(choice.text, lambda number: number + shift),
            "image": None if choice.image is None else choice.image + shift,
        }
    )


def _rewrite_marks(text: str, find_number: Callable[[int], int | None]) -> str:
    """Renumber the marks of a text; marks without a new number are removed."""

    def write(match: re.Match[str]) -> str:
        number = find_number(int(match[1]))
        return "" if number is None else write_image_mark(number)

    return IMAGE_MARK.sub(write, text).strip()


def _list_images(question: str, choices: Sequence[Choice]) -> list[int]:
    numbers = list_image_marks(question)
    for choice in choices:
        numbers += list_image_marks(choice.text or "")
        numbers += [] if choice.image is None else [choice.image]
    return list(dict.fromkeys(numbers))


def _close_gap(problem: Problem, number: str) -> Problem:
    """Return the problem after a split without the warning about its missing number."""
    warnings = [
        warning
        for warning in problem.warnings
        if warning.code != GAP or not warning.detail.startswith(f"{number} is followed")
    ]
    return problem.model_copy(update={"warnings": warnings})


# Apply corrections of the statement, choices, answer and solution of a problem.

_OF_ANSWERS = ("answer_conflict", "answer_doubtful", "answer_unread", "answer_cancelled")
"""Warnings of a key that a corrected answer settles."""
STATEMENT = ""
"""The name of the statement among a problem's parts; choices are named by their letters."""
SUSPECT = "math_suspect"


def describe_field(problem: Problem, correction: Correction) -> str:
    """Return the current text at the place of a correction, for `was`.

    Raises:
        MisfitError: The problem has no such choice.
    """
    if correction.text is not None:
        return problem.question
    if correction.choice is not None:
        return _find_choice(problem, correction.choice.label).text or ""
    if correction.choices is not None:
        return describe_choices(problem.choices)
    if correction.answer is not None:
        return describe_answer(problem.answer)
    return problem.solution or ""


def set_field(problem: Problem, correction: Correction) -> Problem:
    """Set the text, a choice, all choices, the answer or the solution of a problem.

    Args:
        problem: Problem with its answer.
        correction: Correction of one of these kinds.

    Returns:
        The problem, without obsolete warnings.

    Raises:
        MisfitError: The problem has no such choice, or the new value is invalid.
    """
    if correction.text is not None:
        return _clean(validate(problem, question=correction.text))
    if correction.choice is not None:
        before = _find_choice(problem, correction.choice.label)
        after = before.model_copy(update={"text": correction.choice.text or None})
        choices = [after if choice is before else choice for choice in problem.choices or []]
        return _clean(validate(problem, choices=choices))
    if correction.choices is not None:
        images = {choice.label: choice.image for choice in problem.choices or []}
        choices = [
            Choice(label=choice.label, text=choice.text, image=images.get(choice.label))
            for choice in correction.choices
        ]
        return _clean(validate(problem, choices=choices or None))
    if correction.answer is not None:
        return _set_answer(problem, correction.answer)
    return validate(problem, solution=correction.solution or None)


def list_parts(problem: Problem, correction: Correction) -> set[str]:
    """Return the parts of a problem's text that a correction sets: its statement, letters of
    choices."""
    if correction.text is not None:
        return {STATEMENT}
    if correction.choice is not None:
        return {correction.choice.label}
    return {choice.label for choice in problem.choices or []} if correction.choices else set()


def _find_choice(problem: Problem, label: str) -> Choice:
    for choice in problem.choices or []:
        if choice.label == label:
            return choice
    letters = ", ".join(choice.label for choice in problem.choices or [])
    raise MisfitError(f"it has no choice {label}; its choices: {letters or 'none'}")


def _set_answer(problem: Problem, answer: Sequence[str]) -> Problem:
    letters = as_letters(answer, problem.choices) if answer else []
    if answer and not letters:
        raise MisfitError(f"the answer {describe_answer(answer)} is not a choice")
    warnings = [warning for warning in problem.warnings if warning.code not in _OF_ANSWERS]
    return validate(problem, answer=letters or None, warnings=warnings)


def drop_suspicion(problem: Problem) -> Problem:
    """Return a corrected problem without the warnings of lost forms of formulas and unread ink."""
    return _without(_without(problem, SUSPECT), INK_UNREAD)


def _clean(problem: Problem) -> Problem:
    """Remove obsolete warnings about its texts."""
    texts = [problem.question, *(choice.text or "" for choice in problem.choices or [])]
    if not any(BROKEN.search(text) for text in texts):
        problem = _without(problem, "garbled_text")
    if all(choice.text or choice.image is not None for choice in problem.choices or []):
        problem = _without(problem, "choice_empty")
    return drop_corrected_doubts(problem)


def _without(problem: Problem, code: str) -> Problem:
    warnings: list[ProblemWarning] = [w for w in problem.warnings if w.code != code]
    return problem.model_copy(update={"warnings": warnings})


# Apply corrections of figures: cut from another box, taken from a file, added or removed.


class FigureSource(Protocol):
    """The source of pictures of changed figures."""

    def make(self, change: FigureChange, before: Figure | None) -> Figure:
        """Return the figure that replaces another one, or is added."""
        ...


class PaperFigures:
    """Figures cut from the pages of a paper, or copied from files next to the corrections."""

    def __init__(
        self, pdf: pymupdf.Document, pictures: Path, folder: Path, prefix: str, dpi: int
    ) -> None:
        """Set the files and folders.

        Args:
            pdf: PDF of the paper.
            pictures: Folder of `corrections.yaml`.
            folder: Output folder for figures of the paper.
            prefix: Path of that folder in the file that lists the figures.
            dpi: Resolution of crops.
        """
        self._pdf, self._pictures = pdf, pictures
        self._folder, self._prefix, self._dpi = folder, prefix, dpi

    def make(self, change: FigureChange, before: Figure | None) -> Figure:
        """Return the figure that replaces another one, or is added.

        Raises:
            MisfitError: The page or picture does not exist.
        """
        caption = before.caption if before else None
        if change.file is not None:
            return self._copy(change.file, caption)
        page = change.page or (before.page if before else None)
        if page is None or change.box is None or page > self._pdf.page_count:
            raise MisfitError(f"the paper has no page {page or '(give one)'}")
        sheet, box = self._pdf[page - 1], Box(*change.box)
        if not Box(*sheet.rect).touches(box):
            raise MisfitError(f"page {page} ends before the start of the box")
        data, bbox = crop_box(sheet, box, self._dpi)
        return self._write(data, "png", caption).model_copy(update={"page": page, "bbox": bbox})

    def _copy(self, name: str, caption: str | None) -> Figure:
        try:
            picture = read_picture(resolve_within(self._pictures, name))
        except OmibenchError as error:
            raise MisfitError(str(error)) from None
        return self._write(picture.data, picture.suffix, caption)

    def _write(self, data: bytes, suffix: str, caption: str | None) -> Figure:
        digest = hashlib.sha256(data).hexdigest()
        name = f"corrected-{digest[:16]}.{suffix}"
        write_atomically(self._folder / name, data)
        return Figure(file=f"{self._prefix}/{name}", sha256=digest, caption=caption)


def describe_image(problem: Problem, change: FigureChange) -> str:
    """Return the box of a figure as read, for `was`; empty for an added one.

    Raises:
        MisfitError: The problem has fewer figures.
    """
    count = len(problem.images)
    is_new = change.image == count and change.remove is None
    if change.image >= count and not is_new:
        raise MisfitError(f"it has {count} figures, without [IMAGE{change.image}]")
    return "" if is_new else describe_figure(problem.images[change.image])


def set_image(problem: Problem, change: FigureChange, source: FigureSource) -> Problem:
    """Set, add or remove one figure of a problem.

    Raises:
        MisfitError: The problem has no such figure, or the page or file does not exist.
    """
    describe_image(problem, change)
    images = list(problem.images)
    if change.remove is not None:
        keep = [number for number in range(len(images)) if number != change.image]
        return select_images(problem, keep, problem.question, problem.choices)
    is_new = change.image == len(images)
    figure = source.make(change, None if is_new else images[change.image])
    if is_new:
        mark = write_image_mark(change.image)
        question = f"{problem.question}\n\n{mark}".strip()
        return validate(problem, images=[*images, figure], question=question)
    images[change.image] = figure
    return validate(problem, images=images)
