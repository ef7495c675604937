"""Completeness vote (MathReal, data collection): one complete question that needs its figures.

Several models see the problem with its images and vote on three points; a problem is kept only if
all vote yes on all. A reply without a verdict, after a second request, is not a yes.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from omibench.judges.case import JudgeCase, question_section
from omibench.judges.instrument import Instrument, register
from omibench.judges.votes import most
from omibench.params.panel import JudgePanel
from omibench.schemas.problem import Problem
from omibench.stages.filter.judged import JudgedProblem
from omibench.stages.filter.models import Models
from omibench.stages.filter.points import PointVote, make_reader, vote_on_points
from omibench.text.fences import Section

POINTS = {
    "one_question": "it holds more than one question, or none",
    "complete": "something that is needed is missing",
    "figures_matter": "it can be solved without its figures",
}
"""The points of the vote, with the meaning of a no."""
_INSTRUCTIONS = """\
You decide whether an exam problem was read from its paper as it should be. You see its statement, \
its choices if it has any, and all its images; [IMAGE0] in the statement is the place of the image \
that is shown as [IMAGE0]. You need not solve it. Look at three points.

one_question: it is exactly one problem. Parts (a), (b) of one problem are one problem; pieces of \
a neighbouring problem, a page header or a list of instructions beside it are not.
complete: statement, choices and images are whole and legible, and nothing that is needed to \
solve it is cut off or missing.
figures_matter: at least one image gives information that is needed and that the text does not \
give. A decoration, a portrait or a drawing that only repeats the text does not count."""
_CLOSING = (
    "Think briefly if you need to. The last line of your reply is this JSON object and nothing "
    'else: {"one_question": true or false, "complete": true or false, '
    '"figures_matter": true or false}'
)


def _sections(case: JudgeCase) -> Sequence[Section]:
    return [question_section(case)]


COMPLETENESS: Instrument[str] = register(
    Instrument(
        name="completeness",
        version=1,
        role="voter",
        instructions=_INSTRUCTIONS,
        closing=_CLOSING,
        sections=_sections,
        read=make_reader(POINTS),
        vote=most,
        purpose="votes whether a problem is one, complete, and needs its figures",
        optional=(),
    )
)


VOTE: Final = PointVote(COMPLETENESS.name, COMPLETENESS, POINTS)


def vote_completeness(
    problems: Sequence[Problem], folder: Path, params: JudgePanel, models: Models
) -> list[JudgedProblem]:
    """Return every problem after the vote, in order. Image paths are relative to `folder`.

    Raises:
        ModelError: A request has no answer.
        ParamsError: The prompt's file is invalid.
    """
    return vote_on_points(problems, folder, params, models, VOTE)
