"""Skills required by a problem: some of a list or none, with the reason (EMMA, C.1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from omibench.schemas.problem import Problem, Subject
from omibench.stages.rationale.label_prompts import NO_SKILL, ask_skills
from omibench.stages.rationale.labels.label_file import ItemLabels
from omibench.stages.rationale.labels.labeller import Labeller
from omibench.stages.rationale.labels.open_topics import Labelled
from omibench.stages.rationale.labels.replies import LabelReply, parse_labels

SKILLS: Final = "skills"
"""The attribute with the skills of a problem."""
OTHER_SKILL: Final = "other_skill"
"""The attribute with the type of a problem that requires no skill of the list."""


def name_skills(
    problems: Sequence[Problem],
    folder: Path,
    labeller: Labeller,
    skills: Mapping[Subject, Mapping[str, str]],
    items: Mapping[str, ItemLabels],
) -> Labelled:
    """Label the skills that each problem requires.

    Args:
        problems: Problems in any order.
        folder: The folder of their pictures.
        labeller: The model.
        skills: Subject -> skill -> meaning; problems of other subjects are skipped.
        items: Labels by people, by problem.

    Returns:
        The problems in order with the attribute `skills`, and `other_skill` if none of the list
        fits. Labels by people or from the source are kept without requests.
    """
    people = {name: item.skills for name, item in items.items() if item.skills}
    responses = labeller.ask_all(
        {
            p.id: ask_skills(p, skills[p.subject], folder, labeller.prompts)
            for p in problems
            if p.id not in people and SKILLS not in p.attributes and skills.get(p.subject)
        }
    )
    labelled, rows = [], []
    for problem in problems:
        if problem.id in people:
            labelled.append(_add_skills(problem, people[problem.id]))
        elif (response := responses.get(problem.id)) is None:
            labelled.append(problem)
        else:
            reply = parse_labels(response)
            known = select_skills(reply, skills[problem.subject])
            rows.append(labeller.build_row(problem, "skill", known, response, reply.reason))
            if known:
                other = reply.labels[1:] if known == [NO_SKILL] else []
                named = _add_skills(problem, known, other[0] if other else None)
                labelled.append(labeller.mark_simulated(named, response))
            else:
                failure = f"named no skill of {problem.subject}"
                labelled.append(problem.warn(labeller.explain_failure(response, failure)))
    return Labelled(labelled, rows)


def select_skills(reply: LabelReply, skills: Mapping[str, str]) -> list[str]:
    """Return the skills in a reply.

    Args:
        reply: The parsed reply.
        skills: The list.

    Returns:
        Its labels if all are in the list; only `none of the above` if it comes first, followed by
        at most the type of problem; otherwise empty.
    """
    if reply.labels[:1] == [NO_SKILL] and len(reply.labels) <= 2:
        return [NO_SKILL]
    return reply.labels if all(name in skills for name in reply.labels) else []


def _add_skills(problem: Problem, skills: Sequence[str], other: str | None = None) -> Problem:
    kind = {OTHER_SKILL: other} if other else {}
    return problem.model_copy(
        update={"attributes": {**problem.attributes, SKILLS: list(skills), **kind}}
    )
