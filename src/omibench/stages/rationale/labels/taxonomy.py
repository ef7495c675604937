"""Domain, subfield and topic of each problem, derived from the problems (OMIBench, A.5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from omibench.schemas.label_row import LabelKind, LabelRow
from omibench.schemas.problem import Problem, Subject
from omibench.stages.rationale.labels.clusters import Clustering
from omibench.stages.rationale.labels.label_file import (
    ItemLabels,
    LabelFile,
    Subfields,
    check_labels,
    read_labels,
)
from omibench.stages.rationale.labels.labeller import Labeller
from omibench.stages.rationale.labels.open_topics import name_topics
from omibench.stages.rationale.labels.skills import name_skills
from omibench.stages.rationale.labels.subfields import find_subfields, pick_subfields

DOMAIN: Final = "domain"
PERSON: Final = "person"


@dataclass(frozen=True)
class TaxonomyPlan:
    """Parameters of the taxonomy.

    `skills` is subject -> skill -> meaning. Without `whole`, the problems are a part of the
    dataset, and are not clustered.
    """

    clustering: Clustering
    file: str | None = None
    finds_subfields: bool = True
    skills: Mapping[Subject, Mapping[str, str]] = field(default_factory=dict)
    whole: bool = True


@dataclass(frozen=True)
class TaxonomyLabels:
    """Problems with their labels, the author of each label, and the lists of subfields."""

    problems: list[Problem]
    rows: list[LabelRow]
    subfields: Subfields
    items: Mapping[str, ItemLabels]


def add_taxonomy(
    problems: Sequence[Problem], folder: Path, labeller: Labeller, plan: TaxonomyPlan
) -> TaxonomyLabels:
    """Label each problem in two passes, with the clustering between them.

    Args:
        problems: Problems with their subjects.
        folder: The folder of their pictures.
        labeller: The model for topics, subfields and skills.
        plan: The parameters.

    Returns:
        The problems in order, with the attributes `domain` (the subject), `subfield`, `topics` and
        `skills`.

    Raises:
        FileFormatError: The file of labels is invalid, or has unknown entries.
        ModelError: The embedding model returned no vectors.
    """
    people = read_labels(plan.file) if plan.file else LabelFile()
    if plan.file and plan.whole:
        check_labels(people, problems, plan.file)
    rows = _list_people(people, problems)
    labelled = list(problems)
    subfields: Subfields = dict(people.subfields)
    if plan.finds_subfields:
        labelled, topics = name_topics(_add_domains(problems), folder, labeller, people.items)
        for subject in sorted({p.subject for p in labelled} - subfields.keys()):
            if plan.whole and (
                names := find_subfields(labelled, subject, labeller, plan.clustering)
            ):
                subfields[subject] = names
        labelled, picks = pick_subfields(labelled, folder, labeller, subfields, people.items)
        rows = [*rows, *topics, *picks]
    if plan.skills:
        labelled, skills = name_skills(labelled, folder, labeller, plan.skills, people.items)
        rows = [*rows, *skills]
    return TaxonomyLabels(labelled, rows, subfields, people.items)


def _add_domains(problems: Sequence[Problem]) -> list[Problem]:
    return [
        p.model_copy(update={"attributes": {DOMAIN: p.subject, **p.attributes}}) for p in problems
    ]


def _list_people(labels: LabelFile, problems: Sequence[Problem]) -> list[LabelRow]:
    """Return labels by people as lines of `labels.jsonl`."""
    rows = []
    for problem in problems:
        item = labels.items.get(problem.id, ItemLabels())
        subfield = [item.subfield] if item.subfield else None
        kinds: dict[LabelKind, list[str] | None] = {
            "topic": item.topics, "subfield": subfield, "skill": item.skills,
        }  # fmt: skip
        rows += [
            LabelRow(id=problem.id, kind=kind, labels=names, by=PERSON)
            for kind, names in kinds.items()
            if names
        ]
    return rows
