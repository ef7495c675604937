"""Tables of comparisons, each against the statistics that it states."""

from __future__ import annotations

from dataclasses import replace
from math import log
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy.stats import ttest_ind, ttest_rel
from statsmodels.stats.multitest import multipletests
from tests.stages.analyze.conftest import table_of
from tests.stages.analyze.results.comparisons.studies import (
    Verdicts,
    draw_verdicts,
    make_items,
    write_analysis,
)

from omibench.params.setting import Aggregation
from omibench.results.statistics.paired import (
    bootstrap_difference,
    compare_sums,
    paired_difference,
    sum_pairs,
)
from omibench.stages.analyze.analysis import Analysis

# Differences to declared baselines are those of each pair of cells; Holm is over their family.

ITEMS = make_items(40, exam=["local"] * 25 + ["national"] * 15)

SHARES = {
    ("a", "direct"): 0.4, ("a", "cot"): 0.8, ("a", "blind"): 0.2,
    ("sim-b", "direct"): 0.3, ("sim-b", "cot"): 0.35,
}  # fmt: skip

DECLARED = {"settings": {"cot": "direct", "blind": "direct"}, "models": {"sim-b": "a"}}


@pytest.mark.parametrize("samples", [1, 3])
def test_each_difference_is_that_of_its_items(tmp_path: Path, samples: int) -> None:
    verdicts = draw_verdicts(SHARES, ITEMS, samples)
    analysis = write_analysis(
        tmp_path, ITEMS, verdicts, samples, baselines=DECLARED, slices=["exam"]
    )
    table = table_of(analysis, "baselines")
    rows = table.filter(measure="accuracy", kind="setting", slice="exam").to_dicts()
    assert {(r["model"], r["setting"], r["value"]) for r in rows} == {
        (model, setting, exam)
        for model, setting in (("a", "cot"), ("a", "blind"), ("sim-b", "cot"))
        for exam in ("local", "national")
    }
    p_values = []
    for row in rows:
        part = [item for item in ITEMS if item.attributes["exam"] == row["value"]]
        first, second = (
            [sum(verdicts[row["model"], setting][item.id]) / samples for item in part]
            for setting in (row["setting"], "direct")
        )
        groups = [item.group for item in part]
        expected = paired_difference(first, second, groups)
        assert (row["estimate"], row["low"], row["high"], row["n"]) == pytest.approx(
            tuple(expected), abs=2e-6
        )
        tests = compare_sums(sum_pairs(first, second, groups), alpha=0.05 / 6)
        assert row["p"] == pytest.approx(tests.p[0], abs=2e-6)
        assert row["score"] - row["baseline_score"] == pytest.approx(row["estimate"], abs=2e-6)
        assert row["relative"] == pytest.approx(row["estimate"] / row["baseline_score"], abs=1e-4)
        if row["detectable"] is not None:
            assert row["detectable"] == pytest.approx(tests.detectable[0], abs=2e-6)
        p_values.append(tests.p[0])
    adjusted = multipletests(p_values, method="holm")[1]
    assert [row["p_holm"] for row in rows] == pytest.approx(list(adjusted), abs=2e-6)
    assert {row["family"] for row in rows} == {6}
    assert all((row["p_holm"] < 0.05) == (row["detectable"] is None) for row in rows)


def test_either_side_that_is_simulated_marks_the_comparison(tmp_path: Path) -> None:
    analysis = write_analysis(tmp_path, ITEMS, draw_verdicts(SHARES, ITEMS), baselines=DECLARED)
    table = table_of(analysis, "baselines")
    marks = {(r["model"], r["kind"]): r["simulated"] for r in table.filter(slice="").to_dicts()}
    assert marks == {("a", "setting"): False, ("sim-b", "setting"): True, ("sim-b", "model"): True}
    other = {"models": {"a": "sim-b"}}
    analysis = write_analysis(tmp_path, ITEMS, draw_verdicts(SHARES, ITEMS), baselines=other)
    assert table_of(analysis, "baselines")["simulated"].all()


