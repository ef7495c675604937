"""People beside models: problems drawn for them, their answers and their scores."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Mapping, Sequence
from math import nan, sqrt
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from omibench.answers.scorers.registry import score_item
from omibench.errors import ParamsError
from omibench.models.synthetic.profiles import equal, proportional
from omibench.params.stages.analyze import PeopleSubset
from omibench.results.attributes import list_attributes, list_values
from omibench.results.grouped import estimate_groups
from omibench.results.load import JUDGE_RULES, PUBLISHED_RULES
from omibench.results.statistics.intervals import clustered_median, t_value
from omibench.results.statistics.paired import paired_difference
from omibench.results.statistics.people import (
    FEW_PEOPLE,
    estimate_crossed_mean,
    estimate_crossed_share,
)
from omibench.review import own_answers
from omibench.schemas.problem import Answer
from omibench.schemas.validation import suggest_name
from omibench.schemas.verdict import ScoredItem
from omibench.stages.analyze.analysis import Analysis
from omibench.stages.analyze.results.result import write_estimate
from omibench.stages.analyze.user_files import PEOPLE_KEY as KEY
from omibench.stages.analyze.user_files import Cutoff, PersonAnswer, read_or_warn, read_people

# Draw the problems for people, and problems for familiarisation.


class SubsetDraw(NamedTuple):
    """Problem ids, in order of the draw."""

    scored: tuple[str, ...]
    familiarisation: tuple[str, ...]
    """Answered before the others, and never scored."""


def draw_items(items: pl.DataFrame, subset: PeopleSubset, seed: int) -> SubsetDraw:
    """Draw the problems for people from a table of items.

    Args:
        items: Output of `describe_items`: one row per item, one column per attribute.
        subset: Numbers of problems, and the attribute for stratification.
        seed: Seed of the study; `subset.seed` overrides it.

    Raises:
        ParamsError: No item has the attribute, or there are too few items.
    """
    names = list_attributes(items)
    if subset.by not in names:
        raise ParamsError(
            f"analyze.people_subset.by: problems have no attribute {subset.by!r}"
            f"{suggest_name(subset.by, names)}"
        )
    values = list_values(items, "id", subset.by).unique("id", keep="first")
    return draw_subset(
        dict(values.iter_rows()), subset, seed if subset.seed is None else subset.seed
    )


def draw_subset(strata: Mapping[str, str], subset: PeopleSubset, seed: int) -> SubsetDraw:
    """Draw the problems for people, with equal numbers of each stratum.

    OMIBench (appendix K): 52 problems, uniformly from four subjects, after 10 separate problems for
    familiarisation. A problem's position in the draw depends only on seed and id.

    Args:
        strata: Stratum of each problem, such as its subject, by id.
        subset: Numbers of problems, and their distribution over the strata.
        seed: Equal seeds draw equal problems.

    Returns:
        The problems; those for familiarisation are drawn after the scored ones.

    Raises:
        ParamsError: There are too few problems.
    """
    total = subset.size + subset.familiarisation
    if total > len(strata):
        raise ParamsError(
            f"analyze.people_subset: draws {subset.size:,} problems and {subset.familiarisation:,} "
            f"for familiarisation, but the dataset has {len(strata):,}; give smaller numbers"
        )
    ranked: dict[str, list[str]] = {}
    for id in sorted(strata, key=lambda id: (_rank(seed, id), id)):
        ranked.setdefault(strata[id], []).append(id)
    scored = _take(ranked, subset.size, subset)
    rest = {name: [id for id in ids if id not in set(scored)] for name, ids in ranked.items()}
    return SubsetDraw(scored, _take(rest, subset.familiarisation, subset))


def _take(ranked: Mapping[str, list[str]], count: int, subset: PeopleSubset) -> tuple[str, ...]:
    sizes = {name: len(ids) for name, ids in sorted(ranked.items())}
    shares = (equal if subset.shares == "equal" else proportional)(sizes, count)
    return tuple(id for name in sorted(ranked) for id in ranked[name][: shares[name]])


def _rank(seed: int, id: str) -> str:
    return hashlib.sha256(f"people\0{seed}\0{id}".encode()).hexdigest()


# People's answers to problems of a study: who answered, and their verdicts by its scorers.

NOT_SCORED = ("unjudged", "judge_failed")
"""The outcomes of scorers that leave the decision to a judge."""
_LOG = logging.getLogger("omibench")
_VERDICT = ("verdict", "credit", "ratio", "strict", "outcome")
"""The columns of a verdict on a person's answer."""


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
    items = {(row.problem, row.answer): make_person_item(row, golds[row.problem])
             for row in answers}  # fmt: skip
    for rules in scorers:
        verdicts = {place: score_item(item, rules) for place, item in items.items()}
        if any(verdict.outcome in NOT_SCORED for verdict in verdicts.values()):
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
                **{name: getattr(verdicts[row.problem, row.answer], name) for name in _VERDICT},
                "simulated": row.simulated,
            }
            for row in answers
        ]
    words = dict.fromkeys(("person", "group", "id", "cluster", "rules"), pl.String)
    schema = {
        **words, **dict.fromkeys(_VERDICT, pl.Float64), "outcome": pl.String,
        "simulated": pl.Boolean,
    }  # fmt: skip
    return pl.DataFrame(rows, schema=schema)


