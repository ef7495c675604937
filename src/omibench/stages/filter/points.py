"""Votes on points: models vote yes or no on each point of a problem, and all must agree on yes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from omibench.judges.case import JudgeCase
from omibench.judges.instrument import Instrument, build_prompt
from omibench.judges.panel import JudgeVote, OpenPanel, consult
from omibench.judges.reply import last_object
from omibench.params.panel import JudgePanel
from omibench.schemas.problem import Problem
from omibench.schemas.rejects import FilterJudgement
from omibench.schemas.request import ImagePart
from omibench.stages.filter.judged import JudgedProblem, simulated_note
from omibench.stages.filter.models import Models

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
) -> list[JudgedProblem]:
    """Return every problem after the vote, in order. Image paths are relative to `folder`.

    Raises:
        ModelError: A request has no answer.
        ParamsError: The prompt's file is invalid.
    """
    judges = [models.judge(name) for name in params.models]
    panel = OpenPanel(judges, build_prompt(vote.instrument, params.prompt), params.max_tokens)
    opinions = consult([build_case(p, folder) for p in problems], vote.instrument, panel)
    return [
        _judge_by_votes(p, opinion.votes, vote)
        for p, opinion in zip(problems, opinions, strict=True)
    ]


def build_case(problem: Problem, folder: Path) -> JudgeCase:
    """Return a problem with all its pictures as judge input; image paths are below `folder`."""
    images = tuple(
        ImagePart(sha256=figure.sha256, path=(folder / figure.file).as_posix())
        for figure in problem.images
    )
    return JudgeCase(problem.id, problem.question, [], "", problem.choices, images=images)


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
) -> JudgedProblem:
    rows = [build_row(problem, vote.judgement, one_vote) for one_vote in votes]
    against = [row for row in rows if row.answers != [APPROVED]]
    if not against:
        return JudgedProblem(problem, rows)
    denials = [f"{row.model}: {list_points(row.answers[0], vote.points)}" for row in against]
    objections = "; ".join(denials) + simulated_note(rows)
    agreed = len(rows) - len(against)
    evidence = f"{agreed} of {len(rows)} models approve it, all must; {objections}"
    return JudgedProblem(problem, rows, evidence)
