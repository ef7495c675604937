"""Differences and their tests: worked values, scipy and statsmodels, coverage by simulation."""

from __future__ import annotations

import random
import sys
from math import isinf, isnan

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from scipy.special import xlogy
from scipy.stats import chi2, ttest_1samp
from scipy.stats import t as student
from statsmodels.stats.contingency_tables import mcnemar

from omibench.errors import MissingExtraError
from omibench.results.statistics.intervals import clustered_wilson, effective_size
from omibench.results.statistics.paired import (
    PairSums,
    adjusted_difference,
    bootstrap_difference,
    bound_differences,
    compare_sums,
    detectable_difference,
    independent_difference,
    mcnemar_p,
    paired_difference,
    sum_pairs,
)


def join_sums(sums: list[PairSums]) -> PairSums:
    columns = zip(*(vars(single).values() for single in sums), strict=True)
    return PairSums(*(np.concatenate(column) for column in columns))


def expand(both: int, first: int, second: int, neither: int) -> tuple[list[float], list[float]]:
    """A two-by-two table of pairs as two columns."""
    a = [1.0] * (both + first) + [0.0] * (second + neither)
    b = [1.0] * both + [0.0] * first + [1.0] * second + [0.0] * neither
    return a, b


def score(gained: int, lost: int, n: int, difference: float) -> float:
    """Tango's statistic, with the most likely shares at a difference found by search."""

    def unlikely(share: float) -> float:
        same = 1 - 2 * share - difference
        return float(
            -(xlogy([gained, lost, n - gained - lost], [share + difference, share, same])).sum()
        )

    lower, upper = max(0.0, -difference), (1 - difference) / 2
    share = minimize_scalar(unlikely, bounds=(lower, upper), options={"xatol": 1e-12}).x
    variance = n * (2 * share + difference - difference**2)
    return float((gained - lost - n * difference) / np.sqrt(variance))


