"""The figures of every cell's scores: rows, heat maps, marks of simulated models, selections."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import polars as pl
import pytest

from omibench.stages.analyze.figures.chart_parts import (
    MOST_COLUMNS,
    MOST_ROWS,
    WIDTH,
    encode_colour,
)
from omibench.stages.analyze.figures.scores import (
    MIN_PROBLEMS,
    MOST_MODELS,
    ImagePoint,
    draw_accuracy,
    draw_failures,
    draw_images,
    draw_rules,
    join_points,
)
from omibench.stages.analyze.figures.theme import Chart

CROSSED = [(model, setting) for model in ("a", "b") for setting in ("s", "t")]
SPARSE = [*(("a", f"s{n}") for n in range(6)), ("b", "s1"), ("c", "s2")]


def cross(settings: int, models: int) -> list[tuple[str, str]]:
    return [(f"m{m}", f"s{n}") for m in range(models) for n in range(settings)]


def make_totals(
    cells: Iterable[tuple[str, str]],
    rules: Iterable[str] = ("robust",),
    is_simulated: Callable[[str, str], bool] = lambda model, rules: False,
) -> pl.DataFrame:
    """The result `accuracy` of cells, each a point better than the one before."""
    return pl.DataFrame(
        [
            {"model": model, "setting": setting, "rules": scorer, "metric": metric,
             "estimate": place / 100, "low": 0.0, "high": 1.0, "n": 20,
             "simulated": is_simulated(model, scorer)}
            for metric in ("accuracy", "credit")
            for place, (model, setting) in enumerate(cells)
            for scorer in rules
        ]
    )  # fmt: skip


def read(chart: Chart | None) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The encoding of a chart's first layer, and its data."""
    assert chart is not None
    drawn = chart.to_dict()
    name = drawn["layer"][0].get("data", drawn.get("data"))["name"]
    return drawn["layer"][0]["encoding"], drawn["datasets"][name]


def head(chart: Chart | None) -> tuple[str, list[str]]:
    assert chart is not None
    title = chart.to_dict()["title"]
    return title["text"], title["subtitle"]


def test_crossed_cells_are_in_the_row_of_their_model() -> None:
    encoding, rows = read(draw_accuracy(make_totals(CROSSED)))
    assert encoding["y"]["field"] == "model"
    assert encoding["yOffset"]["field"] == "setting"
    assert [row["acc"] for row in rows] == [0.0, 1.0, 2.0, 3.0]


def test_few_of_many_cells_have_a_row_each() -> None:
    encoding, rows = read(draw_accuracy(make_totals(SPARSE)))
    assert encoding["y"]["field"] == "row"
    assert "yOffset" not in encoding
    names = [row["row"] for row in rows]
    assert len(set(names)) == 8
    shown = [name.partition("\u241f")[0] for name in names]
    assert shown == ["a", *5 * [""], "b", "c"]


@pytest.mark.parametrize(("settings", "models"), [(9, 1), (4, 11)])
def test_many_settings_or_cells_are_a_map_of_all(settings: int, models: int) -> None:
    encoding, rows = read(draw_accuracy(make_totals(cross(settings, models))))
    assert "shape" not in encoding
    assert encoding["opacity"]["field"] == "strength"
    assert [row["share"] for row in rows] == pytest.approx([*range(settings * models)])


def make_outcomes(
    cells: Iterable[tuple[str, str]], rules: Mapping[str, Mapping[str, int]]
) -> pl.DataFrame:
    """The result `outcomes`: the first cell as given by scorer, all others without failures."""
    return pl.DataFrame(
        [
            {"model": model, "setting": setting, "rules": scorer, "value": value, "count": count,
             "n": 12, "simulated": False}
            for place, (model, setting) in enumerate(cells)
            for scorer, counts in rules.items()
            for value, count in ({"right": 12} if place else counts).items()
        ]
    )  # fmt: skip


def test_failures_are_stacked_by_outcome_with_a_row_for_every_cell() -> None:
    outcomes = {"refused": 3, "right": 6, "truncated": 3}
    encoding, rows = read(draw_failures(make_outcomes(CROSSED, {"robust": outcomes})))
    assert encoding["y"]["scale"]["domain"] == ["a · s", "a · t", "b · s", "b · t"]
    assert {row["outcome"]: (row["cell"], row["share"]) for row in rows} == {
        "refused": ("a · s", 25.0), "truncated": ("a · s", 25.0),
    }  # fmt: skip


def test_failures_of_many_cells_are_a_map_of_their_sums() -> None:
    outcomes = {"refused": 3, "right": 6, "truncated": 3}
    _, rows = read(draw_failures(make_outcomes(cross(9, 1), {"robust": outcomes})))
    assert [row["share"] for row in rows] == [50.0, *8 * [0.0]]


def test_failures_are_those_of_a_scorer_that_detects_them() -> None:
    failed = {"refused": 6, "right": 6}
    assert draw_failures(make_outcomes(CROSSED, {"robust": {"right": 12}, "b": failed})) is None
    assert draw_failures(make_outcomes(CROSSED, {"published": failed})) is None
    published = make_outcomes(CROSSED, {"published": {"right": 12}, "robust": failed})
    assert head(draw_failures(published))[1] == ["by the scorer robust"]


