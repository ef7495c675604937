"""Problems put together: statement, `[IMAGEi]` where the figures stand, choices, answer."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from omibench.ocr.drafts import Draft
from omibench.ocr.keys import Key
from omibench.ocr.layout import Item, Line
from omibench.ocr.pairing import Option
from omibench.ocr.references import figure_numbers
from omibench.ocr.sources import Source
from omibench.ocr.text import paragraphs
from omibench.problem import Choice, Figure, Problem

_BROKEN = re.compile("[\ufffd\ue000-\uf8ff]|\\(cid:\\d+\\)")


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
    return Problem(
        id=identity,
        source=source.name,
        source_sha256=source_sha256,
        number=str(draft.number),
        pages=draft.pages,
        question=question,
        images=images,
        choices=choices or None,
        subject=draft.subject or source.subject or "other",
        language=source.language,
        group=f"{source.slug}-{draft.stem.name}" if draft.stem else identity,
        competition=source.competition,
        licence=source.licence,
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
    missing = [n for n in figure_numbers(question) if n not in captioned]
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
