"""People who answer: cutoffs, scores, the subset that is drawn for them."""

from __future__ import annotations

from collections import Counter
from math import isnan
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from omibench.answers.scorers.registry import SCORERS
from omibench.errors import ParamsError
from omibench.params.stages.analyze import PeopleSubset
from omibench.schemas.problem import Answer, Choice
from omibench.stages.analyze.people import (
    draw_subset,
    estimate_score,
    make_person_item,
    score_people,
)
from omibench.stages.analyze.user_files import Cutoff, PersonAnswer

# Mean scores from cut-offs.


def cutoff(percentile: float, score: float) -> Cutoff:
    return Cutoff(year=2024, percentile=percentile, score=score, of=60)


def test_scores_that_are_normal_give_their_mean() -> None:
    scores = NormalDist(0.45, 0.15)
    rows = [cutoff(p, 60 * scores.inv_cdf(p / 100)) for p in (10, 25, 75, 90)]
    estimate = estimate_score(rows)
    assert estimate is not None
    assert estimate.mean == pytest.approx(0.45)
    assert (estimate.lo, estimate.hi) == pytest.approx((0.45, 0.45), abs=1e-6)


def test_two_cut_offs_give_no_interval() -> None:
    estimate = estimate_score([cutoff(50, 27), cutoff(90, 44)])
    assert estimate is not None
    assert estimate.mean == pytest.approx(27 / 60)
    assert isnan(estimate.lo)


def test_the_interval_is_that_of_the_regression() -> None:
    rows = [cutoff(p, s) for p, s in ((10, 15), (30, 24), (60, 28), (90, 46))]
    estimate = estimate_score(rows)
    quantiles = stats.norm.ppf([0.1, 0.3, 0.6, 0.9])
    line = stats.linregress(quantiles, np.asarray([15, 24, 28, 46]) / 60)
    half = stats.t.ppf(0.975, 2) * line.intercept_stderr
    assert estimate is not None
    assert estimate[:3] == pytest.approx(
        (line.intercept, line.intercept - half, line.intercept + half)
    )


def test_a_single_cut_off_says_something_only_where_it_is_the_median() -> None:
    estimate = estimate_score([cutoff(50, 27)])
    assert estimate is not None
    assert (estimate.mean, estimate.method) == (0.45, "median")
    assert estimate_score([cutoff(90, 44)]) is None
    assert estimate_score([cutoff(90, 44), cutoff(90, 45)]) is None


def test_an_estimate_stays_among_possible_scores() -> None:
    estimate = estimate_score([cutoff(90, 6), cutoff(99, 50)])
    assert estimate is not None
    assert estimate.mean == 0


# People's answers under the scorers of responses.

CHOICES = [Choice(label=label, text=f"{place} m") for place, label in enumerate("ABCD", 3)]

CHOICE = Answer(id="c", answer=["B"], answer_type="mcq", choices=CHOICES, group="stem")

OPEN = Answer(id="o", answer=["42"], answer_type="open")

GOLDS = {"c": CHOICE, "o": OPEN}

OF_CHOICES = [name for name in SCORERS.built_in_names if name != "published"]


def answer(problem: str, text: str, person: str = "a") -> PersonAnswer:
    return PersonAnswer(person=person, group="g", problem=problem, answer=text)


@pytest.mark.parametrize("rules", OF_CHOICES)
@pytest.mark.parametrize("text", ["B", "b", "(B)", "4 m", r"\boxed{B}"])
def test_every_scorer_reads_the_option_that_a_person_names(rules: str, text: str) -> None:
    (row,) = score_people([answer("c", text)], GOLDS, [rules]).to_dicts()
    assert (row["verdict"], row["outcome"]) == (1.0, "scored")
    assert (row["id"], row["cluster"], row["rules"]) == ("c", "stem", rules)


@pytest.mark.parametrize("rules", ["robust", "omibench", "omibench-release", "emma"])
def test_open_answers_are_scored_as_in_a_box(rules: str) -> None:
    frame = score_people([answer("o", "42"), answer("o", "41", "b")], GOLDS, [rules])
    assert frame["verdict"].to_list() == [1, 0]


def test_partial_credit_is_kept() -> None:
    golds = {"o": Answer(id="o", answer=["x=3", "y=4"], answer_type="open")}
    (row,) = score_people([answer("o", "x=3, y=5")], golds, ["robust"]).to_dicts()
    assert (row["verdict"], row["credit"]) == (0, 0.5)


def test_an_empty_answer_is_wrong_and_said_to_be_empty() -> None:
    (row,) = score_people([answer("o", "")], GOLDS, ["robust"]).to_dicts()
    assert (row["verdict"], row["outcome"]) == (0, "empty")


def test_braces_that_do_not_match_are_left_as_they_are() -> None:
    assert make_person_item(answer("o", "}{42"), OPEN).prediction == r"\boxed{}{42}"
    assert make_person_item(answer("o", "{42"), OPEN).prediction == "{42"


def test_a_scorer_that_needs_a_judge_says_nothing_of_people(
    caplog: pytest.LogCaptureFixture,
) -> None:
    frame = score_people([answer("o", "41")], GOLDS, ["mathreal", "robust"])
    assert frame["rules"].to_list() == ["robust"]
    assert "mathreal leaves answers to a judge" in caplog.text


def test_nobody_gives_an_empty_table() -> None:
    frame = score_people([], GOLDS, ["robust"])
    assert frame.is_empty()
    assert {"person", "rules", "verdict", "simulated"} <= set(frame.columns)


# The problems that people are given.

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
