"""The data for tables of people: their scored answers, and the counted problems."""

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
"""The uses of the problems of a subset."""
_LOG = logging.getLogger("omibench")


class Respondents(NamedTuple):
    """People's counted answers with scores, and the problems for comparing models."""

    answers: list[PersonAnswer]
    verdicts: pl.DataFrame
    """The output of `score_people`."""
    problems: list[str]
    """The problems of the subset; without one, those with an answer."""


def find_subset(analysis: Analysis) -> SubsetDraw | None:
    """Draw the problems for people; None if the study draws none.

    Raises:
        ParamsError: The problems lack the attribute, or are too few.
    """
    subset = analysis.study.analyze.people_subset
    if subset is None:
        return None
    return draw_items(analysis.items, subset, analysis.study.study.seed)


def read_respondents(analysis: Analysis) -> Respondents | None:
    """Read and score people's answers; without their file, return only problems.

    Answers to familiarisation problems and to problems outside of the subset do not count. A file
    without a usable row is reported in a warning and ignored.

    Returns:
        The answers and problems; None if the subset cannot be drawn.

    Raises:
        MissingInputError: The file is missing.
        PluginError: A plug-in's scorer failed.
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
    scorers = [rules for rules in analysis.results.rules if rules not in judged]
    return Respondents(answers, score_people(answers, golds, scorers), problems)


def _report_others(answers: list[PersonAnswer], uses: dict[str, str]) -> None:
    other = sum(row.problem not in uses for row in answers)
    if answers and not any(uses.get(row.problem) == SCORED for row in answers):
        _LOG.warning(
            "%s: no answer is to a problem of analyze.people_subset; remove the subset, or use the "
            "seed of the problems that were given to people",
            KEY,
        )
    elif other:
        _LOG.warning(
            "%s: %s are to problems outside of analyze.people_subset and do not count",
            KEY,
            "1 answer" if other == 1 else f"{other:,} answers",
        )
