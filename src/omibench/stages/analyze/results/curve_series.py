"""The curves of models over settings: their series, and their points."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from omibench.params.setting import Setting
from omibench.results.grouped import estimate_groups
from omibench.stages.analyze.analysis import Analysis
from omibench.stages.analyze.results.accuracy import CELL, name_metric

if TYPE_CHECKING:  # results do not depend on the other blocks of a study
    from omibench.params.study import Study

Facts = Mapping[str, Any]
"""The content of a setting by dotted key, such as `decoding.temperature` -> 0.0."""


class Position(NamedTuple):
    """The position of a setting on an axis, and its remaining content."""

    place: float
    rest: Facts
    """The content shared by all points of one curve."""
    condition: Facts | None = None
    """Distinguishes curves with the same rest; None means the point belongs to all of them."""


class SettingSeries(NamedTuple):
    """The settings of one curve, by position and in order of it."""

    name: str
    """The difference from the other curves on the axis; empty if it is the only one."""
    points: dict[float, str]


Locate = Callable[[Setting], Position]


def locate_budget(setting: Setting) -> Position:
    """Place a setting by its token budget per response (OMIBench, H.1)."""
    facts = {k: v for k, v in _describe(setting).items() if k != "decoding.max_tokens"}
    return Position(setting.decoding.max_tokens, facts)


def locate_shots(setting: Setting) -> Position:
    """Place a setting by the number of examples before the question (USNCO-V, "Few-shot
    prompting").

    A setting without examples starts the curves of every kind of examples.
    """
    facts = _describe(setting)
    rest = {name: value for name, value in facts.items() if not name.startswith("examples")}
    if setting.examples is None or setting.examples.k == 0:
        return Position(0, rest)
    condition = {
        name: value
        for name, value in facts.items()
        if name.startswith("examples.") and name != "examples.k"
    }
    return Position(setting.examples.k, rest, condition)


def list_series(settings: Mapping[str, Setting], locate: Locate) -> list[SettingSeries]:
    """List the curves of settings along an axis.

    Of several settings at one position of a curve, such as runs of one and of five samples, the one
    with the most samples is the point.

    Args:
        settings: The settings by name.
        locate: Function that places a setting on the axis.

    Returns:
        All curves with at least two positions, in order of first occurrence.
    """
    positions = {name: locate(setting) for name, setting in settings.items()}
    curves: dict[str, tuple[Facts, list[str]]] = {}
    for position in positions.values():
        fellows = {n: p.condition for n, p in positions.items() if p.rest == position.rest}
        condition = position.condition or {}
        facts = {**position.rest, **condition}
        members = [name for name, other in fellows.items() if other in (None, condition)]
        curves.setdefault(json.dumps(facts, sort_keys=True), (facts, members))
    series = [
        (facts, _choose_points(members, positions, settings)) for facts, members in curves.values()
    ]
    drawn = [(facts, points) for facts, points in series if len(points) > 1]
    names = name_differences([facts for facts, _ in drawn])
    return [SettingSeries(name, points) for name, (_, points) in zip(names, drawn, strict=True)]


def list_prompts(settings: Mapping[str, Setting]) -> list[dict[str, str]]:
    """List comparable prompts: settings that differ in their wording alone.

    Token budgets can differ too, since a prompt for the answer alone needs less; of several budgets
    of one prompt the largest is used.

    Args:
        settings: The settings by name.

    Returns:
        For each comparison of at least two prompts, the setting by prompt, in the order of
        `settings`.
    """
    groups: dict[str, dict[str, str]] = {}
    for name in sorted(settings, key=lambda name: -settings[name].decoding.max_tokens):
        facts = _describe(settings[name])
        words = ("prompt", "prompts", "decoding.max_tokens")
        rest = {k: v for k, v in facts.items() if k.partition(".")[0] != "prompts"}
        key = json.dumps({k: v for k, v in rest.items() if k not in words}, sort_keys=True)
        prompt = ", ".join([settings[name].prompt, *settings[name].prompts.values()])
        groups.setdefault(key, {}).setdefault(prompt, name)
    order = list(settings)
    return [
        dict(sorted(group.items(), key=lambda entry: order.index(entry[1])))
        for group in sorted(
            groups.values(), key=lambda group: min(map(order.index, group.values()))
        )
        if len(group) > 1
    ]


def name_differences(descriptions: Sequence[Facts]) -> list[str]:
    """Label each description by the entries that differ between them.

    Args:
        descriptions: Contents of settings, by dotted key.

    Returns:
        For each, the differing keys with their values, such as `images none`; empty if nothing
        differs.
    """
    keys = sorted({key for facts in descriptions for key in facts})
    differing = [k for k in keys if len({json.dumps(f.get(k)) for f in descriptions}) > 1]
    return [
        ", ".join(f"{key.rpartition('.')[2]} {facts[key]}" for key in differing if key in facts)
        for facts in descriptions
    ]


def _choose_points(
    members: Sequence[str], positions: Mapping[str, Position], settings: Mapping[str, Setting]
) -> dict[float, str]:
    by_place: dict[float, str] = {}
    for name in sorted(members, key=lambda name: -settings[name].decoding.samples):
        by_place.setdefault(positions[name].place, name)
    return dict(sorted(by_place.items()))


def _describe(setting: Setting) -> Facts:
    """Return the content of a setting without its label, and without samples if all of them
    count."""
    values = setting.model_dump(mode="json", exclude={"label"}, exclude_none=True)
    if setting.aggregate.how == "mean":
        values.pop("aggregate")
        values["decoding"].pop("samples")
    return dict(_flatten(values))


def _flatten(values: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in values.items():
        if isinstance(value, Mapping) and value:
            yield from _flatten(value, f"{prefix}{name}.")
        else:
            yield prefix + name, value


def frame_cells(analysis: Analysis) -> pl.DataFrame:
    """Describe the available cells of a study.

    Args:
        analysis: The study's results.

    Returns:
        One row per cell: `model`, `setting`, `label` (the model's), `setting_label` and `simulated`
        (whether its responses or problems are simulated).
    """
    results = analysis.results
    rows = [
        (
            cell.model,
            cell.setting,
            results.label(cell.model),
            results.setting_label(cell.setting),
            results.simulated_cells[cell] or results.has_synthetic_problems,
        )
        for cell in results.study.cells
    ]
    text = dict.fromkeys(("model", "setting", "label", "setting_label"), pl.String)
    return pl.DataFrame(rows, schema={**text, "simulated": pl.Boolean}, orient="row")


def label_cells(analysis: Analysis, table: pl.DataFrame) -> pl.DataFrame:
    """Add the columns `label` and `setting_label` to rows with `model` and `setting`."""
    labels = frame_cells(analysis).drop("simulated")
    return table.join(labels, on=["model", "setting"], how="left", maintain_order="left")


def list_answered(study: Study) -> dict[str, Setting]:
    """Return the settings with results, in the order of `infer.settings`."""
    answered = {cell.setting for cell in study.cells}
    return {name: study.settings[name] for name in study.infer.settings if name in answered}


def frame_points(analysis: Analysis, locate: Locate, axis: str) -> pl.DataFrame:
    """List the points of each model's curves along an axis of its settings.

    Args:
        analysis: The study's results.
        locate: Function that places a setting on the axis.
        axis: Column with the position of a point.

    Returns:
        One row per point: `model`, `setting`, `label`, `series` and `axis`, by curve, in order of
        position. A curve needs two points of a model.
    """
    rows = [
        (series.name, setting, place)
        for series in list_series(list_answered(analysis.results.study), locate)
        for place, setting in series.points.items()
    ]
    schema = {"series": pl.String, "setting": pl.String, axis: pl.Int64}
    points = pl.DataFrame(rows, schema=schema, orient="row")
    cells = frame_cells(analysis).select("model", "setting", "label")
    models = pl.DataFrame({"model": cells["model"].unique(maintain_order=True)})
    return (
        models.join(points, how="cross", maintain_order="left_right")
        .join(cells, on=["model", "setting"], how="inner", maintain_order="left")
        .filter(pl.len().over("model", "series") > 1)
        .select("model", "setting", "label", "series", axis)
    )


def estimate_points(
    analysis: Analysis, points: pl.DataFrame, values: pl.DataFrame, by: Sequence[str] = ()
) -> pl.DataFrame:
    """Estimate the accuracy at the points of curves.

    Args:
        analysis: The study's results.
        points: Rows with `model`, `setting` and other columns.
        values: Rows of `Analysis.item_values`, with the columns of `by`.
        by: Columns that group the items of a cell.

    Returns:
        The rows of `points`, one per scorer, with `rules`, the columns of `by`, `metric`,
        `estimate`, `low`, `high`, `n`, `clusters` and `simulated`.
    """
    cells = values.join(points.select("model", "setting"), on=["model", "setting"], how="semi")
    estimates = estimate_groups(cells, [*CELL, *by], analysis.confidence).drop("n_eff")
    marked = analysis.mark_simulated(estimates.with_columns(metric=name_metric("accuracy")))
    return points.join(marked, on=["model", "setting"], how="inner", maintain_order="left_right")
