"""Who reviews: the list of people in reviewers.yaml."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, ValidationError

from omibench.errors import FileFormatError, MissingInputError
from omibench.files.yaml_file import read_yaml
from omibench.schemas.problem import Noun, Subject
from omibench.schemas.review import Name
from omibench.schemas.validation import explain, suggest_name

AssignedRole = Literal["annotator", "auditor", "senior"]
"""Roles that a person may be given; `imported` is none of them."""


class Reviewer(Noun):
    """One person of reviewers.yaml."""

    name: Name
    roles: Annotated[list[AssignedRole], Field(min_length=1)]
    subjects: list[Subject] | None = None
    """Subjects that the person is asked about; all where they are left out."""
    group: str = ""
    """Of the human baseline (OMIBench, K): such as `expert` or `trained`."""
    email: str | None = None
    """By which Label Studio knows the person."""
    simulated: bool = False
    """Whether a program stands in for the person."""

    def may_review(self, role: str, subject: str) -> bool:
        """Whether the person has a role and is asked about a subject."""
        return role in self.roles and (self.subjects is None or subject in self.subjects)


def read_reviewers(path: str | Path) -> list[Reviewer]:
    """Read reviewers.yaml: a list of people.

    Raises:
        MissingInputError: There is no such file.
        FileFormatError: An entry is wrong, or two have one name or one address; the line names the
            file, the entry (from 1), the field and its value.
    """
    values = read_yaml(path)
    if values is None:
        return []
    if not isinstance(values, list):
        raise FileFormatError(
            f"{path}: holds a {type(values).__name__}, not a list of people such as "
            "`- {name: ann, roles: [annotator]}`"
        )
    reviewers = [_parse_reviewer(value, f"{path}, entry {i}") for i, value in enumerate(values, 1)]
    _refuse_twins("name", [reviewer.name for reviewer in reviewers], path)
    _refuse_twins("email", [reviewer.email for reviewer in reviewers if reviewer.email], path)
    return reviewers


def format_reviewers(reviewers: Iterable[Reviewer]) -> str:
    """The text of a reviewers.yaml that `read_reviewers` reads back."""
    import yaml

    people = [reviewer.model_dump(mode="json", exclude_defaults=True) for reviewer in reviewers]
    return str(yaml.safe_dump(people, allow_unicode=True, sort_keys=False))


def find_reviewer(reviewers: Iterable[Reviewer], name: str) -> Reviewer:
    """The person of that name.

    Raises:
        MissingInputError: There is none; the message suggests the nearest name.
    """
    by_name = {reviewer.name: reviewer for reviewer in reviewers}
    if name not in by_name:
        hint = suggest_name(name, list(by_name))
        raise MissingInputError(f"review: nobody of reviewers.yaml is called {name!r}{hint}")
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
            f"{path}: two people have the {field} {min(twins)!r}: give each one of their own"
        )
