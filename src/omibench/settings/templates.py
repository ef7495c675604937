"""Templates: a prompt's text with slots for examples, question and choices."""

from __future__ import annotations

import re
from typing import NamedTuple

from omibench.settings.prompts import PromptEntry, Slot

QUESTION, CHOICES, EXAMPLES = "{question}", "{choices}", "{examples}"
OPEN = "-open"
"""Suffix of the name of a prompt's variant for problems without choices."""
SLOTS = (
    Slot("question", "the statement with its pictures"),
    Slot("choices", "the options, one a line", required=False),
    Slot("examples", "solved problems, where the setting shows some", required=False),
)
SLOT = re.compile(f"({re.escape(QUESTION)}|{re.escape(CHOICES)}|{re.escape(EXAMPLES)})")
_HEADING = re.compile(r"\[[^\[\]\n]+\]")


class Prompt(NamedTuple):
    """Two templates, for problems with and without choices, with `{question}` and `{choices}`.

    `label` is the start of a choice, with `{}` for its letter; `system` is the system message, if
    any. In-context examples replace `{examples}`; without it they are earlier turns.
    """

    mcq: str
    open: str
    label: str = "{}. "
    system: str = ""

    def shape(self, lettered: bool, choices: bool = True, examples: bool = False) -> str:
        """Return the template of a problem, `lettered` if it has choices, without unused slots."""
        template = self.mcq if lettered else self.open
        if not (lettered and choices):
            template = drop_slot(template, CHOICES)
        return template if examples else drop_slot(template, EXAMPLES)

    @property
    def takes_examples(self) -> bool:
        """Whether in-context examples are part of its message."""
        return EXAMPLES in self.mcq

    @property
    def wants_box(self) -> bool:
        """Whether the answer is requested in a box."""
        return "\\boxed" in self.mcq


def describe_template(name: str, text: str, source: str = "") -> PromptEntry:
    """Return the catalogue's entry of a prompt that poses a question."""
    return PromptEntry(
        name, "puts a question to a model", text, SLOTS, source, owner=f"setting ({name})"
    )


def drop_slot(template: str, slot: str) -> str:
    """Return a template without a slot.

    Its paragraph is removed too, or only its line and the heading above if the paragraph also
    contains the question.
    """
    paragraphs = [_without(paragraph, slot) for paragraph in template.split("\n\n")]
    return "\n\n".join(paragraph for paragraph in paragraphs if paragraph is not None)


def _without(paragraph: str, slot: str) -> str | None:
    if slot not in paragraph:
        return paragraph
    if QUESTION not in paragraph:
        return None
    lines: list[str] = []
    for line in paragraph.split("\n"):
        if slot not in line:
            lines.append(line)
        elif QUESTION in line:
            lines.append(line.replace(slot, "").strip())
        elif lines and _HEADING.fullmatch(lines[-1]):
            lines.pop()
    return "\n".join(lines)
