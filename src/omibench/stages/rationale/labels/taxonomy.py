"""Labels of problems: topics in a model's own words, their subfields, skills (OMIBench, A.5)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NamedTuple

from omibench.params.stages.rationale import (
    DOMAIN,
    OTHER_SKILL,
    SKILLS,
    SUBFIELD_NAME,
    TOPICS,
    RationaleParams,
)
from omibench.schemas.curation import LabelKind, LabelRow
from omibench.schemas.problem import (
    LABEL,
    LONGEST_VALUE,
    Problem,
    ProblemWarning,
    Subject,
    list_labels,
    normalise_label,
)
from omibench.schemas.request import Conversation, Decoding, Request, Response, Tags
from omibench.stages.rationale.candidates import Ask
from omibench.stages.rationale.labels.clusters import Clustering, cluster_topics
from omibench.stages.rationale.labels.label_file import (
    ItemLabels,
    LabelFile,
    Subfields,
    check_labels,
    read_labels,
)
from omibench.stages.rationale.prompts import (
    CLUSTER_NAME,
    NO_SKILL,
    OPEN_TOPIC,
    SKILL,
    SUBFIELD,
    list_described,
    list_lines,
    write_prompt,
)


@dataclass(frozen=True)
class Labeller:
    """A model that labels topics: its name, requests, labels per subject, and reply length."""

    model: str
    ask: Ask
    topics: Mapping[str, Sequence[str]]
    study: str = ""
    max_tokens: int = 4096
    """Maximum tokens of one reply."""
    prompts: Mapping[str, str] = field(default_factory=dict)
    """Files that replace prompts, by name."""

    def ask_all(self, conversations: Mapping[str, Conversation]) -> dict[str, Response]:
        """Send requests for several problems at once.

        Args:
            conversations: Conversations by problem id.

        Returns:
            The responses by the same ids.
        """
        return dict(zip(conversations, self.ask_each(list(conversations.items())), strict=True))

    def ask_each(self, conversations: Sequence[tuple[str, Conversation]]) -> list[Response]:
        """Send conversations, each with the id of its problem.

        Args:
            conversations: Any number, also several per problem.

        Returns:
            The responses in order; without conversations no model is called.
        """
        requests = [
            Request(
                conversation=conversation,
                decoding=Decoding(temperature=0.0, max_tokens=self.max_tokens),
                tags=Tags(role="labeller", problem=problem, study=self.study),
            )
            for problem, conversation in conversations
        ]
        return self.ask(requests) if requests else []

    def note(
        self, problem: Problem, labelled: Problem | None, response: Response, failure: str
    ) -> Problem:
        """Return the labelled problem, marked once if the model is simulated.

        Without a label, return the problem with a warning: the missing part, or a truncation.
        """
        if labelled is None and response.outcome == "truncated":
            failure = (
                f"was cut off after {self.max_tokens} tokens; raise rationale.labeller_max_tokens"
            )
        if labelled is None:
            return problem.warn(ProblemWarning(LABEL, f"{self.model} {failure}"))
        mark = ProblemWarning(LABEL, simulated_by=(self.model,))
        if not response.simulated or mark in labelled.warnings:
            return labelled
        return labelled.warn(mark)


# Labels in a reply: `{CLASS: a#b}` in its last line, with the text before it as the reason.

SEPARATOR: Final = "#"
"""Separator of labels in one reply (OMIBench, A.5)."""
MOST_LABELS: Final = 8
"""Maximum number of labels in one reply."""
LONGEST_REASON: Final = 2000
_CLASS = re.compile(r"\{CLASS: ([^{}]+)\}")


class LabelReply(NamedTuple):
    """The labels of one reply, and its text before them."""

    labels: list[str]
    reason: str

    def describe_pick(self, options: str) -> str:
        """Return why this is not one of some options, such as `the 3 classes of category`."""
        if len(self.labels) > 1:
            return f"named {len(self.labels)} labels instead of one of {options}"
        return f"picked none of {options}"


def parse_labels(response: Response) -> LabelReply:
    """Read the labels of a reply.

    Args:
        response: A response whose last line should be `{CLASS: a#b}`.

    Returns:
        Its labels without repetitions (ignoring spaces and case), and the text before that line.
        There are no labels if the line or answer is missing, or a label is too long for an
        attribute.
    """
    text = response.text if response.outcome == "answered" else ""
    named = read_class(text)
    if named is None:
        return LabelReply([], "")
    labels = {
        normalise_label(text): " ".join(text.split())
        for text in reversed(named.split(SEPARATOR))
        if text.strip()
    }
    names = list(reversed(labels.values()))
    if len(names) > MOST_LABELS or any(len(name) > LONGEST_VALUE for name in names):
        return LabelReply([], "")
    return LabelReply(names, "\n".join(text.strip().splitlines()[:-1]).strip()[:LONGEST_REASON])


def read_class(reply: str) -> str | None:
    """Return the X of a reply whose last line is `{CLASS: X}`, else None."""
    lines = reply.strip().splitlines()
    match = _CLASS.fullmatch(lines[-1].strip()) if lines else None
    return match[1] if match else None


# The labels of each problem: by people, from its source, or by the model.

PERSON: Final = "person"
MOST_SHOWN: Final = 40
"""Maximum number of a cluster's topics in the request for its name."""
Add = Callable[[Problem, Sequence[str]], Problem]


