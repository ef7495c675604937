"""Tables of curves: budgets, samples, sizes, examples, years, lengths, variants, errors."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations
from math import sqrt
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.stats import linregress, pointbiserialr, spearmanr, ttest_1samp, ttest_ind
from statsmodels.stats.multitest import multipletests
from tests.stages.analyze.conftest import table_of
from tests.stages.analyze.results.curves.made import (
    SIMULATED,
    Draw,
    draw_first,
    make_analysis,
    make_answers,
    study_of,
    tabulate,
)

from omibench.errors import FileFormatError
from omibench.params.setting import Setting
from omibench.params.study import parse_study, parse_study_file
from omibench.results.statistics.samples import mark_stars
from omibench.schemas.problem import Choice
from omibench.schemas.tables import JudgementRow, write_parquet
from omibench.stages.aggregate.votes import Sample, consistency, make_equivalence, make_validity
from omibench.stages.analyze.analysis import Analysis
from omibench.stages.analyze.figures.figure import FIGURES
from omibench.stages.analyze.results.curve_series import (
    list_prompts,
    list_series,
    locate_budget,
    locate_shots,
)
from omibench.stages.analyze.results.problem_curves import order_scorers
from omibench.stages.analyze.results.setting_curves import pair_variants

PLAIN = study_of("m")


def find(name: str, table: pl.DataFrame) -> str:
    """What a figure says of a table; empty if nothing."""
    finding = FIGURES.get(name).finding
    assert finding is not None
    return finding(table) or ""


OF_MORE = (
    "accuracy-by-budget", "accuracy-by-k", "accuracy-by-length", "accuracy-by-parameters",
    "accuracy-by-shots", "accuracy-by-year", "cutoffs", "error-types", "items",
    "length-correlations", "prompt-differences", "rationale-marks", "saturation", "thinking-gains",
    "wrong-steps",
)  # fmt: skip


def test_one_response_of_one_model_makes_no_curve(tmp_path: Path) -> None:
    analysis = make_analysis(tmp_path, PLAIN, 1, [Draw("m", "cot", "p0", 1.0)])
    assert [name for name in OF_MORE if analysis.table(name) is not None] == []


# Accuracy against the tokens that a response may have.

SETTINGS = {
    "wide": {"decoding": {"max_tokens": 2048}},
    "narrow": {"decoding": {"max_tokens": 512}},
    "direct": {"prompt": "direct", "decoding": {"max_tokens": 256}},
}

BUDGETS = {"settings": SETTINGS, "infer": {"models": ["m", "n"], "settings": [*SETTINGS]}}


def test_a_row_a_budget_with_accuracy_tokens_and_truncated_responses(tmp_path: Path) -> None:
    draws = [Draw("m", "wide", f"p{i}", 1.0, tokens=600 + i) for i in range(4)]
    draws += [Draw("m", "narrow", "p0", 1.0, tokens=512)]
    draws += draw_first("m", "narrow", 0, 4, tokens=512, outcome="truncated")[1:]
    draws += draw_first("m", "direct", 0, 4, tokens=5) + draw_first("n", "wide", 0, 4)
    table = tabulate(tmp_path, BUDGETS, 4, draws, "accuracy-by-budget")
    assert set(table["setting"]) == {"wide", "narrow"}
    assert table["model"].unique().to_list() == ["m"]
    rows = {(r["metric"], r["budget"]): r for r in table.iter_rows(named=True)}
    assert rows["accuracy", 512]["estimate"] == 0.25
    assert rows["accuracy", 2048]["estimate"] == 1.0
    assert rows["truncated", 512]["estimate"] == 0.75
    assert rows["tokens", 2048]["estimate"] == pytest.approx(601.5)
    assert rows["tokens", 2048]["low"] < 601.5 < rows["tokens", 2048]["high"]
    assert rows["tokens", 512]["n"] == 4
    assert table.filter(metric="accuracy")["budget"].to_list() == [512, 2048]


def test_responses_whose_tokens_nobody_counted_have_no_mean(tmp_path: Path) -> None:
    draws = draw_first("m", "wide", 3, 3) + draw_first("m", "narrow", 3, 3)
    table = tabulate(tmp_path, BUDGETS, 3, draws, "accuracy-by-budget")
    assert set(table["metric"]) == {"accuracy", "truncated"}


def test_a_study_of_one_budget_has_no_such_table(tmp_path: Path) -> None:
    draws = [Draw("m", s, "p0", 1.0) for s in ("wide", "direct")]
    draws += [Draw("n", "narrow", "p0", 1.0)]
    analysis = make_analysis(tmp_path, BUDGETS, 1, draws)
    assert analysis.table("accuracy-by-budget") is None


# Types of errors by judges and by people, wrong steps, and marks of rationales.

TYPES = ["logical", "logical", "logical", "visual_perception", "no_error", None]


def make_judgement(instrument: str, problem: int, **values: Any) -> JudgementRow:
    fields = {
        "id": f"p{problem}", "index": 0, "key": "k", "instrument": instrument, "version": 1,
        "judge": "judge", "outcome": "scored", "simulated": True,
    }  # fmt: skip
    return JudgementRow.model_validate(fields | values)


def judge(folder: Path, labels: str = "") -> Analysis:
    """A cell of six wrong answers to two subjects' problems, judged, and labelled by people."""
    rows = [
        make_judgement(
            "error_type", i, error_type=kind, taxonomy="omibench",
            outcome="scored" if kind else "judge_failed",
        )
        for i, kind in enumerate(TYPES)
    ]  # fmt: skip
    rows += [make_judgement("alignment", i, alignment=float(1 + i % 3)) for i in range(6)]
    write_parquet(folder / "judge" / "m" / "cot.parquet", rows, JudgementRow)
    params: dict[str, Any] = {"errors": {"models": ["judge"]}, "alignment": "judge"}
    if labels:
        (folder / "labels.csv").write_text(labels, "utf-8")
        params["errors"]["labels"] = str(folder / "labels.csv")
    answers = [
        answer.model_copy(update={"subject": "biology" if i < 3 else "physics"})
        for i, answer in enumerate(make_answers(6))
    ]
    study = study_of("m", "judge", judge=params)
    study["infer"]["only"] = {"judge": []}
    return make_analysis(folder, study, answers, draw_first("m", "cot", 0, 6))


