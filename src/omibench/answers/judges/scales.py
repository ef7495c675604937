"""Combines several judges' verdicts. A tie gives None."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any, TypeVar

from omibench.errors import PluginError

T = TypeVar("T", bound=Hashable)


def most(votes: Sequence[T]) -> T | None:
    """Return the value with more votes than any other; None on a tie and without votes."""
    ranked = Counter(votes).most_common(2)
    if not ranked or (len(ranked) == 2 and ranked[0][1] == ranked[1][1]):
        return None
    return ranked[0][0]


def middle(votes: Sequence[float]) -> float | None:
    """Return the median; None without votes."""
    return float(median(votes)) if votes else None


# Reads a judge's reply: one strict token or one strict JSON object, only from its end.
#
# Quotes of a response come before the verdict, so only the end is read. None means no verdict and
# is never taken for a wrong answer.

_LINE_CHARS = 4_000
_JSON_CHARS = 8_000
_FENCE = re.compile(r"\n?```\s*$")
_OBJECT = re.compile(r"^[ \t]*\{", re.MULTILINE)
_DECORATION = "*_` \t"


def last_line(reply: str) -> str | None:
    """Return the last line that is not blank, without emphasis around it, or None."""
    lines = [line for line in reply.split("\n") if line.strip()]
    if not lines or len(lines[-1]) > _LINE_CHARS:
        return None
    return lines[-1].strip().strip(_DECORATION)


def last_value(reply: str, label: str) -> str | None:
    """Return the text after `label:` on the last line, or None without that label."""
    line = last_line(reply)
    head = re.match(rf"{re.escape(label)}\s*:[{_DECORATION}]*", line or "", re.IGNORECASE)
    return line[head.end() :].strip() if line and head else None


def last_object(reply: str, keys: Collection[str], also: Collection[str] = ()) -> dict[str, Any]:
    """Return the JSON object at the end of a reply that begins a line of it, or {}.

    It has exactly `keys`, each once, and optionally some of `also`. A code fence can surround it.
    """
    text = _FENCE.sub("", reply.rstrip())[-_JSON_CHARS:]
    starts = [match.end() - 1 for match in _OBJECT.finditer(text)]
    for start in starts[-20:]:  # outermost first: an object inside it is part of it
        try:
            parsed = json.loads(text[start:], object_pairs_hook=_once)
        except (ValueError, RecursionError):
            continue
        return parsed if set(keys) <= set(parsed) <= {*keys, *also} else {}
    return {}


def whole_number(value: object, low: int, high: int) -> int | None:
    """Return an integer within bounds; a boolean, a text or 4.5 does not count."""
    is_int = isinstance(value, int) and not isinstance(value, bool)
    return value if is_int and low <= value <= high else None  # type: ignore[operator,return-value]


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise ValueError("duplicate key")
    return fields


# The possible values of a judge: a number within bounds, or one label of a list.
#
# A scale defines the end of a reply, reads it, and combines the values of several judges.

_LABEL = re.compile(r"[a-z][a-z0-9_]{0,39}")
_NUMBER = re.compile(r"-?\d{1,9}(?:\.\d{1,6})?")
_DECORATION_SCALES = "*_` ."


@dataclass(frozen=True)
class NumberScale:
    """A mark from `lowest` to `highest`, whole unless `whole` is off.

    Several judges give the median.

    Raises:
        PluginError: `lowest` is not below `highest`.
    """

    lowest: float
    highest: float
    whole: bool = True

    def __post_init__(self) -> None:
        if not self.lowest < self.highest:
            raise PluginError(
                f"a scale from {self.lowest:g} to {self.highest:g}: put the lowest mark first"
            )

    @property
    def closing(self) -> str:
        """The required end of a reply."""
        number = "whole number" if self.whole else "number"
        return (
            "You may think first. The last line of your reply must have exactly this form, N a "
            f"{number} from {self.lowest:g} to {self.highest:g}:\nMARK: N"
        )

    def read(self, reply: str) -> float | None:
        """Read the mark on the last line of a reply; None if missing or out of bounds."""
        value = (last_value(reply, "mark") or "").strip(_DECORATION_SCALES)
        if not _NUMBER.fullmatch(value):
            return None
        mark = float(value)
        return mark if self.allows(mark) and (mark.is_integer() or not self.whole) else None

    def vote(self, votes: Sequence[float]) -> float | None:
        """Return the median; None without votes."""
        return middle(votes)

    def allows(self, value: object) -> bool:
        """Return whether a value is within the bounds; medians can lie between whole marks."""
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        return is_number and self.lowest <= value <= self.highest  # type: ignore[operator]


@dataclass(frozen=True)
class LabelScale:
    """One label of a list: name -> when it applies; several judges give the most frequent.

    Names consist of lower-case letters, digits and underscores.

    Raises:
        PluginError: The list has fewer than two labels, or one has another form.
    """

    labels: Mapping[str, str]

    def __post_init__(self) -> None:
        wrong = next((name for name in self.labels if not _LABEL.fullmatch(name)), None)
        if wrong is not None or len(self.labels) < 2:
            reason = (
                f"{wrong!r} is not a valid label; use lower-case letters, digits and underscores"
                if wrong is not None
                else "give two labels or more"
            )
            raise PluginError(f"a scale of labels: {reason}")

    @property
    def closing(self) -> str:
        """The labels, and the required end of a reply."""
        lines = "\n".join(f"- {name}: {text}" for name, text in self.labels.items())
        return (
            f"The labels:\n{lines}\n\nYou may think first. The last line of your reply must have "
            "exactly this form, with one name from the list:\nLABEL: name"
        )

    def read(self, reply: str) -> str | None:
        """Read the label on the last line of a reply; None if it is not in the list."""
        value = (last_value(reply, "label") or "").strip(_DECORATION_SCALES).casefold()
        return value if self.allows(value) else None

    def vote(self, votes: Sequence[str]) -> str | None:
        """Return the label with more votes than any other; None on a tie."""
        return most(votes)

    def allows(self, value: object) -> bool:
        """Return whether a value is a label of the list."""
        return isinstance(value, str) and value in self.labels


Scale = NumberScale | LabelScale
