"""Intervals against scipy, against worked values, and against simulation."""

from __future__ import annotations

import random
import sys
from math import isnan

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, t
from statsmodels.stats.multitest import multipletests

from omibench.errors import MissingExtraError
from omibench.results.statistics.intervals import (
    adjust_holm,
    clustered_mean,
    clustered_median,
    clustered_ratio,
    clustered_wilson,
    estimate_design_effects,
    find_rank_ranges,
    sum_values,
    t_value,
    wilson,
    z_value,
)


@pytest.mark.parametrize(
    ("successes", "n", "lo", "hi"),
    [
        (0, 10, 0.0, 0.2775328),
        (10, 10, 0.7224672, 1.0),
        (81, 263, 0.2553135, 0.3662062),  # Newcombe 1998, table I: 0.2553 to 0.3662
        (15, 148, 0.0624, 0.1605),  # Newcombe 1998, table I
    ],
)
def test_wilson_gives_the_worked_values(successes: int, n: int, lo: float, hi: float) -> None:
    assert wilson(successes, n, 0.95) == pytest.approx((lo, hi), abs=5e-5)


@given(n=st.integers(1, 5000), data=st.data(), confidence=st.floats(0.6, 0.999))
def test_wilson_equals_scipy(n: int, data: st.DataObject, confidence: float) -> None:
    successes = data.draw(st.integers(0, n))
    expected = binomtest(successes, n).proportion_ci(confidence, method="wilson")
    assert wilson(successes, n, confidence) == pytest.approx(
        (expected.low, expected.high), abs=1e-9
    )


@given(n=st.floats(0.01, 1e6), share=st.floats(0, 1))
def test_wilson_of_fractional_counts_holds_the_share(n: float, share: float) -> None:
    lo, hi = wilson(share * n, n, 0.95)
    assert 0 <= lo <= share + 1e-12
    assert share - 1e-12 <= hi <= 1


def test_wilson_without_data_says_nothing() -> None:
    assert wilson(0, 0, 0.95) == (0.0, 1.0)


@pytest.mark.parametrize(("successes", "n"), [(-1, 10), (11, 10), (1, 0)])
def test_wilson_refuses_impossible_counts(successes: int, n: int) -> None:
    with pytest.raises(ValueError, match="must be in"):
        wilson(successes, n, 0.95)


@given(values=st.lists(st.sampled_from([0.0, 1.0]), min_size=1, max_size=60))
def test_distinct_groups_give_the_plain_interval(values: list[float]) -> None:
    estimate = clustered_wilson(values, list(range(len(values))), 0.95)
    assert estimate.n_eff == pytest.approx(len(values))
    assert estimate[1:3] == pytest.approx(wilson(sum(values), len(values), 0.95))


@given(values=st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]), min_size=2, max_size=60))
def test_values_between_are_worth_more_than_answers_that_are_right_or_wrong(
    values: list[float],
) -> None:
    estimate = clustered_wilson(values, list(range(len(values))), 0.95)
    assert 0 <= estimate.lo <= estimate.mean <= estimate.hi <= 1
    binary = {0.0, 1.0} >= set(values)
    assert binary or estimate.n_eff >= len(values) * (1 - 1e-9)


def test_the_interval_of_means_is_that_of_their_own_variance() -> None:
    """Half of a hundred problems a quarter right, the others three quarters."""
    values = [0.25, 0.75] * 50
    estimate = clustered_wilson(values, list(range(100)), 0.95)
    half = t.ppf(0.975, 99) * 0.25 / 99**0.5
    assert (estimate.lo, estimate.hi) == pytest.approx((0.5 - half, 0.5 + half), abs=1e-3)
    alike = clustered_wilson([0.5] * 100, list(range(100)), 0.95)
    assert 0.48 < alike.lo < alike.hi < 0.52


