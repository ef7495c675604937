"""Topics in a model's own words, as the first pass over the problems (OMIBench, A.5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from omibench.schemas.attributes import list_labels
from omibench.schemas.label_row import LabelRow
from omibench.schemas.problem import Problem
from omibench.stages.rationale.label_prompts import ask_topics
from omibench.stages.rationale.labels.label_file import ItemLabels
from omibench.stages.rationale.labels.labeller import Labeller
from omibench.stages.rationale.labels.replies import parse_labels

TOPICS: Final = "topics"
"""The attribute with all topics of a problem."""


class Labelled(NamedTuple):
    """Problems with their labels, and the authors of labels."""

    problems: list[Problem]
    rows: list[LabelRow]


def name_topics(
    problems: Sequence[Problem],
    folder: Path,
    labeller: Labeller,
    items: Mapping[str, ItemLabels],
) -> Labelled:
    """Label the topics of each problem.

    Args:
        problems: Problems in any order.
        folder: The folder of their pictures.
        labeller: The model for problems without topics.
        items: Labels by people, by problem.

    Returns:
        The problems in order. The attribute `topics` contains all topics, and `topic` the first one
        if it was empty. Topics by people or from the source are kept without requests.
    """
    people = {name: item.topics for name, item in items.items() if item.topics}
    stated = {p.id: topics for p in problems if (topics := people.get(p.id) or list_topics(p))}
    responses = labeller.ask_all(
        {p.id: ask_topics(p, folder, labeller.prompts) for p in problems if p.id not in stated}
    )
    labelled, rows = [], []
    for problem in problems:
        if problem.id in stated:
            labelled.append(_add_topics(problem, stated[problem.id], problem.id in people))
            continue
        response = responses[problem.id]
        topics = parse_labels(response).labels
        rows.append(labeller.build_row(problem, "topic", topics, response))
        if topics:
            named = _add_topics(problem, topics)
            labelled.append(labeller.mark_simulated(named, response))
        else:
            labelled.append(problem.warn(labeller.explain_failure(response, "named no topic")))
    return Labelled(labelled, rows)


def list_topics(problem: Problem) -> list[str]:
    """Return all topics of a problem, from the attribute."""
    return list_labels(problem.attributes.get(TOPICS))


def _add_topics(problem: Problem, topics: Sequence[str], by_person: bool = False) -> Problem:
    attributes = {**problem.attributes, TOPICS: list(topics)}
    topic = topics[0] if by_person or problem.topic is None else problem.topic
    return problem.model_copy(update={"topic": topic, "attributes": attributes})
