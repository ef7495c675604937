"""Every figure is drawn from its table alone, in the theme's colours, and marked if simulated."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import pairwise
from math import log
from pathlib import Path
from random import Random
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.stages.analyze.conftest import table_of
from tests.stages.analyze.results.comparisons.studies import (
    draw_verdicts,
    make_items,
    write_analysis,
)
from tests.stages.analyze.results.curves.made import SIMULATED, Draw, make_analysis, make_answers
from tests.stages.analyze.results.curves.test_curves import judge, open_cutoffs, open_fresh
from tests.stages.analyze.results.reading_study import open_reading_study
from tests.stages.analyze.results.saliency_study import open_saliency_study
from tests.stages.analyze.results.test_tables import open_doubtful

from omibench.stages.analyze.analysis import Analysis
from omibench.stages.analyze.figures import FIGURES
from omibench.stages.analyze.figures.charts import (
    MOST_COLUMNS,
    MOST_LINES,
    MOST_ROWS,
    WIDTH,
    encode_colour,
    finish_rows,
    head_lines,
    name_lines,
    pick_rules,
    scale_up,
    select_lines,
    stack_bars,
)
from omibench.stages.analyze.figures.differences import MOST_SQUARES
from omibench.stages.analyze.figures.figure import label_cells
from omibench.stages.analyze.figures.items import MOST_TICKS, place_years
from omibench.stages.analyze.figures.labels import MOST_LABELS, place_names, spread, wrap_name
from omibench.stages.analyze.figures.scatter_plots import count_correlations, pair_series
from omibench.stages.analyze.figures.scores import MIN_PROBLEMS, MOST_MODELS
from omibench.stages.analyze.figures.theme import (
    apply_theme,
    describe_chart,
    render_specification,
)

Rows = list[dict[str, Any]]
PROBLEMS = 24
SETTINGS: dict[str, dict[str, Any]] = {
    "cot": {"decoding": {"max_tokens": 2048}},
    "short": {"decoding": {"max_tokens": 512}},
    "direct": {"prompt": "direct", "decoding": {"max_tokens": 256}},
    "many": {"decoding": {"samples": 4, "temperature": 0.6, "max_tokens": 2048}},
    "two": {"examples": {"k": 2}, "decoding": {"samples": 3, "max_tokens": 2048}},
}


def open_curves(folder: Path) -> Analysis:
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
    return make_analysis(folder, values, answers, draws)


def open_judged(folder: Path) -> Analysis:
    """A cell that judges and people read."""
    return judge(folder, "id,error_type,steps,wrong_steps\np0,logical,5,2\np1,cross_image,4,4\n")


def open_differences(folder: Path, **analyze: Any) -> Analysis:
    """Three models under three settings, over real and clean pictures."""
    shares = {
        (model, setting): 0.1 + 0.2 * place + 0.1 * step
        for place, model in enumerate(("a", "b", "sim-c"))
        for step, setting in enumerate(("blind", "direct", "cot"))
    }
    noise = [["blur"] if i % 4 == 0 else ["rotation"] for i in range(40)]
    items = make_items(40, pair=["real", "clean"] * 20, noise=noise)
    default = {"baselines": {"settings": {"cot": "direct", "blind": "direct"}},
               "slices": ["subject"]}  # fmt: skip
    return write_analysis(folder, items, draw_verdicts(shares, items), **(analyze or default))


def open_read(folder: Path) -> Analysis:
    """Models that wrote down what they read."""
    return open_reading_study(folder, judged=True)


STUDIES: dict[Callable[[Path], Analysis], dict[str, int]] = {
    open_curves: dict.fromkeys(
        ("accuracy-by-budget", "tokens-by-budget", "accuracy-by-k", "accuracy-by-parameters",
         "accuracy-by-active-parameters", "accuracy-by-shots", "accuracy-by-year",
         "questions-by-year", "accuracy-by-length", "length-correlations", "thinking-gains",
         "prompt-differences"), 0,
    ),
    open_cutoffs: {"cutoffs": 12},
    open_doubtful: {"key-effects": 18},
    open_fresh: {"fresh": 8},
    open_judged: dict.fromkeys(("error-types", "wrong-steps", "rationale-marks"), 0),
    open_differences: {"dumbbell": 12, "deltas": 12, "drops": 12, "real-clean": 18,
                       "real-clean-noise": 18, "ranks": 3, "items": 0},
    open_saliency_study: dict.fromkeys(
        ("saliency-confidence", "saliency-gains", "saliency-wins", "saliency-impact"), 0
    ),
    open_read: {"ocr-accuracy": 0},
}  # fmt: skip
"""The figures of each study, with the number of their rows where it is checked."""
TITLED_BY_DATA = ("dumbbell", "deltas", "drops", "real-clean", "real-clean-noise", "ranks")
"""Figures whose title says more than the registered one."""


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> dict[str, pl.DataFrame]:
    """The table of each figure."""
    return {
        name: table_of(analysis, FIGURES.get(name).table)
        for study, names in STUDIES.items()
        for analysis in [study(tmp_path_factory.mktemp("study"))]
        for name in names
    }


def describe(name: str, table: pl.DataFrame) -> dict[str, Any]:
    """The Vega-Lite of a figure."""
    chart = FIGURES.get(name).draw(table)
    assert chart is not None
    return describe_chart(chart)


def list_layers(specification: dict[str, Any], data: Any = None) -> Iterator[dict[str, Any]]:
    """The layers in order, those inside others in their place, each with its data."""
    shared = specification.get("data", data)
    for part in specification["layer"]:
        if "layer" in part:
            yield from list_layers(part, shared)
        else:
            yield {"data": shared, **part}


def read_layer(specification: dict[str, Any], layer: int = 0) -> Rows:
    """The data of a layer."""
    data = [*list_layers(specification)][layer]["data"]
    rows: Rows = specification["datasets"][data["name"]]
    return rows


@pytest.mark.parametrize(
    ("name", "count"), [(name, n) for names in STUDIES.values() for name, n in names.items()]
)
def test_a_figure_is_drawn_in_the_themes_colours_and_marked_if_it_is_simulated(
    tables: dict[str, pl.DataFrame], name: str, count: int
) -> None:
    figure, table = FIGURES.get(name), tables[name]
    real, simulated = (
        describe(name, table.with_columns(simulated=pl.lit(mark))) for mark in (False, True)
    )
    # A colour that is none of the theme's is an error.
    apply_theme(render_specification(simulated), name)
    assert simulated["title"]["text"] == f"SIMULATED · {real['title']['text']}"
    assert "SIMULATED" not in str(real)
    assert name in TITLED_BY_DATA or real["title"]["text"] == figure.title
    rows = [row for rows in real["datasets"].values() for row in rows if "zero" not in row]
    assert not count or len(rows) == count
    if name in ("accuracy-by-budget", *TITLED_BY_DATA[:4]):
        assert figure.finding is not None
        assert figure.finding(table)


def test_the_points_are_the_tables_numbers(tables: dict[str, pl.DataFrame]) -> None:
    table = tables["accuracy-by-budget"]
    rows = read_layer(describe("accuracy-by-budget", table))
    shown = {(row["model"], row["budget"], round(row["estimate"], 4)) for row in rows}
    share = (100 * pl.col("estimate")).round(4)
    expected = table.filter(metric="accuracy").select("model", "budget", share)
    assert shown == set(expected.iter_rows())


def test_a_saturation_point_is_a_dashed_line_and_said_below_the_title() -> None:
    table = pl.DataFrame(
        {
            "rules": "robust", "family": "F", "variant": "", "setting": "cot", "simulated": False,
            "parameters_b": [2.0, 8.0, 30.0], "active_parameters_b": [2.0, 8.0, 30.0],
            "estimate": [0.2, 0.4, 0.402], "low": 0.1, "high": 0.5,
        }
    )  # fmt: skip
    specification = describe("accuracy-by-parameters", table)
    assert read_layer(specification) == [{"line": "F", "parameters_b": 8.0}]
    assert any("0.5 points" in line for line in specification["title"]["subtitle"])
    # All parameters work on each token.
    assert FIGURES.get("accuracy-by-active-parameters").draw(table) is None


def test_the_fitted_line_goes_through_its_intercept_and_slope(
    tables: dict[str, pl.DataFrame],
) -> None:
    table = tables["accuracy-by-k"].with_columns(simulated=pl.lit(value=False))
    fits = read_layer(describe("accuracy-by-k", table))
    name = fits[0]["line"]
    one, two = (f["estimate"] for k in (1, 2) for f in fits if (f["line"], f["k"]) == (name, k))
    label, setting, curve = name.split(" · ")
    part = table.filter(label=label, setting=setting, curve=curve)
    terms = dict(part.select("metric", "estimate").iter_rows())
    assert one == pytest.approx(100 * terms["intercept"])
    assert two - one == pytest.approx(100 * terms["slope"])


def test_a_figure_of_saliency_shows_exams_and_nothing_without_rows(
    tables: dict[str, pl.DataFrame],
) -> None:
    for name in STUDIES[open_saliency_study]:
        specification = describe(name, tables[name])
        rows = [row for rows in specification["datasets"].values() for row in rows]
        assert {row["line"].split(" · ")[-1] for row in rows} == {
            "all (n = 4)", "local (n = 2)", "national (n = 2)",
        }  # fmt: skip
        assert FIGURES.get(name).draw(tables[name].filter(metric="none")) is None


def test_models_are_drawn_where_no_setting_has_a_baseline(tmp_path: Path) -> None:
    table = table_of(open_differences(tmp_path, baselines={"models": {"b": "a"}}), "baselines")
    assert FIGURES.get("dumbbell").draw(table) is None
    assert FIGURES.get("drops").draw(table) is None
    rows = [row for row in read_layer(describe("deltas", table), 1) if "zero" not in row]
    assert {(row["model"], row["baseline"]) for row in rows} == {("b", "a")}
    shares = table.filter(slice="")["estimate"]
    assert {row["estimate"] for row in rows if not row["slice"]} <= {100 * x for x in shares}


def test_one_setting_alone_needs_no_heat_map(tmp_path: Path) -> None:
    baselines = {"settings": {"cot": "direct"}}
    table = table_of(open_differences(tmp_path, baselines=baselines), "baselines")
    assert FIGURES.get("drops").draw(table) is None
    assert describe("dumbbell", table)["title"]["text"].endswith("Accuracy: cot vs direct")


# Which rows are drawn, what they are called, and what is said of the others.


@pytest.mark.parametrize(("count", "drawn"), [(155, 155), (450, 400)])
def test_differences_are_not_chosen_by_their_size(count: int, drawn: int) -> None:
    table = pl.DataFrame(
        {
            "model": [f"m{n}" for n in range(count)],
            "estimate": [((n * 37) % 100 - 50) / 500 for n in range(count)],
        }
    ).with_columns(
        metric=pl.lit("difference"), kind=pl.lit("setting"), rules=pl.lit("robust"),
        measure=pl.lit("accuracy"), slice=pl.lit(""), value=pl.lit(""), setting=pl.lit("cot"),
        baseline=pl.lit("direct"), low=pl.lit(-0.2), high=pl.lit(0.2), score=pl.lit(0.5),
        baseline_score=pl.lit(0.5), significant=pl.lit(value=False), simulated=pl.lit(value=False),
    )  # fmt: skip
    for name, layer in (("deltas", 1), ("dumbbell", 0)):
        specification = describe(name, table)
        shown = [row["model"] for row in read_layer(specification, layer) if "model" in row]
        assert shown == table["model"].head(drawn).to_list()
        said = f"the first {drawn} of {count} rows" in str(specification["title"]["subtitle"])
        assert said == (drawn < count)


@pytest.mark.parametrize(("rows", "columns", "drawn"), [(51, 6, 51), (300, 6, 200), (90, 60, 40)])
def test_rows_of_a_heat_map_that_do_not_fit_are_counted(
    rows: int, columns: int, drawn: int
) -> None:
    common = {
        "metric": "difference", "kind": "setting", "baseline": "cot", "measure": "accuracy",
        "rules": "robust", "simulated": False, "slice": "", "value": "", "n": 9, "estimate": 0.01,
        "low": 0.0, "high": 0.1, "score": 0.5, "baseline_score": 0.4, "relative": 0.1,
        "significant": True, "dataset": "unused",
    }  # fmt: skip
    table = pl.DataFrame(
        [
            common | {"model": f"model {row}", "setting": f"setting {column}"}
            for row in range(rows)
            for column in range(columns)
        ]
    )
    specification = describe("drops", table)
    squares = read_layer(specification)
    assert len(squares) == drawn * columns <= max(MOST_SQUARES, MOST_ROWS * columns)
    assert squares[0].keys().isdisjoint({"dataset", "metric"})
    said = " ".join(specification["title"]["subtitle"])
    assert (f"the first {drawn} of {rows} rows; its table has all" in said) == (drawn < rows)
    has_room = columns < 9  # for points and per cent side by side
    assert squares[0]["text"] == ("+1.0 (+10 %)" if has_room else "+1.0")
    assert ("per cent of the baseline" in said) == has_room


def test_names_of_points_never_cover_each_other() -> None:
    """In a chart of 100 pixels a name of ten letters takes 55, and 14 of the height."""
    points = [(0.0, 0.0), (0.5, 0.1), (0.6, 0.0), (0.5, 0.2), (1.0, 1.0), (1.0, 0.95)]
    shown = place_names(points, ["ten letter"] * 6, (100, 100))
    assert [bool(name) for name in shown] == [True, False, True, True, True, False]
    row = [(0.0, 0.0), (0.5, 0.0), (1.0, 0.0)]
    centred = place_names(row, ["ten letter"] * 3, (100, 0), centred=True)
    assert [bool(name) for name in centred] == [True, False, True]
    assert place_names([(1.0, 1.0)], ["alone"], (100, 100)) == ["alone"]


def test_names_of_rows_and_legends_are_never_cut() -> None:
    parts = [f"GPT-4o · Best of N by Qwen2.5-Math-RM-72B, T = 0.{n} · majority@k" for n in range(3)]
    line = "Qwen3-VL-235B-A22B-Thinking · Three examples, five runs · national"
    rows: Rows = [
        {"line": line, "part": part, "estimate": 20.0, "simulated": False} for part in parts
    ]
    chart = finish_rows(stack_bars(rows, parts, "Share, %", "Part"), "Title", rows)
    drawn = render_specification(describe_chart(chart))
    texts = [*re.findall(r"<text[^>]*>([^<]*)</text>", drawn)]
    assert {line, *parts} <= {*texts}


def test_the_first_scorer_is_drawn_and_a_judge_only_where_there_is_no_other() -> None:
    table = pl.DataFrame({"rules": ["", "gptscore/a", "gptscore", "robust", "omibench"]})
    assert [pick_rules(table.head(n)) for n in (5, 3, 1)] == ["robust", "gptscore", ""]


def test_a_name_holds_only_what_tells_lines_apart_and_a_mark() -> None:
    rows: Rows = [
        {"label": label, "series": "T 1", "value": value, "simulated": label == "B"}
        for label, value in (("A", "local"), ("A", "national"), ("B", "local"))
    ]
    named = [row["line"] for row in name_lines(rows, "label", "series", "value")]
    assert named == ["A · local", "A · national", "B · local · SIMULATED"]
    more = name_lines([*rows, {**rows[0], "series": None}], "label", "series", "value")
    assert [more[0]["line"], more[-1]["line"]] == ["A · T 1 · local", "A · local"]


def test_a_figure_draws_the_highest_lines_and_says_so() -> None:
    rows: Rows = [{"line": f"l{n}", "estimate": float(n)} for n in range(MOST_LINES + 4)]
    drawn, note = select_lines(rows)
    assert {r["line"] for r in drawn} == {f"l{n}" for n in range(4, MOST_LINES + 4)}
    assert note == "the 16 of 20 lines with the highest mean"
    assert select_lines(rows[:4]) == (rows[:4], "")
    rows[0]["leads"] = True
    drawn, note = select_lines(rows)
    assert "l0" in {row["line"] for row in drawn}
    assert note == "the 16 of 20 lines with the highest mean, and the leader's"


@given(
    st.dictionaries(st.text(max_size=3), st.floats(0, 100), min_size=1, max_size=MOST_LABELS),
    st.integers(1, 3),
)
def test_labels_keep_apart_and_inside(ends: dict[str, float], lines: int) -> None:
    size = 4.375 * (0.4 + lines)
    places = spread(ends, dict.fromkeys(ends, size), 0, 100)
    ordered = sorted(places.values())
    assert all(second - first >= size - 1e-6 for first, second in pairwise(ordered))
    assert ordered[-1] <= 100
    assert [*sorted(places, key=places.__getitem__)] == [*sorted(ends, key=ends.__getitem__)]


def test_a_name_is_broken_between_its_parts_and_at_spaces_of_any_kind() -> None:
    assert wrap_name(" a\u00a0 b ·  c\td") == "a b\nc d"
    assert wrap_name("\u4e00" * 20 + "\u3000" + "\u4e00" * 20).split("\n") == ["\u4e00" * 20] * 2
    assert wrap_name("a-name-without-any-space-at-all") == "a-name-without-any-space-at-all"


def test_few_lines_are_named_at_their_ends_and_many_in_a_legend(
    tables: dict[str, pl.DataFrame],
) -> None:
    table = tables["accuracy-by-budget"].filter(metric="accuracy")
    for count, is_labelled in ((2, True), (MOST_LABELS + 1, False)):
        named = pl.concat([table.with_columns(label=pl.lit(f"m{n}")) for n in range(count)])
        drawn = [*list_layers(describe("accuracy-by-budget", named))]
        texts = [layer for layer in drawn if layer["mark"]["type"] == "text"]
        legends = [layer["encoding"]["color"].get("legend", True) for layer in drawn
                   if "field" in layer["encoding"].get("color", {})]  # fmt: skip
        assert bool(texts) == is_labelled
        assert [legend is None for legend in legends] == [is_labelled] * len(legends)


def test_each_year_has_one_tick_and_room_beside_it() -> None:
    axis = place_years([2021, 2019]).to_dict()
    assert axis["axis"]["values"] == [2019, 2020, 2021]
    assert axis["scale"]["domain"] == [2018.5, 2021.5]
    assert len(place_years([1900, 2026]).to_dict()["axis"]["values"]) <= MOST_TICKS
    assert len(head_lines([{"line": str(n)} for n in range(60)])[0]) == MOST_ROWS


def test_shares_become_per_cent_and_nothing_stays_nothing() -> None:
    row = {"low": None, "estimate": 0.5, "n": 3}
    assert scale_up([row]) == [{"low": None, "estimate": 50.0, "n": 3}]


@pytest.mark.parametrize("letters", [4, 30, 60, 400])
def test_a_legend_is_no_wider_than_its_figure(letters: int) -> None:
    columns = encode_colour("f", ["x" * letters, "y"], "F").to_dict()["legend"]["columns"]
    assert 1 <= columns <= MOST_COLUMNS
    assert columns == 1 or columns * letters * 6 < WIDTH


LABELS = {"strong": "Strong", "weak": "Weak", "old": "GPT", "new": "GPT"}


@pytest.mark.parametrize(
    ("table", "settings", "labelled"),
    [
        (
            {
                "model": ["strong", "weak", "", "new"],
                "baseline_model": ["weak", "strong", "print", "old"],
                "kind": ["model", "setting", "model", "picture"],
                "baseline": ["weak", "cot", None, "weak"],
                "setting": ["weak", "cot", "cot", ""],
            },
            {"cot": "Chain of thought"},
            {
                "model": ["Strong", "Weak", "", "GPT (new)"],
                "baseline_model": ["Weak", "Strong", "print", "GPT (old)"],
                "kind": ["model", "setting", "model", "picture"],
                "baseline": ["Weak", "Chain of thought", None, "weak"],
                "setting": ["weak", "Chain of thought", "Chain of thought", ""],
            },
        ),
        ({"value": ["strong"], "estimate": [0.5]}, {}, {"value": ["strong"], "estimate": [0.5]}),
        # A baseline without a kind is a setting.
        (
            {"setting": ["direct", ""], "baseline": ["cot", "cot"]},
            {"cot": "Plain", "direct": "Plain"},
            {"setting": ["Plain (direct)", ""], "baseline": ["Plain (cot)", "Plain (cot)"]},
        ),
    ],
)
def test_models_and_settings_stand_under_their_labels_and_apart(
    table: dict[str, Any], settings: dict[str, str], labelled: dict[str, Any]
) -> None:
    assert label_cells(pl.DataFrame(table), LABELS, settings).to_dict(as_series=False) == labelled


# Our metrics beside other benchmarks: which series are paired, and what is said of them.


def scores(**values: list[float]) -> pl.DataFrame:
    return pl.DataFrame(
        [
            {"series": name, "benchmark": name, "metric": "accuracy", "model": model,
             "estimate": value, "source": "printed"}
            for name, series in values.items()
            for model, value in zip("abcdefgh", series, strict=False)
        ]
    )  # fmt: skip


def test_series_over_three_models_are_paired_with_the_first() -> None:
    first, (pair,) = pair_series(scores(ours=[1, 2, 3, 4], theirs=[4, 3, 2], few=[1, 2]))
    assert (first, pair.name, pair.models, pair.rank.value) == ("ours", "theirs", [*"abc"], -1)


def test_only_intervals_off_zero_are_counted() -> None:
    ours, near, mixed = [1, 2, 3, 4, 5, 6, 7, 8], [1, 2, 3, 4, 5, 6, 8, 7], [4, 1, 7, 2, 8, 3, 6, 5]
    table = scores(ours=ours, near=near, mixed=mixed, against=[-value for value in near])
    assert count_correlations(table) == (
        "Spearman's correlation of ours with 3 other series has an interval above zero for 1 and "
        "below for 1. The intervals are not corrected for their number."
    )
    assert "for an interval" in (count_correlations(scores(ours=ours[:3], same=ours[:3])) or "")
    assert count_correlations(scores(ours=[1, 2, 3])) is None


# The scores of every cell: rows, heat maps, marks of simulated models.

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


def read(name: str, table: pl.DataFrame, layer: int = 0) -> tuple[dict[str, Any], Rows, Any]:
    """The encoding of a layer, its data, and the title of the figure."""
    drawn = describe(name, table)
    encoding: dict[str, Any] = [*list_layers(drawn)][layer]["encoding"]
    return encoding, read_layer(drawn, layer), drawn["title"]


def test_crossed_cells_are_in_the_row_of_their_model_and_few_of_many_have_their_own() -> None:
    encoding, rows, _ = read("accuracy", make_totals(CROSSED))
    assert (encoding["y"]["field"], encoding["yOffset"]["field"]) == ("model", "setting")
    assert [row["estimate"] for row in rows] == [0.0, 1.0, 2.0, 3.0]
    encoding, rows, _ = read("accuracy", make_totals(SPARSE))
    assert encoding["y"]["field"] == "row"
    assert "yOffset" not in encoding
    names = [row["row"] for row in rows]
    assert len(set(names)) == 8
    assert [name.partition("\u241f")[0] for name in names] == ["a", *5 * [""], "b", "c"]


@pytest.mark.parametrize(("settings", "models"), [(9, 1), (4, 11)])
def test_many_settings_or_cells_are_a_map_of_all(settings: int, models: int) -> None:
    encoding, rows, _ = read("accuracy", make_totals(cross(settings, models)))
    assert encoding["opacity"]["field"] == "strength"
    assert [row["estimate"] for row in rows] == pytest.approx([*range(settings * models)])


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


def test_failures_are_stacked_by_outcome_or_summed_in_a_map() -> None:
    outcomes = {"robust": {"refused": 3, "right": 6, "truncated": 3}}
    encoding, rows, _ = read("failures", make_outcomes(CROSSED, outcomes))
    assert encoding["y"]["scale"]["domain"] == ["a · s", "a · t", "b · s", "b · t"]
    assert [(row["part"], row["line"], row["estimate"]) for row in rows] == [
        ("refused", "a · s", 25.0), ("truncated", "a · s", 25.0),
    ]  # fmt: skip
    _, rows, _ = read("failures", make_outcomes(cross(9, 1), outcomes))
    assert [row["estimate"] for row in rows] == [50.0, *8 * [0.0]]


def test_failures_are_those_of_a_scorer_that_detects_them() -> None:
    draw, failed = FIGURES.get("failures").draw, {"refused": 6, "right": 6}
    assert draw(make_outcomes(CROSSED, {"robust": {"right": 12}, "b": failed})) is None
    assert draw(make_outcomes(CROSSED, {"published": failed})) is None
    published = make_outcomes(CROSSED, {"published": {"right": 12}, "robust": failed})
    assert read("failures", published)[2]["subtitle"] == ["by the scorer robust"]


def test_many_cells_are_a_map_of_how_far_scorers_differ() -> None:
    """All of them, since the largest differences alone would exaggerate."""
    rows = make_totals(cross(1, MOST_ROWS + 2), ("robust", "other"))
    other = pl.when(pl.col("rules") == "other").then(0.0).otherwise("estimate")
    encoding, drawn, title = read("rules", rows.with_columns(estimate=other))
    assert "largest difference between two scorers in each cell, points" in title["subtitle"]
    assert encoding["opacity"]["field"] == "strength"
    assert [round(row["estimate"]) for row in drawn] == [*range(MOST_ROWS + 2)]


def test_a_single_scorer_is_not_compared_and_single_judges_are_left_out() -> None:
    for rules in [("robust",), ("gptscore", "gptscore/x", "gptscore/y")]:
        assert FIGURES.get("rules").draw(make_totals(CROSSED, rules)) is None
    _, rows, _ = read("rules", make_totals(CROSSED, ("robust", "gptscore", "gptscore/x")))
    assert {row["rules"] for row in rows} == {"robust", "GPTScore"}


def test_simulated_models_are_marked_only_beside_others() -> None:
    title = "Accuracy by model and setting"
    for is_simulated, names, mark in [
        (lambda model, rules: model == "b", {"a", "b · SIMULATED"}, "SIMULATED · "),
        (lambda model, rules: True, {"a", "b"}, "SIMULATED · "),
        (lambda model, rules: False, {"a", "b"}, ""),
    ]:
        _, rows, head = read("accuracy", make_totals(CROSSED, is_simulated=is_simulated))
        assert {row["model"] for row in rows} == names
        assert head["text"] == mark + title


def test_a_simulated_judge_of_real_responses_marks_itself() -> None:
    scorers = ("robust", "gptscore")
    judged = make_totals(CROSSED, scorers, lambda model, rules: rules == "gptscore")
    _, rows, title = read("rules", judged)
    assert {row["rules"] for row in rows} == {"robust", "GPTScore · SIMULATED judge"}
    assert {row["cell"] for row in rows} == {"a · s", "a · t", "b · s", "b · t"}
    assert title["text"].startswith("SIMULATED")
    assert read("accuracy", judged)[2]["text"] == "Accuracy by model and setting"


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


def test_every_model_has_its_points_and_lines_join_neighbours_with_enough_problems() -> None:
    ns = {"2": 20, "3": MIN_PROBLEMS, "4": MIN_PROBLEMS - 1, "5": MIN_PROBLEMS, "6+": 20, "10": 20}
    shuffled = dict(Random(1).sample([*ns.items()], len(ns)))
    table = make_images("ab", shuffled)
    _, points, title = read("images", table, 3)
    assert [(row["model"], row["bin"].partition("|")[0], row["estimate"]) for row in points] == [
        (model, images, estimate) for model, estimate in (("a", 0.0), ("b", 1.0)) for images in ns
    ]  # fmt: skip
    _, lines, _ = read("images", table, 2)
    bins = [row["bin"].partition("|")[0] for row in lines if row["model"] == "a"]
    assert bins == ["2", "3", "5", "6+", "6+", "10"]
    assert title["subtitle"] == [
        "bars: models together, with their interval; points: each model; under s and t",
        f"pale and not joined: a point over fewer than {MIN_PROBLEMS} problems",
    ]


def test_a_large_study_says_which_models_it_shows_by_number_of_images() -> None:
    assert FIGURES.get("images").draw(make_images("ab", {"2": 20})) is None
    models = [f"m{n}" for n in range(MOST_MODELS + 1)]
    _, points, title = read("images", make_images(models, {"1": 20, "2": 20}), 3)
    assert "the 16 of 17 models with the highest ACC" in title["subtitle"][0]
    assert {row["model"] for row in points} == {*models[1:]}
