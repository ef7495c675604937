"""The catalogue of prompts: their slots, and the wording that a file can replace."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any, Final, NamedTuple

from omibench.errors import OmibenchError, ParamsError, reason_of
from omibench.files.reading import read_bytes
from omibench.schemas.validation import suggest_name
from omibench.settings.prompt_names import prompt_homes
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
    for slot, parts in pictures.items():
        if not holds_slot(template, slot):
            pieces += parts
    return pieces


def _write_plain(sections: Sequence[Section]) -> list[Any]:
    if len(sections) == 1:
        return list_pieces(sections[0])
    return join_pieces([[f"{s.name}:\n", *list_pieces(s)] for s in sections], "\n\n")


# A wording: the text of one prompt, from a file that replaces the built-in one.
#
# A file can begin with mode lines: `[[literal]]` sends it unchanged, without our fences and closing
# lines; `[[system]]` begins a system message, which ends at the line `[[user]]`.

PROMPT_BYTES = 2**20
_CONTROL = re.compile(r"[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
LITERAL, SYSTEM, USER = "[[literal]]", "[[system]]", "[[user]]"


class Wording(NamedTuple):
    """The wording of one prompt from a file.

    `system` is the system message, `text` the rest; `literal` means that nothing of ours is added:
    no fences around material, no line about the form of the reply.
    """

    file: str
    text: str
    system: str = ""
    literal: bool = False

    @property
    def sha256(self) -> str:
        """Hash of the wording and its mode."""
        marks = f"{LITERAL if self.literal else ''}\0{self.system}\0{self.text}"
        return hashlib.sha256(marks.encode()).hexdigest()


def read_wording(file: str, entry: PromptEntry) -> Wording:
    """Read a file as the wording of one prompt of the catalogue.

    Args:
        file: Its path; UTF-8, at most 1 MiB.
        entry: The prompt that it replaces.

    Raises:
        ParamsError: It cannot be read, is empty, lacks a required slot, or has one that this prompt
            does not have.
    """
    wording = parse_wording(file, read_prompt_text(file, entry.owner), entry)
    if faults := list_faults(wording, entry):
        raise ParamsError(f"{file}: the prompt of the {entry.owner}: {faults[0]}")
    return wording


def choose_wording(files: Mapping[str, str], entry: PromptEntry) -> Wording:
    """Return the wording of a prompt from the file with its name, else the built-in one.

    Raises:
        ParamsError: The file cannot be read or is invalid.
    """
    file = files.get(entry.name)
    return read_wording(file, entry) if file else Wording("", entry.text)


def parse_wording(file: str, text: str, entry: PromptEntry) -> Wording:
    """Parse a file's text into a wording by its mode lines.

    Raises:
        ParamsError: A line such as `[[user]]` is out of place.
    """
    if SYSTEM in text.partition("\n")[0] or LITERAL in text.partition("\n")[0]:
        text = text.replace("\r\n", "\n")
    literal = text.partition("\n")[0].strip() == LITERAL
    if literal:
        text = text.partition("\n")[2].strip()
    if any(line.strip("\ufeff \t\r").casefold() == LITERAL for line in text.splitlines()):
        raise ParamsError(
            f"{file}: {LITERAL} must be on the first line, alone and in lower case, without "
            "anything before it, such as a byte order mark"
        )
    try:
        system, text = split_system(text)
    except ValueError as error:
        raise ParamsError(f"{file}: {error}") from None
    if not text:
        raise ParamsError(f"{file}: the prompt of the {entry.owner} is empty")
    return Wording(file, text, system, literal)


def list_faults(wording: Wording, entry: PromptEntry) -> list[str]:
    """List the errors that prevent a wording from being sent, one line each.

    Material without a slot in a fenced prompt follows it between fences, so only a literal one must
    have its slots; any other prompt is sent as a whole.
    """
    complete = wording.literal or not entry.fenced
    faults = describe_faults(wording.text, entry.slots, complete)
    faults += [
        f"has {{{slot.name}}} in its system message; move slots below the line {USER}"
        for slot in entry.slots
        if holds_slot(wording.system, slot.name)
    ]
    if wording.system and entry.is_fragment:
        faults.insert(
            0, f"has a message after {SYSTEM}, but it is part of another message; remove the line"
        )
    if wording.literal and not entry.fenced:
        faults.insert(
            0, f"begins with {LITERAL}, but nothing is ever added to this prompt; remove that line"
        )
    return faults


def split_system(text: str) -> tuple[str, str]:
    """Split a prompt file's text into its system message (or empty text) and the user's.

    Raises:
        ValueError: The mode lines of the two are out of place.
    """
    if not text.startswith(f"{SYSTEM}\n"):
        if {SYSTEM, USER} & {line.strip() for line in text.splitlines()}:
            raise ValueError(f"the first line must be {SYSTEM} if there is a system message")
        return "", text
    system, mark, user = text.removeprefix(f"{SYSTEM}\n").partition(f"\n{USER}\n")
    if not mark:
        raise ValueError(f"after the line {SYSTEM} there must be a line {USER}")
    return system.strip(), user.strip()


def read_prompt_text(file: str, owner: str) -> str:
    """Return the text of a prompt file without surrounding white space.

    Args:
        file: Its path; UTF-8, at most 1 MiB.
        owner: Its recipient, for messages.

    Raises:
        ParamsError: It cannot be read, is empty, or has a control character.
    """
    try:
        text = _read_unchanged(file, _state(file))
    except (OmibenchError, UnicodeDecodeError) as error:
        reason = reason_of(error).removeprefix(f"{file}: ").removeprefix("cannot be read: ")
        raise ParamsError(f"{file}: the prompt of the {owner} cannot be read: {reason}") from None
    if not text:
        raise ParamsError(f"{file}: the prompt of the {owner} is empty")
    if control := _CONTROL.search(text):
        raise ParamsError(
            f"{file}: the prompt of the {owner} has the control character {control[0]!r} in line "
            f"{text.count(chr(10), 0, control.start()) + 1}; remove it"
        )
    return text


def _state(file: str) -> tuple[int, int]:
    """Return modification time and size of a file; equal for all that cannot be inspected."""
    try:
        state = Path(file).stat()
    except (OSError, ValueError):
        return 0, -1
    return state.st_mtime_ns, state.st_size


@lru_cache(maxsize=128)
def _read_unchanged(file: str, state: tuple[int, int]) -> str:
    """Return the text of an unchanged file, cached, since requests are built individually."""
    return read_bytes(file, PROMPT_BYTES).decode("utf-8").strip()


# The catalogue as text, and prompt files compared with it: the output of `omibench prompts`.

_HASH_DIGITS = 12


class PlacedFile(NamedTuple):
    """A prompt file of a study: its key in params.yaml, and its path."""

    key: str
    file: str


def describe_prompt(
    entry: PromptEntry, files: Sequence[PlacedFile] = (), with_text: bool = False
) -> list[str]:
    """Describe a prompt in a few lines: purpose, slots, hash, printed original.

    Args:
        entry: The prompt.
        files: The files by which a study replaces it.
        with_text: Whether the built-in wording follows, indented.

    Returns:
        Lines, the first one with the prompt's name.
    """
    slots = " ".join(
        f"{{{slot.name}}}" if slot.required else f"[{{{slot.name}}}]" for slot in entry.slots
    )
    lines = [
        f"{entry.name}: {entry.purpose}",
        f"  slots: {slots or 'none'}",
        f"  built in: SHA-256 {entry.sha256[:_HASH_DIGITS]}; printed: {entry.source or 'nowhere'}",
        *(f"  {place.key}: {describe_file(place.file, entry)}" for place in files),
    ]
    if with_text:
        words = [*entry.text.splitlines(), *(["(the material)"] if entry.fenced else [])]
        lines += [f"  | {line}" for line in [*words, *entry.closing.splitlines()]]
    return lines


def describe_catalogue(
    files: Mapping[str, Sequence[PlacedFile]], with_text: bool = False
) -> list[str]:
    """Describe every prompt of the catalogue with `describe_prompt`.

    Args:
        files: The files by which a study replaces prompts, by name.
        with_text: Whether the built-in wording follows.

    Returns:
        Lines.
    """
    return [
        line
        for entry in list_prompts()
        for line in describe_prompt(entry, files.get(entry.name, ()), with_text)
    ]


def describe_file(file: str, entry: PromptEntry) -> str:
    """Describe a file on one line: its hash and mode, or its error."""
    try:
        wording = parse_wording(file, read_prompt_text(file, entry.owner), entry)
    except ParamsError as error:
        return str(error)
    if faults := list_faults(wording, entry):
        return f"{file}: {faults[0]}"
    literal = ", literal" if wording.literal else ""
    return f"{file}{literal}, SHA-256 {wording.sha256[:_HASH_DIGITS]}"


def check_prompt_file(file: str, name: str | None = None) -> list[str]:
    """Return the errors that prevent a file from being sent as a prompt.

    Args:
        file: Path of the file.
        name: The prompt; default: the file's name without its suffix.

    Returns:
        One line per error, also for a file that cannot be read or has no prompt's name; empty if
        the file is valid.

    Raises:
        ParamsError: The prompt `name` does not exist.
    """
    entry = find_prompt(name) if name else None
    try:
        entry = entry or find_prompt(Path(file).stem)
        wording = parse_wording(file, read_prompt_text(file, entry.owner), entry)
    except ParamsError as error:
        text = str(error)
        return [text if text.startswith(file) else f"{file}: {text}"]
    return [f"{file}: {fault}" for fault in list_faults(wording, entry)]
