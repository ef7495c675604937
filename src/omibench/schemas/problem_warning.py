"""Warnings of a problem from the stages: typed here, a line of text in files.

The text is `CODE`, `CODE: DETAIL`, and ends with `SIMULATED (MODEL, ...)` if simulated models
caused it. The format in `problems.jsonl` is unchanged, so that older files can be read.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Annotated, Final

from pydantic import BeforeValidator, InstanceOf, PlainSerializer, WithJsonSchema

RATIONALE, LABEL = "rationale", "label"
"""Codes of fields that a model wrote after the filter: the solution, and the topic."""
CORRECTED = "corrected"
"""Code of a manual correction of a reading: `formula by Ana`."""
_MARKED: Final = re.compile(r"(?P<rest>.*?)(?:: |; )SIMULATED \((?P<models>[^()\n]+)\)", re.DOTALL)


@dataclass(frozen=True)
class ProblemWarning:
    """One warning: its kind, its text, and the simulated models that caused it."""

    code: str
    detail: str = ""
    simulated_by: tuple[str, ...] = ()

    @property
    def is_simulated(self) -> bool:
        """Whether simulated models caused it."""
        return bool(self.simulated_by)

    def __str__(self) -> str:
        text = f"{self.code}: {self.detail}" if self.detail else self.code
        if self.simulated_by:
            mark = f"SIMULATED ({', '.join(self.simulated_by)})"
            return f"{text}; {mark}" if self.detail else f"{text}: {mark}"
        # Text of a paper that looks like the mark must not be parsed as one.
        return f"{text}." if _MARKED.fullmatch(text) else text


def parse_warning(text: str) -> ProblemWarning:
    """Parse a warning from its text.

    Args:
        text: Text in a file.

    Returns:
        The warning; converting it to text gives the same text.
    """
    models: tuple[str, ...] = ()
    if marked := _MARKED.fullmatch(text):
        text, models = marked["rest"], tuple(marked["models"].split(", "))
    code, _, detail = text.partition(": ")
    return ProblemWarning(code, detail, models)


def _read(value: object) -> object:
    return parse_warning(value) if isinstance(value, str) else value


WarningText = Annotated[
    InstanceOf[ProblemWarning],
    BeforeValidator(_read),
    PlainSerializer(str, return_type=str),
    WithJsonSchema({"type": "string"}),
]
"""A warning as a field of a row: text in the file, typed in the program."""