@pytest.mark.parametrize("last", [0.9, 0.99, 1.0])
def test_a_value_near_one_promises_no_certainty(last: float) -> None:
    """29 right answers and one with nearly full credit are as uncertain as 30 right ones."""
    right = clustered_wilson([1.0] * 30, list(range(30)), 0.95)
    estimate = clustered_wilson([1.0] * 29 + [last], list(range(30)), 0.95)
    assert estimate.lo == pytest.approx(right.lo, abs=0.02)


def test_copies_of_a_value_are_worth_one_value() -> None:
    values = [1.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0, 0.0, 1.0, 1.0] * 8
    groups = [i % 10 for i in range(80)]
    # Ten distinct values, each eight times: nine degrees of freedom instead of 79.
    effects = estimate_design_effects(sum_values(values, groups))
    assert effects == pytest.approx(8 * (10 / 9) / (80 / 79))


def test_equal_values_in_one_cluster_are_worth_one() -> None:
    assert clustered_wilson([1.0] * 5, ["a"] * 5, 0.95).n_eff == pytest.approx(1)
    ratio = (t.ppf(0.975, 5) / t.ppf(0.975, 3)) ** 2
    estimate = clustered_wilson([0.0] * 6, ["a", "a", "b", "b", "c", "d"], 0.95)
    assert estimate.n_eff == pytest.approx(36 / 10 * ratio, rel=1e-9)


@given(
    st.lists(st.tuples(st.sampled_from([0.0, 1.0]), st.sampled_from("abcdef")), max_size=40),
)
def test_clustering_never_narrows(rows: list[tuple[float, str]]) -> None:
    values, groups = [v for v, _ in rows], [g for _, g in rows]
    assert clustered_wilson(values, groups, 0.95).n_eff <= len(values) + 1e-9


@pytest.mark.parametrize("clusters", [6, 10, 24])
def test_few_clusters_still_cover(clusters: int) -> None:
    draw = random.Random(clusters)
    truth, rounds, covered = 0.5, 800, 0
    for _ in range(rounds):
        values: list[float] = []
        groups: list[int] = []
        for group in range(clusters):
            level = draw.betavariate(1, 1)
            values += [float(draw.random() < level) for _ in range(9)]
            groups += [group] * 9
        estimate = clustered_wilson(values, groups, 0.95)
        covered += estimate.lo <= truth <= estimate.hi
    assert covered / rounds >= 0.93


def test_lengths_must_agree() -> None:
    with pytest.raises(ValueError, match="2 values but 1 groups"):
        clustered_wilson([0.0, 1.0], ["a"])


def test_clustered_intervals_cover_where_plain_ones_do_not() -> None:
    draw = random.Random(7)
    truth, rounds, covered, plain = 0.6, 600, 0, 0
    for _ in range(rounds):
        values: list[float] = []
        groups: list[int] = []
        for group in range(80):
            shared = draw.random() < truth
            for _ in range(4):  # with probability 0.8 a problem follows its stem
                right = shared if draw.random() < 0.8 else draw.random() < truth
                values.append(float(right))
                groups.append(group)
        estimate = clustered_wilson(values, groups, 0.95)
        covered += estimate.lo <= truth <= estimate.hi
        lo, hi = wilson(sum(values), len(values), 0.95)
        plain += lo <= truth <= hi
    assert 0.925 <= covered / rounds <= 0.975
    assert plain / rounds < 0.85


def test_a_mean_has_students_interval_within_the_scale() -> None:
    four = clustered_mean([1.0, 2.0, 3.0, 4.0], list("abcd"), 0.95, 1, 5)
    assert (four.mean, four.n, four.n_eff) == (2.5, 4, 4.0)
    assert four.hi - four.mean == pytest.approx(3.182 * (5 / 3) ** 0.5 / 2, rel=1e-3)
    together = clustered_mean([1.0, 1.0, 5.0, 5.0] * 3, list("aabb") * 3, 0.95, 1, 5)
    apart = clustered_mean([1.0, 1.0, 5.0, 5.0] * 3, list("abcdefghijkl"), 0.95, 1, 5)
    assert (together.lo, together.hi) == (1.0, 5.0)
    assert together.hi - together.lo > apart.hi - apart.lo
    assert clustered_mean([3.0], ["a"], 0.95, 1, 5)[:4] == (3.0, 1.0, 5.0, 1)
    assert clustered_mean([], [], 0.95, 1, 5).n == 0