def test_strict_accuracy_is_compared_beside_the_loose_one(tmp_path: Path) -> None:
    verdicts = draw_verdicts(SHARES, ITEMS)
    for by_item in verdicts.values():
        by_item["p0"] = [0.5]
    analysis = write_analysis(tmp_path, ITEMS, verdicts, baselines=DECLARED)
    table = table_of(analysis, "baselines")
    scores = table.filter(pl.col("slice") == "", kind="setting", model="a", setting="cot")
    assert dict(scores.select("measure", "n").iter_rows()) == {"accuracy": 40, "strict": 40}
    assert scores["baseline_score"].n_unique() == 2


def test_the_bootstrap_is_made_on_request(tmp_path: Path) -> None:
    verdicts = draw_verdicts(SHARES, ITEMS, 3)
    analysis = write_analysis(
        tmp_path, ITEMS, verdicts, 3, baselines={**DECLARED, "resamples": 400}
    )
    table = table_of(analysis, "baselines")
    drawn = table.drop_nulls("bootstrap_p")
    assert set(drawn["slice"]) == {""}
    assert drawn.height == table.filter(slice="").height == 10
    (row,) = drawn.filter(model="a", setting="cot", measure="accuracy").to_dicts()
    differences = [
        (sum(verdicts["a", "cot"][item.id]) - sum(verdicts["a", "direct"][item.id])) / 3
        for item in ITEMS
    ]
    expected = bootstrap_difference(differences, [item.group for item in ITEMS], resamples=400)
    assert (row["bootstrap_low"], row["bootstrap_high"], row["bootstrap_p"]) == pytest.approx(
        expected[1:], abs=2e-6
    )


# Real and clean pictures of one problem: paired by cluster, by condition and by grade.

COUNT = 40

