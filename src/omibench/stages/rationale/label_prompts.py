"""What a labeller is asked where topics are not known ahead: topics, subfields, skills.

The protocol is that of the papers (OMIBench, A.5: `{CLASS: a#b}`, one label of a fixed list; EMMA,
C.1: a category with its reason, or none of them with the kind of problem); the words are ours.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from omibench.schemas.problem import Problem
from omibench.schemas.request import Conversation
from omibench.settings.prompts.catalogue import PromptEntry, Slot, add_prompt
from omibench.stages.rationale.prompts import LABEL_FORMAT, NO_FILES, PROBLEM_SLOT, write_prompt

NO_SKILL: Final = "none of the above"
"""The label of a problem that needs no skill of the list (EMMA, C.1)."""
_OPEN = """\
Name the topic of the olympiad problem below as narrowly as a specialist would: a single idea or
technique, never a whole discipline. Judge by the concept and the method that solve it, not by the
story around it, and draw on the figures as much as on the text. Where the problem joins several
topics, put # between them.
"""
_OPEN_FORMAT = """\
Reply with nothing but one line of this form, the main topic first:
{CLASS: a#b}
"""
_NAME_CLUSTER = """\
The topics below belong together. Name the subfield of {subject} that holds all of them, in at most
five words, as the contents of a textbook would.
Topics, the most typical first:
{topics}

Reply with nothing but one line of this form:
{CLASS: subfield}
"""
_SUBFIELD = """\
Decide to which subfield of {subject} the olympiad problem below belongs. Its topic was named as:
{topic}
Copy exactly one label from this list:
"""
_SKILL = f"""\
Decide which skills the problem below demands of whoever solves it from its figures. The skills are:
{{skills}}
- {NO_SKILL}: it demands another skill

Say first, in one to three sentences, why. Then end with one line that copies the names of all
skills that it demands, with # between them:
{{CLASS: a#b}}
If none fits, end with this line, and say there of which kind the problem is:
{{CLASS: {NO_SKILL}#kind of problem}}
"""

OPEN_TOPIC = add_prompt(
    PromptEntry(
        name="open-topic",
        purpose="names the topics of a problem in the model's own words",
        text=f"{_OPEN}{{problem}}{_OPEN_FORMAT}",
        slots=(PROBLEM_SLOT,),
        source="OMIBench, A.5",
        owner="labeller",
    )
)
CLUSTER_NAME = add_prompt(
    PromptEntry(
        name="cluster-name",
        purpose="names the subfield that a cluster of topics makes",
        text=_NAME_CLUSTER,
        slots=(
            Slot("subject", "the subject of the problems"),
            Slot("topics", "the topics, one a line after a hyphen"),
        ),
        source="OMIBench, A.5",
        owner="labeller",
    )
)
SUBFIELD = add_prompt(
    PromptEntry(
        name="subfield",
        purpose="picks the subfield of a problem from the list of its subject",
        text=f"{_SUBFIELD}{{labels}}{{problem}}{LABEL_FORMAT}",
        slots=(
            PROBLEM_SLOT,
            Slot("subject", "the subject of the problem"),
            Slot("topic", "its topics, with # between them"),
            Slot("labels", "the list, one label a line after a hyphen"),
        ),
        source="OMIBench, A.5",
        owner="labeller",
    )
)
SKILL = add_prompt(
    PromptEntry(
        name="skill",
        purpose="names the skills that a problem demands, with the reason",
        text=f"{_SKILL}{{problem}}",
        slots=(PROBLEM_SLOT, Slot("skills", "name and description of each, one a line")),
        source="EMMA, C.1",
        owner="labeller",
    )
)


def ask_topics(
    problem: Problem, folder: Path, prompts: Mapping[str, str] = NO_FILES
) -> Conversation:
    """Return the request for topics in the model's own words."""
    return write_prompt(OPEN_TOPIC, problem, folder, {}, prompts)


def ask_cluster_name(
    subject: str, topics: Sequence[str], prompts: Mapping[str, str] = NO_FILES
) -> Conversation:
    """Return the request for the name of a cluster of topics."""
    values = {"subject": subject, "topics": _list_lines(topics)}
    return write_prompt(CLUSTER_NAME, None, Path(), values, prompts)


def ask_subfield(
    problem: Problem,
    topics: Sequence[str],
    subfields: Sequence[str],
    folder: Path,
    prompts: Mapping[str, str] = NO_FILES,
) -> Conversation:
    """Return the request for exactly one of `subfields`."""
    values = {
        "subject": problem.subject,
        "topic": "#".join(topics) or "unknown",
        "labels": _list_lines(subfields),
    }
    return write_prompt(SUBFIELD, problem, folder, values, prompts)


def ask_skills(
    problem: Problem,
    skills: Mapping[str, str],
    folder: Path,
    prompts: Mapping[str, str] = NO_FILES,
) -> Conversation:
    """Return the request for the required skills of a problem, with reasons."""
    lines = _list_lines([f"{name}: {meaning}" for name, meaning in skills.items()])
    return write_prompt(SKILL, problem, folder, {"skills": lines}, prompts)


def _list_lines(names: Sequence[str]) -> str:
    return "\n".join(f"- {name}" for name in names)