@given(
    st.lists(st.tuples(st.sampled_from([0.0, 0.5, 2, 5]), st.sampled_from("abcdef")), min_size=3),
    st.sampled_from([0.8, 0.95]),
)
def test_a_mean_has_the_larger_of_two_errors_of_statsmodels(
    rows: list[tuple[float, str]], confidence: float
) -> None:
    """Clustered, with the correction for few clusters, and as of independent values."""
    values, groups = zip(*rows, strict=True)
    clusters = len(set(groups))
    if clusters < 2 or clusters == len(rows) or len(set(values)) < 2:
        return
    model = sm.OLS(values, np.ones(len(rows)))
    codes = [sorted(set(groups)).index(group) for group in groups]
    robust = model.fit(cov_type="cluster", cov_kwds={"groups": np.array(codes)})
    half = max(robust.bse[0], model.fit().bse[0]) * t.ppf((1 + confidence) / 2, clusters - 1)
    estimate = clustered_mean(values, groups, confidence, -np.inf, np.inf)
    mean = np.mean(values)
    assert (estimate.lo, estimate.hi) == pytest.approx((mean - half, mean + half), abs=1e-9)


def test_a_single_cluster_gives_no_interval() -> None:
    assert clustered_mean([2.0, 2.0, 4.0], ["a"] * 3, 0.95, 1, 5)[1:] == (1.0, 5.0, 3, 1.0)


def test_the_median_has_the_quantiles_of_its_share() -> None:
    values = [float(value) for value in range(1, 101)]
    median = clustered_median(values, range(100))
    assert (median.mean, median.n) == (50.5, 100)
    assert (median.lo, median.hi) == pytest.approx(np.quantile(values, wilson(50, 100)).tolist())


def test_the_interval_of_a_median_covers() -> None:
    covered = 0
    for seed in range(300):
        values = np.random.default_rng(seed).lognormal(4, 1, 40).tolist()
        median = clustered_median(values, range(40))
        covered += median.lo <= np.exp(4) <= median.hi
    assert 0.92 <= covered / 300 <= 0.985


def test_times_of_one_stem_are_no_independent_ones() -> None:
    values = [float(10 * stem + place) for stem in range(10) for place in range(4)]
    alone = clustered_median(values, range(40))
    shared = clustered_median(values, [stem for stem in range(10) for _ in range(4)])
    assert shared.hi - shared.lo > alone.hi - alone.lo


def test_it_is_the_sum_of_the_parts_over_that_of_the_wholes() -> None:
    share = clustered_ratio([1, 4, 0], [2, 5, 3], ["a", "b", "c"])
    assert share.mean == 0.5
    assert share.n == 10
    assert 0 <= share.lo < 0.5 < share.hi <= 1


def test_wholes_of_one_have_nearly_the_interval_of_a_share() -> None:
    right = [1.0, 0.0] * 50
    names = [str(i) for i in range(100)]
    ratio, share = clustered_ratio(right, [1] * 100, names), clustered_wilson(right, names)
    assert (ratio.lo, ratio.hi) == pytest.approx((share.lo, share.hi), abs=0.005)


