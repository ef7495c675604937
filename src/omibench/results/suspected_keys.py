"""Problems whose key may be wrong: strong models agree on another answer."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from math import ceil
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from omibench.answers.compare import normalise_answer
from omibench.results.slices import ItemMatrix, arrange_items
from omibench.results.statistics.items import RaschFit, fit_rasch
from omibench.schemas.problem import Answer
from omibench.schemas.verdict import RIGHT

FEWEST_AGREEING: Final = 3
FEWEST_MODELS: Final = 2 * FEWEST_AGREEING - 1
"""The number of models whose stronger half can suspect a key."""
AGREEING: Final = 2 / 3
"""Share of the stronger half of models that must give the same wrong answer."""


class SuspectedKey(NamedTuple):
    """An answer in normal form, and as a model gave it."""

    form: str
    text: str


class ModelFit(NamedTuple):
    """The abilities of models.

    Attributes:
        matrix: Their values: models by problems.
        models: Their names.
        fit: The Rasch model of the values.
        upper: The places of the stronger half, the best first.
    """

    matrix: ItemMatrix
    models: list[str]
    fit: RaschFit
    upper: npt.NDArray[np.intp]

    @property
    def strong(self) -> list[str]:
        """The names of the stronger half, the best first."""
        return [self.models[place] for place in self.upper]


def fit_models(pooled: pl.DataFrame) -> ModelFit:
    """Fit the abilities of models.

    Args:
        pooled: One row per model and problem: `model`, `id`, `cluster`, `verdict`.
    """
    matrix = arrange_items(pooled, ["model"], ["verdict"])
    fit = fit_rasch(matrix.values["verdict"].T)
    upper = np.argsort(-fit.ability, kind="stable")[: (len(fit.ability) + 1) // 2]
    return ModelFit(matrix, matrix.cells["model"].to_list(), fit, upper)


def suspect_keys(
    pooled: pl.DataFrame,
    strong: Sequence[str],
    verdicts: pl.DataFrame,
    answers: Mapping[str, Answer],
) -> dict[str, SuspectedKey]:
    """Return the wrong answer to a problem on which the stronger half of the models agree.

    At least 3 of them, and two thirds of those with a verdict, give it most often in normal form.

    Args:
        pooled: One row per model and problem: `model`, `id`, `verdict`.
        strong: The stronger half of the models.
        verdicts: The verdicts behind `pooled`: `model`, `id`, `extracted`, `verdict`.
        answers: The gold answers of the problems.
    """
    upper = pooled.filter(pl.col("model").is_in(strong))
    counts = upper.group_by("id").agg(pl.len(), right=(pl.col("verdict") >= RIGHT).mean())
    doubted = dict(counts.filter(pl.col("right") <= 1 - AGREEING).select("id", "len").iter_rows())
    rows = (
        verdicts.filter(
            pl.col("extracted").is_not_null(),
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
        form = normalise_extracted(answers[name], text)
        votes[name][model][form] += number
        texts.setdefault((name, form), text)
        if verdict >= RIGHT:
            accepted.add((name, form))
    suspected = {}
    for name, models in votes.items():
        modes = Counter(forms.most_common(1)[0][0] for forms in models.values())
        form, agreeing = modes.most_common(1)[0]
        if agreeing >= count_needed(doubted[name]) and (name, form) not in accepted:
            suspected[name] = SuspectedKey(form, texts[name, form])
    return suspected


def normalise_extracted(answer: Answer, text: str) -> str:
    """Return an extracted answer in normal form."""
    return normalise_answer(text, answer.answer_type, answer.choices)


def count_needed(models: int) -> int:
    """Return how many of so many strong models must agree."""
    return max(FEWEST_AGREEING, ceil(AGREEING * models))