def make_person_item(row: PersonAnswer, gold: Answer) -> ScoredItem:
    """Return an answer with its gold, in the form of a response for scorers."""
    gold_parts, kind, choices = gold.answer, gold.answer_type, gold.choices
    return own_answers.make_person_item(row.problem, row.answer, gold_parts, kind, choices)


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


# Accuracies of persons and groups, and differences between models and groups.

PERSON, GROUP, EVERYBODY, MODEL = "person", "group", "everybody", "model"
MAJORITY = "majority"
"""The median of the people's verdicts on each problem, as if they had voted."""
BY_PROBLEMS, BY_BOTH = "problems", "people and problems"
_PLACE = ("rules", "slice", "value")


def add_kinds(verdicts: pl.DataFrame) -> pl.DataFrame:
    """Repeat people's answers for each respondent they count towards.

    Args:
        verdicts: Rows with `person` and `group`.

    Returns:
        The rows with `kind` and `respondent`: the person, the group if it has a name, and everybody
        unless one group is everybody.
    """
    parts = [
        verdicts.with_columns(kind=pl.lit(PERSON), respondent=pl.col("person")),
        verdicts.filter(pl.col("group") != "").with_columns(
            kind=pl.lit(GROUP), respondent=pl.col("group")
        ),
    ]
    groups, people = verdicts["group"].n_unique(), verdicts["person"].n_unique()
    if groups > 1 or (people > 1 and (verdicts["group"] == "").all()):
        parts.append(verdicts.with_columns(kind=pl.lit(EVERYBODY), respondent=pl.lit("")))
    return pl.concat(parts)


def estimate_people(
    answers: pl.DataFrame, confidence: float, column: str = "verdict"
) -> pl.DataFrame:
    """Estimate the accuracy of each person, of each group and of everybody.

    Args:
        answers: People's verdicts with `kind`, `respondent`, `slice` and `value`.
        confidence: The two-sided level, in (0, 1).
        column: The column of the values, in [0, 1].

    Returns:
        One row per scorer, slice, value and respondent. `low` and `high` of a person, and of a
        group of one, generalise to other such problems (`variance`: "problems"); those of a group
        to other such people as well ("people and problems"), and `problems_low` and `problems_high`
        keep the people fixed. `few_people` marks intervals of groups too small to reach their
        nominal level.
    """
    keys = ["kind", "respondent", *_PLACE]
    values = answers.filter(pl.col(column).is_not_null())
    rows = estimate_groups(values, keys, confidence, column).drop("n_eff")
    counts = values.group_by(keys, maintain_order=True).agg(
        pl.col("simulated").any(),
        people=pl.col("person").n_unique().cast(pl.Int64),
        problems=pl.col("id").n_unique().cast(pl.Int64),
    )
    rows = rows.join(counts, on=keys, maintain_order="left").with_columns(
        problems_low="low",
        problems_high="high",
        variance=pl.lit(BY_PROBLEMS),
        few_people=pl.lit(value=False),
    )
    crossed = [
        dict(zip(keys, place, strict=True)) | _estimate_both(part, confidence, column)
        for place, part in values.group_by(keys, maintain_order=True)
        if part["person"].n_unique() > 1 and part["cluster"].n_unique() > 1
    ]
    if not crossed:
        return rows
    return rows.update(pl.DataFrame(crossed), on=keys, how="left")


def _estimate_both(part: pl.DataFrame, confidence: float, column: str) -> dict[str, Any]:
    estimate = estimate_crossed_share(
        part[column].to_list(), part["person"].to_list(), part["cluster"].to_list(), confidence
    )
    few = estimate.people < FEW_PEOPLE
    return {"low": estimate.lo, "high": estimate.hi, "variance": BY_BOTH, "few_people": few}


def compare_with_people(
    models: pl.DataFrame, answers: pl.DataFrame, confidence: float
) -> pl.DataFrame:
    """Estimate the difference between each cell and each group, over the same problems.

    Args:
        models: Rows with `model`, `setting`, `rules`, `id`, `verdict`, one per item and cell.
        answers: People's verdicts with `kind` and `respondent`, over the whole.
        confidence: The two-sided level, in (0, 1).

    Returns:
        One row per cell, scorer and group (or everybody; a person only if there are neither): the
        mean difference of a cell's and a person's values by problem, with an interval that
        generalises to other such people and problems, or for one person to other problems.
    """
    kinds = set(answers["kind"]) - {PERSON} or {PERSON}
    people = answers.filter(pl.col("kind").is_in(list(kinds)))
    cells = models.partition_by("model", "setting", "rules", as_dict=True)
    rows = []
    for (kind, respondent, rules), part in people.group_by(
        "kind", "respondent", "rules", maintain_order=True
    ):
        for cell, verdicts in cells.items():
            ours = verdicts.select("id", ours="verdict")
            common = part.join(ours, on="id", maintain_order="left")
            if cell[2] == rules and common.height:
                names = dict(zip(("model", "setting", "rules"), cell, strict=True))
                names |= {"kind": str(kind), "baseline": str(respondent)}
                rows.append(names | _estimate_difference(common, confidence))
    return pl.DataFrame(rows)