def test_the_interval_covers_the_truth() -> None:
    held, draws, truth = 0, 400, 0.46
    for index in range(draws):
        draw = np.random.default_rng(index)
        steps = draw.integers(2, 9, 100)
        chance = np.clip(truth + 0.25 * draw.choice([-1, 1], 50).repeat(2), 0, 1)
        wrong = draw.binomial(steps, chance)
        share = clustered_ratio(wrong, steps, [i // 2 for i in range(100)])
        held += share.lo <= truth <= share.hi
    assert 0.925 <= held / draws <= 0.985


def test_extremes_rest_on_clusters() -> None:
    none = clustered_ratio([0, 0, 0], [9, 9, 9], ["a", "a", "b"])
    assert (none.mean, none.lo, none.hi) == (0, *wilson(0, 2))
    assert isnan(clustered_ratio([], [], []).mean)
    assert isnan(clustered_ratio([0], [0], ["a"]).mean)


def test_what_does_not_fit_is_an_error() -> None:
    with pytest.raises(ValueError, match="2 parts, 1 wholes, 2 clusters"):
        clustered_ratio([1, 1], [1], ["a", "b"])
    with pytest.raises(ValueError, match="between 0 and its whole"):
        clustered_ratio([3], [2], ["a"])


@pytest.mark.parametrize(
    ("freedom", "expected"),
    [(1, 12.706), (2, 4.303), (3, 3.182), (4, 2.776), (5, 2.571), (30, 2.042), (120, 1.980)],
)
def test_student_quantiles_are_those_of_the_tables(freedom: int, expected: float) -> None:
    assert t_value(0.95, freedom) == pytest.approx(expected, abs=5e-4)


def test_student_comes_to_the_normal_distribution() -> None:
    assert z_value(0.95) == pytest.approx(1.959964)
    assert t_value(0.95, 10**7) == pytest.approx(z_value(0.95), abs=1e-6)


def test_a_missing_scipy_is_named_where_clusters_need_it(monkeypatch: pytest.MonkeyPatch) -> None:
    t_value.cache_clear()
    monkeypatch.setitem(sys.modules, "scipy", None)
    assert clustered_wilson([1.0, 0.0, 1.0], ["a", "b", "c"]).n == 3
    with pytest.raises(MissingExtraError, match=r"needs scipy.*pip install 'omibench\[stats\]'"):
        clustered_wilson([1.0, 0.0, 1.0], ["a", "a", "b"])


# Adjusted p values against statsmodels, and the ranks that tests leave possible.


@pytest.mark.parametrize("tests", [1, 2, 10, 300])
def test_the_adjusted_values_are_those_of_statsmodels(tests: int) -> None:
    values = np.random.default_rng(tests).random(tests) ** 3
    values[: tests // 3] = values[-1]
    assert adjust_holm(values) == pytest.approx(multipletests(values, method="holm")[1])


def test_a_test_that_could_not_be_made_is_no_part_of_the_family() -> None:
    assert adjust_holm([0.01, np.nan, 0.04]) == pytest.approx([0.02, np.nan, 0.04], nan_ok=True)
    assert adjust_holm([]).size == 0


def test_only_significant_differences_narrow_the_range() -> None:
    accuracies = np.array([0.6, 0.5, 0.3])
    differences = accuracies[:, None] - accuracies[None, :]
    p_values = np.array([[1, 0.2, 0.001], [0.2, 1, 0.01], [0.001, 0.01, 1]])
    assert find_rank_ranges(differences, p_values) == [(1, 2), (1, 2), (3, 3)]
    assert find_rank_ranges(differences, p_values, alpha=0.005) == [(1, 2), (1, 3), (2, 3)]


def test_a_pair_that_was_not_tested_leaves_ranks_open() -> None:
    assert find_rank_ranges([[0, 0.5], [-0.5, 0]], np.full((2, 2), np.nan)) == [(1, 2), (1, 2)]


def test_all_ranks_are_fixed_where_all_pairs_differ() -> None:
    accuracies = np.array([0.1, 0.9, 0.5])
    ranges = find_rank_ranges(accuracies[:, None] - accuracies, np.zeros((3, 3)))
    assert ranges == [(3, 3), (1, 1), (2, 2)]
