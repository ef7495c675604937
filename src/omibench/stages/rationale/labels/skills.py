"""Skills that a problem demands: some of a list or none of it, with the reason (EMMA, C.1)."""

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
"""The attribute that holds the skills of a problem."""
OTHER_SKILL: Final = "other_skill"
"""The attribute that says of which kind a problem is that demands no skill of the list."""


def name_skills(
    problems: Sequence[Problem],
    folder: Path,
    labeller: Labeller,
    skills: Mapping[Subject, Mapping[str, str]],
    items: Mapping[str, ItemLabels],
) -> Labelled:
    """Name the skills that each problem demands.

    Args:
        problems: In any order.
        folder: That of their pictures.
        labeller: Who names them.
        skills: Subject -> skill -> what it means; problems of other subjects are left out.
        items: Labels that people gave, by problem.

    Returns:
        The problems in order with the attribute `skills`, and `other_skill` where none of the
        list fits. What a person or the problem's source says is kept and not asked.
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
    """The skills that a reply names.

    Args:
        reply: As it was read.
        skills: The list.

    Returns:
        Its labels where all are of the list; `none of the above` alone where that stands first,
        with at most the kind of problem behind it; otherwise none.
    """
    if reply.labels[:1] == [NO_SKILL] and len(reply.labels) <= 2:
        return [NO_SKILL]
    return reply.labels if all(name in skills for name in reply.labels) else []


def _add_skills(problem: Problem, skills: Sequence[str], other: str | None = None) -> Problem:
    kind = {OTHER_SKILL: other} if other else {}
    return problem.model_copy(
        update={"attributes": {**problem.attributes, SKILLS: list(skills), **kind}}
    )