def test_shares_of_types_are_over_problems_whose_failure_was_classified(tmp_path: Path) -> None:
    table = table_of(judge(tmp_path), "error-types")
    rows = {(r["slice"], r["value"]): r for r in table.iter_rows(named=True)}
    logical = rows["error_type", "logical"]
    assert (logical["estimate"], logical["n"], logical["count"]) == (0.75, 4, 3)
    assert (logical["by"], logical["taxonomy"]) == ("judge", "omibench")
    assert rows["error_type", "visual_perception"]["estimate"] == 0.25
    assert rows["subject × error_type", "biology × logical"]["estimate"] == 1
    assert rows["subject × error_type", "biology × visual_perception"]["estimate"] == 0
    assert ("error_type", "no_error") not in rows
    assert table["simulated"].all()


def test_people_s_labels_are_a_distribution_of_their_own(tmp_path: Path) -> None:
    table = table_of(judge(tmp_path, "id,error_type\np0,cross_image\np1,logical\n"), "error-types")
    people = table.filter(by="people", slice="error_type")
    assert dict(people.select("value", "estimate").iter_rows()) == {
        "cross_image": 0.5,
        "logical": 0.5,
    }
    assert table.filter(by="judge", value="cross_image").is_empty()


def test_wrong_steps_are_summed_by_cell_and_over_models(tmp_path: Path) -> None:
    labels = "id,steps,wrong_steps\np0,5,2\np1,4,3\np2,4,1\n"
    table = table_of(judge(tmp_path, labels), "wrong-steps")
    assert table["model"].to_list() == ["m", ""]
    for row in table.iter_rows(named=True):
        assert row["estimate"] == pytest.approx(6 / 13, abs=1e-6)
        assert row["low"] < row["estimate"] < row["high"]
        assert (row["n"], row["steps"], row["rationales"]) == (3, 13, 3)
    assert table["label"].to_list() == ["m", None]


def test_more_wrong_steps_than_steps_are_one_clear_line(tmp_path: Path) -> None:
    analysis = judge(tmp_path, "id,steps,wrong_steps\np0,5,6\n")
    with pytest.raises(FileFormatError, match=r"labels\.csv, row 1: wrong_steps is 6"):
        analysis.table("wrong-steps")


def test_marks_of_rationales_are_from_1_to_5(tmp_path: Path) -> None:
    table = table_of(judge(tmp_path), "rationale-marks")
    (row,) = table.to_dicts()
    assert (row["metric"], row["estimate"], row["n"], row["clusters"]) == ("alignment", 2.0, 6, 6)
    assert (row["instrument"], row["judge"], row["calibrated"]) == ("alignment", "judge", False)
    assert 1 <= row["low"] < 2 < row["high"] <= 5


# Accuracy against the length of responses.


PROBLEMS = 20


def draw_longer_wrong(problems: int = PROBLEMS) -> list[Draw]:
    """The longest responses are wrong."""
    return [
        Draw("m", "cot", f"p{i}", float(i % 7 < 3 or i < 8), text="x" * (10 + i), tokens=3 * i)
        for i in range(problems)
    ]


def test_bins_hold_equally_many_responses_of_a_cell_from_short_to_long(tmp_path: Path) -> None:
    draws = draw_longer_wrong()
    table = tabulate(tmp_path, PLAIN, PROBLEMS, draws, "accuracy-by-length")
    assert set(table["slice"]) == {"characters", "output_tokens"}
    bins = table.filter(slice="characters")
    assert bins["bin"].to_list() == [1, 2, 3, 4, 5]
    assert bins["responses"].to_list() == [4] * 5
    assert bins["shortest"].to_list() == [10, 14, 18, 22, 26]
    assert bins["longest"].to_list() == [13, 17, 21, 25, 29]
    verdicts = [d.verdict for d in draws]
    expected = [sum(verdicts[k : k + 4]) / 4 for k in range(0, PROBLEMS, 4)]
    assert bins["estimate"].to_list() == expected
    assert table["metric"].unique().to_list() == ["accuracy"]


def test_equal_lengths_share_a_bin(tmp_path: Path) -> None:
    draws = [Draw("m", "cot", f"p{i}", 1.0, text="x" * (1 + (i >= 15))) for i in range(PROBLEMS)]
    table = tabulate(tmp_path, PLAIN, PROBLEMS, draws, "accuracy-by-length")
    assert sorted(table["responses"].to_list()) == [5, 15]
    assert table.filter(table["shortest"] != table["longest"]).is_empty()