def _estimate_difference(common: pl.DataFrame, confidence: float) -> dict[str, Any]:
    """Return a cell (`ours`) minus a group (`verdict`) over the same problems."""
    deltas = (common["ours"] - common["verdict"]).to_list()
    person, cluster = common["person"].to_list(), common["cluster"].to_list()
    counts = {"n": len(deltas), "people": len(set(person)), "clusters": len(set(cluster)),
              "problems": common["id"].n_unique()}  # fmt: skip
    if counts["people"] > 1 and counts["clusters"] > 1:
        both = estimate_crossed_mean(deltas, person, cluster, confidence)
        bounds = {**write_estimate(both), "variance": BY_BOTH,
                  "few_people": both.people < FEW_PEOPLE}  # fmt: skip
    else:
        alone = paired_difference(deltas, [0.0] * len(deltas), cluster, confidence)
        bounds = {**write_estimate(alone), "variance": BY_PROBLEMS, "few_people": False}
    return counts | bounds


def tabulate_seconds(
    answers: Sequence[PersonAnswer], clusters: dict[str, str], confidence: float
) -> pl.DataFrame | None:
    """Tabulate the median time of an answer by person, by group and of everybody.

    Args:
        answers: People's answers.
        clusters: Shared stem of each problem, or the problem itself.
        confidence: The two-sided level, in (0, 1).

    Returns:
        One row per respondent, in seconds; None if no answer has a time.
    """
    times = [row.model_dump() for row in answers if row.seconds is not None]
    if not times:
        return None
    rows = []
    for (kind, respondent), part in add_kinds(pl.DataFrame(times)).group_by(
        "kind", "respondent", maintain_order=True
    ):
        groups = [clusters[id] for id in part["problem"]]
        median = clustered_median(part["seconds"].to_list(), groups, confidence)
        rows.append(
            {
                "kind": kind, "respondent": respondent, "metric": "median seconds",
                **write_estimate(median), "n": median.n,
                "clusters": len(set(groups)), "people": part["person"].n_unique(),
                "problems": part["problem"].n_unique(), "variance": BY_PROBLEMS,
                "simulated": part["simulated"].any(),
            }
        )  # fmt: skip
    return pl.DataFrame(rows)


# Estimate the mean score of exam participants from cut-offs.

MEDIAN = 50.0


class EstimatedScore(NamedTuple):
    """The mean score of all participants, in [0, 1]; bounds are NaN if unknown."""

    mean: float
    lo: float
    hi: float
    method: str


def estimate_score(cutoffs: Sequence[Cutoff], confidence: float = 0.95) -> EstimatedScore | None:
    """Estimate the mean score of an exam's participants.

    Scores are assumed normal: a cut-off is then mean + deviation x quantile of its percentile, and
    least squares over the cut-offs gives both. USNCO-V (figure 5) estimates people's scores from
    cut-offs without describing the method; this one is ours. The interval is that of the fitted
    mean, from three cut-offs on, and covers only their deviation from a line.

    Args:
        cutoffs: Cut-offs of one exam and year.
        confidence: The two-sided level, in (0, 1).

    Returns:
        The estimate. None for a single cut-off that is not the median.

    Raises:
        MissingExtraError: scipy is not installed and there are at least three cut-offs.
    """
    shares = np.asarray([row.score / row.of for row in cutoffs])
    percentiles = {row.percentile for row in cutoffs}
    if percentiles == {MEDIAN}:
        return EstimatedScore(float(shares.mean()), nan, nan, "median")
    if len(percentiles) < 2:
        return None
    quantiles = np.asarray([NormalDist().inv_cdf(row.percentile / 100) for row in cutoffs])
    centre, spread = quantiles.mean(), float(((quantiles - quantiles.mean()) ** 2).sum())
    slope = float((quantiles - centre) @ shares) / spread
    mean = float(shares.mean() - slope * centre)
    lo = hi = nan
    if len(cutoffs) > 2:
        residuals = shares - mean - slope * quantiles
        variance = float(residuals @ residuals) / (len(cutoffs) - 2)
        half = t_value(confidence, len(cutoffs) - 2) * sqrt(
            variance * (1 / len(cutoffs) + float(centre) ** 2 / spread)
        )
        lo, hi = mean - half, mean + half
    mean, lo, hi = np.clip([mean, lo, hi], 0, 1).tolist()
    return EstimatedScore(mean, lo, hi, "normal distribution through the cut-offs")
