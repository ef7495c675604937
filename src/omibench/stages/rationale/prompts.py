"""What the rationale writer and the labeller are asked.

The protocol is that of the OMIBench paper (A.3.1 and A.5: candidates end with a final answer, a
reference is given when all fail, one label as `{CLASS: X}`); the words are ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from omibench.schemas.image_marks import split_at_image_marks
from omibench.schemas.problem import Problem
from omibench.schemas.request import Conversation, ImagePart, Message, Part, TextPart

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

LABEL = """\
Decide which label names the sub-field of the olympiad problem below. Go by the main concept and
the method that solves it, not by the story around it, and use the figures as much as the text.
Copy exactly one label from this list:
"""

LABEL_FORMAT = """\
Reply with nothing but one line of this form:
{CLASS: label}
"""


def solve(problem: Problem, folder: Path) -> Conversation:
    """Ask for a worked solution; the answer is not shown."""
    return _one_turn([TextPart(text=SOLVE), *show_problem(problem, folder)])


def solve_given(problem: Problem, folder: Path) -> Conversation:
    """Ask for a worked solution that leads to the official answer."""
    official = TextPart(text="Official answer: " + "; ".join(problem.answer or []))
    return _one_turn([TextPart(text=SOLVE_GIVEN), *show_problem(problem, folder), official])


def label(problem: Problem, labels: Sequence[str], folder: Path) -> Conversation:
    """Ask for exactly one of `labels`."""
    listed = LABEL + "\n".join(f"- {name}" for name in labels)
    closing = TextPart(text=LABEL_FORMAT)
    return _one_turn([TextPart(text=listed), *show_problem(problem, folder), closing])


def show_problem(problem: Problem, folder: Path) -> list[Part]:
    """The statement with its pictures where they stand, then the choices.

    Image paths are relative to `folder`. A picture that appears in neither is added at the end
    of the statement, so that the number sent equals the number that the problem has.
    """
    parts: list[Part] = []
    placed = set(problem.image_order())
    for run in split_at_image_marks("Problem:\n" + problem.question):
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


def _one_turn(parts: Sequence[Part]) -> Conversation:
    return Conversation(messages=(Message(role="user", parts=tuple(parts)),))
