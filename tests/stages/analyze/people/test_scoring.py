"""People's answers under the scorers of responses."""

from __future__ import annotations

import logging

import pytest

from omibench.answers.scorers.registry import SCORERS
from omibench.schemas.problem import Answer, Choice
from omibench.stages.analyze.people import make_person_item, score_people
from omibench.stages.analyze.user_files import PersonAnswer

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
    with caplog.at_level(logging.WARNING, "omibench"):
        frame = score_people([answer("o", "41")], GOLDS, ["mathreal", "robust"])
    assert frame["rules"].to_list() == ["robust"]
    assert "mathreal leaves answers to a judge" in caplog.text


def test_nobody_gives_an_empty_table() -> None:
    frame = score_people([], GOLDS, ["robust"])
    assert frame.is_empty()
    assert {"person", "rules", "verdict", "simulated"} <= set(frame.columns)
