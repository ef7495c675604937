"""Accuracy along the settings of a model: prompts, thinking, examples in context, budgets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import nan
from typing import TYPE_CHECKING

import polars as pl

from omibench.params.models.base import ModelBlock
from omibench.results.grouped import adjust_families, estimate_groups, estimate_means
from omibench.results.slices import label_items
from omibench.results.statistics.samples import RunTest, compare_runs, mark_stars
from omibench.stages.analyze.analysis import Analysis
from omibench.stages.analyze.results.accuracy import CELL
from omibench.stages.analyze.results.baselines import (
    compare_slices,
    keep_scorers,
    mark_both_simulated,
    pair_with_baselines,
)
from omibench.stages.analyze.results.curve_series import (
    estimate_points,
    frame_cells,
    frame_points,
    label_cells,
    list_answered,
    list_prompts,
    locate_budget,
    locate_shots,
)
from omibench.stages.analyze.results.repeated_runs import mark_stars_of
from omibench.stages.analyze.results.result import result
from omibench.stages.analyze.results.slices import label_whole

if TYPE_CHECKING:  # results do not depend on the other blocks of a study
    from omibench.params.study import Study


@result(
    "prompt-differences",
    "Prompts compared with the reference prompt, all else being equal",
    source="OMIBench, G.1, G.2 and figure 4a, b; USNCO-V, figure 3",
)
def tabulate_prompts(analysis: Analysis) -> pl.DataFrame | None:
    """Tabulate the effect of changing the prompt, over the items of both settings.

    The baseline is `analyze.reference_setting` if it is among the compared settings, otherwise the
    first of them in `infer.settings`.

    Args:
        analysis: The study's results.

    Returns:
        One row per model, setting, scorer and measure: the metric `difference`, its accuracy
        (`score`) minus that under `baseline` (`baseline_score`), with the paired test and Holm's p
        over models and prompts; `prompt` and `baseline_prompt` are the names of the prompts. None
        if no two settings differ in their prompt alone.
    """
    study = analysis.results.study
    baselines, rows = {}, []
    for prompts in list_prompts(list_answered(study)):
        names = {setting: prompt for prompt, setting in prompts.items()}
        preferred = [name for name in study.analyze.reference_setting if name in names]
        reference = next(iter([*preferred, *names]))
        for name, prompt in names.items():
            if name != reference:
                baselines[name] = reference
                rows.append((name, prompt, names[reference]))
    values = pair_with_baselines(keep_scorers(analysis.item_values), "setting", baselines)
    tables = list(compare_slices(analysis, values, label_whole(analysis.items), "setting"))
    if not tables:
        return None
    facts = pl.DataFrame(rows, ["setting", "prompt", "baseline_prompt"], orient="row")
    marked = mark_both_simulated(analysis, pl.concat(tables))
    return label_cells(
        analysis, marked.join(facts, on="setting", how="left", maintain_order="left")
    )


THINKING, INSTRUCT = "thinking", "instruct"


def pair_variants(models: Mapping[str, ModelBlock]) -> Iterator[tuple[str, str]]:
    """Pair the thinking model with the instruct model of the same family and size.

    Args:
        models: Models by name; their blocks give `family`, `variant` and parameters.

    Yields:
        The names of a thinking model and of its instruct model, in the order of `models`. Of
        several instruct models of one size the first is the baseline.
    """
    instruct: dict[tuple[object, ...], str] = {}
    for name, model in models.items():
        if model.family and model.variant == INSTRUCT:
            instruct.setdefault(_describe_size(model), name)
    for name, model in models.items():
        if model.family and model.variant == THINKING and _describe_size(model) in instruct:
            yield name, instruct[_describe_size(model)]


@result(
    "thinking-gains",
    "Thinking models compared with instruct models of the same family and size",
    source="OMIBench, G.3, table 4 and figure 4c",
)
def tabulate_variants(analysis: Analysis) -> pl.DataFrame | None:
    """Tabulate the gain from thinking, over the items that both models answered.

    Args:
        analysis: The study's results.

    Returns:
        One row per pair, setting, scorer, measure and subject, and over all: the metric
        `difference`, thinking (`model`, `score`) minus instruct (`baseline`, `baseline_score`),
        with the paired test and Holm's p over the pairs; `series` (the models' family),
        `parameters_b` and both labels. None if no family has both variants of a size.
    """
    study = analysis.results.study
    answered = {cell.model for cell in study.cells}
    models = {name: model for name, model in study.models.items() if name in answered}
    pairs = dict(pair_variants(models))
    if not pairs:
        return None
    values = pair_with_baselines(keep_scorers(analysis.item_values), "model", pairs)
    labels = pl.concat([label_whole(analysis.items), label_items(analysis.items, "subject")])
    tables = list(compare_slices(analysis, values, labels, "model"))
    if not tables:
        return None
    facts = pl.DataFrame(
        [
            {
                "model": name, "label": analysis.results.label(name),
                "baseline_label": analysis.results.label(baseline),
                "series": models[name].family, "parameters_b": models[name].parameters_b,
            }
            for name, baseline in pairs.items()
        ],
        schema_overrides={"parameters_b": pl.Float64},
    )  # fmt: skip
    marked = mark_both_simulated(analysis, pl.concat(tables))
    return marked.join(facts, on="model", how="left", maintain_order="left")


def _describe_size(model: ModelBlock) -> tuple[object, ...]:
    return model.family, model.parameters_b, model.active_parameters_b or model.parameters_b


EXAM = "exam"
"""The attribute that distinguishes the two sets of USNCO-V."""
_CURVE = ("model", "series", "rules", "slice", "value")
_ROW = (*CELL, "slice", "value")


@result(
    "accuracy-by-shots",
    "Accuracy by the number of examples, with the standard error over runs",
    source='USNCO-V, "Few-Shot Prompting" and figure 2; OMIBench, H.4 and figure 6a',
)
def tabulate_shots(analysis: Analysis) -> pl.DataFrame | None:
    """Tabulate settings that differ in the number of examples alone.

    Args:
        analysis: The study's results.

    Returns:
        One row per model, setting and scorer, over all items and by `exam`, if items have it.
        `shots` is the number of examples; `series` distinguishes kinds of examples. Each sample
        index is a run over all items; `sd` and `sem` are over `runs`. `p` is the one-sided p of
        Welch's test that the mean over runs exceeds that of `baseline`, the setting without
        examples, `p_holm` the same adjusted by Holm over the `family` of points of one scorer
        and slice, `stars` its marks, `stars_unadjusted` those of `p` as USNCO-V prints them;
        `reason` explains a missing p. None if no model has two numbers of examples.
    """
    points = frame_points(analysis, locate_shots, "shots")
    if points.is_empty():
        return None
    slices = _slice_by_exam(analysis.items)
    verdicts = analysis.results.counting_verdicts.join(
        points.select("model", "setting"), on=["model", "setting"], how="semi"
    )
    runs = _average_runs(verdicts.join(slices, on="id"))
    values = analysis.item_values.join(slices, on="id", maintain_order="left_right")
    estimates = estimate_points(analysis, points, values, ["slice", "value"])
    joined = estimates.join(runs, on=_ROW, how="left", maintain_order="left")
    tested = _compare_with_none(joined, _list_greedy(analysis.results.study, points))
    spread = pl.col("accuracies").list.std()
    return tested.with_columns(
        runs=pl.col("accuracies").list.len().cast(pl.Int64),
        sd=spread,
        sem=spread / pl.col("accuracies").list.len().sqrt(),
    ).drop("accuracies")


def _slice_by_exam(items: pl.DataFrame) -> pl.DataFrame:
    """Return the items of the whole dataset, and of each exam if known."""
    whole = label_whole(items)
    return pl.concat([whole, label_items(items, EXAM)]) if EXAM in items.columns else whole


def _average_runs(verdicts: pl.DataFrame) -> pl.DataFrame:
    """Return the accuracies of each cell's runs, in order of sample index."""
    runs = verdicts.group_by(*_ROW, "index").agg(pl.col("verdict").mean()).sort("index")
    return runs.group_by(*_ROW, maintain_order=True).agg(accuracies="verdict")