@pytest.mark.parametrize(
    ("gained", "lost", "n"), [(9, 3, 48), (3, 16, 60), (5, 0, 30), (40, 55, 400)]
)
def test_the_bounds_are_the_differences_whose_score_is_1_96(gained: int, lost: int, n: int) -> None:
    difference = paired_difference(*expand(n - gained - lost, gained, lost, 0), range(n))
    assert difference.value == pytest.approx((gained - lost) / n)
    for bound, expected in ((difference.lo, 1.96), (difference.hi, -1.96)):
        assert score(gained, lost, n, bound) == pytest.approx(expected, abs=1e-3)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.sampled_from([-1.0, -0.5, 0.0, 0.5, 1.0]), min_size=1, max_size=60),
    st.sampled_from([1, 2, 5]),
    st.booleans(),
    st.sampled_from([1, 3, 21]),
)
def test_p_and_interval_say_the_same(
    deltas: list[float], size: int, whole: bool, comparisons: int
) -> None:
    """For any counts, clusters and samples, alone and at Bonferroni's level."""
    deltas = np.sign(deltas).tolist() if whole else deltas
    groups = [i // size for i in range(len(deltas))]
    p = compare_sums(sum_pairs(deltas, [0.0] * len(deltas), groups)).p[0]
    difference = paired_difference(deltas, [0.0] * len(deltas), groups, 0.95, comparisons)
    assert difference.distinguishable == (p < 0.05 / comparisons)
    assert difference.lo <= difference.value + 1e-12
    assert difference.value - 1e-12 <= difference.hi


@given(
    st.lists(st.tuples(st.sampled_from([0.0, 1.0]), st.sampled_from([0.0, 1.0])), min_size=1),
    st.integers(1, 20),
)
def test_swapping_mirrors_the_difference(pairs: list[tuple[float, float]], many: int) -> None:
    first, second = [a for a, _ in pairs], [b for _, b in pairs]
    groups = list(range(len(pairs)))
    one = paired_difference(first, second, groups, comparisons=many)
    other = paired_difference(second, first, groups, comparisons=many)
    assert one.value == pytest.approx(-other.value)
    assert (one.lo, one.hi) == pytest.approx((-other.hi, -other.lo))
    assert -1 <= one.lo <= one.hi <= 1


def test_more_comparisons_widen_the_interval() -> None:
    columns = expand(20, 12, 2, 16)
    one = paired_difference(*columns, range(50))
    ten = paired_difference(*columns, range(50), comparisons=10)
    assert one.distinguishable
    assert not ten.distinguishable
    assert ten.lo < one.lo < one.hi < ten.hi


def test_no_pairs_say_nothing() -> None:
    difference = paired_difference([], [], [])
    assert isnan(difference.value)
    assert (difference.lo, difference.hi, difference.n) == (-1.0, 1.0, 0)


def test_repeated_problems_do_not_count_twice() -> None:
    first, second = expand(10, 7, 1, 10)
    once = paired_difference(first, second, range(28))
    thrice = paired_difference(first * 3, second * 3, [*range(28)] * 3)
    assert thrice.hi - thrice.lo > 0.9 * (once.hi - once.lo)


def test_independent_difference_gives_newcombes_value() -> None:
    # Newcombe 1998, table II, example a, method 10: 56/70 - 48/80.
    first = clustered_wilson([1.0] * 56 + [0.0] * 14, range(70), 0.95)
    second = clustered_wilson([1.0] * 48 + [0.0] * 32, range(80), 0.95)
    difference = independent_difference(first, second)
    assert difference.value == pytest.approx(0.2)
    assert (difference.lo, difference.hi) == pytest.approx((0.0524, 0.3339), abs=1e-4)


def draw_subjects(effect: float) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Two subjects, the hard one mostly of the first kind: values, kinds, subjects, stems."""
    generator = np.random.default_rng(7)
    hard = np.arange(400) % 2 == 0
    first = generator.random(400) < np.where(hard, 0.85, 0.15)
    values = generator.random(400) < np.where(hard, 0.2, 0.7) + effect * first
    return values.astype(float), first, hard, np.arange(400) // 2


def test_a_mix_of_subjects_is_no_difference() -> None:
    """Simpson's paradox: a raw fall of 35 points, none within the subjects."""
    values, first, subjects, stems = draw_subjects(0.0)
    raw = values[first].mean() - values[~first].mean()
    adjusted = adjusted_difference(values, first, subjects.tolist(), stems.tolist())
    assert raw < -0.25
    assert abs(adjusted.value) < 0.1
    assert not adjusted.distinguishable
    assert adjusted_difference(*draw_subjects(0.2)[:2], subjects.tolist(), stems.tolist()).lo > 0


def test_the_adjusted_difference_is_the_coefficient_of_statsmodels() -> None:
    values, first, subjects, stems = draw_subjects(0.1)
    fit = sm.OLS(values, np.column_stack([first, subjects, np.ones(400)]).astype(float)).fit(
        cov_type="cluster", cov_kwds={"groups": stems, "use_correction": True}, use_t=True
    )
    adjusted = adjusted_difference(values, first, subjects.tolist(), stems.tolist())
    assert adjusted.value == pytest.approx(fit.params[0])
    # Many problems of both kinds: the corrections for few ones of `fit_effect` widen it by little.
    low, high = fit.conf_int()[0]
    assert low - 0.01 <= adjusted.lo <= low < high <= adjusted.hi <= high + 0.01
    # The same interval from the residuals of statsmodels, with the leverage of each cluster.
    kind = sm.OLS(first.astype(float), sm.add_constant(subjects.astype(float))).fit().resid
    share = np.array([(kind[stems == stem] ** 2).sum() for stem in np.unique(stems)])
    share /= share.sum()
    scores = np.array([(kind * fit.resid)[stems == stem].sum() for stem in np.unique(stems)])
    variance = (scores**2 / (1 - share)).sum() / (kind @ kind) ** 2 * 400 / 398
    reach = student.ppf(0.975, int(1 / (share**2).sum()) - 1) * np.sqrt(variance)
    expected = (fit.params[0] - reach, fit.params[0] + reach)
    assert (adjusted.lo, adjusted.hi) == pytest.approx(expected)
    assert adjusted.n == 400


def test_subjects_of_one_kind_say_nothing_of_the_difference() -> None:
    apart = adjusted_difference([1, 0, 1, 0], [True, True, False, False], "aabb", range(4))
    assert isnan(apart.value)
    assert apart.n == 0
    mixed = adjusted_difference(
        [1, 0, 1, 0, 0, 0], [True, False] * 2 + [True] * 2, "aaaabb", range(6)
    )
    assert (mixed.value, mixed.n, mixed.lo, mixed.hi) == (1.0, 4, -1.0, 1.0)


def test_paired_intervals_cover() -> None:
    draw = random.Random(11)
    sums = []
    for _ in range(1500):
        first, second = [], []
        for _ in range(40):
            hard = draw.random()
            first.append(float(draw.random() < 1 - hard))
            second.append(float(draw.random() < (1 - hard) * 0.7))
        sums.append(sum_pairs(first, second, range(40)))
    low, high = bound_differences(join_sums(sums), 0.95)
    assert 0.93 <= ((low <= 0.5 - 0.35) & (high >= 0.5 - 0.35)).mean() <= 0.985


def test_single_samples_are_held_by_mcnemar() -> None:
    result = compare_sums(sum_pairs(*expand(0, 12, 4, 30), range(46)))
    expected = mcnemar([[0, 12], [4, 30]], exact=False, correction=False)
    assert result.p == pytest.approx(expected.pvalue)
    assert result.difference[0] == pytest.approx(8 / 46)


def test_means_are_held_by_student() -> None:
    generator = np.random.default_rng(2)
    first, second = generator.integers(0, 9, (2, 60)) / 8
    expected = ttest_1samp(first - second, 0).pvalue
    assert compare_sums(sum_pairs(first, second, range(60))).p[0] == pytest.approx(expected)


def test_clusters_are_held_by_the_sandwich_of_statsmodels() -> None:
    generator = np.random.default_rng(4)
    groups = np.sort(generator.integers(0, 30, 90))
    deltas = generator.choice([-1.0, 0, 1], 90, p=[0.1, 0.6, 0.3])
    fit = sm.OLS(deltas, np.ones(90)).fit(
        cov_type="cluster", cov_kwds={"groups": groups, "use_correction": True}, use_t=True
    )
    result = compare_sums(sum_pairs(deltas, np.zeros(90), groups.tolist()))
    assert result.p[0] == pytest.approx(fit.pvalues[0], rel=1e-6)


def test_many_comparisons_are_tested_at_once() -> None:
    comparisons = [expand(0, 9, 1, 20), expand(0, 3, 3, 24), expand(0, 0, 0, 30)]
    sums = [sum_pairs(first, second, range(30)) for first, second in comparisons]
    together = join_sums(sums)
    assert compare_sums(together).p == pytest.approx([compare_sums(single).p[0] for single in sums])
    assert compare_sums(together).p[2] == 1


def test_equal_differences_are_one_vote_a_cluster() -> None:
    groups = [i // 3 for i in range(24)]
    result = compare_sums(sum_pairs([1.0] * 24, [0.0] * 24, groups))
    assert result.p == pytest.approx(chi2.sf(8, 1))
    weaker = compare_sums(sum_pairs([0.25] * 24, [0.0] * 24, groups))
    assert weaker.p == pytest.approx(chi2.sf(2, 1))


def test_clusters_that_cancel_out_say_nothing_of_the_variance() -> None:
    sums = sum_pairs([1.0] * 5 + [-1.0] * 5, [0.0] * 10, [i % 5 for i in range(10)])
    assert compare_sums(sums).p == pytest.approx([1.0])


def test_a_single_cluster_tests_nothing() -> None:
    assert np.isnan(compare_sums(sum_pairs(*expand(0, 5, 1, 2), ["a"] * 8)).p[0])


def test_what_could_have_been_detected_is_what_the_plan_states() -> None:
    """At the effective number of problems and the share that differ; one more each way."""
    result = compare_sums(sum_pairs(*expand(0, 34, 24, 140), range(198)), alpha=0.005)
    assert result.detectable[0] == pytest.approx(detectable_difference(198, 60 / 200, 0.005))
    repeated = sum_pairs(
        *(3 * list(column) for column in expand(0, 34, 24, 140)), [*range(198)] * 3
    )
    assert compare_sums(repeated).detectable[0] == pytest.approx(
        compare_sums(sum_pairs(*expand(0, 34, 24, 140), range(198))).detectable[0], rel=0.02
    )


def test_several_samples_detect_less() -> None:
    generator = np.random.default_rng(6)
    first, second = generator.random((2, 400, 16)) < 0.5
    single = compare_sums(sum_pairs(first[:, 0], second[:, 0], range(400)))
    means = compare_sums(sum_pairs(first.mean(axis=1), second.mean(axis=1), range(400)))
    assert means.detectable[0] < 0.35 * single.detectable[0]


def test_a_published_example() -> None:
    """Fagerland, Lydersen and Laake (2013), table 1: 1 pair against 7."""
    assert mcnemar_p([1], [7])[0] == pytest.approx(0.0703, abs=5e-5)
    score = compare_sums(sum_pairs(*expand(6, 1, 7, 7), range(21))).p[0]
    assert score == pytest.approx(0.0339, abs=5e-5)


def test_the_exact_p_is_that_of_statsmodels() -> None:
    pairs = [(0, 0), (0, 1), (3, 3), (12, 4), (4, 12), (90, 60), (0, 40)]
    expected = [mcnemar([[0, up], [down, 0]], exact=True).pvalue for up, down in pairs[1:]]
    computed = mcnemar_p(*np.transpose(pairs))
    assert computed[0] == 1
    assert computed[1:] == pytest.approx(expected)


def test_without_scipy_the_message_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy", None)
    with pytest.raises(MissingExtraError, match=r"McNemar's test needs scipy.*omibench\[stats\]"):
        mcnemar_p([1], [2])


def test_a_worked_example() -> None:
    """Of pairs that differ by 0.45 one way and 0.05 the other, Connor's formula needs 23."""
    assert detectable_difference(23, 0.5) < 0.4 < detectable_difference(22, 0.5)


def test_too_few_problems_detect_nothing() -> None:
    assert isinf(detectable_difference(10, 0.2))
    assert isinf(detectable_difference(0, 0.3))


@given(st.integers(60, 10_000), st.floats(0.15, 1.0))
def test_more_problems_detect_less(n: int, discordant: float) -> None:
    assert (
        detectable_difference(2 * n, discordant)
        < detectable_difference(n, discordant)
        <= discordant
    )


def test_problems_without_a_stem_stand_alone() -> None:
    assert effective_size(["", "", ""]) == 3
    assert effective_size([]) == 0
    assert effective_size(["a", "a"], 1.0) == 1
    assert effective_size(["a", "a", ""], 0.0) == 3
    assert effective_size([str(i // 4) for i in range(1200)], 0.2) == pytest.approx(1200 / 1.6)


def draw_differences(clusters: int, size: int) -> tuple[list[float], list[int]]:
    generator = np.random.default_rng(3)
    shared = np.repeat(generator.choice([-1, 0, 1], clusters, p=[0.1, 0.6, 0.3]), size)
    single = generator.choice([-1, 0, 1], clusters * size, p=[0.1, 0.7, 0.2])
    together = generator.random(clusters * size) < 0.5
    groups = [i // size for i in range(clusters * size)]
    return np.where(together, shared, single).astype(float).tolist(), groups


@pytest.mark.parametrize("size", [1, 4])
def test_it_agrees_with_the_clustered_standard_error(size: int) -> None:
    differences, groups = draw_differences(150, size)
    sums = sum_pairs(differences, [0.0] * len(differences), groups)
    error = float(np.sqrt(sums.between[0] * 150 / 149)) / len(differences)
    result = bootstrap_difference(differences, groups, resamples=4000)
    assert result.value == pytest.approx(np.mean(differences))
    assert (result.high - result.low) / 2 == pytest.approx(1.96 * error, rel=0.06)


def test_its_p_is_near_that_of_the_t_test() -> None:
    generator = np.random.default_rng(8)
    differences = generator.normal(0.02, 0.1, 100).clip(-1, 1).tolist()
    expected = compare_sums(sum_pairs(differences, [0.0] * 100, range(100))).p[0]
    assert bootstrap_difference(differences, range(100)).p == pytest.approx(expected, abs=0.01)


def test_a_seed_fixes_the_draws() -> None:
    differences, groups = draw_differences(40, 2)
    first, again, other = (
        bootstrap_difference(differences, groups, seed=seed, resamples=600) for seed in (1, 1, 2)
    )
    assert first == again != other


def test_equal_answers_differ_by_nothing() -> None:
    assert bootstrap_difference([0.0] * 9, range(9), resamples=50) == (0, 0, 0, 1)


def test_no_differences_are_refused() -> None:
    with pytest.raises(ValueError, match="0 differences"):
        bootstrap_difference([], [])
