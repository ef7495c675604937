"""Agreement of judges with labels, and the correction of an accuracy for their errors."""

from __future__ import annotations

import random
from math import isnan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from omibench.results.statistics.agreement import (
    UNTOLD,
    Share,
    cohens_kappa,
    combine_parts,
    judge_quality,
    rogan_gladen,
)
from omibench.results.statistics.intervals import clustered_wilson, wilson
from omibench.schemas.certificate import JudgeQuality


def quality(
    labels: list[float], told: list[float], clusters: list[str] | None = None
) -> JudgeQuality:
    own = clusters or [str(i) for i in range(len(labels))]
    return judge_quality(labels, told, own, clustered_wilson(told, own))


def test_kappa_of_the_textbook_example() -> None:
    # 20 yes-yes, 15 no-no, 5 yes-no, 10 no-yes: agreement 0.7, chance 0.5, kappa 0.4.
    first = [1.0] * 20 + [0.0] * 15 + [1.0] * 5 + [0.0] * 10
    second = [1.0] * 20 + [0.0] * 15 + [0.0] * 5 + [1.0] * 10
    found = quality(first, second)
    assert found.kappa.value == pytest.approx(0.4)
    lo, hi = wilson(35, 50)
    assert found.kappa.lo == pytest.approx((lo - 0.5) / 0.5, abs=1e-6)
    assert found.kappa.hi == pytest.approx((hi - 0.5) / 0.5, abs=1e-6)


def test_rates_and_their_intervals() -> None:
    labels = [1.0] * 40 + [0.0] * 20
    told = [1.0] * 36 + [0.0] * 4 + [1.0] * 3 + [0.0] * 17
    found = quality(labels, told)
    assert (found.tpr.value, found.tpr.n) == (0.9, 40)
    assert (found.fpr.value, found.fpr.n) == (0.15, 20)
    assert (found.tpr.lo, found.tpr.hi) == pytest.approx(wilson(36, 40), abs=1e-6)
    assert found.corrected.value == pytest.approx(found.share_right.value, abs=1e-6)