def _list_greedy(study: Study, points: pl.DataFrame) -> set[tuple[str, str]]:
    """Return the cells whose repeated runs would be identical: decoded at temperature 0."""
    return {
        (model, setting)
        for model, setting in points.select("model", "setting").iter_rows()
        if study.settings[setting].decoding.temperature == 0
        and study.models[model].takes_temperature
    }


def _compare_with_none(table: pl.DataFrame, greedy: set[tuple[str, str]]) -> pl.DataFrame:
    """Test every point against the point without examples on its curve.

    A greedy run without examples is repeated to match the number of runs it is compared with
    (USNCO-V, "Few-shot prompting": five of each).
    """
    baselines = table.filter(shots=0).select(*_CURVE, baseline="setting", without="accuracies")
    joined = table.join(baselines, on=_CURVE, how="left", maintain_order="left")
    tests = []
    for model, baseline, shots, runs, without in joined.select(
        "model", "baseline", "shots", "accuracies", "without"
    ).iter_rows():
        if not shots or without is None:
            tests.append(RunTest(nan))
            continue
        repeated = without * len(runs) if (model, baseline) in greedy else without
        tests.append(compare_runs(runs, repeated))
    tested = joined.with_columns(
        baseline=pl.when(pl.col("shots") > 0).then("baseline"),
        p=pl.Series([test.p for test in tests], dtype=pl.Float64).fill_nan(None),
        stars_unadjusted=pl.Series([mark_stars(test.p) for test in tests], dtype=pl.String),
        reason=pl.Series([test.reason for test in tests], dtype=pl.String),
    ).drop("without")
    return mark_stars_of(adjust_families(tested, "p", ["rules", "slice"]))


