"""Tests of paired comparisons against scipy, statsmodels and each other."""

from __future__ import annotations

import numpy as np
import pytest
import statsmodels.api as sm
from scipy.stats import ttest_1samp

from omibench.statistics.mcnemar import mcnemar_p
from omibench.statistics.paired_tests import PairSums, compare_sums, sum_pairs
from omibench.statistics.power import detectable_difference


def expand(gained: int, lost: int, same: int) -> tuple[list[float], list[float]]:
    return [1.0] * gained + [0.0] * (lost + same), [0.0] * gained + [1.0] * lost + [0.0] * same


def test_single_samples_are_held_by_mcnemar() -> None:
    result = compare_sums(sum_pairs(*expand(12, 4, 30), range(46)))
    assert result.p == pytest.approx(mcnemar_p([12], [4]))
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
    comparisons = [expand(9, 1, 20), expand(3, 3, 24), expand(0, 0, 30)]
    sums = [sum_pairs(first, second, range(30)) for first, second in comparisons]
    together = PairSums(*(np.concatenate(columns) for columns in zip(*sums, strict=True)))
    assert compare_sums(together).p == pytest.approx([compare_sums(single).p[0] for single in sums])
    assert compare_sums(together).p[2] == 1


@pytest.mark.parametrize("share", [1.0, 0.25])
def test_equal_differences_are_one_vote_a_cluster(share: float) -> None:
    groups = [i // 3 for i in range(24)]
    result = compare_sums(sum_pairs([share] * 24, [0.0] * 24, groups))
    assert result.p == pytest.approx(mcnemar_p([8], [0]))


def test_a_single_cluster_tests_nothing() -> None:
    assert np.isnan(compare_sums(sum_pairs(*expand(5, 1, 2), ["a"] * 8)).p[0])


def test_what_could_have_been_detected_is_what_the_plan_states() -> None:
    """At the effective number of problems and the share that differ; one more each way."""
    result = compare_sums(sum_pairs(*expand(34, 24, 140), range(198)), alpha=0.005)
    assert result.detectable[0] == pytest.approx(detectable_difference(198, 60 / 200, 0.005))
    repeated = sum_pairs(*(3 * list(column) for column in expand(34, 24, 140)), [*range(198)] * 3)
    assert compare_sums(repeated).detectable[0] == pytest.approx(
        compare_sums(sum_pairs(*expand(34, 24, 140), range(198))).detectable[0], rel=0.02
    )


def test_several_samples_detect_less() -> None:
    generator = np.random.default_rng(6)
    first, second = generator.random((2, 400, 16)) < 0.5
    single = compare_sums(sum_pairs(first[:, 0], second[:, 0], range(400)))
    means = compare_sums(sum_pairs(first.mean(axis=1), second.mean(axis=1), range(400)))
    assert means.detectable[0] < 0.35 * single.detectable[0]
