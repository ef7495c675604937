"""Votes of models on problems: on points, to each of which all must say yes, or by a label."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from omibench.answers.judges.case import JudgeCase, list_pictures, question_section
from omibench.answers.judges.instrument import Instrument, build_prompt, register
from omibench.answers.judges.panel import JudgeVote, OpenPanel, Opinion, consult
from omibench.answers.judges.scales import last_object, most
from omibench.params.panel import JudgePanel
from omibench.schemas.curation import FilterJudgement
from omibench.schemas.problem import Problem
from omibench.stages.filter.models import CheckedProblem, Models, simulated_note
from omibench.stages.filter.reasons.registry import REASONS_OF_MODELS, build_model_reason
from omibench.text.fences import Section

APPROVED = "approved"
UNREADABLE = "no readable vote"


class PointVote(NamedTuple):
    """The points of a vote (name -> meaning of a no), and the prompt.

    `judgement` is the name of the votes in judgements.parquet.
    """

    judgement: str
    instrument: Instrument[str]
    points: Mapping[str, str]


def make_reader(points: Mapping[str, str]) -> Callable[[str, JudgeCase], str | None]:
    """Return `approved`, or the denied points; None if a reply has no vote.

    Args:
        points: Name of each point -> meaning of a no.
    """

    def read(reply: str, _case: JudgeCase) -> str | None:
        values = last_object(reply, points)
        if not values or not all(isinstance(values[point], bool) for point in points):
            return None
        return ", ".join(point for point in points if not values[point]) or APPROVED

    return read


def list_points(vote: str, points: Mapping[str, str]) -> str:
    """Describe the denied points of a vote."""
    return ", ".join(points.get(point, point) for point in vote.split(", "))


def vote_on_points(
    problems: Sequence[Problem], folder: Path, params: JudgePanel, models: Models, vote: PointVote
) -> list[CheckedProblem]:
    """Return every problem after the vote, in order. Image paths are relative to `folder`.

    Raises:
        ModelError: A request has no answer.
        ParamsError: The prompt's file is invalid.
    """
    opinions = ask_panel(problems, folder, vote.instrument, params, models)
    return [
        _judge_by_votes(p, opinion.votes, vote)
        for p, opinion in zip(problems, opinions, strict=True)
    ]


def ask_panel(
    problems: Sequence[Problem],
    folder: Path,
    instrument: Instrument[str],
    params: JudgePanel,
    models: Models,
) -> list[Opinion[str]]:
    """Return the models' opinions on problems with all their pictures, in order.

    Image paths are below `folder`. Raises as `vote_on_points`.
    """
    judges = [models.judge(name) for name in params.models]
    panel = OpenPanel(judges, build_prompt(instrument, params.prompt), params.max_tokens)
    cases = [
        JudgeCase(p.id, p.question, [], "", p.choices, images=list_pictures(p.images, folder))
        for p in problems
    ]
    return consult(cases, instrument, panel)


def build_row(problem: Problem, judgement: str, vote: JudgeVote[str]) -> FilterJudgement:
    """Return one model's judgement of a problem."""
    return FilterJudgement(
        id=problem.id,
        judgement=judgement,
        model=vote.judge,
        role="voter",
        asked=1,
        answers=[vote.value or UNREADABLE],
        keys=[vote.key],
        simulated=vote.simulated,
    )


def _judge_by_votes(
    problem: Problem, votes: Sequence[JudgeVote[str]], vote: PointVote
) -> CheckedProblem:
    rows = [build_row(problem, vote.judgement, one_vote) for one_vote in votes]
    against = [row for row in rows if row.answers != [APPROVED]]
    if not against:
        return CheckedProblem(problem, rows)
    denials = [f"{row.model}: {list_points(row.answers[0], vote.points)}" for row in against]
    objections = "; ".join(denials) + simulated_note(rows)
    agreed = len(rows) - len(against)
    evidence = f"{agreed} of {len(rows)} models approve it, all must; {objections}"
    return CheckedProblem(problem, rows, evidence)


# Labels for the reasons of plug-ins.


def vote_on_labels(
    problems: Sequence[Problem], *, name: str, folder: Path, params: JudgePanel, models: Models
) -> list[CheckedProblem]:
    """Return every problem after the models of the reason `name` have labelled it, in order.

    A problem is rejected for a label that rejects, and if no label has a majority. Image paths are
    relative to `folder`.

    Raises:
        ModelError: A request has no answer.
        ParamsError: The prompt's file is invalid.
        PluginError: The reason's own code raised.
    """
    instrument = build_model_reason(name, params)
    with REASONS_OF_MODELS.calling(name):
        opinions = ask_panel(problems, folder, instrument, params, models)
    rejects = REASONS_OF_MODELS.get(name).rejects
    checked = []
    for problem, opinion in zip(problems, opinions, strict=True):
        rows = [build_row(problem, name, vote) for vote in opinion.votes]
        evidence = None
        if opinion.value is None or opinion.value in rejects:
            labels = ", ".join(f"{row.model}: {row.answers[0]}" for row in rows)
            verdict = opinion.value or "no label has a majority"
            evidence = f"{verdict} ({labels}){simulated_note(rows)}"
        checked.append(CheckedProblem(problem, rows, evidence))
    return checked


# Completeness vote (MathReal, data collection): one complete question that needs its figures.
#
# Several models see the problem with its images and vote on three points; a problem is kept only if
# all vote yes on all. A reply without a verdict, after a second request, is not a yes.

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
