"""Votes and agreement over all subsets of k samples, against enumeration."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from omibench.statistics.estimators import pass_at_k
from omibench.statistics.subsets import AnswerCounts, agreement_curve, vote_curve

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


def test_one_sample_votes_with_the_mean_and_two_do_no_better() -> None:
    counts = AnswerCounts((7, 5), 4)
    mean = (7 * 1.0 + 5 * 0.0 + 4 * 0.0) / 16
    assert vote_curve(counts, (1.0, 0.0), 0.0, 1) == pytest.approx((mean,))
    no_failures = AnswerCounts((9, 7))
    assert vote_curve(no_failures, (1.0, 0.0), 0.0, 2) == pytest.approx((9 / 16, 9 / 16))


def test_a_vote_of_all_is_the_majority_and_never_beats_pass_at_k() -> None:
    counts = AnswerCounts((3, 9, 4))
    curve = vote_curve(counts, (1.0, 0.0, 0.0), 0.0, 16)
    assert curve[-1] == 0
    assert vote_curve(counts, (0.0, 1.0, 0.0), 0.0, 16)[-1] == pytest.approx(1)
    assert all(vote <= pass_at_k(16, 3, k) + 1e-12 for k, vote in enumerate(curve, 1))


@pytest.mark.parametrize("k", [0, 4])
def test_k_out_of_range_is_an_error(k: int) -> None:
    with pytest.raises(ValueError, match=r"k must be in 1\.\.3"):
        vote_curve(AnswerCounts((3,)), (1.0,), 0.0, k)
    with pytest.raises(ValueError, match=r"k must be in 1\.\.3"):
        agreement_curve(AnswerCounts((3,)), k)


def test_a_verdict_for_each_class_is_needed() -> None:
    with pytest.raises(ValueError, match="1 verdicts but 2 classes"):
        vote_curve(AnswerCounts((2, 1)), (1.0,), 0.0, 1)
