from __future__ import annotations

import pytest

import omibench
from omibench.answers.scorers.registry import SCORERS
from omibench.errors import ArgumentError

CHOICES = ["1 N", "2 N", "3 N"]


def test_one_response_gives_a_verdict() -> None:
    verdict = omibench.score(r"So it is \boxed{0.5 m}.", "50 cm")
    assert (verdict.verdict, verdict.outcome, verdict.rules) == (1.0, "scored", "robust")
    assert omibench.score("(1) 3 (2) 5", ["3", "4"]).credit == 0.5


def test_many_responses_give_a_list() -> None:
    responses = ["The answer is (B).", "I cannot see the picture.", "2 N"]
    verdicts = omibench.score(responses, ["B", "C", "A"], choices=CHOICES)
    assert [(v.verdict, v.outcome) for v in verdicts] == [
        (1.0, "scored"), (0.0, "refused"), (0.0, "scored"),
    ]  # fmt: skip
    assert omibench.score([], []) == []


def test_the_outcome_of_asking_counts() -> None:
    late = omibench.Response(text="", outcome="provider_error")
    assert omibench.score(late, "1").outcome == "provider_error"


def test_an_answer_of_a_release_brings_its_choices() -> None:
    gold = omibench.Answer(
        id="q", answer=["B"], answer_type="mcq",
        choices=[{"label": "A", "text": "1 N"}, {"label": "B", "text": "2 N"}],
    )  # fmt: skip
    assert omibench.score("Answer: 2 N", gold).verdict == 1.0
    assert [v.verdict for v in omibench.score(["B", "A"], gold)] == [1.0, 0.0]


def test_a_rule_of_ones_own_scores() -> None:
    @omibench.scorer("api-test-length")
    def score_length(item: omibench.ScoredItem) -> omibench.Verdict:
        """Right where the response is as long as the gold."""
        return omibench.Verdict(
            extracted=item.prediction,
            method="length",
            verdict=float(len(item.prediction) == len(item.gold[0])),
            rules="api-test-length",
            version=1,
        )

    try:
        assert [
            v.verdict
            for v in omibench.score(["abc", "ab"], ["xyz", "xyz"], scorer="api-test-length")
        ] == [1, 0]
    finally:
        SCORERS.forget(SCORERS.origin("api-test-length"))


@pytest.mark.parametrize(
    ("response", "gold", "keywords", "message"),
    [
        (None, "1", {}, "response: is NoneType; give text, a Response, or a list of them"),
        ([1], ["1"], {}, r"response\[0\]: is int; give text, or a Response"),
        ("1", "", {}, "gold: is empty; give the gold answer"),
        ("1", 5, {}, "gold: is int; give text, a list of texts, or an Answer"),
        (["1", "2"], ["1", 5], {}, r"gold\[1\]: is int; give text"),
        ("(B)", "E", {"choices": ["1 N", "2 N"]}, "gold: .E. matches none of the choices"),
        (
            ["1", "2"],
            ["1"],
            {},
            "gold: has 1 entries for 2 responses; give a list with one for each",
        ),
        (["1", "2"], "12", {}, "gold: has 1 entries for 2 responses"),
        ("1", "1", {"answer_type": "text"}, "answer_type: is 'text'; give 'mcq' or 'open'"),
        ("1", "1", {"scorer": 3}, "scorer: is int; give the name of one scorer"),
        ("1", "1", {"choices": "AB"}, "choices: is str; give a list of texts"),
    ],
)
def test_a_wrong_argument_is_one_line(
    response: object, gold: object, keywords: dict[str, object], message: str
) -> None:
    with pytest.raises(ArgumentError, match=message) as caught:
        omibench.score(response, gold, **keywords)  # type: ignore[call-overload]
    assert len(caught.value.lines) == 1


def test_an_unknown_scorer_names_the_nearest() -> None:
    with pytest.raises(
        ArgumentError, match="scorer: 'robst' is not a scorer; did you mean 'robust'"
    ):
        omibench.score("1", "1", scorer="robst")


def test_the_former_name_of_the_argument_is_read_with_a_warning() -> None:
    with pytest.warns(DeprecationWarning, match="`rules` is now called `scorer`"):
        verdict = omibench.score("B", "B", choices=["1", "2"], rules="emma")  # type: ignore[call-overload]
    assert verdict.rules == "emma"
