"""Every figure of a curve is drawn from its table alone, in the theme's colours, and marked."""

from __future__ import annotations

from math import log
from random import Random
from typing import Any

import polars as pl
import pytest
from tests.stages.analyze.results.curves.made import (
    SIMULATED,
    Draw,
    make_analysis,
    make_answers,
)
from tests.stages.analyze.results.curves.test_curves import judge

from omibench.stages.analyze.analysis import Analysis
from omibench.stages.analyze.figures import FIGURES
from omibench.stages.analyze.figures.theme import apply_theme, describe_chart, render_specification

PROBLEMS = 24
SETTINGS: dict[str, dict[str, Any]] = {
    "cot": {"decoding": {"max_tokens": 2048}},
    "short": {"decoding": {"max_tokens": 512}},
    "direct": {"prompt": "direct", "decoding": {"max_tokens": 256}},
    "many": {"decoding": {"samples": 4, "temperature": 0.6, "max_tokens": 2048}},
    "two": {"examples": {"k": 2}, "decoding": {"samples": 3, "max_tokens": 2048}},
}
OF_STUDY = [
    "accuracy-by-budget", "tokens-by-budget", "accuracy-by-k", "accuracy-by-parameters",
    "accuracy-by-active-parameters", "accuracy-by-shots", "accuracy-by-year", "questions-by-year",
    "accuracy-by-length", "length-correlations", "thinking-gains", "prompt-differences",
]  # fmt: skip
OF_JUDGES = ["error-types", "wrong-steps", "rationale-marks"]


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Analysis:
    """Two variants of three sizes under all settings."""
    models = {
        f"{variant}-{size}": {
            **SIMULATED, "family": "F", "variant": variant, "parameters_b": size,
            "active_parameters_b": active, "label": f"F {size}B {variant}",
        }
        for variant in ("instruct", "thinking")
        for size, active in ((2, None), (8, None), (30, 3))
    }  # fmt: skip
    rng = Random(5)
    draws = [
        Draw(
            model, setting, f"p{i}", float(i / PROBLEMS < 0.3 + 0.15 * log(block["parameters_b"])),
            index, rng.choice(["7", "8"]), "x" * (5 + i), 10 + i,
        )
        for model, block in models.items()
        for setting, values in SETTINGS.items()
        for i in range(PROBLEMS)
        for index in range(values["decoding"].get("samples", 1))
    ]  # fmt: skip
    answers = make_answers(PROBLEMS, year=["2001", "2002", "2003"], exam=["local", "national"])
    values = {
        "settings": SETTINGS, "models": models, "freeze": {"examples": {"set_aside": 2}},
        "infer": {"models": [*models], "settings": [*SETTINGS]},
    }  # fmt: skip
    return make_analysis(tmp_path_factory.mktemp("curves"), values, answers, draws)


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Analysis:
    """A cell that judges and people read."""
    labels = "id,error_type,steps,wrong_steps\np0,logical,5,2\np1,cross_image,4,4\n"
    return judge(tmp_path_factory.mktemp("judged"), labels)


def describe(analysis: Analysis, name: str, mark: bool = False) -> dict[str, Any]:
    """The Vega-Lite of a figure."""
    figure = FIGURES.get(name)
    table = analysis.table(figure.table)
    assert table is not None
    chart = figure.draw(table.with_columns(simulated=pl.lit(mark)))
    assert chart is not None
    return describe_chart(chart)


def read_layer(specification: dict[str, Any], layer: int) -> list[dict[str, Any]]:
    """The data of a layer."""
    data = specification["layer"][layer].get("data") or specification["data"]
    rows: list[dict[str, Any]] = specification["datasets"][data["name"]]
    return rows


@pytest.mark.parametrize("name", OF_STUDY)
def test_a_figure_of_the_study_is_drawn_and_marked_where_it_is_simulated(
    study: Analysis, name: str
) -> None:
    real, simulated = describe(study, name), describe(study, name, mark=True)
    apply_theme(
        render_specification(simulated), name
    )  # a colour that is none of the theme's is an error
    assert real["title"]["text"] == FIGURES.get(name).title
    assert simulated["title"]["text"].startswith("SIMULATED")
    assert "SIMULATED" not in str(real)


@pytest.mark.parametrize("name", OF_JUDGES)
def test_a_figure_of_judgements_is_drawn(judged: Analysis, name: str) -> None:
    specification = describe(judged, name, mark=True)
    apply_theme(render_specification(specification), name)
    assert specification["title"]["text"] == f"SIMULATED · {FIGURES.get(name).title}"


def test_the_points_are_the_tables_numbers(study: Analysis) -> None:
    table = study.table("accuracy-by-budget")
    specification = describe(study, "accuracy-by-budget")
    assert table is not None
    shown = {
        (row["model"], row["budget"], round(row["estimate"], 4))
        for row in read_layer(specification, 0)
    }
    expected = table.filter(metric="accuracy").select(
        "model", "budget", (100 * pl.col("estimate")).round(4)
    )
    assert shown == set(expected.iter_rows())


def test_a_saturation_point_is_a_dashed_line_and_said_below_the_title() -> None:
    columns = {
        "rules": ["robust"] * 3, "family": ["F"] * 3, "variant": [""] * 3, "setting": ["cot"] * 3,
        "parameters_b": [2.0, 8.0, 30.0], "active_parameters_b": [2.0, 8.0, 30.0],
        "estimate": [0.2, 0.4, 0.402], "low": [0.1] * 3, "high": [0.5] * 3,
        "simulated": [False] * 3,
    }  # fmt: skip
    chart = FIGURES.get("accuracy-by-parameters").draw(pl.DataFrame(columns))
    assert chart is not None
    specification = describe_chart(chart)
    assert read_layer(specification, 0) == [{"line": "F", "parameters_b": 8.0}]
    assert any("0.5 points" in line for line in specification["title"]["subtitle"])
    active = FIGURES.get("accuracy-by-active-parameters").draw(pl.DataFrame(columns))
    assert active is None  # all parameters work on each token


def test_the_fitted_line_goes_through_its_intercept_and_slope(study: Analysis) -> None:
    specification = describe(study, "accuracy-by-k")
    table = study.table("accuracy-by-k")
    assert table is not None
    fits = read_layer(specification, 0)
    name = fits[0]["line"]
    one, two = (next(f for f in fits if (f["line"], f["k"]) == (name, k)) for k in (1, 2))
    curve = name.rpartition(" · ")[2]
    label = name.partition(" · ")[0]
    terms = dict(
        table.filter(
            pl.col("metric").is_in(["slope", "intercept"]), label=label, curve=curve,
            setting=name.split(" · ")[1],
        )
        .select("metric", "estimate")
        .iter_rows()
    )  # fmt: skip
    assert one["estimate"] == pytest.approx(100 * terms["intercept"])
    assert two["estimate"] - one["estimate"] == pytest.approx(100 * terms["slope"])
