"""Third-party material in a prompt: between fences, or plain in a literal file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from omibench.prompts.slots import fill_slots, holds_slot, join_pieces
from omibench.text.fences import Section, fence_each, list_pieces

Material = Sequence[tuple[str, Sequence[Section]]]
"""The slots of a prompt with the sections in each, in order."""


def name_slot(section: str) -> str:
    """Return the slot of a section: `official_answer` for OFFICIAL ANSWER."""
    return section.lower().replace(" ", "_")


def place_fenced(template: str, material: Material, values: Mapping[str, str]) -> list[Any]:
    """Fill the slots of a template with sections between fences.

    Args:
        template: The wording of a file; it can have no slots at all.
        material: Sections without a slot follow the template, in order.
        values: Values of slots of other kinds.

    Returns:
        Texts, and the pictures of the material between them, without a line about the form of the
        reply.
    """
    fenced = iter(fence_each([section for _, sections in material for section in sections]))
    contents = {
        slot: join_pieces([next(fenced) for _ in sections], "\n\n") for slot, sections in material
    }
    rest = [pieces for slot, pieces in contents.items() if not holds_slot(template, slot)]
    return join_pieces([fill_slots(template, {**contents, **values}), *rest], "\n\n")


def place_plain(
    template: str,
    material: Material,
    values: Mapping[str, str],
    pictures: Mapping[str, Sequence[Any]],
) -> list[Any]:
    """Fill the slots of a literal template with sections as plain text.

    Args:
        template: The wording of a file; only material with a slot in it is sent.
        material: Several sections of one slot are shown under their names.
        values: Values of slots of other kinds.
        pictures: Pictures by slot; those without a slot in the template follow it.

    Returns:
        Texts and pictures in the order in which they are sent.
    """
    contents = {slot: _write_plain(sections) for slot, sections in material}
    pieces = fill_slots(template, {**contents, **values, **pictures})
    for slot, shown in pictures.items():
        if not holds_slot(template, slot):
            pieces += shown
    return pieces


def _write_plain(sections: Sequence[Section]) -> list[Any]:
    if len(sections) == 1:
        return list_pieces(sections[0])
    return join_pieces([[f"{s.name}:\n", *list_pieces(s)] for s in sections], "\n\n")
