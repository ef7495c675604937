"""Declaration of a kind of task: the content, its visibility, the fields, and disagreements.

Each kind is declared once. The web form, the validation of decisions,
escalation and agreement are all derived from the declaration.

Rules for forms:

- `list_options(field, content)` returns the options of a field: the declared ones, plus those of
  the task if the field has `options_from`. If the task has none, nothing is required.
- `is_asked(field, fields)` returns whether a field is shown, and so can be required.
- A field with `edits` starts with `write_part_text` (`review.part_texts`) of that part, or with the
  text of the chosen candidate if the part is `candidates`. A field with `prefill` starts with that
  part (a `text` field by `write_part_text`) and keeps it as its value. Neither is prefilled if the
  part is hidden from the person's role.
- Fields with the same `group` share a heading.
- Keys are unique in a kind. `j`, `k`, `/`, `?`, and digits while a rating or `options_from` expects
  one, are reserved for the form.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from pydantic import JsonValue

from omibench.schemas.review import ReviewRole

PartStyle = Literal[
    "markdown", "text", "choices", "answer", "candidates", "steps", "facts", "images", "pages"
]
"""How a part is shown: `markdown` with LaTeX and pictures at their marks; `text` verbatim;
`choices` as the options of a problem; `answer` as a list of texts; `candidates` as rationales side
by side; `steps` as a numbered list; `facts` as names with values; `images` and `pages` as pictures
with zoom.
"""
FieldType = Literal["choice", "choices", "rating", "flag", "text", "steps"]
"""`choice` is one value, `choices` a list of values, `rating` an integer on a scale, `flag` true or
false, `text` a text, and `steps` one value for each step of the part `steps`.
"""
Design = Literal["review", "everyone"]
"""`review`: an annotator decides, an auditor audits, a senior settles. `everyone`: each assignee
decides independently, and nothing is compared or settled.
"""


@dataclass(frozen=True)
class Option:
    """A value of a field, with its title and its key.

    `drops` marks a value that removes the item from the dataset once the task is settled.
    `subjects` are the values of the field `narrowed_by` with which it is offered; empty for all.
    """

    value: str
    title: str
    key: str = ""
    help: str = ""
    drops: bool = False
    subjects: tuple[str, ...] = ()


@dataclass(frozen=True)
class Field:
    """One field of a decision.

    Attributes:
        name: Its name in `ReviewDecision.fields`.
        title: The text on the form.
        type: The type of its value.
        options: The values of a `choice`, of `choices` and of each of the `steps`.
        options_from: The part of the task with additional options: texts, or entries with `value`,
            `id` or `label`, and optionally `title`, `help` and `subjects`.
        about: The part that the field asks about; it is not asked about a task without that part.
        absent: A value that says the same as none, in decisions of earlier versions.
        narrowed_by: The field whose value selects the offered options, by their `subjects`.
        scale: Lowest and highest value of a `rating`.
        required: Whether a decision without it is rejected.
        edits: The part that a `text` field starts with; unchanged, the field is None. Once settled,
            its text replaces that of the problem.
        prefill: The part whose value the field starts with and keeps.
        when: Other fields with the values for which this field is shown.
        critical: Whether any difference between annotator and auditor escalates (OMIBench, A.4.2).
        tolerance: Of a `rating`: a larger difference than this escalates.
        key: The key that focuses the field, or toggles a `flag`.
        help: A sentence below the title.
        group: The heading that it shares with its neighbours.
        attribute: The attribute of the item that its settled value sets; empty for no attribute.
    """

    name: str
    title: str
    type: FieldType
    options: tuple[Option, ...] = ()
    options_from: str | None = None
    about: str = ""
    absent: str | None = None
    narrowed_by: str = ""
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


def ask_one(name: str, title: str, *options: Option, **more: Any) -> Field:
    """Return a choice of one option; any difference between annotator and auditor escalates.

    Args:
        name: Its name.
        title: The text on the form.
        options: What can be chosen.
        more: Other attributes of the field.
    """
    return Field(name, title, "choice", options=options, critical=True, **more)


@dataclass(frozen=True)
class Part:
    """One part of a task's content.

    Attributes:
        name: Its name in `ReviewTask.content`; `images` and `pages` are the task's pictures.
        title: Its heading.
        style: How it is shown.
        hidden_from: Roles that never see it (OMIBench, A.4.1); it is not sent to their browsers.
        hashed: Whether decisions are about it, so that a change makes them stale.
        after_answer: Whether it gives the answer away: a reader who has not answered the problem
            yet does not get it (`Kind.list_withheld_parts`).
    """

    name: str
    title: str
    style: PartStyle
    hidden_from: frozenset[ReviewRole] = frozenset()
    hashed: bool = True
    after_answer: bool = False


@dataclass(frozen=True)
class Contradiction:
    """Answers that rarely go together: the author of a decision is asked to confirm them.

    Attributes:
        values: Field -> the value that it has, or that is among its values.
        unless: A text field whose correction resolves it.
        field: The field that the question is about.
        message: What is odd.
    """

    values: Mapping[str, str]
    unless: str
    field: str
    message: str

    def applies(self, fields: Mapping[str, JsonValue]) -> bool:
        """Return whether a decision contradicts itself."""
        return fields.get(self.unless) is None and all(
            wanted in (value if isinstance(value := fields.get(name), list) else [value])
            for name, wanted in self.values.items()
        )


@dataclass(frozen=True)
class Kind:
    """One kind of task.

    Attributes:
        name: Its name in tasks and decisions.
        title: A noun, for menus.
        instruction: The instruction for the person, in plain sentences; Markdown.
        parts: The parts shown, in order.
        fields: The fields of the form, in order.
        design: How several people's decisions are combined.
        reviewers: The number of people who decide before a task is settled, without the senior.
        timed: Whether the time of a decision is part of the result.
        contradictions: Answers that their author is asked to confirm.
        source: The passage of the paper that describes the task.
    """

    name: str
    title: str
    instruction: str
    parts: tuple[Part, ...]
    fields: tuple[Field, ...]
    design: Design = "review"
    reviewers: int = 2
    timed: bool = False
    contradictions: tuple[Contradiction, ...] = ()
    source: str = ""
    by_name: Mapping[str, Field] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Index the fields by name."""
        object.__setattr__(self, "by_name", {item.name: item for item in self.fields})

    def list_visible_parts(self, role: ReviewRole) -> list[Part]:
        """Return the parts that a role can see."""
        return [part for part in self.parts if role not in part.hidden_from]

    def list_withheld_parts(self, content: Mapping[str, JsonValue]) -> frozenset[str]:
        """Return the parts of a task that a reader sees only after their own answer."""
        return frozenset(
            part.name for part in self.parts if part.after_answer and content.get(part.name)
        )

    def find_chooser(self, item: Field) -> str | None:
        """Return the field that chooses the candidate whose text a field edits, if any."""
        return next((f.name for f in self.fields if f.options_from == item.edits), None)


