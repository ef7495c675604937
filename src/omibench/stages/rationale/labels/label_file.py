"""File of labels: subfields of each subject with their topics, and labels by people.

A run writes its proposal as `labels.yaml`; people edit a copy and set it in
`rationale.taxonomy.file` (OMIBench, A.5: people correct labels and change the taxonomy).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Final

from pydantic import Field, StringConstraints, ValidationError

from omibench.errors import FileFormatError
from omibench.files.yaml_file import read_yaml
from omibench.schemas.curation import LabelKind
from omibench.schemas.problem import LONGEST_VALUE, FrozenModel, Problem, Subject
from omibench.schemas.tables import write_text
from omibench.schemas.validation import suggest_name

LabelText = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=LONGEST_VALUE)
]
Subfields = dict[Subject, dict[LabelText, list[LabelText]]]
"""Subject -> subfield -> its original topics."""
_HEAD: Final = """\
# Subfields of each subject, with the topics that they were found from. Copy this file, rename,
# merge and add subfields, and name the copy in rationale.taxonomy.file: the labeller picks from it.
# Human labels go under `items`:
#   physics-1: {subfield: optics, topics: [thin lenses], skills: [spatial imagination]}
"""


class ItemLabels(FrozenModel):
    """Labels of one problem by a person; they override those of models."""

    subfield: LabelText | None = None
    topics: Annotated[list[LabelText], Field(min_length=1)] | None = None
    skills: Annotated[list[LabelText], Field(min_length=1)] | None = None

    @property
    def by_kind(self) -> dict[LabelKind, list[str]]:
        """The labels that are given, by kind."""
        subfield = [self.subfield] if self.subfield else None
        kinds: dict[LabelKind, list[str] | None] = {
            "topic": self.topics, "subfield": subfield, "skill": self.skills,
        }  # fmt: skip
        return {kind: names for kind, names in kinds.items() if names}


class LabelFile(FrozenModel):
    """The contents of the file."""

    subfields: Subfields = {}
    items: dict[str, ItemLabels] = {}


def read_labels(path: str | Path) -> LabelFile:
    """Read a file of labels.

    Raises:
        MissingInputError: The file does not exist.
        FileFormatError: The file is invalid; the message is one line with key and value.
    """
    try:
        return LabelFile.model_validate(read_yaml(path) or {})
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"] if part != "[key]")
        raise FileFormatError(f"{path}: {place}: {first['msg']}") from None


def check_labels(labels: LabelFile, problems: Sequence[Problem], path: str | Path) -> None:
    """Check that the problems and subfields in the file exist.

    Raises:
        FileFormatError: An entry of `items` has an unknown one; the message suggests the nearest.
    """
    subjects = {problem.id: problem.subject for problem in problems}
    for name, item in labels.items.items():
        if name not in subjects:
            hint = suggest_name(name, subjects)
            raise FileFormatError(f"{path}: items: problem {name!r} not found{hint}")
        known = labels.subfields.get(subjects[name], {})
        if item.subfield is not None and item.subfield not in known:
            raise FileFormatError(
                f"{path}: items.{name}: {item.subfield!r} is not a subfield of {subjects[name]} in "
                f"this file{suggest_name(item.subfield, known)}"
            )


def write_labels(
    path: Path,
    subfields: Mapping[Subject, Mapping[str, Sequence[str]]],
    items: Mapping[str, ItemLabels],
) -> None:
    """Write a file of labels, with the same bytes for the same labels."""
    import yaml

    values = {
        "subfields": {
            subject: {name: list(topics) for name, topics in names.items()}
            for subject, names in sorted(subfields.items())
        },
        "items": {name: item.model_dump(exclude_none=True) for name, item in sorted(items.items())},
    }
    text = yaml.safe_dump(values, sort_keys=False, allow_unicode=True, width=100)
    write_text(path, _HEAD + text)
