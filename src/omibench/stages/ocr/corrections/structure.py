"""Split and merge problems, before answers are assigned to them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from pydantic import ValidationError

from omibench.schemas.image_marks import IMAGE_MARK, list_image_marks, write_image_mark
from omibench.schemas.problem import Choice, Problem
from omibench.stages.ocr.corrections.doubts import drop_settled_doubts
from omibench.stages.ocr.corrections.entry import CorrectionEntry, Split
from omibench.stages.ocr.corrections.outcome import CorrectionLog
from omibench.stages.ocr.corrections.reading import is_same_reading

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
    return drop_settled_doubts(parts[0]), drop_settled_doubts(parts[1])


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