def test_correlations_are_those_of_scipy(tmp_path: Path) -> None:
    draws = draw_longer_wrong()
    table = tabulate(tmp_path, PLAIN, PROBLEMS, draws, "length-correlations")
    lengths, verdicts = [len(d.text) for d in draws], [d.verdict for d in draws]
    rows = {r["metric"]: r for r in table.filter(slice="characters").iter_rows(named=True)}
    spearman, biserial = spearmanr(lengths, verdicts), pointbiserialr(verdicts, lengths)
    assert rows["spearman"]["estimate"] == pytest.approx(spearman.statistic, abs=1e-6)
    assert rows["point-biserial"]["estimate"] == pytest.approx(biserial.statistic, abs=1e-6)
    assert rows["spearman"]["low"] < spearman.statistic < rows["spearman"]["high"] < 0
    assert rows["spearman"]["p"] < 0.05
    assert (rows["point-biserial"]["low"], rows["point-biserial"]["high"]) == (None, None)
    assert rows["point-biserial"]["p"] < 0.05
    assert (rows["spearman"]["n"], rows["spearman"]["responses"]) == (PROBLEMS, PROBLEMS)


def test_cells_are_never_pooled(tmp_path: Path) -> None:
    long = [Draw("n", "cot", f"p{i}", 1.0, text="x" * (900 + i)) for i in range(PROBLEMS)]
    analysis = make_analysis(tmp_path, study_of("m", "n"), PROBLEMS, draw_longer_wrong() + long)
    table = table_of(analysis, "accuracy-by-length")
    assert table.filter(slice="characters", model="n")["shortest"].min() == 900
    correlations = table_of(analysis, "length-correlations")
    assert set(correlations["model"]) == {"m"}  # the verdicts of the other do not vary


def test_few_responses_make_no_bins_and_equal_ones_no_correlation(tmp_path: Path) -> None:
    analysis = make_analysis(tmp_path, PLAIN, 4, draw_first("m", "cot", 4, 4))
    assert analysis.table("accuracy-by-length") is None
    assert analysis.table("length-correlations") is None


# Accuracy against the size of models, and saturation.

SIZED_PROBLEMS = 40

RIGHT = {"s": 10, "m": 20, "l": 30, "xl": 30}


def make_model(size: float, active: float | None = None, **more: Any) -> dict[str, Any]:
    sizes = {"parameters_b": size, "active_parameters_b": active}
    return {**SIMULATED, **sizes, "family": "F", **more}


MODELS = {
    "s": make_model(2),
    "m": make_model(8),
    "l": make_model(30, 3),
    "xl": make_model(235, 22),
    "tuned": make_model(8, base="m"),
    "alone": {**SIMULATED, "parameters_b": 5},
}


