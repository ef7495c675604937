"""Topics in a model's own words, as the first pass over the problems (OMIBench, A.5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NamedTuple

from omibench.schemas.curation import LabelKind, LabelRow
from omibench.schemas.problem import Problem, Subject, list_labels
from omibench.stages.rationale.label_prompts import (
    NO_SKILL,
    ask_cluster_name,
    ask_skills,
    ask_subfield,
    ask_topics,
)
from omibench.stages.rationale.labels.clusters import Clustering, cluster_topics
from omibench.stages.rationale.labels.label_file import (
    ItemLabels,
    LabelFile,
    Subfields,
    check_labels,
    read_labels,
)
from omibench.stages.rationale.labels.labeller import (
    Labeller,
    LabelReply,
    normalise_label,
    parse_labels,
)

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


# Skills required by a problem: some of a list or none, with the reason (EMMA, C.1).

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


# Subfields: named clusters of topics, and the second pass, which selects one of them.

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


# Domain, subfield and topic of each problem, derived from the problems (OMIBench, A.5).

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
