"""Best-of-N and tournaments, against scripted judges."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omibench.stages.aggregate.choose import Match, bracket, choose_best, play
from omibench.stages.aggregate.votes import Sample, make_generator, select_valid


def samples(n: int) -> list[Sample]:
    return [Sample(i, str(i)) for i in range(n)]


def stronger(matches: Sequence[Match]) -> list[bool]:
    """A judge that always prefers the sample with the higher number."""
    return [m.first.index > m.second.index for m in matches]


@given(st.lists(st.none() | st.integers(0, 5), min_size=1, max_size=9), st.integers())
def test_best_of_takes_a_highest_mark(marks: list[int | None], seed: int) -> None:
    won = choose_best(samples(len(marks)), marks, Random(seed))
    known = [m for m in marks if m is not None]
    assert marks[won.index] == max(known) if known else won.index == 0


def test_equal_marks_are_drawn_and_the_seed_decides() -> None:
    won = [choose_best(samples(2), [3, 3], Random(seed)).index for seed in range(400)]
    assert 140 < sum(won) < 260
    assert won == [choose_best(samples(2), [3, 3], Random(seed)).index for seed in range(400)]


def test_nothing_can_be_chosen_from_nothing() -> None:
    with pytest.raises(ValueError, match="no sample"):
        choose_best([], [], Random(0))
    with pytest.raises(ValueError, match="no sample"):
        play({"p": []}, stronger, lambda p: Random(0))


@given(st.lists(st.integers(1, 17), min_size=1, max_size=5), st.integers(0, 99))
def test_the_strongest_wins_every_bracket_and_n_minus_one_matches_are_played(
    sizes: list[int], seed: int
) -> None:
    rounds: list[Sequence[Match]] = []

    def judge(matches: Sequence[Match]) -> list[bool]:
        rounds.append(matches)
        return stronger(matches)

    entrants = {
        f"p{i}": bracket(samples(n), make_generator(seed, f"p{i}")) for i, n in enumerate(sizes)
    }
    winners = play(entrants, judge, lambda p: make_generator(seed, p))
    assert {p: w.index for p, w in winners.items()} == {f"p{i}": n - 1 for i, n in enumerate(sizes)}
    played = Counter(m.problem for r in rounds for m in r)
    assert all(played[f"p{i}"] == n - 1 for i, n in enumerate(sizes))
    assert len(rounds) == max((n - 1).bit_length() for n in sizes)


def test_the_same_seed_plays_the_same_matches() -> None:
    def matches_of(seed: int) -> list[Match]:
        seen: list[Match] = []

        def judge(matches: Sequence[Match]) -> list[bool]:
            seen.extend(matches)
            return stronger(matches)

        play(
            {"p": bracket(samples(8), make_generator(seed, "p"))},
            judge,
            lambda p: make_generator(seed, p),
        )
        return seen

    assert matches_of(1) == matches_of(1)
    assert matches_of(1) != matches_of(2)


def test_a_judge_that_fails_leaves_it_to_the_coin() -> None:
    def fails(matches: Sequence[Match]) -> list[None]:
        return [None for _ in matches]

    def winner(seed: int) -> int:
        return play({"p": samples(2)}, fails, lambda p: Random(seed))["p"].index

    won = Counter(winner(seed) for seed in range(400))
    assert set(won) == {0, 1}
    assert min(won.values()) > 140


def test_an_invalid_sample_is_left_out_while_another_is_valid() -> None:
    mixed = [Sample(0, None), Sample(1, "x")]
    assert select_valid(mixed) == mixed[1:]
    assert select_valid(mixed[:1]) == mixed[:1]
