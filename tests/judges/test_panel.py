"""Several judges: majority, medians, ties, failures; each one's own verdict is kept."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.judges.conftest import CASE, Script, panel

from omibench.answers.judges.gptscore import GPTSCORE
from omibench.answers.judges.grade import GRADE
from omibench.answers.judges.instrument import Instrument
from omibench.answers.judges.panel import PanelRequest, consult, open_panels
from omibench.errors import ModelError
from omibench.params.panel import JudgePanel
from omibench.params.study import Study
from omibench.schemas.request import Response

YES, NO = "ANSWER: consistent", "ANSWER: inconsistent"


@pytest.mark.parametrize(
    ("replies", "value"),
    [
        ([YES, YES, NO], True),
        ([NO, YES, NO], False),
        ([YES, NO], None),
        ([YES, "hm"], True),
        ([YES, NO, "hm"], None),
        (["hm", "hm"], None),
    ],
)
def test_a_majority_counts_and_a_tie_is_no_verdict(replies: list[str], value: bool | None) -> None:
    judges = [Script(reply, reply) for reply in replies]
    (told,) = consult([CASE], GPTSCORE, panel(GPTSCORE, *judges))
    assert told.value is value
    assert told.outcome == ("judge_failed" if value is None else "scored")
    assert [said.judge for said in told.votes] == [f"j{i}" for i in range(len(replies))]
    assert told.key is None


@pytest.mark.parametrize(
    ("replies", "value"), [(["0/4", "1/4", "4/4"], 0.25), (["0/4", "1/2"], 0.25), (["1/2"], 0.5)]
)
def test_grades_are_joined_by_their_median(replies: list[str], value: float) -> None:
    judges = [Script(f"SCORE: {reply}") for reply in replies]
    (told,) = consult([CASE], GRADE, panel(GRADE, *judges))
    assert told.value == value


def test_only_the_judge_that_failed_is_asked_again() -> None:
    sure, unsure = Script(YES, YES), Script("hm", YES, NO)
    told = consult([CASE, CASE._replace(id="p-2")], GPTSCORE, panel(GPTSCORE, sure, unsure))
    assert len(sure.asked) == 2
    assert [(r.tags.problem, r.index) for r in unsure.asked] == [("p-1", 0), ("p-2", 0), ("p-1", 1)]
    assert [[said.value for said in o.votes] for o in told] == [[True, False], [True, True]]
    assert [o.value for o in told] == [None, True]


@pytest.mark.parametrize("why", ["budget_stop", "provider_error"])
def test_a_reply_that_never_came_is_no_failure_of_the_judge(
    why: str, caplog: pytest.LogCaptureFixture
) -> None:
    absent = Response(text="", outcome=why)  # type: ignore[arg-type]
    script = Script(absent)
    (told,) = consult([CASE], GPTSCORE, panel(GPTSCORE, script))
    assert (told.value, told.outcome) == (None, why)
    assert [request.index for request in script.asked] == [0]
    assert f"1 of 1 judgements are missing (1 {why.replace('_', ' ')})" in caplog.text
    (told,) = consult([CASE], GPTSCORE, panel(GPTSCORE, Script(absent), Script(YES)))
    assert told.outcome == "scored"
    tied = panel(GPTSCORE, Script(absent), Script(YES), Script(NO))
    assert consult([CASE], GPTSCORE, tied)[0].outcome == "judge_failed"


def test_no_cases_ask_nobody() -> None:
    script = Script()
    assert consult([], GPTSCORE, panel(GPTSCORE, script)) == []
    assert script.asked == []


def test_a_model_is_opened_once_for_all_panels(tmp_path: Path) -> None:
    oracle = tmp_path / "oracle.jsonl"
    oracle.write_text('{"id": "p-1", "answer": ["12 cm"]}\n')
    study = Study.model_validate(
        {
            "study": {"store": str(tmp_path / "store")},
            "models": {n: {"provider": "simulated", "oracle": str(oracle)} for n in ("a", "b")},
        }
    )
    wanted: list[PanelRequest[object]] = [
        PanelRequest(JudgePanel(models=["a", "b"]), _any(GPTSCORE), "score.judge"),
        PanelRequest(JudgePanel(models=["a"], max_tokens=7), _any(GRADE), "score.grader"),
    ]
    with open_panels(study, wanted) as (first, second):
        assert first.name == "a+b"
        assert first.judges[0] is second.judges[0]
        assert second.max_tokens == 7
        (told,) = consult([CASE], GPTSCORE, first)
    assert told.value is True
    assert told.is_simulated
    with (
        pytest.raises(ModelError, match=r"score\.judge: 'c' is not a model of the params"),
        open_panels(study, [PanelRequest(JudgePanel(models=["c"]), _any(GPTSCORE), "score.judge")]),
    ):
        pass


def _any(instrument: object) -> Instrument[object]:
    assert isinstance(instrument, Instrument)
    return instrument
