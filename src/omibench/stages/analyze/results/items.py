"""Difficulty of problems and ability of models, and problems whose key may be wrong."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from functools import cache
from itertools import compress
from math import ceil
from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl

from omibench.answers.compare import normalise_answer
from omibench.results.slices import arrange_items
from omibench.results.statistics.intervals import Floats, z_value
from omibench.results.statistics.items import find_inversions, fit_discriminations, fit_rasch
from omibench.results.statistics.people import count_distribution
from omibench.schemas.verdict import RIGHT
from omibench.stages.analyze.results.accuracy import SUBJECT, pool_items
from omibench.stages.analyze.results.chance import guess_chance
from omibench.stages.analyze.results.result import result
from omibench.text.masking import mask_line

if TYPE_CHECKING:
    from omibench.stages.analyze.analysis import Analysis

DIFFICULTY, ABILITY = "difficulty", "ability"
NONE, ALL = "solved by none", "solved by all"
INVERTED, SUSPECTED = "weak yes strong no", "suspected key"
FEWEST_MODELS: Final = 3
FEWEST_DISCRIMINATING: Final = 20
FEWEST_AGREEING: Final = 3
_ANSWER_CHARS: Final = 120
"""Maximum characters of a suspected key in the table."""
AGREEING: Final = 2 / 3
"""Share of the stronger half of models that must give the same wrong answer."""


@result("items", "Difficulty of problems, ability of models, and problems to check")
def tabulate_items(analysis: Analysis) -> pl.DataFrame | None:
    """Tabulate problems and models on the scale of a Rasch model (`statistics.items`).

    A model's value on a problem is its mean over the cells of `results.pooled_settings`.

    Args:
        analysis: The study's results.

    Returns:
        Per scorer, one row per problem with the metric `difficulty` and one per model with
        `ability`, both in log-odds. A problem has its `id`, number of `models`, their share
        `right`, from 20 models on a `discrimination` with its interval, `flags`, the answer that
        is a `suspected_key`, and the probability of one if strong models guess (`guessed`; both
        null for a scorer that reads no answers). None for fewer than 3 models.
    """
    pooled = pool_items(analysis, ["model", "rules"])
    if pooled["model"].n_unique() < FEWEST_MODELS:
        return None
    return pl.concat(
        [_tabulate(analysis, pooled.filter(rules=rules), rules) for rules in analysis.results.rules]
    )


def _tabulate(analysis: Analysis, pooled: pl.DataFrame, rules: str) -> pl.DataFrame:
    matrix = arrange_items(pooled, ["model"], ["verdict"])
    values = matrix.values["verdict"].T
    models = matrix.cells["model"].to_list()
    seen = ~np.isnan(values)
    count, right = seen.sum(axis=1), np.nansum(values, axis=1)
    fit, z = fit_rasch(values), z_value(analysis.confidence)
    slope, slope_error = np.full((2, len(values)), np.nan)
    if len(models) >= FEWEST_DISCRIMINATING:
        slope, slope_error = fit_discriminations(values, fit)
    upper = np.argsort(-fit.ability, kind="stable")[: (len(models) + 1) // 2]
    verdicts = analysis.results.select_verdicts(rules).filter(pl.col("extracted").is_not_null())
    strong = [models[place] for place in upper]
    suspected = _suspect_keys(analysis, pooled, strong, verdicts)
    names = matrix.items["id"].to_list()
    guessed = [
        None
        if verdicts.is_empty()
        else _guess_agreement(guess_chance(analysis.results.answers[name]), int(number))
        for name, number in zip(names, seen[:, upper].sum(axis=1), strict=True)
    ]
    flags = {
        NONE: right == 0,
        ALL: right == count,
        INVERTED: find_inversions(values),
        SUSPECTED: [name in suspected for name in names],
    }
    masks = zip(*flags.values(), strict=True)
    items = matrix.items.select(
        "id",
        pl.Series("models", count, dtype=pl.Int64),
        pl.Series("right", right / count),
        *_bound(fit.difficulty, z * fit.error),
        pl.Series("discrimination", slope),
        pl.Series("discrimination_low", slope * np.exp(-z * slope_error)),
        pl.Series("discrimination_high", slope * np.exp(z * slope_error)),
        pl.Series("flags", [", ".join(compress(flags, mask)) for mask in masks]),
        pl.Series("suspected_key", [suspected.get(name) for name in names], dtype=pl.String),
        pl.Series("guessed", guessed, dtype=pl.Float64),
        metric=pl.lit(DIFFICULTY),
        slice=pl.lit(SUBJECT),
    ).join(analysis.items.select("id", value=SUBJECT), on="id", how="left", maintain_order="left")
    abilities = matrix.cells.with_columns(
        *_bound(fit.ability, z * fit.ability_error),
        pl.Series("n", seen.sum(axis=0), dtype=pl.Int64),
        metric=pl.lit(ABILITY),
    )
    simulated = analysis.results.rests_on_simulation(rules)
    return pl.concat([items, abilities], how="diagonal").with_columns(
        rules=pl.lit(rules), simulated=pl.lit(simulated)
    )


def _bound(values: Floats, half: Floats) -> list[pl.Series]:
    ends = {"estimate": values, "low": values - half, "high": values + half}
    return [pl.Series(name, numbers) for name, numbers in ends.items()]


def _suspect_keys(
    analysis: Analysis, pooled: pl.DataFrame, strong: Sequence[str], verdicts: pl.DataFrame
) -> dict[str, str]:
    """Return the wrong answer to a problem on which the stronger half of the models agree.

    At least 3 of them, and two thirds of those with a verdict, give it most often in normal form.
    """
    results = analysis.results
    upper = pooled.filter(pl.col("model").is_in(strong))
    counts = upper.group_by("id").agg(pl.len(), right=(pl.col("verdict") >= RIGHT).mean())
    doubted = dict(counts.filter(pl.col("right") <= 1 - AGREEING).select("id", "len").iter_rows())
    rows = (
        verdicts.filter(
            pl.col("setting").is_in(results.pooled_settings),
            pl.col("model").is_in(strong),
            pl.col("id").is_in([*doubted]),
        )
        .group_by("id", "model", "extracted")
        .agg(pl.len(), pl.col("verdict").max())
        .sort("id", "model", "extracted")
    )
    votes: dict[str, dict[str, Counter[str]]] = defaultdict(lambda: defaultdict(Counter))
    texts: dict[tuple[str, str], str] = {}
    accepted: set[tuple[str, str]] = set()
    for name, model, text, number, verdict in rows.iter_rows():
        answer = results.answers[name]
        form = normalise_answer(text, answer.answer_type, answer.choices)
        votes[name][model][form] += number
        texts.setdefault((name, form), text)
        if verdict >= RIGHT:
            accepted.add((name, form))
    suspected = {}
    for name, models in votes.items():
        modes = Counter(forms.most_common(1)[0][0] for forms in models.values())
        form, agreeing = modes.most_common(1)[0]
        if agreeing >= _count_needed(doubted[name]) and (name, form) not in accepted:
            suspected[name] = mask_line(texts[name, form], _ANSWER_CHARS)
    return suspected


def _count_needed(models: int) -> int:
    return max(FEWEST_AGREEING, ceil(AGREEING * models))


@cache
def _guess_agreement(chance: float, models: int) -> float:
    """Return the probability that enough of so many guessing models agree on a wrong answer.

    More than half agree, so only one answer can be theirs, and the probabilities add up.
    """
    if not chance:
        return 0.0
    agreeing = count_distribution([chance] * models)[_count_needed(models) :]
    return float((1 / chance - 1) * agreeing.sum())
