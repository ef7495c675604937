"""The possible values of a judge: a number within bounds, or one label of a list.

A scale defines the end of a reply, reads it, and combines the values of several judges.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from omibench.errors import PluginError
from omibench.judges.reply import last_value
from omibench.judges.votes import middle, most

_LABEL = re.compile(r"[a-z][a-z0-9_]{0,39}")
_NUMBER = re.compile(r"-?\d{1,9}(?:\.\d{1,6})?")
_DECORATION = "*_` ."


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
        value = (last_value(reply, "mark") or "").strip(_DECORATION)
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
        value = (last_value(reply, "label") or "").strip(_DECORATION).casefold()
        return value if self.allows(value) else None

    def vote(self, votes: Sequence[str]) -> str | None:
        """Return the label with more votes than any other; None on a tie."""
        return most(votes)

    def allows(self, value: object) -> bool:
        """Return whether a value is a label of the list."""
        return isinstance(value, str) and value in self.labels


Scale = NumberScale | LabelScale
