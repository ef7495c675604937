"""What a kind of task is: what it shows to whom, what it asks, and when readers disagree.

Each kind is declared once. The form of the application, the check of a decision, the configuration
of Label Studio, escalation and agreement are all made from the declaration.

What whoever makes a form has to know:

- The options of a field are `list_options(field, content)`: those of the declaration, and those of
  the task where the field has `options_from`. Where the task lists none, nothing is required.
- `is_asked(field, fields)` says whether a field is asked, and so may be required.
- A field with `edits` starts with `write_part_text` (`review.part_texts`) of that part, and with
  the text of the chosen candidate where the part is `candidates`. One with `prefill` starts with
  that part (a `text` field by `write_part_text`) and keeps it as its value. Neither is filled in
  where the part is hidden from the person's role.
- Fields with the same `group` stand under one heading.
- Keys are unique in a kind; `j`, `k`, `?` and the digits where a rating or `options_from` waits for
  one are the form's own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from pydantic import JsonValue

from omibench.schemas.review import ReviewRole

PartStyle = Literal[
    "markdown", "text", "choices", "answer", "candidates", "steps", "facts", "images", "pages"
]
"""How a part is shown: `markdown` with LaTeX and pictures at their marks; `text` as it is;
`choices` as the options of a problem; `answer` as a list of texts; `candidates` as rationales side
by side; `steps` as a numbered list; `facts` as names with values; `images` and `pages` as pictures
with zoom."""
FieldType = Literal["choice", "choices", "rating", "flag", "text", "steps"]
"""`choice` is one value, `choices` a list of them, `rating` a whole number of a scale, `flag` true
or false, `text` a text, and `steps` one value for each step of the part `steps`."""
Design = Literal["review", "everyone"]
"""`review`: an annotator decides, an auditor audits, a senior settles. `everyone`: each person who
is asked decides apart, and nothing is compared or settled."""


@dataclass(frozen=True)
class Option:
    """A value that a field may take, its title, and the key that picks it.

    `drops` marks a value that takes the item out of the dataset once the task is settled.
    """

    value: str
    title: str
    key: str = ""
    help: str = ""
    drops: bool = False


@dataclass(frozen=True)
class Field:
    """One field of a decision.

    Attributes:
        name: Its name in `ReviewDecision.fields`.
        title: What the form says.
        type: What it holds.
        options: The values of a `choice`, of `choices` and of each of the `steps`.
        options_from: The part of the task that lists options beside these: texts, or entries with
            `value` or `id` or `label`, and perhaps `title` and `help`.
        scale: Lowest and highest value of a `rating`.
        required: Whether a decision without it is refused.
        edits: The part whose text a `text` field starts with; unchanged, the field is None.
            Settled, its text replaces what the problem says there.
        prefill: The part whose value the field starts with, which is kept as it is.
        when: The field is asked only where another one has one of these values.
        critical: Whether any difference between annotator and auditor escalates (OMIBench, A.4.2).
        tolerance: Of a `rating`: a difference of more than this escalates.
        key: The key that goes to the field, or turns a `flag`.
        help: A sentence below the title.
        group: The heading under which it stands with its neighbours.
        attribute: The attribute of the item that its settled value becomes; none where empty.
    """

    name: str
    title: str
    type: FieldType
    options: tuple[Option, ...] = ()
    options_from: str | None = None
    scale: tuple[int, int] = (1, 5)
    required: bool = True
    edits: str | None = None
    prefill: str | None = None
    when: tuple[str, tuple[str, ...]] | None = None
    critical: bool = False
    tolerance: int | None = None
    key: str = ""
    help: str = ""
    group: str = ""
    attribute: str = ""

    @property
    def values(self) -> tuple[str, ...]:
        """The values of its options."""
        return tuple(option.value for option in self.options)


@dataclass(frozen=True)
class Part:
    """One part of a task's content.

    Attributes:
        name: Its name in `ReviewTask.content`; `images` and `pages` are the task's pictures.
        title: What stands above it.
        style: How it is shown.
        hidden_from: Roles that never see it (OMIBench, A.4.1): it is not sent to their browsers.
        hashed: Whether a decision is about it, so that another content makes the decision stale.
    """

    name: str
    title: str
    style: PartStyle
    hidden_from: frozenset[ReviewRole] = frozenset()
    hashed: bool = True


@dataclass(frozen=True)
class Kind:
    """One kind of task.

    Attributes:
        name: Its name in tasks and decisions.
        title: A noun, for menus.
        instruction: What the person does, in plain sentences; Markdown.
        parts: What is shown, in order.
        fields: What is asked, in order.
        design: How the decisions of several people make one result.
        reviewers: How many people decide before a task is settled, the senior left out.
        timed: Whether the time of a decision is part of the result.
        source: The passage of the paper that asks for it.
    """

    name: str
    title: str
    instruction: str
    parts: tuple[Part, ...]
    fields: tuple[Field, ...]
    design: Design = "review"
    reviewers: int = 2
    timed: bool = False
    source: str = ""
    by_name: Mapping[str, Field] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Index the fields."""
        object.__setattr__(self, "by_name", {item.name: item for item in self.fields})

    def list_visible_parts(self, role: ReviewRole) -> list[Part]:
        """The parts that a role may see."""
        return [part for part in self.parts if role not in part.hidden_from]


def list_options(item: Field, content: Mapping[str, JsonValue]) -> tuple[Option, ...]:
    """The options of a field in one task: those that the task lists, then the declared ones.

    Those of the task are picked by the digits, the first nine of them.

    Args:
        item: The field.
        content: The content of the task; a part that is not there lists none.
    """
    entries = content.get(item.options_from) if item.options_from else None
    from_task = [
        _read_option(entry, str(number) if number < 10 else "")
        for number, entry in enumerate(entries if isinstance(entries, list) else [], 1)
    ]
    return (*from_task, *item.options)


def _read_option(entry: JsonValue, key: str) -> Option:
    if not isinstance(entry, dict):
        return Option(str(entry), str(entry), key)
    value = str(next((entry[name] for name in ("value", "id", "label") if name in entry), ""))
    title, help_ = entry.get("title"), entry.get("help")
    return Option(value, str(title or value), key, str(help_ or ""))


def is_asked(item: Field, fields: Mapping[str, JsonValue]) -> bool:
    """Whether a field is asked, the fields before it having these values; `true` is a flag's."""
    if item.when is None:
        return True
    name, values = item.when
    value = fields.get(name)
    entries = value if isinstance(value, list) else [value]
    return any((str(e).lower() if isinstance(e, bool) else e) in values for e in entries)


AUDITOR: Final[frozenset[ReviewRole]] = frozenset({"auditor"})
EVERYONE: Final[frozenset[ReviewRole]] = frozenset({"annotator", "auditor", "senior", "imported"})
