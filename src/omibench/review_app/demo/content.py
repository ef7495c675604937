"""Invented content for tasks of every kind."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pydantic import JsonValue

from omibench.review.kinds.declaration import Field, Kind, is_asked, list_options
from omibench.schemas.review import ReviewTask

SOLUTION: Final = (
    "The heat from the acid warms solution and calorimeter: $Q = C\\,\\Delta T$ with "
    "$\\Delta T = 6.2\\ \\mathrm{K}$ from [IMAGE1].\n\n"
    "For $\\ce{HCl + NaOH -> NaCl + H2O}$ the smaller amount counts, "
    "$n = 0.050\\ \\mathrm{mol}$.\n\n"
    "$$\\Delta H = -\\frac{C\\,\\Delta T}{n} = -\\frac{450 \\cdot 6.2}{0.050}\\ "
    "\\mathrm{J\\,mol^{-1}} = -56\\ \\mathrm{kJ\\,mol^{-1}}$$"
)
_TEXTS: Final[Mapping[str, JsonValue]] = {
    "question": (
        "A calorimeter with the heat capacity $C = 450\\ \\mathrm{J\\,K^{-1}}$ is filled as in "
        "[IMAGE0]; then $\\ce{HCl}$ and $\\ce{NaOH}$ react. The temperature runs as in [IMAGE1]. "
        "What is the enthalpy of neutralisation, $\\Delta H$?"
    ),
    "original_question": (
        "Ein Kalorimeter mit der Wärmekapazität $C = 450\\ \\mathrm{J\\,K^{-1}}$ wird gefüllt wie "
        "in [IMAGE0]; dann reagieren $\\ce{HCl}$ und $\\ce{NaOH}$. Die Temperatur verläuft wie in "
        "[IMAGE1]. Wie groß ist die Neutralisationsenthalpie $\\Delta H$?"
    ),
    "choices": [
        {"label": "A", "text": "$-56\\ \\mathrm{kJ\\,mol^{-1}}$", "image": None},
        {"label": "B", "text": "$-28\\ \\mathrm{kJ\\,mol^{-1}}$", "image": None},
        {"label": "C", "text": "$+56\\ \\mathrm{kJ\\,mol^{-1}}$", "image": None},
    ],
    "original_choices": [
        {"label": "A", "text": "$-56\\ \\mathrm{kJ\\,mol^{-1}}$", "image": None},
        {"label": "B", "text": "$-28\\ \\mathrm{kJ\\,mol^{-1}}$", "image": None},
        {"label": "C", "text": "$+56\\ \\mathrm{kJ\\,mol^{-1}}$", "image": None},
    ],
    "answer": ["A"],
    "solution": SOLUTION,
    "reference": "Read the rise of the temperature, take the limiting amount, divide.",
    "response": SOLUTION.replace("-56", "-28").replace("0.050", "0.100"),
    "candidates": [
        {"id": "1", "title": "Candidate 1: right", "text": SOLUTION},
        {"id": "2", "title": "Candidate 2: right", "text": f"{SOLUTION}\n\nSo the answer is A."},
        {"id": "3", "title": "Candidate 3: wrong", "text": SOLUTION.replace("-56", "-28")},
    ],
    "steps": [
        "The temperature rises by $6.2\\ \\mathrm{K}$.",
        "Both amounts add up to $0.100\\ \\mathrm{mol}$.",
        "So $\\Delta H = -28\\ \\mathrm{kJ\\,mol^{-1}}$.",
    ],
    "error_types": [
        {"value": "perception", "title": "Perception", "help": "A picture was misread."},
        {"value": "reasoning", "title": "Reasoning", "help": "A step does not follow."},
        {"value": "knowledge", "title": "Knowledge", "help": "A law or fact is wrong."},
    ],
    "subfields": ["Thermochemistry", "Kinetics", "Electrochemistry"],
    "subject": "chemistry",
    "subfield": "Thermochemistry",
    "topic": "enthalpy of neutralisation",
    "reason": "The solution rests on a balance of heat.",
    "description": "A calorimeter, and a curve of temperature over time.",
    "facts": {"source": "invented paper", "number": "3", "subject": "chemistry"},
}
"""Parts by name, for all kinds."""


def invent_content(kind: Kind) -> dict[str, JsonValue]:
    """Return the parts of an invented task of a kind, without pictures.

    Args:
        kind: The kind. Parts not defined here become an invented text or list.
    """
    names = [part for part in kind.parts if part.style not in {"images", "pages"}]
    unknown: Mapping[str, JsonValue] = {
        "facts": {"about": "invented"},
        "answer": ["invented"],
        "choices": _TEXTS["choices"],
        "candidates": _TEXTS["candidates"],
        "steps": _TEXTS["steps"],
    }
    return {
        part.name: _TEXTS.get(part.name, unknown.get(part.style, "An invented text."))
        for part in names
    }


def invent_fields(kind: Kind, task: ReviewTask, is_last: bool = False) -> dict[str, JsonValue]:
    """Return a valid decision: the first or last option of every field.

    Args:
        kind: The kind.
        task: The task.
        is_last: Whether to take the last option, which differs from the first.
    """
    fields: dict[str, JsonValue] = {}
    for field in kind.fields:
        if is_asked(field, fields) and field.required:
            value = _invent_value(field, task, is_last)
            if value is not None:
                fields[field.name] = value
    return fields


def _invent_value(field: Field, task: ReviewTask, is_last: bool) -> JsonValue:
    options = [option.value for option in list_options(field, task.content)]
    if field.options_from:  # an option of the task, not "none of these"
        options = options[: len(options) - len(field.options)] or options
    option = options[-1 if is_last else 0] if options else None
    steps = task.content.get("steps")
    values: Mapping[str, JsonValue] = {
        "choice": option,
        "choices": [option] if option else [],
        "rating": field.scale[1 if is_last else 0],
        "flag": not is_last,
        "text": "An invented text.",
        "steps": [option] * len(steps) if isinstance(steps, list) else [],
    }
    return values[field.type]
