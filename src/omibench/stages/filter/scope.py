"""Scope of a study: excluded subjects, languages, years, and tasks without a definite answer."""

from __future__ import annotations

import re

from omibench.params.stages.filter import FilterParams
from omibench.schemas.problem import Problem

_PROOF = (
    r"prove|show that|demonstrate that|demuestr[ae]|pruebe que|demonstre|prove que|mostre que|"
    r"beweise[n]?|zeigen? sie|d[eé]montre[rz]|montre[rz] que|prouve[rz]"
)
_DRAWING = (
    r"sketch|draw|construct (?:the|a|an) \w+ (?:with|using) (?:a )?(?:ruler|compass)|dibuj[ae]|"
    r"esboce|trace el|desenhe|zeichne[n]?|skizziere[n]?|dessine[rz]|trace[rz]|esquisse[rz]"
)
_PART = r"[(（]?\s?(?:[a-z]|\d{1,2}|[ivx]{1,4})\s?[.)）:]"
_TASK = re.compile(
    rf"^\W*(?:{_PART}\W*)?(?:(?P<proof>(?:{_PROOF})\b|证明|求证)|(?P<drawing>(?:{_DRAWING})\b|画出|作图))",
    re.I,
)
_SUBPART = re.compile(r"[(（]\s?(?:[a-z]|\d{1,2}|[ivx]{1,4})\s?[)）]", re.I)
_SENTENCE = re.compile(r"(?<=[.?!:。？！])\s+|(?<=[。？！])")
_QUESTION = re.compile(
    r"(?:find|obtain|determine|calculate|compute|evaluate|derive|estimate|what|which|how)\b|"
    r".*[?？]\W*$",
    re.I,
)
_MAX_EXCERPT = 60  # maximum characters of a task in evidence


def find_unwanted_property(problem: Problem, statement: str, params: FilterParams) -> str | None:
    """Return why a problem is outside the scope in `params`, or None."""
    for noun, value, allowed in (
        ("subject", problem.subject, params.subjects),
        ("language", problem.language, params.languages),
    ):
        if allowed is not None and value not in allowed:
            return f"its {noun} is {value!r}; wanted: {', '.join(allowed) or 'none'}"
    if params.since is not None and (problem.year or params.since) < params.since:
        return f"its paper is of {problem.year}; wanted: since {params.since}"
    count, wanted = len(problem.choices or []), params.wanted_choices
    if wanted is not None and count != wanted:
        return f"it has {count or 'no'} choices; wanted: {wanted}"
    return None if params.proofs or problem.choices else _task(statement)


def _task(statement: str) -> str | None:
    """Return the request of the last sentence if it is a proof or a drawing."""
    sentences = [s for s in _SENTENCE.split(statement) if s.strip()]
    match = _TASK.search(sentences[-1]) if sentences else None
    if not match or _SUBPART.search(sentences[-1], match.end()):
        return None  # later parts have other requests
    kind = "proof" if match["proof"] else "drawing"
    if kind == "drawing" and any(_QUESTION.match(s.strip()) for s in sentences[-3:-1]):
        return None  # the sketch accompanies a requested answer
    quoted = sentences[-1].strip()[:_MAX_EXCERPT]
    return f"it asks for a {kind}, with which no answer can be compared: {quoted!r}"
