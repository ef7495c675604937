"""Subfields: named clusters of topics, and the second pass, which selects one of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from omibench.schemas.problem import Problem, Subject
from omibench.stages.rationale.label_prompts import ask_cluster_name, ask_subfield
from omibench.stages.rationale.labels.clusters import Clustering, cluster_topics
from omibench.stages.rationale.labels.label_file import ItemLabels, Subfields
from omibench.stages.rationale.labels.labeller import Labeller
from omibench.stages.rationale.labels.open_topics import Labelled, list_topics
from omibench.stages.rationale.labels.replies import normalise_label, parse_labels

SUBFIELD: Final = "subfield"
MOST_SHOWN: Final = 40
"""Maximum number of a cluster's topics in the request for its name."""


def find_subfields(
    problems: Sequence[Problem],
    subject: Subject,
    labeller: Labeller,
    clustering: Clustering,
) -> dict[str, list[str]]:
    """Find the subfields of one subject.

    Args:
        problems: All problems of the dataset, with their topics.
        subject: The subject.
        labeller: The model that names the clusters.
        clustering: The number of clusters, and the embedding.

    Returns:
        Subfield -> its topics. Clusters with the same name are merged; an unnamed one gets the name
        of its most typical topic.
    """
    owners = _find_owners(problems, subject)
    groups = cluster_topics([topic for topic, _ in owners.values()], clustering)
    responses = labeller.ask_each(
        [
            (
                owners[normalise_label(group[0])][1],
                ask_cluster_name(subject, group[:MOST_SHOWN], labeller.prompts),
            )
            for group in groups
        ]
    )
    subfields: dict[str, list[str]] = {}
    spellings: dict[str, str] = {}
    for group, response in zip(groups, responses, strict=True):
        name = next(iter(parse_labels(response).labels), group[0])
        spelling = spellings.setdefault(normalise_label(name), name)
        subfields.setdefault(spelling, []).extend(group)
    return subfields


def pick_subfields(
    problems: Sequence[Problem],
    folder: Path,
    labeller: Labeller,
    subfields: Subfields,
    items: Mapping[str, ItemLabels],
) -> Labelled:
    """Select the subfield of each problem from the list of its subject.

    Args:
        problems: Problems with their topics.
        folder: The folder of their pictures.
        labeller: The model.
        subfields: The lists; subjects without one are skipped.
        items: Labels by people, by problem.

    Returns:
        The problems in order with the attribute `subfield`. Labels by people or from the source are
        kept without requests; a reply that is not in the list gives a warning and no label.
    """
    people = {name: item.subfield for name, item in items.items() if item.subfield}
    open_problems = [
        p
        for p in problems
        if p.id not in people and SUBFIELD not in p.attributes and subfields.get(p.subject)
    ]
    responses = labeller.ask_all(
        {
            p.id: ask_subfield(
                p, list_topics(p), list(subfields[p.subject]), folder, labeller.prompts
            )
            for p in open_problems
        }
    )
    labelled, rows = [], []
    for problem in problems:
        if problem.id in people:
            labelled.append(_add_subfield(problem, people[problem.id]))
        elif (response := responses.get(problem.id)) is None:
            labelled.append(problem)
        else:
            names = list(subfields[problem.subject])
            picked = [name for name in parse_labels(response).labels if name in names]
            picked = picked if len(picked) == 1 else []
            rows.append(labeller.build_row(problem, "subfield", picked, response))
            if picked:
                named = _add_subfield(problem, picked[0])
                labelled.append(labeller.mark_simulated(named, response))
            else:
                failure = f"picked none of the {len(names)} subfields of {problem.subject}"
                labelled.append(problem.warn(labeller.explain_failure(response, failure)))
    return Labelled(labelled, rows)


def _find_owners(problems: Sequence[Problem], subject: Subject) -> dict[str, tuple[str, str]]:
    """Return normalized topic -> its spelling, and the first problem that has it."""
    owners: dict[str, tuple[str, str]] = {}
    for problem in sorted(problems, key=lambda p: p.id):
        for topic in list_topics(problem) if problem.subject == subject else []:
            owners.setdefault(normalise_label(topic), (topic, problem.id))
    return owners


def _add_subfield(problem: Problem, subfield: str) -> Problem:
    return problem.model_copy(update={"attributes": {**problem.attributes, SUBFIELD: subfield}})