PAIRED_ITEMS = make_items(
    COUNT,
    pair=["real", "clean"] * (COUNT // 2),
    noise=[["blur", "rotation"] if i % 4 == 0 else ["rotation"] for i in range(COUNT)],
    blur=["2" if i % 4 == 0 else "0" for i in range(COUNT)],
)

PAIRED_SHARES = {("a", "direct"): 0.5, ("sim-b", "direct"): 0.7}


def test_a_problem_is_compared_with_itself(tmp_path: Path) -> None:
    verdicts = draw_verdicts(PAIRED_SHARES, PAIRED_ITEMS)
    table = table_of(write_analysis(tmp_path, PAIRED_ITEMS, verdicts), "real-clean")
    stems = range(0, COUNT, 2)
    for name, value, part in (
        ("", "", list(stems)),
        ("noise: blur", "present", [i for i in stems if i % 4 == 0]),
        ("noise: blur", "absent", [i for i in stems if i % 4]),
        ("blur", "2", [i for i in stems if i % 4 == 0]),
        ("noise: rotation", "present", list(stems)),
    ):
        (row,) = table.filter(slice=name, value=value, model="a", measure="accuracy").to_dicts()
        by_item = verdicts["a", "direct"]
        clean, real = ([by_item[f"p{i + side}"][0] for i in part] for side in (1, 0))
        expected = paired_difference(clean, real, range(len(part)))
        assert (row["estimate"], row["low"], row["high"], row["n"]) == pytest.approx(
            tuple(expected), abs=2e-6
        )
        assert (row["baseline"], row["kind"]) == ("real", "picture")
    assert set(table["measure"]) == {"accuracy", "strict"}
    assert dict(table.select("model", "simulated").iter_rows()) == {"a": False, "sim-b": True}


def test_pictures_without_their_pair_are_left_out(tmp_path: Path) -> None:
    alone = [*PAIRED_ITEMS[:6], PAIRED_ITEMS[6].model_copy(update={"group": ""}), *PAIRED_ITEMS[8:]]
    table = table_of(
        write_analysis(tmp_path, alone, draw_verdicts(PAIRED_SHARES, alone)), "real-clean"
    )
    assert table.filter(slice="", model="a", measure="accuracy")["n"].item() == COUNT // 2 - 1


@pytest.mark.parametrize("pair", [None, "real"])
def test_a_study_without_pairs_has_no_table(tmp_path: Path, pair: str | None) -> None:
    items = make_items(8, pair=[pair] * 8)
    assert (
        write_analysis(tmp_path, items, draw_verdicts(PAIRED_SHARES, items)).table("real-clean")
        is None
    )


# Ranks and pairs of the models under the reference setting.

RANKED_ITEMS = make_items(80)

RANKED_SHARES = {
    (model, setting): share
    for model, share in (("weak", 0.1), ("middle", 0.5), ("second", 0.5), ("strong", 0.95))
    for setting in ("direct", "cot")
}


def test_the_ranges_are_those_of_the_tests(tmp_path: Path) -> None:
    analysis = write_analysis(
        tmp_path, RANKED_ITEMS, draw_verdicts(RANKED_SHARES, RANKED_ITEMS), reference_setting="cot"
    )
    ranks, pairs = table_of(analysis, "ranks"), table_of(analysis, "pairs")
    assert ranks["setting"].unique().to_list() == ["cot"]
    rows = {row["model"]: row for row in ranks.to_dicts()}
    assert (rows["strong"]["low"], rows["strong"]["high"]) == (1, 1)
    assert (rows["weak"]["low"], rows["weak"]["high"]) == (4, 4)
    assert (rows["middle"]["low"], rows["middle"]["high"]) == (2, 3)
    assert ranks["estimate"].to_list() == [1, 2, 3, 4]
    assert ranks["score"].is_sorted(descending=True)
    assert (pairs.height, pairs["family"][0]) == (6, 6)
    assert set(ranks.select("n", "clusters").iter_rows()) == {(80, 40)}
    assert set(pairs.select("n", "clusters").iter_rows()) == {(80, 40)}


def test_pairs_that_are_not_significant_say_what_they_find(tmp_path: Path) -> None:
    analysis = write_analysis(tmp_path, RANKED_ITEMS, draw_verdicts(RANKED_SHARES, RANKED_ITEMS))
    pairs = table_of(analysis, "pairs")
    for row in pairs.to_dicts():
        test = analysis.results.family_tests.compare(
            *(
                cell
                for name in (row["model"], row["baseline_model"])
                for cell in analysis.results.family.cells
                if cell.model == name
            )
        )
        assert (row["p"], row["p_holm"]) == pytest.approx((test.p, test.adjusted), abs=1e-6)
        assert (row["detectable"] is None) == (row["p_holm"] < 0.05)


def test_each_model_stands_once_under_the_first_setting_that_it_has(tmp_path: Path) -> None:
    cells = {("a", "cot"): 0.5, ("b", "warm"): 0.4, ("b", "direct"): 0.2, ("c", "direct"): 0.3}
    analysis = write_analysis(
        tmp_path,
        RANKED_ITEMS,
        draw_verdicts(cells, RANKED_ITEMS),
        reference_setting=["cot", "warm"],
    )
    ranks = table_of(analysis, "ranks")
    assert set(ranks.select("model", "setting").iter_rows()) == {("a", "cot"), ("b", "warm")}


def test_a_single_cell_has_no_rank(tmp_path: Path) -> None:
    analysis = write_analysis(
        tmp_path, RANKED_ITEMS, draw_verdicts({("a", "cot"): 0.5}, RANKED_ITEMS)
    )
    assert analysis.table("ranks") is None
    assert analysis.table("pairs") is None


# The regression of a study: its factors, baselines and numbers.

REGRESSED_ITEMS = make_items(60)

REGRESSED_SHARES = {
    ("a", "direct"): 0.4,
    ("a", "cot"): 0.6,
    ("b", "direct"): 0.3,
    ("b", "cot"): 0.5,
}


def test_levels_are_held_against_the_first_and_the_reference(tmp_path: Path) -> None:
    analysis = write_analysis(
        tmp_path, REGRESSED_ITEMS, draw_verdicts(REGRESSED_SHARES, REGRESSED_ITEMS, 2), 2,
        regression=True, reference_setting="cot",
    )  # fmt: skip
    table = table_of(analysis, "regression")
    rows = {(row["slice"], row["value"]): row for row in table.to_dicts()}
    baselines = [key for key, row in rows.items() if row["note"] == "baseline"]
    assert baselines == [
        ("model", "a"), ("setting", "cot"), ("n_images", "2"), ("subject", "biology"),
    ]  # fmt: skip
    assert rows["setting", "direct"]["estimate"] < 0
    assert rows["setting", "direct"]["high"] < 0
    assert rows["setting", "direct"]["n"] == 240
    assert (rows["model", "b"]["clusters"], rows["(intercept)", ""]["n"]) == (30, 480)
    assert log(rows["model", "b"]["odds_ratio"]) == pytest.approx(
        rows["model", "b"]["estimate"], abs=1e-4
    )


def test_a_factor_of_one_level_is_left_out(tmp_path: Path) -> None:
    verdicts = draw_verdicts({("a", "cot"): 0.5}, REGRESSED_ITEMS)
    table = table_of(
        write_analysis(tmp_path, REGRESSED_ITEMS, verdicts, regression=True), "regression"
    )
    assert table["slice"].unique(maintain_order=True).to_list() == [
        "(intercept)", "n_images", "subject",
    ]  # fmt: skip


# Means, spreads and tests over runs, against numpy and scipy.

RUN_ITEMS = make_items(30, exam=["local"] * 18 + ["national"] * 12)

RUN_SHARES = {("a", "direct"): 0.4, ("a", "cot"): 0.6}

BASELINES = {"settings": {"cot": "direct"}}


def open_runs(folder: Path, samples: int, **analyze: object) -> tuple[Verdicts, Analysis]:
    """One model under two settings, of which one is the baseline."""
    verdicts = draw_verdicts(RUN_SHARES, RUN_ITEMS, samples)
    return verdicts, write_analysis(
        folder, RUN_ITEMS, verdicts, samples, baselines=BASELINES, **analyze
    )


def change(analysis: Analysis, chosen: pl.DataFrame, **rules: Aggregation) -> Analysis:
    """The analysis where settings have another rule of choice, and these verdicts."""
    settings = {
        name: setting.model_copy(update={"aggregate": rules.get(name, setting.aggregate)})
        for name, setting in analysis.study.settings.items()
    }
    study = analysis.study.model_copy(update={"settings": settings})
    results = replace(analysis.results, study=study, verdicts=chosen)
    return replace(analysis, study=study, results=results)


def test_runs_are_the_samples_of_each_index(tmp_path: Path) -> None:
    verdicts, analysis = open_runs(tmp_path, 5, slices=["exam"])
    table = table_of(analysis, "run-tests")
    local = [item.id for item in RUN_ITEMS if item.attributes["exam"] == "local"]
    runs = {
        setting: np.array([verdicts["a", setting][name] for name in local]).mean(axis=0)
        for setting in ("direct", "cot")
    }
    (mean,) = table.filter(metric="run mean", setting="cot", value="local").to_dicts()
    expected = runs["cot"].mean(), runs["cot"].std(ddof=1), runs["cot"].std(ddof=1) / 5**0.5
    assert (mean["estimate"], mean["sd"], mean["sem"]) == pytest.approx(expected, abs=2e-6)
    assert (mean["runs"], mean["n"], mean["clusters"]) == (5, 18, 9)
    (gain,) = table.filter(metric="difference", value="local").to_dicts()
    welch = ttest_ind(runs["cot"], runs["direct"], equal_var=False, alternative="greater")
    assert gain["p_welch"] == pytest.approx(welch.pvalue, abs=2e-6)
    assert gain["p_paired"] == pytest.approx(
        ttest_rel(runs["cot"], runs["direct"]).pvalue, abs=2e-6
    )
    assert (gain["n"], gain["clusters"]) == (18, 9)
    assert len(gain["stars"]) == sum(gain["p_welch"] < limit for limit in (0.05, 0.01, 1e-3, 1e-4))


def test_runs_that_do_not_vary_have_no_p(tmp_path: Path) -> None:
    verdicts = {
        cell: {name: values[:1] * 3 for name, values in by_item.items()}
        for cell, by_item in draw_verdicts(RUN_SHARES, RUN_ITEMS).items()
    }
    analysis = write_analysis(tmp_path, RUN_ITEMS, verdicts, 3, baselines=BASELINES)
    table = table_of(analysis, "run-tests")
    (gain,) = table.filter(metric="difference", slice="").to_dicts()
    assert (gain["p_welch"], gain["p_paired"], gain["stars"]) == (None, None, "")
    assert gain["note"] == "runs do not vary"


def test_a_run_that_lacks_items_is_left_out(tmp_path: Path) -> None:
    verdicts = draw_verdicts(RUN_SHARES, RUN_ITEMS, 3)
    verdicts["a", "cot"]["p0"] = verdicts["a", "cot"]["p0"][:2]
    table = table_of(write_analysis(tmp_path, RUN_ITEMS, verdicts, 3), "run-tests")
    (mean,) = table.filter(setting="cot", slice="").to_dicts()
    assert mean["runs"] == 2


def test_cells_that_lack_different_runs_are_not_paired(tmp_path: Path) -> None:
    _, analysis = open_runs(tmp_path, 3)
    lost = ((pl.col("setting") == "cot") & (pl.col("index") == 0)) | (
        (pl.col("setting") == "direct") & (pl.col("index") == 2)
    )
    some = analysis.results.verdicts.filter(~((pl.col("id") == "p0") & lost))
    table = table_of(change(analysis, some), "run-tests")
    (gain,) = table.filter(metric="difference", slice="").to_dicts()
    assert (gain["runs"], gain["baseline_runs"], gain["p_paired"]) == (2, 2, None)
    assert gain["p_welch"] is not None


def test_a_study_whose_cells_all_choose_one_sample_has_no_runs(tmp_path: Path) -> None:
    _, analysis = open_runs(tmp_path, 4)
    rule = Aggregation(how="majority")
    chosen = change(analysis, analysis.results.verdicts, direct=rule, cot=rule)
    assert chosen.table("run-tests") is None


def test_chosen_samples_are_no_runs(tmp_path: Path) -> None:
    _, analysis = open_runs(tmp_path, 3)
    picks = pl.Series([n % 3 for n in range(len(RUN_ITEMS))])
    chosen = analysis.results.verdicts.with_columns(
        counts=(pl.col("setting") != "cot")
        | (pl.col("id").replace_strict([item.id for item in RUN_ITEMS], picks) == pl.col("index"))
    )
    table = table_of(change(analysis, chosen, cot=Aggregation(how="majority")), "run-tests")
    assert set(table["setting"]) == {"direct"}
    assert set(table["metric"]) == {"run mean"}


def test_runs_that_choose_a_sample_are_paired(tmp_path: Path) -> None:
    """Three runs of two samples: `direct` takes the first, `cot` the second of each (J)."""
    verdicts, analysis = open_runs(tmp_path, 6)
    rule = Aggregation(how="majority", runs=3)
    is_second = (pl.col("setting") == "cot").cast(pl.Int64)
    chosen = analysis.results.verdicts.with_columns(counts=pl.col("index") % 2 == is_second)
    table = table_of(change(analysis, chosen, direct=rule, cot=rule), "run-tests")
    drawn = {
        setting: np.array([*verdicts["a", setting].values()]).mean(axis=0)[place::2]
        for place, setting in enumerate(("direct", "cot"))
    }
    (mean,) = table.filter(metric="run mean", setting="cot", slice="").to_dicts()
    assert mean["runs"] == 3
    assert mean["estimate"] == pytest.approx(drawn["cot"].mean(), abs=2e-6)
    (gain,) = table.filter(metric="difference", slice="").to_dicts()
    paired = ttest_rel(drawn["cot"], drawn["direct"])
    assert gain["p_paired"] == pytest.approx(paired.pvalue, abs=2e-6)


# Accuracy of whole cells, by every metric that a scorer gives.


def test_strict_accuracy_counts_refusals_as_wrong_in_every_table(tmp_path: Path) -> None:
    verdicts = {
        ("a", "direct"): {"p0": [1.0], "p1": [0.5], "p2": [None], "p3": [None]},
        ("a", "cot"): {"p0": [1.0], "p1": [1.0], "p2": [1.0], "p3": [None]},
    }
    analysis = write_analysis(tmp_path, make_items(4), verdicts, baselines=BASELINES)
    for name in ("accuracy", "slices"):
        table = table_of(analysis, name)
        rows = table.filter(setting="direct", metric="strict")
        assert (rows["estimate"] * rows["n"]).sum() / rows["n"].sum() == pytest.approx(0.25)
        assert set(rows["n"]) == set(table.filter(setting="direct", metric="accuracy")["n"])
    (score,) = analysis.scores.filter(setting="direct", subject="total").to_dicts()
    assert score["strict"] == pytest.approx(0.25)
    differences = table_of(analysis, "baselines")
    (difference,) = differences.filter(measure="strict", slice="").to_dicts()
    assert (difference["estimate"], difference["n"]) == (0.5, 4)
