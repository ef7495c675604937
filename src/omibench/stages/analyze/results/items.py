"""Difficulty of problems and ability of models, and problems whose key may be wrong."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import compress
from math import ceil
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from omibench.answers.compare import normalise_answer
from omibench.results.slices import arrange_items
from omibench.results.statistics.intervals import Floats, z_value
from omibench.results.statistics.items import (
    RaschFit,
    find_inversions,
    fit_discriminations,
    fit_rasch,
)
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
AS_SCORED, LEFT_OUT, REPLACED = "as scored", "suspected keys left out", "suspected keys replaced"
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
    upper = _find_strong(fit)
    verdicts = analysis.results.select_verdicts(rules).filter(pl.col("extracted").is_not_null())
    suspected = _suspect_keys(analysis, pooled, [models[place] for place in upper], verdicts)
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


def _find_strong(fit: RaschFit) -> npt.NDArray[np.intp]:
    """Return the stronger half of the models, the best first."""
    return np.argsort(-fit.ability, kind="stable")[: (len(fit.ability) + 1) // 2]


class _Key(NamedTuple):
    """An answer in normal form, and as a model gave it."""

    form: str
    text: str


def _suspect_keys(
    analysis: Analysis, pooled: pl.DataFrame, strong: Sequence[str], verdicts: pl.DataFrame
) -> dict[str, _Key]:
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
        form = _normalise(analysis, name, text)
        votes[name][model][form] += number
        texts.setdefault((name, form), text)
        if verdict >= RIGHT:
            accepted.add((name, form))
    suspected = {}
    for name, models in votes.items():
        modes = Counter(forms.most_common(1)[0][0] for forms in models.values())
        form, agreeing = modes.most_common(1)[0]
        if agreeing >= _count_needed(doubted[name]) and (name, form) not in accepted:
            suspected[name] = _Key(form, texts[name, form])
    return suspected


def _normalise(analysis: Analysis, name: str, text: str) -> str:
    answer = analysis.results.answers[name]
    return normalise_answer(text, answer.answer_type, answer.choices)


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
    matrix = arrange_items(pooled, ["model"], ["verdict"])
    models = matrix.cells["model"].to_list()
    strong = [models[place] for place in _find_strong(fit_rasch(matrix.values["verdict"].T))]
    verdicts = analysis.results.select_verdicts(rules)
    answers = verdicts.filter(pl.col("extracted").is_not_null())
    suspected = _suspect_keys(analysis, pooled, strong, answers)
    if not suspected:
        return None
    replaced = _score_again(analysis, verdicts, suspected)
    kept = pooled.select("model", "id", "verdict").filter(~pl.col("id").is_in([*suspected]))
    sides = {AS_SCORED: pooled, LEFT_OUT: kept, REPLACED: pl.concat([kept, replaced])}
    counts = pooled.group_by("model").len()
    whole = counts.filter(pl.col("len") == pl.col("len").max())["model"].to_list()
    accuracies = pl.concat(
        side.group_by("model", maintain_order=True)
        .agg(pl.len().cast(pl.Int64).alias("n"), accuracy=pl.col("verdict").mean())
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
    analysis: Analysis, verdicts: pl.DataFrame, keys: Mapping[str, _Key]
) -> pl.DataFrame:
    """Return the value of each model on problems with other keys: `model`, `id`, `verdict`."""
    rows = verdicts.filter(
        pl.col("setting").is_in(analysis.results.pooled_settings), pl.col("id").is_in([*keys])
    )
    texts = rows.select("id", "extracted").drop_nulls().unique()
    right = [
        _normalise(analysis, name, text) == keys[name].form for name, text in texts.iter_rows()
    ]
    marked = rows.select("model", "setting", "id", "extracted").join(
        texts.with_columns(verdict=pl.Series(right, dtype=pl.Float64)),
        on=["id", "extracted"],
        how="left",
    )
    by_cell = marked.group_by("model", "setting", "id").agg(pl.col("verdict").fill_null(0).mean())
    return by_cell.group_by("model", "id").agg(pl.col("verdict").mean())
