"""Slots: the places of a prompt that are filled for each request, such as `{question}`.

A slot's content is never searched for slots, so no third-party text can fill one.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from omibench.schemas.validation import suggest_name

_BRACES = re.compile(r"\{([^{}]*)\}")
_NAME = re.compile(r"[a-z][a-z0-9_]*")
_FORMULA = re.compile(r"[\\A-Za-z^_{]")
"""Text before a brace that belongs to a formula, as in `\\frac{a}{b}`, or is doubled."""


class Slot(NamedTuple):
    """A place in a prompt: its name without braces, its content, and whether it is required."""

    name: str
    meaning: str
    required: bool = True


def list_slot_names(text: str) -> list[str]:
    """Return possible slots in a text, each name once, without braces of formulas.

    Args:
        text: The wording of a prompt.

    Returns:
        Names without braces, in the order of their first occurrence.
    """
    names: dict[str, None] = {}
    formula_end = -1
    for match in _BRACES.finditer(text):
        if match.start() == formula_end or _FORMULA.match(text[match.start() - 1 : match.start()]):
            formula_end = match.end()
        elif _NAME.fullmatch(match.group(1)):
            names[match.group(1)] = None
    return list(names)


def holds_slot(text: str, name: str) -> bool:
    """Return whether a text contains a slot."""
    return f"{{{name}}}" in text


def find_missing_slots(text: str, slots: Sequence[Slot]) -> list[str]:
    """Return the names of the required slots that a text lacks."""
    return [slot.name for slot in slots if slot.required and not holds_slot(text, slot.name)]


def find_unknown_slots(text: str, slots: Sequence[Slot]) -> list[str]:
    """Return possible slots in a text that are not among `slots`."""
    names = {slot.name for slot in slots}
    return [name for name in list_slot_names(text) if name not in names]


def describe_faults(text: str, slots: Sequence[Slot], complete: bool = True) -> list[str]:
    """Describe the errors in the slots of a text, one line each.

    Args:
        text: The wording of a prompt.
        slots: The slots of this prompt.
        complete: Whether the required ones must be present.

    Returns:
        Lines without the file name; empty if the slots are valid.
    """
    missing = find_missing_slots(text, slots) if complete else []
    names = ", ".join(f"{{{slot.name}}}" for slot in slots) or "none"
    return [
        *(f"lacks {{{name}}}, {_find_meaning(name, slots)}" for name in missing),
        *(
            f"unknown {{{name}}}{suggest_name(name, [s.name for s in slots])} (slots: {names})"
            for name in find_unknown_slots(text, slots)
        ),
    ]


def fill_slots(template: str, values: Mapping[str, str | Sequence[Any]]) -> list[Any]:
    """Fill the slots of a template in one pass.

    Args:
        template: Wording with slots; names without a value stay unchanged.
        values: The content of each slot: a text, or texts and pictures.

    Returns:
        Texts and pictures in order; neighbouring texts are joined, and none is empty.
    """
    if not values:
        return [template] if template else []
    pieces: list[Any] = []
    for number, piece in enumerate(_split_at(template, values)):
        content = values[piece] if number % 2 else piece
        pieces += [content] if isinstance(content, str) else content
    return join_pieces([pieces])


def fill_text(template: str, values: Mapping[str, str]) -> str:
    """Fill the slots of a template with texts."""
    return "".join(fill_slots(template, values))


def join_pieces(groups: Iterable[Sequence[Any]], between: str = "") -> list[Any]:
    """Join groups of texts and pictures with a text between them; neighbouring texts are joined."""
    joined: list[Any] = []
    for number, group in enumerate(groups):
        for piece in [between, *group] if number else group:
            if isinstance(piece, str) and joined and isinstance(joined[-1], str):
                joined[-1] += piece
            elif piece != "":
                joined.append(piece)
    return joined


def _split_at(template: str, names: Collection[str]) -> list[str]:
    """Yield text and slot names alternately."""
    return re.split(r"\{(" + "|".join(map(re.escape, names)) + r")\}", template)


def _find_meaning(name: str, slots: Sequence[Slot]) -> str:
    return next(slot.meaning for slot in slots if slot.name == name)
