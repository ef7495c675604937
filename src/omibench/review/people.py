"""Reviewers and their roles, from reviewers.yaml."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, ValidationError

from omibench.errors import FileFormatError, MissingInputError
from omibench.files.yaml_file import read_yaml
from omibench.schemas.problem import FrozenModel, Subject
from omibench.schemas.review import Name
from omibench.schemas.validation import explain, suggest_name

AssignedRole = Literal["annotator", "auditor", "senior"]
"""Roles of people; `imported` is not assignable."""


class Reviewer(FrozenModel):
    """One person of reviewers.yaml."""

    name: Name
    roles: Annotated[list[AssignedRole], Field(min_length=1)]
    subjects: list[Subject] | None = None
    """Subjects assigned to the person; all if omitted."""
    group: str = ""
    """Group in the human baseline (OMIBench, K), such as `expert` or `trained`."""
    email: str | None = None
    """The person's address, for the organizers; nothing is sent to it."""
    simulated: bool = False
    """Whether the person is simulated by a program."""

    def may_review(self, role: str, subject: str) -> bool:
        """Return whether the person has a role and covers a subject."""
        return role in self.roles and (self.subjects is None or subject in self.subjects)


def read_reviewers(path: str | Path) -> list[Reviewer]:
    """Read reviewers.yaml, a list of people.

    Raises:
        MissingInputError: The file does not exist.
        FileFormatError: An entry is invalid, or two share a name or address; the message gives the
            file, the entry (from 1), the field and its value.
    """
    values = read_yaml(path)
    if values is None:
        return []
    if not isinstance(values, list):
        raise FileFormatError(
            f"{path}: contains a {type(values).__name__}, not a list of people such as "
            "`- {name: ann, roles: [annotator]}`"
        )
    reviewers = [_parse_reviewer(value, f"{path}, entry {i}") for i, value in enumerate(values, 1)]
    _refuse_twins("name", [reviewer.name for reviewer in reviewers], path)
    _refuse_twins("email", [reviewer.email for reviewer in reviewers if reviewer.email], path)
    return reviewers


def format_reviewers(reviewers: Iterable[Reviewer]) -> str:
    """Return the text of a reviewers.yaml that `read_reviewers` can read."""
    import yaml

    people = [reviewer.model_dump(mode="json", exclude_defaults=True) for reviewer in reviewers]
    return str(yaml.safe_dump(people, allow_unicode=True, sort_keys=False))


def find_reviewer(reviewers: Iterable[Reviewer], name: str) -> Reviewer:
    """Return the person with that name.

    Raises:
        MissingInputError: The name is not found; the message suggests the nearest name.
    """
    by_name = {reviewer.name: reviewer for reviewer in reviewers}
    if name not in by_name:
        hint = suggest_name(name, list(by_name))
        raise MissingInputError(f"review: {name!r} is not in reviewers.yaml{hint}")
    return by_name[name]


def _parse_reviewer(value: object, place: str) -> Reviewer:
    name = value.get("name") if isinstance(value, Mapping) else None
    place += f" ({name})" if name else ""
    try:
        return Reviewer.model_validate(value)
    except ValidationError as error:
        raise FileFormatError(f"{place}: {explain(error, Reviewer)}") from None


def _refuse_twins(field: str, values: list[str], path: str | Path) -> None:
    twins = {value for value in values if values.count(value) > 1}
    if twins:
        raise FileFormatError(
            f"{path}: two people have the {field} {min(twins)!r}; give each a different one"
        )
