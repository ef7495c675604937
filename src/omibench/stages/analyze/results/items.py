"""Difficulty of problems and ability of models, and problems whose key may be wrong."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from itertools import compress
from typing import Final

import numpy as np
import polars as pl

from omibench.results.statistics.intervals import Floats, z_value
from omibench.results.statistics.items import find_inversions, fit_discriminations
from omibench.results.statistics.people import count_distribution
from omibench.results.suspected_keys import (
    ModelFit,
    SuspectedKey,
    count_needed,
    fit_models,
    normalise_extracted,
    suspect_keys,
)
from omibench.stages.analyze.analysis import Analysis
from omibench.stages.analyze.results.accuracy import SUBJECT, pool_items
from omibench.stages.analyze.results.chance import guess_chance
from omibench.stages.analyze.results.result import result
from omibench.text.masking import mask_line

DIFFICULTY, ABILITY = "difficulty", "ability"
NONE, ALL = "solved by none", "solved by all"
INVERTED, SUSPECTED = "weak yes strong no", "suspected key"
FEWEST_MODELS: Final = 3
FEWEST_DISCRIMINATING: Final = 20
AS_SCORED, LEFT_OUT, REPLACED = "as scored", "suspected keys left out", "suspected keys replaced"
_ANSWER_CHARS: Final = 120
"""Maximum characters of a suspected key in the table."""


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
    fitted = fit_models(pooled)
    matrix, models, fit, upper = fitted
    values = matrix.values["verdict"].T
    seen = ~np.isnan(values)
    count, right = seen.sum(axis=1), np.nansum(values, axis=1)
    z = z_value(analysis.confidence)
    slope, slope_error = np.full((2, len(values)), np.nan)
    if len(models) >= FEWEST_DISCRIMINATING:
        slope, slope_error = fit_discriminations(values, fit)
    verdicts = analysis.results.select_verdicts(rules).filter(pl.col("extracted").is_not_null())
    suspected = _suspect(analysis, pooled, fitted, verdicts)
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
    texts = {name: mask_line(key.text, _ANSWER_CHARS) for name, key in suspected.items()}
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
        pl.Series("suspected_key", [texts.get(name) for name in names], dtype=pl.String),
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


def _suspect(
    analysis: Analysis, pooled: pl.DataFrame, fitted: ModelFit, verdicts: pl.DataFrame
) -> dict[str, SuspectedKey]:
    results = analysis.results
    of_pool = verdicts.filter(pl.col("setting").is_in(results.pooled_settings))
    return suspect_keys(pooled, fitted.strong, of_pool, results.answers)


@cache
def _guess_agreement(chance: float, models: int) -> float:
    """Return the probability that enough of so many guessing models agree on a wrong answer.

    More than half agree, so only one answer can be theirs, and the probabilities add up.
    """
    if not chance:
        return 0.0
    agreeing = count_distribution([chance] * models)[count_needed(models) :]
    return float((1 / chance - 1) * agreeing.sum())


@result("key-effects", "Ranking of the models if suspected keys are wrong")
def tabulate_key_effects(analysis: Analysis) -> pl.DataFrame | None:
    """Tabulate accuracy and rank of each model if all suspected keys of `items` are wrong.

    Args:
        analysis: The study's results.

    Returns:
        For each scorer that suspects a key, and each model over `results.pooled_settings`, rows
        with the metrics `accuracy` and `rank` (equal accuracies share the best) for each of
        `keys`: `as scored`, `suspected keys left out`, and `suspected keys replaced` by the answer
        of the strong models, which counts as right where it is the same in normal form. `suspected`
        is their number. A model that answered fewer problems than another has no rank. They are
        values of the same responses, so they have no interval. None without a suspected key.
    """
    pooled = pool_items(analysis, ["model", "rules"])
    if pooled["model"].n_unique() < FEWEST_MODELS:
        return None
    tables = [
        _compare_keys(analysis, pooled.filter(rules=rules), rules)
        for rules in analysis.results.rules
    ]
    filled = [table for table in tables if table is not None]
    return pl.concat(filled) if filled else None


def _compare_keys(analysis: Analysis, pooled: pl.DataFrame, rules: str) -> pl.DataFrame | None:
    verdicts = analysis.results.select_verdicts(rules)
    suspected = _suspect(analysis, pooled, fit_models(pooled), verdicts)
    if not suspected:
        return None
    replaced = _score_again(analysis, verdicts, suspected)
    kept = pooled.select("model", "id", "verdict").filter(~pl.col("id").is_in([*suspected]))
    sides = {AS_SCORED: pooled, LEFT_OUT: kept, REPLACED: pl.concat([kept, replaced])}
    counts = pooled.group_by("model").len()
    whole = counts.filter(pl.col("len") == pl.col("len").max())["model"].to_list()
    accuracies = pl.concat(
        side.group_by("model", maintain_order=True)
        .agg(n=pl.len().cast(pl.Int64), accuracy=pl.col("verdict").mean())
        .with_columns(
            rank=pl.when(pl.col("model").is_in(whole))
            .then("accuracy")
            .round(9)
            .rank("min", descending=True)
            .cast(pl.Float64),
            keys=pl.lit(keys),
        )
        for keys, side in sides.items()
    )
    long = accuracies.unpivot(
        ["accuracy", "rank"],
        index=["model", "keys", "n"],
        variable_name="metric",
        value_name="estimate",
    )
    return long.with_columns(
        rules=pl.lit(rules),
        suspected=pl.lit(len(suspected)),
        simulated=pl.lit(analysis.results.rests_on_simulation(rules)),
    )


def _score_again(
    analysis: Analysis, verdicts: pl.DataFrame, keys: Mapping[str, SuspectedKey]
) -> pl.DataFrame:
    """Return the value of each model on problems with other keys: `model`, `id`, `verdict`."""
    rows = verdicts.filter(
        pl.col("setting").is_in(analysis.results.pooled_settings), pl.col("id").is_in([*keys])
    )
    texts = rows.select("id", "extracted").drop_nulls().unique()
    right = [
        normalise_extracted(analysis.results.answers[name], text) == keys[name].form
        for name, text in texts.iter_rows()
    ]
    marked = rows.select("model", "setting", "id", "extracted").join(
        texts.with_columns(verdict=pl.Series(right, dtype=pl.Float64)),
        on=["id", "extracted"],
        how="left",
    )
    by_cell = marked.group_by("model", "setting", "id").agg(pl.col("verdict").fill_null(0).mean())
    return by_cell.group_by("model", "id").agg(pl.col("verdict").mean())
