"""Topic labels: exactly one of a fixed list per subject (OMIBench, 3.2 step 4 and A.5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from omibench.errors import ParamsError
from omibench.schemas.problem import Problem
from omibench.schemas.request import Response
from omibench.stages.rationale.labels.labeller import Labeller
from omibench.stages.rationale.labels.replies import read_class
from omibench.stages.rationale.prompts import label


def label_topics(problems: Sequence[Problem], folder: Path, labeller: Labeller) -> list[Problem]:
    """Return the problems in order, each with one topic of its subject's list, or a warning.

    Existing topics are kept; a problem of subject `other` is offered every list.

    Raises:
        ParamsError: A subject has no list.
    """
    open_problems = [p for p in problems if p.topic is None]
    lists = {p.id: _list_labels(p, labeller.topics) for p in open_problems}
    responses = labeller.ask_all(
        {p.id: label(p, lists[p.id], folder, labeller.prompts) for p in open_problems}
    )
    labelled = {p.id: _add_topic(p, responses[p.id], lists[p.id], labeller) for p in open_problems}
    return [labelled.get(problem.id, problem) for problem in problems]


def parse_label(reply: str, labels: Sequence[str]) -> str | None:
    """Return the label of a reply whose last line is `{CLASS: X}` with X in `labels`, else None."""
    named = read_class(reply)
    return named if named in labels else None


def _add_topic(
    problem: Problem, response: Response, labels: Sequence[str], labeller: Labeller
) -> Problem:
    topic = parse_label(response.text, labels) if response.outcome == "answered" else None
    if topic is None:
        failure = f"named none of the {len(labels)} topics of {problem.subject}"
        return problem.warn(labeller.explain_failure(response, failure))
    return labeller.mark_simulated(problem.model_copy(update={"topic": topic}), response)


def _list_labels(problem: Problem, topics: Mapping[str, Sequence[str]]) -> Sequence[str]:
    # The subject of a mixed paper may be unknown; then the label determines it.
    if problem.subject == "other" and "other" not in topics:
        return list(dict.fromkeys(name for labels in topics.values() for name in labels))
    labels = topics.get(problem.subject)
    if not labels:
        raise ParamsError(
            f"rationale.topics: no list for the subject {problem.subject!r} of {problem.id}; "
            f"it has {', '.join(topics) or 'none'}"
        )
    return labels