def make_draws(right: dict[str, int]) -> list[Draw]:
    return [
        Draw(model, "cot", f"p{i}", float(i < count), judged=float(i < count // 2))
        for model, count in right.items()
        for i in range(SIZED_PROBLEMS)
    ]


def open_sized(folder: Path, right: dict[str, int], models: Iterable[str] = ()) -> Analysis:
    """Models of several sizes of which some answer, by default all."""
    chosen = {name: MODELS[name] for name in models or right}
    study = study_of(*chosen, models=chosen)
    return make_analysis(folder, study, SIZED_PROBLEMS, make_draws(right))


def test_a_family_is_one_curve_without_its_fine_tuned_models(tmp_path: Path) -> None:
    analysis = open_sized(tmp_path, RIGHT | {"tuned": 40, "alone": 0})
    table = table_of(analysis, "accuracy-by-parameters")
    rows = table.filter(rules="robust")
    assert rows["model"].to_list() == ["s", "m", "l", "xl"]
    assert rows["parameters_b"].to_list() == [2, 8, 30, 235]
    assert rows["active_parameters_b"].to_list() == [2, 8, 3, 22]
    assert rows["estimate"].to_list() == [0.25, 0.5, 0.75, 0.75]
    assert set(table["metric"]) == {"accuracy", "gptscore"}


def test_the_saturation_point_is_by_total_and_by_active_parameters(tmp_path: Path) -> None:
    table = table_of(open_sized(tmp_path, RIGHT), "saturation")
    points = {
        (r["rules"], r["parameters"]): r
        for r in table.filter(metric="saturation").iter_rows(named=True)
    }
    total, active = points["robust", "total"], points["robust", "active"]
    assert (total["estimate"], total["score"], total["models"]) == (30, 0.75, 4)
    assert (active["estimate"], active["best"], active["n"]) == (3, 0.75, SIZED_PROBLEMS)
    assert total["stability"] > 0.95
    (slope,) = table.filter(metric="slope", rules="robust", parameters="total").to_dicts()
    assert slope["low"] < slope["estimate"] < slope["high"]
    assert 0 < slope["r_squared"] < 1


def test_a_curve_that_still_rises_has_no_saturation_point(tmp_path: Path) -> None:
    right = {"s": 5, "m": 15, "l": 25, "xl": 39}
    table = table_of(open_sized(tmp_path, right), "saturation")
    (row,) = table.filter(metric="saturation", rules="robust", parameters="total").to_dicts()
    assert row["estimate"] is None
    assert row["stability"] > 0.95


@pytest.mark.parametrize("names", [["s", "m"], ["s", "alone", "tuned"]])
def test_fewer_than_three_sizes_are_no_curve(tmp_path: Path, names: list[str]) -> None:
    models = MODELS if "tuned" in names else names
    analysis = open_sized(tmp_path, dict.fromkeys(names, 10), models)
    assert analysis.table("accuracy-by-parameters") is None
    assert analysis.table("saturation") is None


# Which settings are points of one curve.


def make_settings(**values: dict[str, Any]) -> dict[str, Setting]:
    """Settings by name."""
    return {name: Setting.model_validate(value) for name, value in values.items()}


def test_settings_that_differ_in_their_budget_alone_are_one_curve_whatever_their_names() -> None:
    settings = make_settings(
        large={"decoding": {"max_tokens": 2048}, "label": "Large"},
        zebra={"decoding": {"max_tokens": 512}, "label": "Small"},
        warm={"decoding": {"max_tokens": 512, "temperature": 0.6}},
        direct={"decoding": {"max_tokens": 1024}, "prompt": "direct"},
        first={"decoding": {"max_tokens": 1024}, "images": "first"},
    )
    (curve,) = list_series(settings, locate_budget)
    assert curve.name == ""
    assert [*curve.points.items()] == [(512, "zebra"), (2048, "large")]


def test_several_curves_are_named_by_what_they_differ_in() -> None:
    settings = make_settings(
        a={"decoding": {"max_tokens": 512}},
        b={"decoding": {"max_tokens": 1024}},
        c={"decoding": {"max_tokens": 512}, "prompt": "direct"},
        d={"decoding": {"max_tokens": 1024}, "prompt": "direct"},
    )
    assert [c.name for c in list_series(settings, locate_budget)] == ["prompt cot", "prompt direct"]


def test_no_example_begins_the_curves_of_every_kind_of_examples() -> None:
    settings = make_settings(
        none={"examples": {"k": 0}},
        text={"examples": {"k": 3, "images": "none"}},
        picture={"examples": {"k": 3, "images": "one"}},
    )
    curves = list_series(settings, locate_shots)
    assert [c.name for c in curves] == ["images none", "images one"]
    assert [[*c.points.values()] for c in curves] == [["none", "text"], ["none", "picture"]]


def test_of_two_settings_at_one_place_the_one_with_more_samples_is_the_point() -> None:
    settings = make_settings(one={}, five={"decoding": {"samples": 5}}, shot={"examples": {"k": 1}})
    (curve,) = list_series(settings, locate_shots)
    assert [*curve.points.values()] == ["five", "shot"]


def test_a_vote_is_no_point_of_a_curve_of_means() -> None:
    votes = {"decoding": {"samples": 5, "max_tokens": 512}, "aggregate": "majority"}
    settings = make_settings(vote=votes, mean={"decoding": {"max_tokens": 1024}})
    assert list_series(settings, locate_budget) == []


def test_the_budgets_and_examples_of_omibench_are_found_from_its_parameters() -> None:
    settings = parse_study_file("studies/omibench.yaml").settings
    (budgets,) = list_series(settings, locate_budget)
    assert [*budgets.points] == [512, 1024, 2048, 4096, 8192, 16384]
    assert budgets.points[16384] == "cot"
    shots = list_series(settings, locate_shots)
    assert [c.name for c in shots] == ["images none", "images one", "images all"]
    assert {tuple(c.points) for c in shots} == {(0, 3)}


def test_the_examples_of_usnco_v_are_two_curves_each_with_its_own_beginning() -> None:
    settings = parse_study_file("studies/usnco_v.yaml").settings
    greedy, sampled = list_series(settings, locate_shots)
    assert [*greedy.points] == [0, 1, 2, 3, 4, 5]
    assert greedy.points[0] == "zero-shot"
    assert sampled.points[0] == "zero-shot-5"
    assert "temperature 1.0" in sampled.name


def test_prompts_are_compared_where_all_else_is_the_same() -> None:
    settings = parse_study_file("studies/omibench.yaml").settings
    (prompts,) = list_prompts(settings)
    assert list(prompts) == [
        "cot", "least-to-most", "plan-and-solve", "visualization-of-thought", "direct",
    ]  # fmt: skip
    assert prompts["cot"] == "cot"


def test_of_several_budgets_of_a_prompt_the_largest_is_compared() -> None:
    settings = make_settings(
        short={"decoding": {"max_tokens": 512}},
        cot={"decoding": {"max_tokens": 2048}},
        direct={"decoding": {"max_tokens": 256}, "prompt": "direct"},
    )
    assert list_prompts(settings) == [{"cot": "cot", "direct": "direct"}]
    assert list_prompts(make_settings(a={}, b={"images": "first"})) == []


# Accuracy against the number of examples.

RUNS = 5


def make_shot_study(**decoding: Any) -> dict[str, Any]:
    shot = {"examples": {"k": 2, "take": "window"}}
    settings = {
        "none": {"decoding": decoding},
        "two": {**shot, "decoding": {**decoding, "samples": RUNS}},
    }
    freeze = {"examples": {"first": 9}}
    return {
        "settings": settings, "infer": {"models": ["m"], "settings": [*settings]}, "freeze": freeze,
    }  # fmt: skip


def draw_two(right: list[int], problems: int = 6) -> list[Draw]:
    """Runs of which so many problems are right."""
    runs = [draw_first("m", "two", n, problems, index=run) for run, n in enumerate(right)]
    return [draw for run in runs for draw in run]


def test_runs_have_mean_spread_and_a_test_against_no_example(tmp_path: Path) -> None:
    counts = [4, 5, 4, 3, 5]
    draws = draw_first("m", "none", 2, 6) + draw_two(counts)
    table = tabulate(tmp_path, make_shot_study(), 6, draws, "accuracy-by-shots")
    zero, two = table.sort("shots").to_dicts()
    shares = [count / 6 for count in counts]
    assert (zero["shots"], two["shots"], two["runs"], zero["runs"]) == (0, 2, 5, 1)
    assert two["estimate"] == pytest.approx(sum(shares) / 5)
    expected = ttest_1samp(shares, 2 / 6, alternative="greater")
    assert two["p"] == pytest.approx(expected.pvalue, abs=1e-6)
    assert two["sem"] == pytest.approx(two["sd"] / sqrt(5), abs=1e-6)
    assert two["stars"] == mark_stars(expected.pvalue)
    assert (zero["p"], zero["stars"], zero["baseline"]) == (None, "", None)
    assert two["baseline"] == "none"
    assert (two["p_holm"], two["family"]) == (two["p"], 1)


def test_stars_are_corrected_for_the_number_of_points(tmp_path: Path) -> None:
    study = make_shot_study()
    study["infer"]["models"] = ["m", "n", "o"]
    counts = {"m": [4, 5, 4, 3, 5], "n": [2, 3, 4, 2, 3], "o": [2, 2, 2, 2, 3]}
    draws = [draw for model in counts for draw in draw_first(model, "none", 2, 6)]
    draws += [
        draw._replace(model=model) for model, right in counts.items() for draw in draw_two(right)
    ]
    table = tabulate(tmp_path, study, 6, draws, "accuracy-by-shots")
    tested = table.filter(shots=2).sort("p")
    assert tested["family"].to_list() == [3, 3, 3]
    expected = multipletests(tested["p"].to_numpy(), method="holm")[1]
    assert tested["p_holm"].to_list() == pytest.approx(expected.tolist(), abs=3e-6)
    assert tested["stars"].to_list() == [mark_stars(p) for p in expected]
    assert tested["stars_unadjusted"].to_list() == [mark_stars(p) for p in tested["p"]]
    assert tested["stars"].to_list() != tested["stars_unadjusted"].to_list()
    assert table.filter(shots=0)["p_holm"].null_count() == 3


def test_a_single_sampled_run_without_examples_is_no_baseline_for_a_test(tmp_path: Path) -> None:
    draws = draw_first("m", "none", 0, 6) + draw_two([4, 5, 4, 3, 5])
    study = make_shot_study(temperature=1.0)
    table = tabulate(tmp_path, study, 6, draws, "accuracy-by-shots")
    (two,) = table.filter(shots=2).to_dicts()
    assert (two["p"], two["stars"], two["reason"]) == (None, "", "fewer than two runs")


def test_each_exam_is_compared_by_itself(tmp_path: Path) -> None:
    study = make_shot_study(temperature=1.0)
    study["settings"]["none"]["decoding"] = {"temperature": 1.0, "samples": RUNS}
    none = [
        Draw("m", "none", f"p{i}", float((i + run) % 3 == 0), index=run)
        for run in range(RUNS)
        for i in range(8)
    ]
    draws = none + draw_two([6, 7, 8, 5, 7], 8)
    answers = make_answers(8, exam=["local", "national"])
    table = tabulate(tmp_path, study, answers, draws, "accuracy-by-shots")
    assert table["value"].unique(maintain_order=True).to_list() == ["", "local", "national"]
    (row,) = table.filter(value="national", shots=2).to_dicts()
    by_run = [
        [
            sum(d.verdict for d in part if d.index == run and int(d.id[1:]) % 2) / 4
            for run in range(5)
        ]
        for part in (draw_two([6, 7, 8, 5, 7], 8), none)
    ]
    assert row["slice"] == "exam"
    assert row["n"] == 4
    assert row["estimate"] == pytest.approx(sum(by_run[0]) / 5)
    test = ttest_ind(*by_run, equal_var=False, alternative="greater")
    assert row["p"] == pytest.approx(test.pvalue, abs=1e-6)


# Thinking models against instruct models, and prompts against the prompt of reference.

VARIANT_PROBLEMS = 12


def make_variant(variant: str, size: float, family: str = "F", **more: Any) -> dict[str, Any]:
    return {**SIMULATED, "family": family, "variant": variant, "parameters_b": size, **more}


def test_models_of_one_family_and_size_are_a_pair_whatever_their_names() -> None:
    models = {
        "a": make_variant("thinking", 8),
        "b": make_variant("instruct", 8),
        "moe": make_variant("instruct", 8, active_parameters_b=1),
        "small": make_variant("thinking", 2),
        "other": make_variant("instruct", 2, "G"),
        "unsized": {**SIMULATED, "family": "H", "variant": "thinking"},
        "plain": {**SIMULATED, "family": "H", "variant": "instruct"},
    }
    study = parse_study({"models": models}, "test", whole_study=False)
    assert list(pair_variants(study.models)) == [("a", "b"), ("unsized", "plain")]


@pytest.mark.parametrize(("study", "pairs"), [("omibench", 6), ("mathreal", 3), ("usnco_v", 0)])
def test_the_pairs_of_the_papers_studies(study: str, pairs: int) -> None:
    found = list(pair_variants(parse_study_file(f"studies/{study}.yaml").models))
    assert len(found) == pairs
    assert all("thinking" in thinking for thinking, _ in found)


def test_the_gain_is_over_the_same_items_in_total_and_by_subject(tmp_path: Path) -> None:
    models = {"think": make_variant("thinking", 8), "plain": make_variant("instruct", 8)}
    answers = [
        answer.model_copy(update={"subject": "physics" if i % 2 else "biology"})
        for i, answer in enumerate(make_answers(VARIANT_PROBLEMS))
    ]
    draws = draw_first("think", "cot", 9, VARIANT_PROBLEMS)
    draws += draw_first("plain", "cot", 4, VARIANT_PROBLEMS - 2)
    study = study_of(*models, models=models)
    table = tabulate(tmp_path, study, answers, draws, "thinking-gains")
    (row,) = table.filter(slice="").to_dicts()
    assert (row["model"], row["baseline"], row["metric"]) == ("think", "plain", "difference")
    assert row["n"] == VARIANT_PROBLEMS - 2
    assert (row["score"], row["baseline_score"], row["estimate"]) == (0.9, 0.4, 0.5)
    assert (row["series"], row["parameters_b"], row["setting"]) == ("F", 8, "cot")
    assert 0 < row["p"] <= row["p_holm"] < 0.2
    assert set(table.filter(slice="subject")["value"]) == {"biology", "physics"}


def test_prompts_are_compared_with_the_setting_of_reference(tmp_path: Path) -> None:
    settings = {
        "cot": {},
        "direct": {"prompt": "direct", "decoding": {"max_tokens": 256}},
        "plan": {"prompt": "plan-and-solve"},
        "first": {"images": "first"},
    }
    right = {"cot": 6, "direct": 3, "plan": 7, "first": 1}
    draws = [
        draw
        for setting, count in right.items()
        for draw in draw_first("m", setting, count, VARIANT_PROBLEMS)
    ]
    study = {"settings": settings, "infer": {"models": ["m"], "settings": [*settings]}}
    table = tabulate(tmp_path / "a", study, VARIANT_PROBLEMS, draws, "prompt-differences")
    total = table.filter(slice="")
    rows = {r["setting"]: r for r in total.iter_rows(named=True)}
    assert set(rows) == {"direct", "plan"}
    assert rows["plan"]["estimate"] == pytest.approx(1 / 12, abs=1e-6)
    assert (rows["plan"]["prompt"], rows["plan"]["baseline_prompt"]) == ("plan-and-solve", "cot")
    assert rows["direct"]["baseline"] == "cot"
    reference = study | {"analyze": {"reference_setting": "direct"}}
    other = tabulate(tmp_path / "b", reference, VARIANT_PROBLEMS, draws, "prompt-differences")
    assert set(other["baseline"]) == {"direct"}


# Accuracy by the year of the exam.


def test_each_year_has_its_accuracy_and_its_questions(tmp_path: Path) -> None:
    answers = make_answers(6, year=["2001", "2010", "2010"])
    draws = draw_first("m", "cot", 2, 6)
    table = tabulate(tmp_path, PLAIN, answers, draws, "accuracy-by-year")
    rows = {(r["metric"], r["year"]): r for r in table.iter_rows(named=True)}
    assert rows["accuracy", 2001]["estimate"] == 0.5
    assert rows["accuracy", 2010]["estimate"] == 0.25
    assert rows["questions", 2010]["estimate"] == 4
    assert rows["questions", 2001]["model"] == ""
    assert rows["accuracy", 2010]["slice"] == "year"


def test_the_leaderboards_scorer_is_sorted_first_and_the_judge_last(tmp_path: Path) -> None:
    analysis = make_analysis(tmp_path, PLAIN, 2, draw_first("m", "cot", 1, 2, judged=1.0))
    table = pl.DataFrame({"rules": ["absent", "gptscore", "robust"]})
    ordered = table.sort(order_scorers(analysis))["rules"].to_list()
    assert ordered == ["robust", "gptscore", "absent"]


@pytest.mark.parametrize(("small", "compared"), [(10, True), (9, False)])
def test_years_and_lengths_are_compared_within_subjects(
    tmp_path: Path, small: int, compared: bool
) -> None:
    """Chemistry is hard, its problems are recent and its responses are long."""
    kinds = [("physics", "2001")] * 40 + [("chemistry", "2001")] * 10
    kinds += [("physics", "2010")] * 2 + [("chemistry", "2010")] * (small - 2)
    answers = [
        answer.model_copy(update={"subject": subject, "attributes": {"year": year}})
        for answer, (subject, year) in zip(make_answers(len(kinds)), kinds, strict=True)
    ]
    draws = [
        Draw("m", "cot", f"p{i}", float(i % 2 if subject == "physics" else i % 10 == 0),
             text="x" * (10 + i % 7 + (8 if subject == "chemistry" else 0)), tokens=0)
        for i, (subject, _) in enumerate(kinds)
    ]  # fmt: skip
    analysis = make_analysis(tmp_path, PLAIN, answers, draws)
    (late,) = table_of(analysis, "accuracy-by-year").filter(year=2010, metric="accuracy").to_dicts()
    said = find("accuracy-by-year", table_of(analysis, "accuracy-by-year"))
    if not compared:
        assert (late["reference"], late["adjusted"], late["raw"]) == (None, None, None)
        assert said == ""
        return
    assert late["reference"] == "2001"
    assert late["raw"] < -0.2
    assert late["adjusted_low"] < 0 < late["adjusted_high"]
    assert abs(late["adjusted"]) < 0.1
    assert "of 1 difference, 0 have an interval above zero and 0 below" in said
    bins = table_of(analysis, "accuracy-by-length").filter(slice="characters")
    assert bins.filter(bin=1)["adjusted"].to_list() == [None]
    for row in bins.filter(bins["reference"].is_not_null()).to_dicts():
        assert row["reference"] == "1"
        assert row["raw"] == pytest.approx(row["estimate"] - bins["estimate"][0], abs=3e-6)


def test_exams_are_told_apart(tmp_path: Path) -> None:
    answers = make_answers(8, year=["2001", "2001", "2002", "2002"], exam=["local", "national"])
    draws = [Draw("m", "cot", f"p{i}", float(i % 2)) for i in range(8)]
    table = tabulate(tmp_path, PLAIN, answers, draws, "accuracy-by-year")
    national = table.filter(exam="national", year=2002).sort("metric")
    assert national["slice"].unique().to_list() == ["exam × year"]
    assert national["value"].unique().to_list() == ["national × 2002"]
    assert national["estimate"].to_list() == [1.0, 2.0]


@pytest.mark.parametrize("years", [["2001"], ["n/a", "2003"]])
def test_one_year_or_none_that_is_a_number_makes_no_table(tmp_path: Path, years: list[str]) -> None:
    answers = make_answers(4, year=years)
    analysis = make_analysis(tmp_path, PLAIN, answers, draw_first("m", "cot", 4, 4))
    assert analysis.table("accuracy-by-year") is None


# Accuracy before and after the cut-off of each model.

YEARS = {"2010": 20, "2015": 3, "2018": 20, "2022": 20, "n/a": 4}
CUTOFFS = {"old": "2015-06", "new": "2020-01-31", "newest": "2020-01", "open": None}


def open_cutoffs(folder: Path, leak: float = 0.0, years: dict[str, int] = YEARS) -> Analysis:
    """Models that answer 70, 55 and 40 % of older and newer exams, and more of known ones."""
    answers = [
        answer.model_copy(
            update={"attributes": {"year": year}, "subject": ("biology", "physics")[i % 3 > 0]}
        )
        for i, (answer, year) in enumerate(
            zip(make_answers(67), [y for y, n in years.items() for _ in range(n)], strict=True)
        )
    ]
    draws = [
        Draw(model, "cot", answer.id, float(place < hard + leak * known))
        for model, cutoff in CUTOFFS.items()
        for answer, place in zip(answers, draw_places(model), strict=True)
        for year in [answer.attributes["year"]]
        for hard in [{"2010": 0.7, "2022": 0.4}.get(year, 0.55)]
        for known in [cutoff is not None and year < cutoff[:4]]
    ]
    models = {name: {**SIMULATED, "cutoff": cutoff} for name, cutoff in CUTOFFS.items()}
    return make_analysis(folder, study_of(*CUTOFFS, models=models), answers, draws)


def draw_places(model: str) -> list[float]:
    """A number in [0, 1] for each problem, of which a part is the same for all models."""
    shared, own = Random(3), Random(model)
    return [(shared if i % 2 else own).random() for i in range(67)]


@pytest.mark.parametrize("leak", [0.0, 0.6])
def test_a_leak_by_construction_is_found_and_harder_new_problems_are_none(
    tmp_path: Path, leak: float
) -> None:
    analysis = open_cutoffs(tmp_path, leak)
    table = table_of(analysis, "cutoffs")
    sides = {row["model"]: row for row in table.filter(metric="difference").to_dicts()}
    assert [*sides] == ["old", "new", "newest"]
    old, new = sides["old"], sides["new"]
    assert (old["n_before"], old["n_after"], old["same_year"], old["undated"]) == (20, 40, 3, 4)
    assert (new["n_before"], new["n_after"], new["same_year"], new["undated"]) == (43, 20, 0, 4)
    for row in sides.values():
        assert row["raw"] == pytest.approx(row["before"] - row["after"], abs=2e-6)
        assert row["raw_low"] < row["raw"] < row["raw_high"]
        assert (row["cutoff"], row["family"]) == (CUTOFFS[row["model"]], 3)
        assert row["p"] <= row["p_holm"]
        assert row["significant"] == (row["p_holm"] < 0.05)
        assert (row["p"] < 0.05) == (row["low"] > 0 or row["high"] < 0)
    (both,) = table.filter(metric="difference in differences").to_dicts()
    assert (both["models"], both["shared"], both["n"]) == (3, 20, 63)
    assert (both["p"] < 0.05) == (leak > 0)
    assert both["low"] < leak < both["high"]
    words = "On the same problems, models with a cut-off after the exam score"
    assert words in find("cutoffs", table)


def test_fewer_than_ten_problems_on_a_side_are_not_compared(tmp_path: Path) -> None:
    years = {"2010": 9, "2015": 20, "2018": 9, "2022": 9, "n/a": 20}
    table = table_of(open_cutoffs(tmp_path, 0.6, years), "cutoffs")
    assert table["metric"].to_list() == ["difference"] * 3
    assert table["estimate"].null_count() == table["before"].null_count() == 3
    assert table["n_after"].to_list() == [18, 9, 9]
    assert FIGURES.get("cutoffs").draw(table) is None
    assert find("cutoffs", table) == ""


def open_fresh(folder: Path, templates: bool = True, fresh: int = 30) -> Analysis:
    """Model a knows public problems, b none; fresh ones are mostly of the harder template."""
    answers = [
        answer.model_copy(
            update={
                "attributes": {"fresh": "yes" if is_fresh else "no"}
                | ({"template": "hard" if is_hard else "easy"} if templates else {})
            }
        )
        for i, answer in enumerate(make_answers(90))
        for is_fresh in [i < fresh]
        for is_hard in [i % 3 > 0 if is_fresh else i % 3 == 0]
    ]
    draws = [
        Draw(model, "cot", answer.id, float(rng.random() < chance))
        for model in "ab"
        for rng in [Random(model)]
        for answer in answers
        for is_public in [answer.attributes["fresh"] == "no"]
        for is_hard in [answer.attributes.get("template") == "hard"]
        for chance in [0.8 - 0.5 * is_hard + 0.3 * (is_public and model == "a")]
    ]
    return make_analysis(folder, study_of(*"ab"), answers, draws)


def test_fresh_problems_are_compared_within_templates(tmp_path: Path) -> None:
    table = table_of(open_fresh(tmp_path), "fresh")
    rows = {row["model"]: row for row in table.to_dicts()}
    assert [*rows] == ["a", "b"]
    for row in rows.values():
        assert (row["n_before"], row["n_after"], row["family"]) == (60, 30, 2)
        assert row["raw"] == pytest.approx(row["before"] - row["after"], abs=2e-6)
        assert row["estimate"] < row["raw"] - 0.05, "fresh ones are of the harder template"
    assert rows["a"]["significant"]
    assert rows["a"]["low"] > 0
    assert not rows["b"]["significant"]
    assert rows["b"]["low"] < 0 < rows["b"]["high"]
    assert "1 of 2 differences significant" in find("fresh", table)


def test_without_templates_fresh_problems_are_compared_within_subjects(tmp_path: Path) -> None:
    table = table_of(open_fresh(tmp_path, templates=False), "fresh")
    assert table["estimate"].to_list() == pytest.approx(table["raw"].to_list(), abs=2e-6)


@pytest.mark.parametrize(("fresh", "count"), [(0, None), (90, None), (9, 0)])
def test_few_fresh_problems_are_not_compared(tmp_path: Path, fresh: int, count: int | None) -> None:
    table = open_fresh(tmp_path, fresh=fresh).table("fresh")
    assert (None if table is None else table["estimate"].count()) == count


# Accuracy against the number of samples.

SAMPLES = 8

SAMPLED = {
    "settings": {"many": {"decoding": {"samples": SAMPLES, "temperature": 0.6}}, "one": {}},
    "infer": {"models": ["m"], "settings": ["many", "one"]},
}


def draw_samples(problems: int, seed: int = 1) -> list[Draw]:
    """Samples that answer 7 (right), 8, 9 or nothing."""
    rng = Random(seed)
    draws = draw_first("m", "one", problems, problems)
    for i in range(problems):
        for index in range(SAMPLES):
            answer = rng.choice(["7", "7", "8", "9", None])
            right = float(answer == "7")
            draws.append(Draw("m", "many", f"p{i}", right, index=index, extracted=answer))
    return draws


def vote(subset: tuple[str | None, ...]) -> float:
    """How often 7 wins a vote, ties drawn."""
    valid = [answer for answer in subset if answer]
    sizes = {answer: valid.count(answer) for answer in valid}
    tied = [a for a, size in sizes.items() if size == max(sizes.values())]
    return ("7" in tied) / len(tied) if tied else 0.0


def test_every_k_is_the_mean_over_all_subsets_of_the_samples(tmp_path: Path) -> None:
    draws = draw_samples(5)
    table = tabulate(tmp_path, SAMPLED, 5, draws, "accuracy-by-k")
    rows = {(r["metric"], r["k"]): r for r in table.drop_nulls("k").iter_rows(named=True)}
    assert len(rows) == 3 * SAMPLES
    for k in range(1, SAMPLES + 1):
        votes, passes, agreements = [], [], []
        for i in range(5):
            answers = [d.extracted for d in draws if (d.setting, d.id) == ("many", f"p{i}")]
            subsets = list(combinations(answers, k))
            votes.append(sum(vote(s) for s in subsets) / len(subsets))
            passes.append(sum("7" in s for s in subsets) / len(subsets))
            largest = [max((s.count(a) for a in s if a), default=0) for s in subsets]
            agreements.append(sum(largest) / k / len(subsets))
        for metric, values in [
            ("majority@k", votes), ("pass@k", passes), ("consistency@k", agreements),
        ]:  # fmt: skip
            assert rows[metric, k]["estimate"] == pytest.approx(sum(values) / 5, abs=1e-6)
            assert rows[metric, k]["n"] == 5


def test_a_line_is_fitted_on_log2_of_the_papers_k(tmp_path: Path) -> None:
    analysis = make_analysis(tmp_path, SAMPLED, 20, draw_samples(20))
    table = table_of(analysis, "accuracy-by-k")
    points = table.filter(pl.col("k").is_in([1, 3, 4, 8]), metric="pass@k")
    line = linregress(np.log2(points["k"].to_numpy()), points["estimate"].to_numpy())
    (slope,) = table.filter(metric="slope", curve="pass@k").to_dicts()
    (intercept,) = table.filter(metric="intercept", curve="pass@k").to_dicts()
    assert slope["estimate"] == pytest.approx(line.slope, abs=1e-5)
    assert intercept["estimate"] == pytest.approx(line.intercept, abs=1e-5)
    assert slope["r_squared"] == pytest.approx(line.rvalue**2, abs=1e-5)
    assert slope["low"] < slope["estimate"] < slope["high"]
    assert slope["clusters"] == 20


def test_the_judge_scores_the_vote_of_the_extracted_answers(tmp_path: Path) -> None:
    draws = [
        Draw("m", "many", "p0", 0.0, index, extracted="97"[index > 4], judged=float(index < 5))
        for index in range(SAMPLES)
    ]
    table = tabulate(tmp_path, SAMPLED, 1, draws, "accuracy-by-k")
    rows = table.filter(metric="majority@k", k=SAMPLES)
    assert dict(rows.select("rules", "estimate").iter_rows()) == {"robust": 0.0, "gptscore": 1.0}


def test_agreement_over_all_samples_is_that_of_the_stage_aggregate(tmp_path: Path) -> None:
    choices = [Choice(label=label, text=text) for label, text in (("A", "seven"), ("B", "eight"))]
    (item,) = make_answers(1)
    answers = [item.model_copy(update={"answer_type": "mcq", "choices": choices, "answer": ["A"]})]
    extracted = ["a", "A", "(A)", "A", "B", "b", "C", "B"]
    draws = [
        Draw("m", "many", "p0", float("A" in letter.upper()), index=index, extracted=letter)
        for index, letter in enumerate(extracted)
    ]
    table = tabulate(tmp_path, SAMPLED, answers, draws, "accuracy-by-k")
    samples = [Sample(draw.index, draw.extracted, draw.verdict) for draw in draws]
    agreement = consistency(samples, make_equivalence(None, "mcq", choices), make_validity(choices))
    (row,) = table.filter(metric="consistency@k", k=SAMPLES).to_dicts()
    assert row["estimate"] == agreement == 4 / 8
