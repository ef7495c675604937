"""Periods in which work was settled."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from typing import NamedTuple

from omibench.errors import ParamsError

_WEEK = re.compile(r"(\d{4})-W(\d{2})")


class Period(NamedTuple):
    """A period in which work was settled, with the name of its sample in ids."""

    name: str
    start: datetime
    end: datetime
    """The first moment after the period."""


def read_week(text: str) -> Period:
    """Return the ISO week of a text such as `2026-W47`: Monday to Sunday, UTC.

    Raises:
        ParamsError: The text is not a week.
    """
    match = _WEEK.fullmatch(text)
    try:
        if match is None:
            raise ValueError
        monday = date.fromisocalendar(int(match[1]), int(match[2]), 1)
    except ValueError:
        raise ParamsError(f"--week {text!r} is not a week; write it as 2026-W47") from None
    start = datetime(monday.year, monday.month, monday.day, tzinfo=UTC)
    return Period(text, start, start + timedelta(days=7))


def read_period(since: str, until: str) -> Period:
    """Return the days from one date to another, both included, UTC.

    Raises:
        ParamsError: A text is not a date such as `2026-11-16`, or the second date is before the
            first.
    """
    days = []
    for option, text in (("--since", since), ("--until", until)):
        try:
            day = date.fromisoformat(text)
        except ValueError:
            raise ParamsError(f"{option} {text!r} is not a date; write it as 2026-11-16") from None
        days.append(datetime(day.year, day.month, day.day, tzinfo=UTC))
    start, end = days
    if end < start:
        raise ParamsError(f"--until {until} is before --since {since}")
    return Period(f"{start.date()}_{end.date()}", start, end + timedelta(days=1))