def test_responses_to_one_problem_count_as_fewer() -> None:
    labels, told = [1.0, 1.0, 1.0, 0.0] * 10, [1.0, 1.0, 0.0, 0.0] * 10
    alone = quality(labels, told)
    shared = quality(labels, told, [str(i // 8) for i in range(40)])
    together = quality(sorted(labels), sorted(told), [str(i // 8) for i in range(40)])
    assert alone.agreement.lo is not None
    assert together.agreement.lo is not None
    assert together.agreement.lo < alone.agreement.lo
    assert shared.agreement.value == alone.agreement.value


@given(
    st.lists(
        st.tuples(st.sampled_from([0, 0.25, 0.5, 1]), st.sampled_from([0.0, 1.0])),
        min_size=5, max_size=60,
    )
)  # fmt: skip
def test_spearman_is_scipys(pairs: list[tuple[float, float]]) -> None:
    labels, told = [float(a) for a, _ in pairs], [b for _, b in pairs]
    found = quality(labels, told).spearman
    if len(set(labels)) > 1 and len(set(told)) > 1:
        expected = stats.spearmanr(labels, told).statistic
        assert found.value == pytest.approx(expected, abs=1e-6)
        assert found.lo is None or found.lo <= found.value + 1e-6 <= found.hi + 2e-6
    else:
        assert found.value is None


def test_a_judge_that_never_errs_still_has_an_interval() -> None:
    labels = [1.0, 0.0] * 15
    found = quality(labels, labels)
    assert found.kappa.value == 1
    assert found.kappa.lo is not None
    assert found.kappa.lo < 0.9
    assert found.fpr.hi is not None
    assert found.fpr.hi > 0.1


def test_labels_of_one_kind_tell_half_of_it() -> None:
    found = quality([1.0] * 10, [1.0] * 9 + [0.0])
    assert found.tpr.value == 0.9
    assert found.fpr.value is None
    assert found.corrected.value is None
    assert found.spearman.value is None
    assert isnan(cohens_kappa(1.0, [1.0], [1.0]))
    assert isnan(cohens_kappa(1.0, [], []))


@pytest.mark.slow
def test_intervals_cover_what_was_set() -> None:
    draw, held, runs = random.Random(3), dict.fromkeys(("tpr", "fpr", "kappa", "spearman"), 0), 120
    tpr, fpr = 0.85, 0.2
    p, agree = 0.5 * tpr + 0.5 * fpr, 0.5 * tpr + 0.5 * (1 - fpr)
    phi = 0.5 * (tpr - p) / (0.5 * (p * (1 - p)) ** 0.5)
    truth = {"tpr": tpr, "fpr": fpr, "kappa": (agree - 0.5) / 0.5, "spearman": phi}
    for _ in range(runs):
        labels = [float(draw.random() < 0.5) for _ in range(120)]
        told = [float(draw.random() < (tpr if label else fpr)) for label in labels]
        found = quality(labels, told)
        for name, value in truth.items():
            measure = getattr(found, name)
            held[name] += measure.lo <= value <= measure.hi
    # Six standard errors below 95 %: what undercovers for ties (Fisher's interval, 79 %) fails.
    assert all(count / runs >= 0.83 for count in held.values()), held


rates = st.floats(0, 1)


@given(rates, rates, rates)
def test_the_truth_comes_back_from_what_a_known_judge_says(
    truth: float, tpr: float, fpr: float
) -> None:
    if tpr - fpr > 0.05:
        told = truth * tpr + (1 - truth) * fpr
        found = rogan_gladen(Share(told, 1e9), Share(tpr, 1e9), Share(fpr, 1e9))
        assert found.value == pytest.approx(truth, abs=1e-6)
        assert 0 <= found.lo <= found.value <= found.hi <= 1


@pytest.mark.parametrize("tpr", [0.5, 0.3])
def test_a_judge_that_tells_nothing_corrects_nothing(tpr: float) -> None:
    found = rogan_gladen(Share(0.5, 100), Share(tpr, 50), Share(0.5, 50))
    assert isnan(found.value)
    assert (found.lo, found.hi) == (0, 1)


@pytest.mark.parametrize("none", [0, 1, 2])
def test_no_data_tells_nothing(none: int) -> None:
    shares = [Share(0.5, 100), Share(0.9, 50), Share(0.1, 50)]
    shares[none] = Share(0.5, 0)
    assert isnan(rogan_gladen(*shares).value)


@pytest.mark.parametrize(
    ("truth", "tpr", "fpr", "n", "labels"),
    [(0.5, 0.9, 0.1, 400, 60), (0.2, 0.96, 0.05, 40, 100), (0.8, 0.8, 0.3, 300, 80)],
)
def test_the_interval_covers_the_truth_as_often_as_it_says(
    truth: float, tpr: float, fpr: float, n: int, labels: int
) -> None:
    draw = np.random.default_rng(5)
    runs, held = 2000, 0
    told = draw.binomial(n, truth * tpr + (1 - truth) * fpr, runs) / n
    right, wrong = draw.binomial(labels, tpr, runs), draw.binomial(labels, fpr, runs)
    for p, a, b in zip(told, right, wrong, strict=True):
        found = rogan_gladen(Share(p, n), Share(a / labels, labels), Share(b / labels, labels))
        held += found.lo <= truth <= found.hi
    assert 0.93 <= held / runs <= 0.985


def test_parts_are_weighted_and_their_intervals_meet() -> None:
    one = rogan_gladen(Share(0.6, 100), Share(0.9, 100), Share(0.1, 100))
    both = combine_parts([(1, one), (1, one)])
    assert both.value == pytest.approx(one.value)
    assert both.hi - both.lo < one.hi - one.lo
    assert combine_parts([(3, one), (0, one)]) == pytest.approx(one)
    assert isnan(combine_parts([(1, one), (1, UNTOLD)]).value)
    assert isnan(combine_parts([]).value)