@result(
    "accuracy-by-budget",
    "Accuracy and tokens used by token budget",
    source="OMIBench, H.1 and figure 5a",
)
def tabulate_budgets(analysis: Analysis) -> pl.DataFrame | None:
    """Tabulate settings that differ only in the maximum number of new tokens.

    Args:
        analysis: The study's results.

    Returns:
        One row per model, setting and metric: accuracy under every scorer; `tokens`, the mean
        number of tokens per response as counted by the provider; `truncated`, the share of
        truncated responses. `budget` is in tokens; `series` distinguishes curves of other
        conditions. None if no model has two budgets.
    """
    points = frame_points(analysis, locate_budget, "budget")
    if points.is_empty():
        return None
    accuracy = estimate_points(analysis, points, analysis.item_values)
    used = points.join(
        _describe_responses(analysis, points),
        on=["model", "setting"],
        how="inner",
        maintain_order="left_right",
    )
    return pl.concat([accuracy, used], how="diagonal")


def _describe_responses(analysis: Analysis, points: pl.DataFrame) -> pl.DataFrame:
    """Return the mean tokens and the share of truncated responses of each cell of the points."""
    cells = frame_cells(analysis).select("model", "setting", "simulated")
    keys = ["model", "setting", "simulated"]
    responses = analysis.results.responses.drop("simulated").join(
        points.select("model", "setting").unique(), on=["model", "setting"], how="semi"
    )
    marked = analysis.add_clusters(responses).join(cells, on=["model", "setting"])
    items = marked.group_by(*keys, "id", "cluster", maintain_order=True).agg(
        pl.col("output_tokens").mean(), truncated=(pl.col("outcome") == "truncated").mean()
    )
    tokens = estimate_means(items, keys, analysis.confidence, "output_tokens").with_columns(
        pl.col("low").clip(0), metric=pl.lit("tokens")
    )
    truncated = estimate_groups(items, keys, analysis.confidence, "truncated").with_columns(
        metric=pl.lit("truncated")
    )
    return pl.concat([tokens, truncated.select(tokens.columns)])
