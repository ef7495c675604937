"""What the tables of people are made from: their scored answers, and the problems that count."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, NamedTuple

from omibench.results.load import JUDGE_RULES, PUBLISHED_RULES
from omibench.stages.analyze.inputs.checked_rows import read_or_warn
from omibench.stages.analyze.inputs.people_answers import KEY, PersonAnswer, read_people
from omibench.stages.analyze.people.scoring import score_people
from omibench.stages.analyze.people.subset import SubsetDraw, draw_items

if TYPE_CHECKING:
    import polars as pl

    from omibench.stages.analyze.analysis import Analysis

SCORED, FAMILIARISATION = "scored", "familiarisation"
"""Uses of the problems of a subset."""
_LOG = logging.getLogger("omibench")


class Respondents(NamedTuple):
    """People's answers that count, scored; and the problems on which models are compared."""

    answers: list[PersonAnswer]
    verdicts: pl.DataFrame
    """As `score_people` gives it."""
    problems: list[str]
    """Those of the subset; without one, those that somebody answered."""


def find_subset(analysis: Analysis) -> SubsetDraw | None:
    """Draw the problems for people; None where the study draws none.

    Raises:
        ParamsError: The problems have no such attribute, or are too few.
    """
    subset = analysis.study.analyze.people_subset
    if subset is None:
        return None
    return draw_items(analysis.items, subset, analysis.study.study.seed)


def read_respondents(analysis: Analysis) -> Respondents | None:
    """Read and score what people answered; without their file there are only problems.

    Answers to problems for familiarisation, and to others that a subset leaves out, do not count.
    A file of which no line can be used is named in a warning, and nobody has answered.

    Returns:
        The answers and problems; None where the subset cannot be table.

    Raises:
        MissingInputError: The file is not there.
        PluginError: The rule book of a plug-in failed.
    """
    golds, path = analysis.results.answers, analysis.study.analyze.people
    every = (read_or_warn(lambda: read_people(path, golds)) if path else None) or []
    if analysis.study.analyze.people_subset is None:
        answers, problems = every, list(dict.fromkeys(row.problem for row in every))
    else:
        table = analysis.table("people-subset")
        if table is None:
            return None
        uses = dict(table.select("problem", "use").iter_rows())
        problems = [id for id, use in uses.items() if use == SCORED]
        answers = [row for row in every if uses.get(row.problem) == SCORED]
        _report_others(every, uses)
    judged = (JUDGE_RULES, PUBLISHED_RULES)
    books = [rules for rules in analysis.results.rules if rules not in judged]
    return Respondents(answers, score_people(answers, golds, books), problems)


def _report_others(answers: list[PersonAnswer], uses: dict[str, str]) -> None:
    other = sum(row.problem not in uses for row in answers)
    if answers and not any(uses.get(row.problem) == SCORED for row in answers):
        _LOG.warning(
            "%s: nobody answered a problem of analyze.people_subset; leave it out, or draw it with "
            "the seed by which people were given theirs",
            KEY,
        )
    elif other:
        _LOG.warning(
            "%s: %s are to problems outside of analyze.people_subset and do not count",
            KEY,
            "1 answer" if other == 1 else f"{other:,} answers",
        )
