"""The completeness vote (MathReal, data collection): one question, whole, that needs its figures.

Several models look at the problem with its images and vote on three points; a problem stays only
when each of them says yes to all. A reply without a verdict, after a second ask, is no yes.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from omibench.judges.case import JudgeCase, question_section
from omibench.judges.instrument import Instrument, build_prompt, register
from omibench.judges.panel import JudgeVote, OpenPanel, consult
from omibench.judges.reply import last_object
from omibench.judges.votes import most
from omibench.params.panel import JudgePanel
from omibench.schemas.problem import Problem
from omibench.schemas.rejects import FilterJudgement
from omibench.schemas.request import ImagePart
from omibench.stages.filter.judged import Judged, simulated_note
from omibench.stages.filter.models import Models
from omibench.text.fences import Section

POINTS = {
    "one_question": "it holds more than one question, or none",
    "complete": "something that is needed is missing",
    "figures_matter": "it can be solved without its figures",
}
"""What is voted on, and what a no says."""
APPROVED = "approved"
UNREADABLE = "no readable vote"

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


def _read(reply: str, _case: JudgeCase) -> str | None:
    """`approved`, or the points that are denied; None where the reply holds no vote."""
    points = last_object(reply, POINTS)
    if not points or not all(isinstance(points[point], bool) for point in POINTS):
        return None
    return ", ".join(point for point in POINTS if not points[point]) or APPROVED


COMPLETENESS: Instrument[str] = register(
    Instrument(
        name="completeness",
        version=1,
        role="voter",
        instructions=_INSTRUCTIONS,
        closing=_CLOSING,
        sections=_sections,
        read=_read,
        vote=most,
        purpose="votes whether a problem is one, complete, and needs its figures",
        optional=(),
    )
)


def vote_completeness(
    problems: Sequence[Problem], folder: Path, params: JudgePanel, models: Models
) -> list[Judged]:
    """Every problem, in order, after the vote. Image paths are relative to `folder`.

    Raises ModelError when a request has no answer and ParamsError for the prompt's file.
    """
    judges = [models.judge(name) for name in params.models]
    panel = OpenPanel(judges, build_prompt(COMPLETENESS, params.prompt), params.max_tokens)
    opinions = consult([_case(p, folder) for p in problems], COMPLETENESS, panel)
    return [
        _judge_by_votes(p, opinion.votes) for p, opinion in zip(problems, opinions, strict=True)
    ]


def _case(problem: Problem, folder: Path) -> JudgeCase:
    images = tuple(
        ImagePart(sha256=figure.sha256, path=(folder / figure.file).as_posix())
        for figure in problem.images
    )
    return JudgeCase(problem.id, problem.question, [], "", problem.choices, images=images)


def _judge_by_votes(problem: Problem, votes: Sequence[JudgeVote[str]]) -> Judged:
    rows = [_row(problem, vote) for vote in votes]
    against = [row for row in rows if row.answers != [APPROVED]]
    if not against:
        return Judged(problem, rows)
    objections = "; ".join(f"{row.model}: {_meaning(row.answers[0])}" for row in against)
    agreed = len(rows) - len(against)
    evidence = (
        f"{agreed} of {len(rows)} models approve it, all must; {objections}{simulated_note(rows)}"
    )
    return Judged(problem, rows, evidence)


def _row(problem: Problem, vote: JudgeVote[str]) -> FilterJudgement:
    return FilterJudgement(
        id=problem.id,
        judgement=COMPLETENESS.name,
        model=vote.judge,
        role="voter",
        asked=1,
        answers=[vote.value or UNREADABLE],
        keys=[vote.key],
        simulated=vote.simulated,
    )


def _meaning(vote: str) -> str:
    return ", ".join(POINTS.get(point, point) for point in vote.split(", "))