class Labelled(NamedTuple):
    """Problems with their labels, and the authors of labels."""

    problems: list[Problem]
    rows: list[LabelRow]


@dataclass(frozen=True)
class TaxonomyLabels:
    """Problems with their labels, the author of each label, and the lists of subfields."""

    problems: list[Problem]
    rows: list[LabelRow]
    subfields: Subfields
    items: Mapping[str, ItemLabels]


def label_each(  # noqa: PLR0913, PLR0917 (one kind of label: whose, asked how, read and added how)
    problems: Sequence[Problem],
    kind: LabelKind,
    labeller: Labeller,
    people: Mapping[str, Sequence[str]],
    conversations: Mapping[str, Conversation],
    read: Callable[[Problem, LabelReply], list[str]],
    add: Add,
    failure: Callable[[Problem, LabelReply], str],
) -> Labelled:
    """Add one kind of label to each problem: by people, or from the reply to its conversation.

    Problems with neither are returned unchanged.
    """
    responses = labeller.ask_all(conversations)
    labelled, rows = [], []
    for problem in problems:
        if problem.id in people:
            labelled.append(add(problem, people[problem.id]))
        elif (response := responses.get(problem.id)) is None:
            labelled.append(problem)
        else:
            reply = parse_labels(response)
            labels = read(problem, reply)
            added = add(problem, labels) if labels else None
            if kind == "skill" and added and labels == [NO_SKILL] and reply.labels[1:]:
                added = set_attribute(added, OTHER_SKILL, reply.labels[1])
            labelled.append(labeller.note(problem, added, response, failure(problem, reply)))
            rows.append(
                LabelRow(
                    id=problem.id,
                    kind=kind,
                    labels=labels,
                    reason=reply.reason if kind == "skill" else "",
                    by=labeller.model,
                    simulated=response.simulated,
                )
            )
    return Labelled(labelled, rows)


def set_attribute(problem: Problem, name: str, value: str | list[str]) -> Problem:
    """Return the problem with one attribute."""
    return problem.model_copy(update={"attributes": {**problem.attributes, name: value}})


def list_topics(problem: Problem) -> list[str]:
    """Return all topics of a problem, from the attribute."""
    return list_labels(problem.attributes.get(TOPICS))


def name_topics(
    problems: Sequence[Problem],
    folder: Path,
    labeller: Labeller,
    items: Mapping[str, ItemLabels],
) -> Labelled:
    """Label the topics of each problem.

    The attribute `topics` contains all topics, and `topic` the first one if it was empty. Topics by
    people or from the source are kept without requests.
    """
    people = {name: item.topics for name, item in items.items() if item.topics}
    stated = {p.id: topics for p in problems if (topics := people.get(p.id) or list_topics(p))}

    def add(problem: Problem, topics: Sequence[str]) -> Problem:
        keeps = problem.topic is not None and problem.id not in people
        named = problem if keeps else problem.model_copy(update={"topic": topics[0]})
        return set_attribute(named, TOPICS, list(topics))

    conversations = {
        p.id: write_prompt(OPEN_TOPIC, p, folder, {}, labeller.prompts)
        for p in problems
        if p.id not in stated
    }
    return label_each(
        problems, "topic", labeller, stated, conversations,
        lambda _, reply: reply.labels, add, lambda *_: "named no topic",
    )  # fmt: skip


def name_skills(
    problems: Sequence[Problem],
    folder: Path,
    labeller: Labeller,
    skills: Mapping[Subject, Mapping[str, str]],
    items: Mapping[str, ItemLabels],
) -> Labelled:
    """Label the skills of a list that each problem requires, or none of it, with the reason.

    `skills` is subject -> skill -> meaning; problems of other subjects are skipped. The attribute
    `skills` has them, and `other_skill` the type of problem if none of the list fits (EMMA, C.1).
    Labels by people or from the source are kept without requests.
    """
    people = {name: item.skills for name, item in items.items() if item.skills}

    def list_skills(problem: Problem) -> str:
        return list_described(skills[problem.subject])

    def read(problem: Problem, reply: LabelReply) -> list[str]:
        # Only `none of the above` if it comes first, followed by at most the type of problem.
        if reply.labels[:1] == [NO_SKILL] and len(reply.labels) <= 2:
            return [NO_SKILL]
        known = skills[problem.subject]
        return reply.labels if all(name in known for name in reply.labels) else []

    conversations = {
        p.id: write_prompt(SKILL, p, folder, {"skills": list_skills(p)}, labeller.prompts)
        for p in problems
        if p.id not in people and SKILLS not in p.attributes and skills.get(p.subject)
    }
    return label_each(
        problems, "skill", labeller, people, conversations, read,
        lambda problem, names: set_attribute(problem, SKILLS, list(names)),
        lambda problem, _: f"named no skill of {problem.subject}",
    )  # fmt: skip