def test_scorers_are_drawn_where_they_differ_most() -> None:
    rows = make_totals(cross(1, MOST_ROWS + 2), ("robust", "other"))
    table = rows.with_columns(
        estimate=pl.when(pl.col("rules") == "other").then(0.0).otherwise("estimate")
    )
    chart = draw_rules(table)
    assert head(chart)[1] == ["the 40 of 42 cells of which they differ most"]
    accuracies = {round(row["acc"]) for row in read(chart)[1]}
    assert accuracies == {0, *range(2, MOST_ROWS + 2)}


def test_a_single_scorer_is_not_compared_and_single_judges_are_left_out() -> None:
    assert draw_rules(make_totals(CROSSED, ("robust",))) is None
    assert draw_rules(make_totals(CROSSED, ("gptscore", "gptscore/x", "gptscore/y"))) is None
    _, rows = read(draw_rules(make_totals(CROSSED, ("robust", "gptscore", "gptscore/x"))))
    assert {row["rules"] for row in rows} == {"robust", "GPTScore"}


def test_simulated_models_are_marked_only_beside_others() -> None:
    mixed = make_totals(CROSSED, is_simulated=lambda model, rules: model == "b")
    _, rows = read(draw_accuracy(mixed))
    assert [row["model"] for row in rows] == ["a", "a", "b · SIMULATED", "b · SIMULATED"]
    every = draw_accuracy(make_totals(CROSSED, is_simulated=lambda model, rules: True))
    assert {row["model"] for row in read(every)[1]} == {"a", "b"}
    for chart in (draw_accuracy(mixed), every):
        assert head(chart)[0] == "SIMULATED · Accuracy by model and setting"
    assert head(draw_accuracy(make_totals(CROSSED)))[0] == "Accuracy by model and setting"


def test_a_simulated_judge_of_real_responses_marks_itself() -> None:
    scorers = ("robust", "gptscore")
    judged = make_totals(CROSSED, scorers, lambda model, rules: rules == "gptscore")
    _, rows = read(draw_rules(judged))
    assert {row["rules"] for row in rows} == {"robust", "GPTScore · SIMULATED judge"}
    assert {row["cell"] for row in rows} == {"a · s", "a · t", "b · s", "b · t"}
    assert head(draw_rules(judged))[0].startswith("SIMULATED")
    assert head(draw_accuracy(judged))[0] == "Accuracy by model and setting"


def make_images(models: Iterable[str], bins: Mapping[str, int]) -> pl.DataFrame:
    """The result `accuracy-by-images`: the settings s and t pooled, and `part`; each model a point
    better than the one before."""
    common = {"rules": "robust", "low": 0.0, "high": 1.0, "simulated": False}
    every = [*models]
    places = [*((m, s) for m in every for s in ("s", "t", "part")), *((m, "") for m in every)]
    return pl.DataFrame(
        [
            common | {"model": model, "setting": setting, "value": value, "n": n,
                      "estimate": every.index(model) / 100 if model else 0.5,
                      "pooled": setting != "part"}
            for model, setting in [*places, ("", "")]
            for value, n in bins.items()
        ]
    )  # fmt: skip


def test_every_model_has_its_points_over_the_pooled_settings() -> None:
    chart = draw_images(make_images("ab", {"6+": 20, "2": MIN_PROBLEMS - 1, "10": 20}))
    assert chart is not None
    drawn = chart.to_dict()
    points = drawn["datasets"][drawn["layer"][3]["data"]["name"]]
    assert [(row["model"], row["images"], row["acc"]) for row in points] == [
        (model, images, acc) for model, acc in (("a", 0.0), ("b", 1.0))
        for images in ("2", "6+", "10")
    ]  # fmt: skip
    assert head(chart)[1] == [
        "bars: models together, with their interval; points: each model; under s and t",
        f"pale and not joined: a point over fewer than {MIN_PROBLEMS} problems",
    ]


def test_one_number_of_images_is_not_drawn() -> None:
    assert draw_images(make_images("ab", {"2": 20})) is None


def test_a_large_study_says_which_models_it_shows() -> None:
    models = [f"m{n}" for n in range(MOST_MODELS + 1)]
    chart = draw_images(make_images(models, {"1": 20, "2": 20}))
    assert chart is not None
    assert "the 16 of 17 models with the highest ACC" in head(chart)[1][0]
    drawn = chart.to_dict()
    points = drawn["datasets"][drawn["layer"][3]["data"]["name"]]
    assert {row["model"] for row in points} == {*models[1:]}


def test_lines_join_neighbours_with_enough_problems() -> None:
    ns = [MIN_PROBLEMS, MIN_PROBLEMS, MIN_PROBLEMS - 1, MIN_PROBLEMS, MIN_PROBLEMS]
    found = [ImagePoint("m", b, 50.0, n) for b, n in zip("12345", ns, strict=True)]
    random.Random(1).shuffle(found)
    pairs = [(a.images, b.images) for a, b in join_points(found, list("12345"))]
    assert pairs == [("1", "2"), ("4", "5")]
    apart = [ImagePoint("m", b, 50.0, MIN_PROBLEMS) for b in "13"]
    assert join_points(apart, list("123")) == []


@pytest.mark.parametrize("letters", [4, 30, 60, 400])
def test_a_legend_is_no_wider_than_its_figure(letters: int) -> None:
    columns = encode_colour("f", ["x" * letters, "y"], "F").to_dict()["legend"]["columns"]
    assert 1 <= columns <= MOST_COLUMNS
    assert columns == 1 or columns * letters * 6 < WIDTH
