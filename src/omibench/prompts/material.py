"""Material of others in a prompt: between fences, or plain where a literal file asks for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from omibench.prompts.slots import fill_slots, holds_slot, join_pieces
from omibench.text.fences import Section, fence_each, list_pieces

Material = Sequence[tuple[str, Sequence[Section]]]
"""The slots of a prompt with the sections that stand in each, in their order."""


def name_slot(section: str) -> str:
    """The slot of a section: that of OFFICIAL ANSWER is `official_answer`."""
    return section.lower().replace(" ", "_")


def place_fenced(template: str, material: Material, values: Mapping[str, str]) -> list[Any]:
    """A template with sections between fences in their slots.

    Args:
        template: The words of a file; it may name no slot at all.
        material: What it does not name follows it, in order.
        values: What stands for slots of other kinds.

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
    """A literal template with sections as plain text in their slots.

    Args:
        template: The words of a file; of the material only what it names is sent.
        material: Several sections of one slot stand under their names.
        values: What stands for slots of other kinds.
        pictures: Pictures by their slot; those that the template does not name follow it.

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