def list_options(item: Field, content: Mapping[str, JsonValue]) -> tuple[Option, ...]:
    """Return the options of a field in one task: those of the task, then the declared ones.

    The digits are the keys of the task's first nine options.

    Args:
        item: The field.
        content: The content of the task; a missing part has no options.
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
    title, help_, subjects = (entry.get(name) for name in ("title", "help", "subjects"))
    if not isinstance(subjects, list):  # tasks of earlier versions have them in the title only
        before, _, name = str(title or "").rpartition(": ")
        subjects = [*before.split(", ")] if name == value else []
    named = tuple(str(subject) for subject in subjects if subject)
    return Option(value, str(title or value), key, str(help_ or ""), subjects=named)


def is_asked(item: Field, fields: Mapping[str, JsonValue]) -> bool:
    """Return whether a field is shown, given the values of the fields before it; `true` is a
    flag's.
    """
    if item.when is None:
        return True
    name, values = item.when
    value = fields.get(name)
    entries = value if isinstance(value, list) else [value]
    return any((str(e).lower() if isinstance(e, bool) else e) in values for e in entries)


AUDITOR: Final[frozenset[ReviewRole]] = frozenset({"auditor"})


# Parts and fields that several kinds share.

QUESTION: Final = Part("question", "Problem", "markdown")
CHOICES: Final = Part("choices", "Choices", "choices")
IMAGES: Final = Part("images", "Pictures", "images")
ANSWER: Final = Part("answer", "Official answer", "answer")
SOLUTION: Final = Part("solution", "Solution", "markdown")
RESPONSE: Final = Part("response", "Response of the model", "markdown")
PAGES: Final = Part("pages", "Pages of the paper", "pages", hashed=False)
FACTS: Final = Part("facts", "About the problem", "facts", hashed=False)
ITEM_LABELS: Final = Part("labels", "Labels", "facts", hidden_from=AUDITOR, hashed=False)
STATEMENT: Final = (QUESTION, CHOICES, IMAGES)
"""Fields about an item from the view of a dataset user."""
PROBLEM: Final = (*STATEMENT, ANSWER)

RIGHT_OR_WRONG: Final = (
    Option("right", "Right", "r"),
    Option("wrong", "Wrong", "w"),
)


def correct_parts(*parts: Part, about: Sequence[Part] = ()) -> tuple[Field, ...]:
    """Return fields for correcting the texts of parts.

    Args:
        parts: Parts of a problem; a field has the name and title of its part.
        about: Those that are only corrected in a task that has them, and never added.

    Returns:
        A text field for each part, None if the text is unchanged. If two readers leave different
        words in a part, a senior decides. A difference in the official answer also counts in
        calibrations and residual errors.
    """
    return tuple(
        Field(
            part.name,
            part.title,
            "text",
            required=False,
            edits=part.name,
            about=part.name if part in about else "",
            group="Corrections",
            critical=part is ANSWER,
        )
        for part in parts
    )
