"""Slots: the places of a prompt that are filled for each request, such as `{question}`.

A slot's content is never searched for slots, so no third-party text can fill one.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Final, NamedTuple

from omibench.errors import ParamsError
from omibench.schemas.validation import suggest_name
from omibench.settings.prompts.names import prompt_homes
from omibench.text.fences import Section, fence_each, list_pieces

_BRACES = re.compile(r"\{([^{}]*)\}")
_NAME = re.compile(r"[a-z][a-z0-9_]{0,59}")
_MOST_FILLED: Final = 20
"""Maximum number of times that a prompt can contain a slot: a text of megabytes may fill it."""
_MOST_NAMED: Final = 10
"""Maximum number of unknown slots that are described."""
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
            for name in find_unknown_slots(text, slots)[:_MOST_NAMED]
        ),
        *(
            f"has {{{slot.name}}} {count:,} times; at most {_MOST_FILLED} are filled"
            for slot in slots
            if (count := text.count(f"{{{slot.name}}}")) > _MOST_FILLED
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


# The catalogue: every prompt that the program sends, described at its definition.

_ENTRIES: Final[dict[str, PromptEntry]] = {}


@dataclass(frozen=True)
class PromptEntry:
    """One prompt of the catalogue.

    Attributes:
        name: File name in a folder of prompts, without `.txt`.
        purpose: Its purpose, in a few words.
        text: The built-in wording, with its slots.
        slots: The places that are filled for each request.
        source: The printed original, such as `OMIBench, C.2`; empty without one.
        owner: Its recipient in messages: `judge quality`.
        fenced: Whether material follows the wording between fences, and then a line about the form
            of the reply: both stay unless a file is literal.
        closing: That line.
        is_fragment: Whether it is part of a message that begins with other text, so that no file
            can give it a system message.
    """

    name: str
    purpose: str
    text: str
    slots: tuple[Slot, ...] = ()
    source: str = ""
    owner: str = ""
    fenced: bool = False
    closing: str = ""
    is_fragment: bool = False

    @property
    def sha256(self) -> str:
        """Hash of the built-in wording."""
        return hashlib.sha256(f"{self.text}\0{self.closing}".encode()).hexdigest()


def add_prompt(entry: PromptEntry) -> PromptEntry:
    """Add a prompt to the catalogue and return it."""
    _ENTRIES[entry.name] = entry
    return entry


def list_prompts() -> list[PromptEntry]:
    """Return every prompt: the built-in ones, then those of settings in loaded plug-ins."""
    for name in prompt_homes():
        find_prompt(name)
    return [_ENTRIES[name] for name in dict.fromkeys([*prompt_homes(), *_ENTRIES])]


def find_prompt(name: str) -> PromptEntry:
    """Return the prompt of that name; its module is imported on the first call.

    Raises:
        ParamsError: It does not exist (with the nearest name).
    """
    if name not in _ENTRIES and name in prompt_homes():
        import_module(prompt_homes()[name])
    if name not in _ENTRIES:
        raise ParamsError(f"unknown prompt {name!r}{suggest_name(name, list(prompt_homes()))}")
    return _ENTRIES[name]


# Third-party material in a prompt: between fences, or plain in a literal file.

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
