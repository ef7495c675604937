"""Assemble problems: statement, `[IMAGEi]` in place of figures, choices, answer."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

from pydantic import ValidationError

from glyphtex.marks import Formula
from omibench.schemas.problem import Choice, DoubtfulFormula, Figure, Problem, ProblemWarning
from omibench.stages.ocr.corrections.entry import describe_box
from omibench.stages.ocr.layout.crops import list_doubtful
from omibench.stages.ocr.layout.layout import Item, Line, get_lines
from omibench.stages.ocr.layout.reading_order import paragraphs, without_marks
from omibench.stages.ocr.sources.manifest import Source
from omibench.stages.ocr.structure.choices import Option
from omibench.stages.ocr.structure.drafts import Draft
from omibench.stages.ocr.structure.numbering import UNKNOWN, figure_numbers

_MOST_DIFFERENCES = 10
"""The maximum number of differing formulas of one problem in warnings."""
_MOST_REASONS = 10
"""Places of one problem with mathematics in no formula, or with unread ink, that are listed."""
BROKEN = re.compile("[\ufffd\ue000-\uf8ff]|\\(cid:\\d+\\)")
"""Characters that could not be read."""


class Crops(NamedTuple):
    """The crops of pages: figures by id(picture), doubtful formulas by id(formula)."""

    figures: Mapping[int, Figure]
    formulas: Mapping[int, DoubtfulFormula]


def to_problems(
    drafts: Sequence[Draft],
    source: Source,
    source_sha256: str,
    crops: Crops,
    words: frozenset[str],
) -> tuple[list[Problem], list[str]]:
    """Return every draft as a problem; invalid ones are left out, with a code."""
    problems: list[Problem] = []
    for draft in drafts:
        with suppress(ValidationError):
            problems.append(to_problem(draft, source, source_sha256, crops, words))
    return problems, ["problem_dropped"] if len(problems) < len(drafts) else []


def to_problem(
    draft: Draft,
    source: Source,
    source_sha256: str,
    crops: Crops,
    words: frozenset[str],
) -> Problem:
    """Return the row of problems.jsonl, without its answer; the solution comes from its own block.

    `crops` are of the draft's pictures and doubtful formulas.
    """
    images = [crops.figures[id(picture)] for picture in draft.pictures]
    place = {id(picture): k for k, picture in enumerate(draft.pictures)}
    stem = marked_text(draft.stem.items, place, words) if draft.stem else ""
    statement = marked_text(draft.items, place, words)
    question = "\n\n".join(part for part in (stem, statement) if part)
    choices = [_choice(option, place, words) for option in draft.options]
    identity = f"{source.slug}-{draft.number}"
    doubtful = list_doubtful(list_lines(draft))
    return Problem(
        id=identity,
        source=source.name,
        source_sha256=source_sha256,
        number=draft.number,
        pages=draft.pages,
        question=question,
        images=images,
        choices=choices or None,
        solution=marked_text(draft.solution, place, words) or None,
        subject=draft.subject or source.subject or "other",
        language=source.language or UNKNOWN,
        group=f"{source.slug}-{draft.group}",
        competition=source.competition,
        licence=source.licence,
        year=source.year,
        attributes=source.stated_attributes,
        doubtful_formulas=[crops.formulas[id(f)] for _, f in doubtful if id(f) in crops.formulas],
        warnings=[
            *draft.warnings,
            *_warnings(draft, question, choices),
            *(_warn_of_formula(page, formula) for page, formula in doubtful),
        ],
    )


def marked_text(items: Sequence[Item], place: Mapping[int, int], words: frozenset[str]) -> str:
    """Return the text of items with `[IMAGEi]` and the caption in place of each picture of
    `place`."""
    parts: list[str] = []
    run: list[Line] = []
    for item in items:
        if isinstance(item, Line):
            run.append(item)
            continue
        if id(item) not in place:
            continue
        parts.append(_plain(run, words))
        run = []
        mark = f"[IMAGE{place[id(item)]}]"
        parts.append(f"{mark}\n{without_marks(item.caption)}" if item.caption else mark)
    parts.append(_plain(run, words))
    return "\n\n".join(part for part in parts if part)


def _plain(lines: Sequence[Line], words: frozenset[str]) -> str:
    return without_marks(paragraphs(lines, words))


def _choice(option: Option, place: Mapping[int, int], words: frozenset[str]) -> Choice:
    text = " ".join(_plain(option.lines, words).split())
    if option.picture:
        return Choice(label=option.letter, text=text or None, image=place[id(option.picture)])
    return Choice(label=option.letter, text=text)


def list_lines(draft: Draft) -> list[Line]:
    """Return the lines of a problem: its stem, statement and choices."""
    return [
        *get_lines(draft.statement),
        *(line for option in draft.options for line in option.lines),
    ]


def _warn_of_formula(page: int, formula: Formula) -> ProblemWarning:
    place = describe_box(page, formula.region.box)
    return ProblemWarning("formula_doubtful", f"{place}: {'; '.join(formula.doubts)}")


def _warnings(draft: Draft, question: str, choices: Sequence[Choice]) -> list[ProblemWarning]:
    warnings = []
    texts = [question, *(choice.text or "" for choice in choices)]
    if any(BROKEN.search(text) for text in texts):
        warnings.append(ProblemWarning("garbled_text", "characters that the font does not explain"))
    lines = list_lines(draft)
    if any(line.stacked for line in lines):
        warnings.append(ProblemWarning("math_suspect", "a formula of several rows was read as one"))
    elif flattened := next(
        (line for line in lines if line.math_suspect and not line.reasons), None
    ):
        warnings.append(
            ProblemWarning("math_suspect", f"{flattened.engine} may have flattened a formula")
        )
    reasons = [reason for line in lines for reason in line.reasons]
    warnings += [ProblemWarning("math_suspect", reason) for reason in reasons[:_MOST_REASONS]]
    unread = [place for line in lines for place in line.unread]
    warnings += [ProblemWarning("ink_unread", place) for place in unread[:_MOST_REASONS]]
    differences = [difference for line in lines for difference in line.differences]
    warnings += [ProblemWarning("formula_differs", d) for d in differences[:_MOST_DIFFERENCES]]
    empty = [choice.label for choice in choices if choice.image is None and not choice.text]
    if empty:
        warnings.append(ProblemWarning("choice_empty", ", ".join(empty)))
    captioned = {p.number for p in draft.pictures if p.number}
    missing = [n for n in figure_numbers(question) if n not in captioned]
    if captioned and missing:
        warnings.append(ProblemWarning("figure_missing", ", ".join(missing)))
    return warnings


def list_suspects(drafts: Sequence[Draft]) -> dict[str, frozenset[str]]:
    """Return by number the parts of each problem with a line whose formula may have lost its form,
    or with unread ink.

    A part is the letter of a choice, or the empty text for the statement.
    """
    return {
        draft.number: frozenset(
            part for part, lines in _list_parts(draft) if any(map(_is_suspect, lines))
        )
        for draft in drafts
    }


def _list_parts(draft: Draft) -> list[tuple[str, list[Line]]]:
    statement = get_lines(draft.statement)
    return [("", statement), *((option.letter, option.lines) for option in draft.options)]


def _is_suspect(line: Line) -> bool:
    return line.stacked or line.math_suspect or bool(line.unread)