def pick_subfields(
    problems: Sequence[Problem],
    folder: Path,
    labeller: Labeller,
    subfields: Subfields,
    items: Mapping[str, ItemLabels],
) -> Labelled:
    """Select the subfield of each problem from the list of its subject, as an attribute.

    Subjects without a list are skipped. Labels by people or from the source are kept without
    requests; a reply that is not in the list gives a warning and no label.
    """
    people = {name: [item.subfield] for name, item in items.items() if item.subfield}

    def read(problem: Problem, reply: LabelReply) -> list[str]:
        picked = [name for name in reply.labels if name in subfields[problem.subject]]
        return picked if len(picked) == 1 else []

    conversations: dict[str, Conversation] = {}
    for p in problems:
        if p.id not in people and SUBFIELD_NAME not in p.attributes and subfields.get(p.subject):
            values = {
                "subject": p.subject,
                "topic": "#".join(list_topics(p)) or "unknown",
                "labels": list_lines(subfields[p.subject]),
            }
            conversations[p.id] = write_prompt(SUBFIELD, p, folder, values, labeller.prompts)
    return label_each(
        problems, "subfield", labeller, people, conversations, read,
        lambda problem, names: set_attribute(problem, SUBFIELD_NAME, names[0]),
        lambda p, reply: reply.describe_pick(
            f"the {len(subfields[p.subject])} subfields of {p.subject}"
        ),
    )  # fmt: skip


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
    owners: dict[str, tuple[str, str]] = {}
    for problem in sorted(problems, key=lambda p: p.id):
        for topic in list_topics(problem) if problem.subject == subject else []:
            owners.setdefault(normalise_label(topic), (topic, problem.id))
    groups = cluster_topics([topic for topic, _ in owners.values()], clustering)
    conversations = []
    for group in groups:
        values = {"subject": subject, "topics": list_lines(group[:MOST_SHOWN])}
        asked = write_prompt(CLUSTER_NAME, None, Path(), values, labeller.prompts)
        conversations.append((owners[normalise_label(group[0])][1], asked))
    subfields: dict[str, list[str]] = {}
    spellings: dict[str, str] = {}
    for group, response in zip(groups, labeller.ask_each(conversations), strict=True):
        name = next(iter(parse_labels(response).labels), group[0])
        spelling = spellings.setdefault(normalise_label(name), name)
        subfields.setdefault(spelling, []).extend(group)
    return subfields


def add_taxonomy(  # noqa: PLR0913, PLR0917 (what is labelled, by whom, and how)
    problems: Sequence[Problem],
    folder: Path,
    labeller: Labeller,
    params: RationaleParams,
    clustering: Clustering,
    whole: bool = True,
) -> TaxonomyLabels:
    """Label each problem in two passes, with the clustering between them.

    Args:
        problems: Problems with their subjects.
        folder: The folder of their pictures.
        labeller: The model for topics, subfields and skills.
        params: Whether subfields are found, the file of labels by people, and the skills.
        clustering: The number of clusters, and the embedding.
        whole: Whether these are all problems; a part is not clustered.

    Returns:
        The problems in order, with the attributes `domain` (the subject), `subfield`, `topics` and
        `skills`.

    Raises:
        FileFormatError: The file of labels is invalid, or has unknown entries.
        ModelError: The embedding model returned no vectors.
    """
    file = params.taxonomy.file if params.taxonomy else None
    people = read_labels(file) if file else LabelFile()
    if file and whole:
        check_labels(people, problems, file)
    rows = [
        LabelRow(id=problem.id, kind=kind, labels=names, by=PERSON)
        for problem in problems
        for kind, names in people.items.get(problem.id, ItemLabels()).by_kind.items()
    ]
    labelled = list(problems)
    subfields: Subfields = dict(people.subfields)
    if params.taxonomy:
        labelled = [
            p.model_copy(update={"attributes": {DOMAIN: p.subject, **p.attributes}})
            for p in problems
        ]
        labelled, topics = name_topics(labelled, folder, labeller, people.items)
        for subject in sorted({p.subject for p in labelled} - subfields.keys()) if whole else ():
            if names := find_subfields(labelled, subject, labeller, clustering):
                subfields[subject] = names
        labelled, picks = pick_subfields(labelled, folder, labeller, subfields, people.items)
        rows += [*topics, *picks]
    if params.skills:
        labelled, skills = name_skills(labelled, folder, labeller, params.skills, people.items)
        rows += skills
    return TaxonomyLabels(labelled, rows, subfields, people.items)
