"""Samples and runs: pass@k, votes of k samples, tests over runs."""

from __future__ import annotations

from itertools import combinations
from math import isnan, nan, sqrt

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import ttest_1samp, ttest_ind, ttest_rel

from omibench.results.statistics.samples import (
    NO_VARIANCE,
    SINGLE_RUN,
    AnswerCounts,
    agreement_curve,
    compare_run_pairs,
    compare_runs,
    mark_stars,
    pass_at_k,
    summarise_runs,
    vote_curve,
)


@given(st.lists(st.booleans(), min_size=1, max_size=9), st.data())
def test_pass_at_k_is_the_share_of_all_subsets_with_a_right_sample(
    right: list[bool], data: st.DataObject
) -> None:
    k = data.draw(st.integers(1, len(right)))
    subsets = list(combinations(right, k))
    expected = sum(any(s) for s in subsets) / len(subsets)
    assert pass_at_k(len(right), sum(right), k) == pytest.approx(expected, abs=1e-12)


@given(st.integers(1, 200), st.data())
def test_pass_at_k_grows_with_k_and_with_right_samples(n: int, data: st.DataObject) -> None:
    right, k = data.draw(st.integers(0, n)), data.draw(st.integers(1, n))
    value = pass_at_k(n, right, k)
    assert 0 <= value <= 1
    assert pass_at_k(n, right, 1) == pytest.approx(right / n)
    assert pass_at_k(n, right, n) == float(right > 0)
    assert k == n or pass_at_k(n, right, k + 1) >= value - 1e-12
    assert right == n or pass_at_k(n, right + 1, k) >= value - 1e-12


@pytest.mark.parametrize(("n", "right", "k"), [(4, 0, 0), (4, 0, 5), (4, 5, 1), (4, -1, 1)])
def test_counts_out_of_range_are_refused(n: int, right: int, k: int) -> None:
    with pytest.raises(ValueError, match="must be in"):
        pass_at_k(n, right, k)


def test_mean_and_spread_over_runs() -> None:
    runs = summarise_runs([0.5, 0.52, 0.54])
    assert runs.mean == pytest.approx(0.52)
    assert runs.sd == pytest.approx(0.02)
    assert runs.sem == pytest.approx(0.02 / sqrt(3))
    assert runs.runs == 3
    assert isnan(summarise_runs([0.5]).sd)
    with pytest.raises(ValueError, match="no run"):
        summarise_runs([])


CLASSES = st.lists(st.integers(1, 4), max_size=4).map(tuple)


def enumerate_votes(
    counts: AnswerCounts, verdicts: tuple[float, ...], invalid_verdict: float, k: int
) -> tuple[float, float]:
    """Vote and agreement by trying every subset."""
    samples = [c for c, size in enumerate(counts.classes) for _ in range(size)]
    samples += [-1] * counts.invalid
    votes, agreements = [], []
    for subset in combinations(samples, k):
        valid = [c for c in subset if c >= 0]
        sizes = {c: valid.count(c) for c in valid}
        largest = max(sizes.values(), default=0)
        tied = [c for c in sizes if sizes[c] == largest]
        votes.append(sum(verdicts[c] for c in tied) / len(tied) if tied else invalid_verdict)
        agreements.append(largest / k)
    return sum(votes) / len(votes), sum(agreements) / len(agreements)


@given(CLASSES, st.integers(0, 3), st.data())
@settings(max_examples=80, deadline=None)
def test_both_equal_the_mean_over_every_subset(
    classes: tuple[int, ...], invalid: int, data: st.DataObject
) -> None:
    counts = AnswerCounts(classes, invalid)
    if not counts.samples:
        return
    k = data.draw(st.integers(1, min(counts.samples, 8)))
    verdicts = tuple(data.draw(st.sampled_from([0.0, 0.5, 1.0])) for _ in classes)
    vote, agreement = enumerate_votes(counts, verdicts, 0.25, k)
    most = min(counts.samples, 8)
    votes = vote_curve(counts, verdicts, 0.25, most)
    assert votes[k - 1] == pytest.approx(vote, abs=1e-12)
    assert agreement_curve(counts, most)[k - 1] == pytest.approx(agreement, abs=1e-12)
    assert votes[:k] == pytest.approx(vote_curve(counts, verdicts, 0.25, k), abs=1e-12)


@pytest.mark.parametrize("k", [0, 4])
def test_k_out_of_range_is_an_error(k: int) -> None:
    with pytest.raises(ValueError, match=r"k must be in 1\.\.3"):
        vote_curve(AnswerCounts((3,)), (1.0,), 0.0, k)
    with pytest.raises(ValueError, match=r"k must be in 1\.\.3"):
        agreement_curve(AnswerCounts((3,)), k)


def test_a_verdict_for_each_class_is_needed() -> None:
    with pytest.raises(ValueError, match="1 verdicts but 2 classes"):
        vote_curve(AnswerCounts((2, 1)), (1.0,), 0.0, 1)


RUNS, BASELINE = [0.52, 0.49, 0.55, 0.5, 0.53], [0.47, 0.48, 0.5, 0.46, 0.49]


def test_welch_is_one_sided() -> None:
    expected = ttest_ind(RUNS, BASELINE, equal_var=False, alternative="greater").pvalue
    assert compare_runs(RUNS, BASELINE).p == pytest.approx(expected)
    assert compare_runs(BASELINE, RUNS).p == pytest.approx(1 - expected)


def test_runs_are_paired_by_their_number() -> None:
    assert compare_run_pairs(RUNS, BASELINE).p == pytest.approx(ttest_rel(RUNS, BASELINE).pvalue)
    with pytest.raises(ValueError, match="zip"):
        compare_run_pairs(RUNS, BASELINE[1:])


@pytest.mark.parametrize("compare", [compare_runs, compare_run_pairs])
def test_without_variance_there_is_no_p(compare: object) -> None:
    assert callable(compare)
    p, reason = compare([0.5] * 5, [0.4] * 5)
    assert isnan(p)
    assert reason == NO_VARIANCE
    p, reason = compare([0.5], [0.4])
    assert isnan(p)
    assert reason == SINGLE_RUN


def test_one_side_that_varies_is_enough_for_welch() -> None:
    """A baseline that decodes deterministically is a constant: Student's test of one sample."""
    p, reason = compare_runs(RUNS, [0.47] * 5)
    assert p == pytest.approx(ttest_1samp(RUNS, 0.47, alternative="greater").pvalue)
    assert not reason


@pytest.mark.parametrize(
    ("p", "stars"),
    [(0.05, ""), (0.0499, "*"), (0.01, "*"), (0.0099, "**"), (0.0009, "***"), (9e-5, "****"),
     (nan, "")],
)  # fmt: skip
def test_the_stars_are_those_of_usnco_v(p: float, stars: str) -> None:
    assert mark_stars(p) == stars
