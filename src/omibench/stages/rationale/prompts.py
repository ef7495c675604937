"""What the rationale writer and the labeller are asked.

The protocol is that of the papers (OMIBench, A.3.1 and A.5: candidates end with a final answer, a
reference is given when all fail, labels as `{CLASS: a#b}`; EMMA, C.1: a category with its reason,
or none of them with the kind of problem); the words are ours.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from omibench.schemas.problem import Problem, split_at_image_marks
from omibench.schemas.request import Conversation, ImagePart, Part, TextPart, converse
from omibench.settings.prompts import (
    PromptEntry,
    Slot,
    add_prompt,
    choose_wording,
    fill_slots,
)

HEADING = "Problem:\n"
SOLVE = """\
Solve the olympiad problem below. Read every figure with care, and let the figures and the text
explain each other. Write the solution for a student who wants to follow it: state what each
figure supplies, give every step that leads on, carry units, and check the result. Let us think
step by step.

End with one line of this form, with the answer alone in the box (for multiple choice, its letter):
Final Answer: \\boxed{ANSWER}
"""

SOLVE_GIVEN = """\
Below is an olympiad problem together with its official answer. Write the solution that leads to
this answer, for a student who has not seen it: state what each figure supplies, give every step
that leads on, carry units. Derive the answer; do not start from it and do not mention that it was
given.

End with one line of this form, with the answer alone in the box (for multiple choice, its letter):
Final Answer: \\boxed{ANSWER}
"""

SOLVE_SKETCHED = """\
Below is an olympiad problem together with its reference solution, which may be no more than a
sketch. Write out the whole solution, for a student who has not seen it: state what each figure
supplies, give every step that leads on, those that the reference leaves out too, carry units.
Derive the answer; do not start from it and do not mention that a solution was given.

End with one line of this form, with the answer alone in the box (for multiple choice, its letter):
Final Answer: \\boxed{ANSWER}
"""

LABEL = """\
Decide which label names the sub-field of the olympiad problem below. Go by the main concept and
the method that solves it, not by the story around it, and use the figures as much as the text.
Copy exactly one label from this list:
"""

LABEL_FORMAT = """\
Reply with nothing but one line of this form:
{CLASS: label}
"""


NO_FILES: Mapping[str, str] = {}
PROBLEM_SLOT = Slot("problem", "the statement with its pictures, then the choices")
WRITE = add_prompt(
    PromptEntry(
        name="rationale",
        purpose="writes a worked solution of a problem",
        text=f"{SOLVE}{{problem}}",
        slots=(PROBLEM_SLOT,),
        source="OMIBench, A.3.1",
        owner="rationale writer",
    )
)
WRITE_GIVEN = add_prompt(
    PromptEntry(
        name="rationale-given",
        purpose="writes a worked solution that leads to the official answer",
        text=f"{SOLVE_GIVEN}{{problem}}Reference Solution: {{answer}}",
        slots=(PROBLEM_SLOT, Slot("answer", "the official answer, its parts between semicolons")),
        source="OMIBench, A.3.1",
        owner="rationale writer",
    )
)
WRITE_SKETCHED = add_prompt(
    PromptEntry(
        name="rationale-sketched",
        purpose="writes out a solution of which a sketch is known",
        text=f"{SOLVE_SKETCHED}{{problem}}Reference Solution: {{sketch}}",
        slots=(PROBLEM_SLOT, Slot("sketch", "the solution that the problem came with")),
        source="OMIBench, A.3.1",
        owner="rationale writer",
    )
)
TOPIC = add_prompt(
    PromptEntry(
        name="topic",
        purpose="names one topic of a fixed list",
        text=f"{LABEL}{{labels}}{{problem}}{LABEL_FORMAT}",
        slots=(PROBLEM_SLOT, Slot("labels", "the list, one label a line after a hyphen")),
        source="OMIBench, A.5",
        owner="labeller",
    )
)
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

_CLASS = """\
Decide which {attribute} the olympiad problem below has. Go by what its figures show, and by the
text where they leave it open. These are offered:
{classes}
"""
_CLASS_FORMAT = """\
Reply with nothing but one line of this form, which copies the name that fits best, without its
description:
{CLASS: name}
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


CLASS = add_prompt(
    PromptEntry(
        name="class",
        purpose="picks one class of a problem, such as the type of its images",
        text=f"{_CLASS}{{problem}}{_CLASS_FORMAT}",
        slots=(
            PROBLEM_SLOT,
            Slot("attribute", "the attribute that the class is of"),
            Slot("classes", "name and description of each class, one a line"),
        ),
        source="USNCO-V, Dataset Curation",
        owner="labeller",
    )
)


def list_described(names: Mapping[str, str]) -> str:
    """Return names with their descriptions as a list, one a line after a hyphen."""
    return list_lines(f"{name}: {meaning}" for name, meaning in names.items())


def list_lines(names: Iterable[str]) -> str:
    """Return names as a list, one a line after a hyphen."""
    return "\n".join(f"- {name}" for name in names)


def write_prompt(
    entry: PromptEntry,
    problem: Problem | None,
    folder: Path,
    values: Mapping[str, str],
    prompts: Mapping[str, str] = NO_FILES,
) -> Conversation:
    """Return a prompt with the problem, if any, in its slot.

    `values` fill its other slots; `prompts` are files that replace prompts, by name.
    """
    wording = choose_wording(prompts, entry)
    heading = "" if wording.file else HEADING
    problem_slot = {} if problem is None else {"problem": show_problem(problem, folder, heading)}
    pieces = fill_slots(wording.text, {**values, **problem_slot})
    parts = [TextPart(text=p) if isinstance(p, str) else p for p in pieces]
    parts = [p for p in parts if isinstance(p, ImagePart) or p.text.strip()]
    return converse(wording.system, parts)


def show_problem(problem: Problem, folder: Path, heading: str = HEADING) -> list[Part]:
    """Return the statement with pictures at their positions, then the choices.

    Image paths are relative to `folder`; `heading` precedes the statement. Pictures without a
    position are added at the end of the statement, so that all pictures of the problem are sent.
    """
    parts: list[Part] = []
    placed = set(problem.image_order())
    for run in split_at_image_marks(heading + problem.question):
        if isinstance(run, int):
            parts.append(_image(problem, run, folder))
        elif run.strip():
            parts.append(TextPart(text=run.strip()))
    parts += [_image(problem, i, folder) for i in range(len(problem.images)) if i not in placed]
    for choice in problem.choices or []:
        parts.append(TextPart(text=f"({choice.label}) {choice.text or ''}".rstrip()))
        if choice.image is not None:
            parts.append(_image(problem, choice.image, folder))
    return parts


def _image(problem: Problem, index: int, folder: Path) -> ImagePart:
    figure = problem.images[index]
    return ImagePart(sha256=figure.sha256, path=(folder / figure.file).as_posix())
