"""Tags on problems and responses: short words of the users of the explorer, in `tags.jsonl`.

The file has one event per line, in order: a tag was added, or removed. Tags change no dataset.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from pydantic import Field, field_validator

from omibench.errors import FileFormatError
from omibench.review.folder import ReviewLines, append_lines, read_lines, write_alone
from omibench.schemas.problem import FrozenModel

TAGS: Final = "tags.jsonl"
LOCK: Final = ".tags.lock"
"""The lock file with which writers of one folder wait for each other; it can be deleted."""
LONGEST: Final = 60
"""Maximum characters of a tag."""
MOST_INDEX: Final = 2**31 - 1
"""Maximum sample of a response."""
TAG_COLUMNS: Final = ("problem", "model", "setting", "index", "tag", "person", "time")


class TagEvent(FrozenModel):
    """A tag that was added to a problem or to one response to it, or removed."""

    id: str = Field(default_factory=lambda: f"tag-{uuid.uuid4().hex}", max_length=100)
    time: datetime = Field(default_factory=lambda: datetime.now(UTC))
    person: str = Field(min_length=1, max_length=200)
    tag: str = Field(min_length=1, max_length=LONGEST)
    problem: str = Field(max_length=10_000)
    model: str = Field(default="", max_length=400)
    """Empty for the problem itself."""
    setting: str = Field(default="", max_length=400)
    index: int | None = Field(default=None, ge=0, le=MOST_INDEX, strict=True)
    """The sample of a response."""
    removed: bool = False

    @field_validator("tag", "person", mode="before")
    @classmethod
    def _tidy(cls, value: Any) -> Any:
        return " ".join(value.split()) if isinstance(value, str) else value

    @field_validator("tag", "person")
    @classmethod
    def _refuse_invisible(cls, value: str) -> str:
        if not value.isprintable():
            raise ValueError("must not contain invisible characters")
        return value

    @property
    def place(self) -> tuple[str, str, str, int | None, str]:
        """What is tagged, and with what, ignoring case."""
        return self.problem, self.model, self.setting, self.index, self.tag.casefold()


def read_tag_events(path: Path) -> ReviewLines[TagEvent]:
    """Read the events of a file; none if it does not exist.

    Raises:
        FileFormatError: The file is larger than 1 GiB.
    """
    return read_lines(path, TagEvent) if path.exists() else ReviewLines()


def read_tags(folder: Path) -> list[TagEvent]:
    """Return the current tags of a review folder, in the order in which they were added.

    Args:
        folder: The review folder; unreadable lines of its file are skipped.

    Raises:
        FileFormatError: The file is larger than 1 GiB.
    """
    return list_current(read_tag_events(folder / TAGS).rows)


def list_current(events: Iterable[TagEvent]) -> list[TagEvent]:
    """Return the tags that were added and not removed since.

    Case does not matter: a tag has the spelling of the first of its kind everywhere.
    """
    current: dict[tuple[object, ...], TagEvent] = {}
    for event in events:
        if event.removed:
            current.pop(event.place, None)
        else:
            current.setdefault(event.place, event)
    spellings: dict[str, str] = {}
    return [
        event.model_copy(update={"tag": spellings.setdefault(event.tag.casefold(), event.tag)})
        for event in current.values()
    ]


def append_tags(folder: Path, events: Iterable[TagEvent]) -> int:
    """Append events to a folder's file, each once, and return how many were new.

    Other writers wait.

    Raises:
        OutputError: The file cannot be written.
        FileFormatError: The file is larger than 1 GiB, or an id belongs to another event.
    """
    with write_alone(folder / TAGS, folder / LOCK) as path:
        known = {event.id: event for event in read_tag_events(path).rows}
        new: dict[str, TagEvent] = {}
        for event in events:
            earlier = known.get(event.id) or new.setdefault(event.id, event)
            if earlier != event:
                raise FileFormatError(f"the id {event.id!r} belongs to another tag; ids differ")
        append_lines(path, map(_format, new.values()))
    return len(new)


def _format(event: TagEvent) -> str:
    values = event.model_dump(mode="json", exclude_defaults=True)
    values |= {"id": event.id, "time": event.time.isoformat()}
    return json.dumps(values, ensure_ascii=False, sort_keys=True)


def list_tag_rows(tags: Iterable[TagEvent]) -> list[dict[str, Any]]:
    """Return tags as rows of a table with `TAG_COLUMNS`."""
    return [
        {name: getattr(tag, name) for name in TAG_COLUMNS[:-1]} | {"time": tag.time.isoformat()}
        for tag in tags
    ]
