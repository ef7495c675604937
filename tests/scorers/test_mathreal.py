"""MathReal's protocol, without models and with them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from tests.items import make_item
from tests.judges.conftest import user_text

from omibench.answers.judges.extraction import EXTRACTION
from omibench.answers.judges.grade import GRADE
from omibench.answers.judges.instrument import build_prompt
from omibench.answers.judges.panel import Judge, OpenPanel
from omibench.answers.scorers.mathreal import score
from omibench.schemas.request import Request, Response
from omibench.schemas.verdict import ScoredItem
from omibench.stages.score.judge import run_mathreal


@pytest.mark.parametrize(
    ("prediction", "gold", "extracted", "outcome", "verdict"),
    [
        ("So \\boxed{12}.", "12", "12", "scored", 1.0),
        ("So \\boxed{ 1 2 }.", "12", "1 2", "scored", 1.0),
        ("\\boxed{1} and \\boxed{2}", ["1", "2"], "1; 2", "scored", 1.0),
        ("So \\boxed{0.5}.", "1/2", "0.5", "unjudged", 0.0),
        ("First \\boxed{3}, so \\boxed{12}.", "12", "3; 12", "unjudged", 0.0),
        ("So it is 12.", "12", None, "unjudged", 0.0),
        ("\\boxed{}", "12", None, "unjudged", 0.0),
        ("", "12", None, "empty", 0.0),
        ("<think>\\boxed{12}</think>", "12", None, "empty", 0.0),
        ("I'm sorry, I can't help with that.", "12", None, "refused", 0.0),
    ],
)
def test_without_models(
    prediction: str, gold: str | list[str], extracted: str | None, outcome: str, verdict: float
) -> None:
    found = score(make_item(prediction, gold))
    assert (found.extracted, found.outcome, found.verdict) == (extracted, outcome, verdict)


def test_a_response_that_never_came_keeps_its_outcome() -> None:
    assert score(make_item("", "1", outcome="provider_error")).outcome == "provider_error"


class Model:
    """Replies to extractors and graders by rule; remembers what it was asked."""

    def __init__(self, extract: Callable[[str], str], grade: Callable[[str], str]) -> None:
        self.replies = {"extractor": extract, "grader": grade}
        self.asked: list[tuple[str, str]] = []

    def __call__(self, requests: Sequence[Request]) -> list[Response]:
        self.asked += [(r.tags.role, r.tags.problem) for r in requests]
        return [Response(text=self.replies[r.tags.role](user_text(r))) for r in requests]


def panels(*models: Model) -> tuple[OpenPanel, OpenPanel]:
    judges = [Judge(f"j{i}", model, {"id": i}) for i, model in enumerate(models)]
    return OpenPanel(judges, build_prompt(GRADE)), OpenPanel(judges[:1], build_prompt(EXTRACTION))


def named(name: str, prediction: str, gold: str) -> ScoredItem:
    return make_item(prediction, gold).model_copy(update={"id": name})


ITEMS = [
    named("identical", "\\boxed{12}", "12"),
    named("boxed", "\\boxed{1; 3}", "1; 2"),
    named("phrase", "Therefore it is 12 in all.", "12"),
    named("nothing", "It is hard to tell what is meant here.", "12"),
    named("refused", "I'm sorry, I can't.", "12"),
]


def test_with_models_only_what_needs_them_is_asked() -> None:
    model = Model(
        lambda prompt: "EXTRACTED: 12" if "in all" in prompt else "EXTRACTED: null",
        lambda prompt: "SCORE: 1/2" if "1; 3" in prompt else "SCORE: 1/1",
    )
    told = [first for first, *rest in run_mathreal(ITEMS, [""] * 5, *panels(model)) if not rest]
    assert [(t.verdict.verdict, t.verdict.outcome) for t in told] == [
        (1.0, "scored"), (0.5, "scored"), (1.0, "scored"), (0.0, "unparsed"), (0.0, "refused")
    ]  # fmt: skip
    assert sorted(model.asked) == [
        ("extractor", "nothing"), ("extractor", "phrase"), ("grader", "boxed"), ("grader", "phrase")
    ]  # fmt: skip
    assert told[1].verdict.credit == 0.5
    assert [t.verdict.strict for t in told] == [1.0, 0.0, 1.0, None, None]
    assert told[2].verdict.extracted == "12"
    assert told[2].verdict.method.startswith("extracted by j0 (")
    assert told[2].judge_key
    assert all(t.prompt_sha256 == build_prompt(GRADE).sha256 for t in told)
    assert all(t.verdict.rules == "mathreal" for t in told)


def test_a_model_that_fails_is_judge_failed_and_never_wrong() -> None:
    model = Model(lambda prompt: "It says 12.", lambda prompt: "Well done.")
    told = [first for first, *_ in run_mathreal(ITEMS, [""] * 5, *panels(model))]
    assert [t.verdict.outcome for t in told] == [
        "scored", "judge_failed", "judge_failed", "judge_failed", "refused"
    ]  # fmt: skip
    assert model.asked.count(("extractor", "phrase")) == 2


def test_a_reformatted_extraction_is_graded_and_marked() -> None:
    """The paper returns the answer content itself, in whatever spelling; null is no answer."""
    model = Model(lambda prompt: "EXTRACTED: \\frac{24}{2}", lambda prompt: "SCORE: 1/1")
    ((told,),) = run_mathreal(ITEMS[2:3], [""], *panels(model))
    assert (told.verdict.outcome, told.verdict.verdict) == ("scored", 1.0)
    assert told.verdict.extracted == "\\frac{24}{2}"
    assert told.verdict.method.endswith("), reformatted > graded")
    assert told.verdict.version == 2


def test_strict_and_loose_are_two_values_of_a_verdict() -> None:
    """Acc_str and Acc of the evaluation protocol; only all parts make the strict one."""
    for grade, loose, strict in (("2/2", 1.0, 1.0), ("1/2", 0.5, 0.0), ("299/300", 0.99, 0.0)):
        model = Model(lambda prompt: "EXTRACTED: null", lambda prompt, g=grade: f"SCORE: {g}")
        ((told,),) = run_mathreal(ITEMS[1:2], [""], *panels(model))
        assert (told.verdict.verdict, told.verdict.credit) == (loose, loose)
        assert told.verdict.strict == strict
    assert score(ITEMS[0]).strict == 1.0
    assert score(ITEMS[1]).strict is None  # not judged


def test_graders_that_vote_stand_behind_the_verdict_in_every_row() -> None:
    def replies(score: str) -> Model:
        return Model(lambda prompt: "EXTRACTED: null", lambda prompt: f"SCORE: {score}")

    told = run_mathreal(ITEMS, [""] * 5, *panels(replies("1/1"), replies("0/1"), replies("1/1")))
    assert all(
        [t.verdict.rules for t in row] == ["mathreal", "mathreal/j0", "mathreal/j1", "mathreal/j2"]
        for row in told
    )
    assert [t.verdict.verdict for t in told[1]] == [1.0, 1.0, 0.0, 1.0]
    assert [t.judge for t in told[1]] == ["j0+j1+j2", "j0", "j1", "j2"]
    assert {t.verdict.outcome for t in told[4]} == {"refused"}


def test_a_grade_that_never_came_keeps_its_reason() -> None:
    def ask(requests: Sequence[Request]) -> list[Response]:
        return [Response(text="", outcome="budget_stop") for _ in requests]

    judge = Judge("j", ask, {"id": 0})
    panels = OpenPanel([judge], build_prompt(GRADE)), OpenPanel([judge], build_prompt(EXTRACTION))
    told = [first for first, *_ in run_mathreal(ITEMS[:3], [""] * 3, *panels)]
    assert [t.verdict.outcome for t in told] == ["scored", "budget_stop", "budget_stop"]
    assert [t.verdict.credit for t in told] == [1.0, None, None]
