"""Signs of an incomplete statement: it breaks off, or refers to missing parts."""

from __future__ import annotations

import re

from omibench.schemas.problem import Problem
from omibench.stages.filter.references import printed_number, referred_numbers

_FUNCTION_WORDS = """
    a an the and or of to in on at by with from for into than that which if is are its their
    this these as between when where while because
    el la los las un una y o de del al en por con para que si es son su entre cuando
    os um uma e do da dos das em no na com
    der die das den dem ein eine und oder von zu im mit für dass wenn ist sind zwischen
    le les une et ou du des au aux dans par avec pour qui est sont entre
"""
_HANGING = frozenset(_FUNCTION_WORDS.split())
_END = 40  # characters that show whether a sentence has ended
_CUT = re.compile(r"[,\-–—=+*/<>≤≥(\[{]$|[^\W\d_]-$")
_LAST_WORD = re.compile(r"([^\W\d_]+)\W*$")
_FINISHED = re.compile(r"[.?!:;。？！：；)\]}\"”»$%_…）]\s*\**$|</?[a-z]\w*>$")
"""A list item ends with a semicolon, an HTML table with its tag."""
_LINE_ACROSS = re.compile(r"(?:\s+(?:-{3,}|\*{3,}))+\s*$")
"""A horizontal rule in Markdown, here below the statement."""
_OPTION = re.compile(r"^\s*\(?([A-Ha-h]|[IVX]{1,4}|\d)[.)、:](?:\s|$)", re.MULTILINE)
"""The label of an option on a separate line."""
_OFFERS_CHOICES = re.compile(
    r"\bwhich (?:one )?of the following\b|\bof the choices below\b|\bcu[aá]l de las siguientes\b|"
    r"\bqual das (?:seguintes|alternativas)\b|\bwelche der folgenden\b|\blaquelle? des suivant|"
    r"\blequel des\b|下列(?:哪|说法|选项)",
    re.I,
)


def find_unfinished_part(problem: Problem, statement: str) -> str | None:
    """Return evidence that `statement` (without marks and captions) is incomplete, or None."""
    return (
        _broken_choices(problem)
        or _missing_choices(problem, statement)
        or _breaks_off(problem, statement)
        or _missing_figures(problem, statement)
    )


def _broken_choices(problem: Problem) -> str | None:
    if problem.choices is None:
        return None
    labels = [choice.label for choice in problem.choices]
    if len(labels) < 2:
        return f"{len(labels)} choice was read; at least 2 are needed"
    empty = [c.label for c in problem.choices if c.image is None and not (c.text or "").strip()]
    if empty:
        return f"choice {empty[0]} is empty"
    if all(len(label) == 1 and label.isascii() for label in labels):
        expected = [chr(ord(labels[0]) + i) for i in range(len(labels))]
        if labels != expected:
            return f"the choices are lettered {''.join(labels)}, not {''.join(expected)}"
    return None


def _missing_choices(problem: Problem, statement: str) -> str | None:
    offer = _OFFERS_CHOICES.search(statement)
    if problem.choices or not offer:
        return None
    following = problem.question.rpartition(offer.group(0))[2]
    if len(set(_OPTION.findall(following))) > 1:
        return None  # the statement contains the options, for example pictures with letters
    return f"the statement says {offer.group(0)!r}, but no choices follow"


def _breaks_off(problem: Problem, statement: str) -> str | None:
    if statement.count("$") % 2:
        return f"a formula is not closed: {statement.count('$')} dollar signs"
    end = _LINE_ACROSS.sub("", statement)[-_END:].rstrip()
    # The choices can complete the sentence of a multiple-choice statement.
    if problem.choices or _FINISHED.search(end):
        return None
    word = _LAST_WORD.search(end)
    hanging = word is not None and word.group(1).casefold() in _HANGING
    return f"the statement breaks off: '...{end}'" if hanging or _CUT.search(end) else None


def _missing_figures(problem: Problem, statement: str) -> str | None:
    chosen = {choice.image for choice in problem.choices or []}
    printed = [printed_number(f.caption) for i, f in enumerate(problem.images) if i not in chosen]
    if not printed or None in printed:
        return None
    have = [number for number in printed if number]
    kinds = {number.kind for number in have}
    missing = sorted(
        number
        for number in referred_numbers(statement, sure=True)
        # Tables are often text of the statement, and then not figures.
        if number.kind in kinds and number not in have
    )
    if not missing:
        return None
    return f"the statement refers to {missing[0]}; it has {', '.join(map(str, have))}"
