"""The problems that people are given."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omibench.errors import ParamsError
from omibench.params.stages.analyze import PeopleSubset
from omibench.stages.analyze.people import draw_subset

SUBJECTS = {"biology": 251, "chemistry": 217, "mathematics": 430, "physics": 424}
STRATA = {f"{name}-{place}": name for name, count in SUBJECTS.items() for place in range(count)}


def test_the_subset_of_omibench_has_thirteen_problems_of_each_subject() -> None:
    drawn = draw_subset(STRATA, PeopleSubset(), 7)
    assert Counter(STRATA[id] for id in drawn.scored) == dict.fromkeys(SUBJECTS, 13)
    assert (len(drawn.scored), len(drawn.familiarisation)) == (52, 10)
    assert not set(drawn.scored) & set(drawn.familiarisation)


def test_shares_in_proportion_follow_the_dataset() -> None:
    drawn = draw_subset(STRATA, PeopleSubset(shares="proportional"), 7)
    assert Counter(STRATA[id] for id in drawn.scored) == {
        "biology": 10, "chemistry": 8, "mathematics": 17, "physics": 17,
    }  # fmt: skip


@given(st.integers(0, 99), st.randoms(use_true_random=False))
def test_the_draw_follows_from_seed_and_ids_alone(seed: int, order: object) -> None:
    strata = dict(list(STRATA.items())[::40])
    shuffled = list(strata.items())
    order.shuffle(shuffled)  # type: ignore[attr-defined]
    subset = PeopleSubset(size=8, familiarisation=2)
    assert draw_subset(dict(shuffled), subset, seed) == draw_subset(strata, subset, seed)


def test_another_seed_draws_others() -> None:
    first, second = (draw_subset(STRATA, PeopleSubset(), seed) for seed in (1, 2))
    assert len(set(first.scored) & set(second.scored)) < 20


def test_every_problem_is_as_likely_as_the_others_of_its_subject() -> None:
    strata = {f"p{place}": "physics" for place in range(20)}
    subset = PeopleSubset(size=5, familiarisation=0)
    counts = Counter(id for seed in range(800) for id in draw_subset(strata, subset, seed).scored)
    assert max(abs(counts[id] / 800 - 0.25) for id in strata) < 0.06


def test_a_draw_of_more_problems_than_there_are_is_refused() -> None:
    with pytest.raises(ParamsError, match="draws 52 problems and 10 for familiarisation"):
        draw_subset({"p": "physics"}, PeopleSubset(), 0)
