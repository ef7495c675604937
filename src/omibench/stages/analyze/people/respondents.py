"""People's answers to problems of a study: who answered, and their verdicts by its scorers."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from omibench.answers.extraction.letters import read_letters
from omibench.results.load import JUDGE_RULES, PUBLISHED_RULES
from omibench.schemas.problem import Answer
from omibench.schemas.verdict import ScoredItem, Verdict
from omibench.scorers.registry import score_item
from omibench.stages.analyze.inputs.checked_rows import read_or_warn
from omibench.stages.analyze.inputs.people_answers import KEY, PersonAnswer, read_people
from omibench.stages.analyze.people.subset import SubsetDraw, draw_items

if TYPE_CHECKING:
    from omibench.stages.analyze.analysis import Analysis


NOT_SCORED = ("unjudged", "judge_failed")
"""The outcomes of scorers that leave the decision to a judge."""
_LOG = logging.getLogger("omibench")
_SCHEMA = {
    "person": "String", "group": "String", "id": "String", "cluster": "String", "rules": "String",
    "verdict": "Float64", "credit": "Float64", "ratio": "Float64", "strict": "Float64",
    "outcome": "String", "simulated": "Boolean",
}  # fmt: skip


def score_people(
    answers: Sequence[PersonAnswer], golds: Mapping[str, Answer], scorers: Sequence[str]
) -> pl.DataFrame:
    r"""Score people's answers like responses; no model is called.

    People give final answers without further text, so each answer is put into a box (`\boxed{}`),
    the form that every scorer reads; choices are given by their letter. An empty answer is `empty`
    and wrong. A scorer that leaves any answer to a judge (`mathreal` grades open ones) is left out,
    with a warning.

    Args:
        answers: People's answers.
        golds: The frozen answers by problem.
        scorers: Names of scorers.

    Returns:
        One row per answer and scorer: person, group, id, cluster, rules, verdict, credit, ratio and
        strict (in [0, 1], null if the scorer does not define it), outcome, simulated.

    Raises:
        PluginError: A plug-in's scorer failed.
    """
    rows: list[dict[str, Any]] = []
    for rules in scorers:
        verdicts = _score_by_rules(answers, golds, rules)
        if any(verdict.outcome in NOT_SCORED for verdict in verdicts):
            _LOG.warning(
                "%s: %s leaves answers to a judge, so people have no score by it", KEY, rules
            )
            continue
        rows += [
            {
                "person": row.person,
                "group": row.group,
                "id": row.problem,
                "cluster": golds[row.problem].group or row.problem,
                "rules": rules,
                "verdict": verdict.verdict,
                "credit": verdict.credit,
                "ratio": verdict.ratio,
                "strict": verdict.strict,
                "outcome": verdict.outcome,
                "simulated": row.simulated,
            }
            for row, verdict in zip(answers, verdicts, strict=True)
        ]
    schema = {name: getattr(pl, kind) for name, kind in _SCHEMA.items()}
    return pl.DataFrame(rows, schema=schema)


def make_person_item(row: PersonAnswer, gold: Answer) -> ScoredItem:
    """Return an answer with its gold, in the form of a response for scorers."""
    answer = row.answer
    letters = read_letters(answer, gold.choices) if answer and gold.answer_type == "mcq" else None
    text = letters[0] if letters else answer
    is_boxed = r"\boxed" in text or text.count("{") != text.count("}")
    return ScoredItem(
        id=row.problem,
        prediction=text if is_boxed or not text else rf"\boxed{{{text}}}",
        gold=gold.answer,
        answer_type=gold.answer_type,
        choices=gold.choices,
        outcome="answered" if text else "empty",
    )


def _score_by_rules(
    answers: Sequence[PersonAnswer], golds: Mapping[str, Answer], rules: str
) -> list[Verdict]:
    """Return the verdict on each answer; equal answers are scored once."""
    by_text: dict[tuple[str, str], Verdict] = {}
    verdicts = []
    for row in answers:
        place = row.problem, row.answer
        if place not in by_text:
            by_text[place] = score_item(make_person_item(row, golds[row.problem]), rules)
        verdicts.append(by_text[place])
    return verdicts


SCORED, FAMILIARISATION = "scored", "familiarisation"
"""The uses of the problems of a subset."""


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
