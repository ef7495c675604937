"""Topic labels: exactly one of a fixed list per subject (OMIBench, 3.2 step 4 and A.5)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from omibench.errors import ParamsError
from omibench.schemas.problem import Problem
from omibench.schemas.problem_warning import LABEL, ProblemWarning
from omibench.schemas.request import Decoding, Request, Response, Tags
from omibench.stages.rationale.prompts import label
from omibench.stages.rationale.solutions import Ask

_CLASS = re.compile(r"\{CLASS: ([^{}]+)\}")


@dataclass(frozen=True)
class Labeller:
    """A model that labels topics: its name, how to ask it, each subject's labels, its room."""

    model: str
    ask: Ask
    topics: Mapping[str, Sequence[str]]
    study: str = ""
    max_tokens: int = 4096
    """Room of one reply, in tokens."""
    prompts: Mapping[str, str] = field(default_factory=dict)
    """Files that take the place of prompts, by their names."""


def label_topics(problems: Sequence[Problem], folder: Path, labeller: Labeller) -> list[Problem]:
    """The problems in order, each with one topic of its subject's list, or a warning.

    A problem with a topic of its own keeps it; one of subject `other` is offered every list.
    Raises ParamsError when a subject has no list.
    """
    open_problems = [p for p in problems if p.topic is None]
    lists = {p.id: _list_labels(p, labeller.topics) for p in open_problems}
    requests = [
        Request(
            conversation=label(p, lists[p.id], folder, labeller.prompts),
            decoding=Decoding(temperature=0.0, max_tokens=labeller.max_tokens),
            tags=Tags(role="labeller", problem=p.id, study=labeller.study),
        )
        for p in open_problems
    ]
    responses = labeller.ask(requests) if requests else []
    labelled = {
        p.id: _add_topic(p, response, lists[p.id], labeller)
        for p, response in zip(open_problems, responses, strict=True)
    }
    return [labelled.get(problem.id, problem) for problem in problems]


def parse_label(reply: str, labels: Sequence[str]) -> str | None:
    """The label of a reply whose last line is `{CLASS: X}` with X in `labels`, else None."""
    lines = reply.strip().splitlines()
    match = _CLASS.fullmatch(lines[-1].strip()) if lines else None
    return match.group(1) if match and match.group(1) in labels else None


def _add_topic(
    problem: Problem, response: Response, labels: Sequence[str], labeller: Labeller
) -> Problem:
    model = labeller.model
    topic = parse_label(response.text, labels) if response.outcome == "answered" else None
    notes = [ProblemWarning(LABEL, simulated_by=(model,))] if response.simulated and topic else []
    if response.outcome == "truncated":
        detail = (
            f"{model} was cut off after {labeller.max_tokens} tokens; "
            "raise rationale.labeller_max_tokens"
        )
        notes.append(ProblemWarning(LABEL, detail))
    elif topic is None:
        detail = f"{model} named none of the {len(labels)} topics of {problem.subject}"
        notes.append(ProblemWarning(LABEL, detail))
    return problem.model_copy(update={"topic": topic}).warn(*notes)


def _list_labels(problem: Problem, topics: Mapping[str, Sequence[str]]) -> Sequence[str]:
    # The subject of a mixed paper may not be known; the label then tells it.
    if problem.subject == "other" and "other" not in topics:
        return list(dict.fromkeys(name for labels in topics.values() for name in labels))
    labels = topics.get(problem.subject)
    if not labels:
        raise ParamsError(
            f"rationale.topics: has no list for the subject {problem.subject!r} of {problem.id}; "
            f"it has {', '.join(topics) or 'none'}"
        )
    return labels
