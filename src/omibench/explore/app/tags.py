"""Tags of the explorer's users, read again whenever the file of a review folder changes."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import BeforeValidator, model_validator

from omibench.errors import MissingInputError, OmibenchError, ParamsError
from omibench.explore.run import parse_cell
from omibench.explore.selection import Study
from omibench.params.review import REVIEWERS
from omibench.params.setting import Cell
from omibench.review.folder import sign_file
from omibench.review.people import find_reviewer, read_reviewers
from omibench.review.tags import TAGS, TagEvent, append_tags, read_tags
from omibench.web.bodies import JsonBody

Values = dict[str, Any]


def read_cell(value: object) -> Cell | None:
    """Return the cell that a page names as MODEL/SETTING; None for an empty text."""
    if not isinstance(value, str):
        raise ValueError("must be MODEL/SETTING")
    return parse_cell(value) if value else None


NamedCell = Annotated[Cell | None, BeforeValidator(read_cell)]


class TagChange(JsonBody):
    """A tag that a page adds or removes; of a response with its cell and sample."""

    id: str
    tag: str
    person: str
    cell: NamedCell = None
    index: int | None = None
    removed: bool = False

    @model_validator(mode="after")
    def _require_index(self) -> Self:
        if self.cell and self.index is None:
            raise ValueError("index: give the sample of the response")
        return self

    def make_event(self) -> TagEvent:
        """Return the change as an event of the file. Raises ValidationError."""
        place = {**self.cell._asdict(), "index": self.index} if self.cell else {}
        return TagEvent(
            problem=self.id, tag=self.tag, person=self.person, removed=self.removed, **place
        )


class TagFolder:
    """The tags of a review folder, which several servers and users can share."""

    def __init__(self, folder: Path | None) -> None:
        """Read from a folder.

        Args:
            folder: The review folder; None for no tags.
        """
        self._folder = folder
        self._lock = threading.Lock()
        self._signature: object = None
        self._by_item: Mapping[str, Sequence[TagEvent]] = {}

    def read(self) -> Mapping[str, Sequence[TagEvent]]:
        """Return the current tags by item; those read last if the file cannot be read."""
        if self._folder is None:
            return {}
        with self._lock:
            signature = sign_file(self._folder / TAGS)
            if signature != self._signature:
                by_item: defaultdict[str, list[TagEvent]] = defaultdict(list)
                try:
                    for tag in read_tags(self._folder):
                        by_item[tag.problem].append(tag)
                except OmibenchError:
                    return self._by_item
                self._signature, self._by_item = signature, dict(by_item)
            return self._by_item

    def list_names(self) -> Mapping[str, Sequence[str]]:
        """Return the tags of each item and its responses, each once."""
        return {name: [*{t.tag: 0 for t in tags}] for name, tags in self.read().items()}

    def describe(self, name: str) -> Values:
        """Return the tags of an item as plain values for JSON: `{tags, known}`.

        Args:
            name: The id of the item.
        """
        by_item = self.read()
        known = {tag.tag: None for tags in by_item.values() for tag in tags}
        return {
            "tags": [
                {
                    "tag": tag.tag,
                    "person": tag.person,
                    "cell": f"{tag.model}/{tag.setting}" if tag.model else "",
                    "index": tag.index,
                }
                for tag in by_item.get(name, ())
            ],
            "known": sorted(known, key=str.casefold),
        }


def save_tag(folder: Path | None, study: Study, tag: TagEvent) -> None:
    """Add or remove a tag; the removal of one that is not there changes nothing.

    Args:
        folder: The review folder; None if the explorer is read-only.
        study: The study.
        tag: The tag.

    Raises:
        ParamsError: Tags are disabled.
        MissingInputError: The person, the problem or the response does not exist.
        FileFormatError: reviewers.yaml is invalid.
        OutputError: The review folder cannot be written.
    """
    if folder is None:
        raise ParamsError("tags are disabled; start the explorer with --review DIR")
    if tag.problem not in study.items.questions:
        raise MissingInputError(f"problem {tag.problem[:80]!r} not found")
    if tag.index is not None:
        place = {"model": tag.model, "setting": tag.setting, "id": tag.problem, "index": tag.index}
        if study.run is None or study.run.responses.filter(**place).is_empty():
            raise MissingInputError(
                f"cell, index: {tag.model}/{tag.setting} has no response {tag.index} to "
                f"{tag.problem[:80]!r}"
            )
    if (folder / REVIEWERS).is_file():
        find_reviewer(read_reviewers(folder / REVIEWERS), tag.person)
    if tag.removed and tag.place not in {other.place for other in read_tags(folder)}:
        return
    append_tags(folder, [tag])
