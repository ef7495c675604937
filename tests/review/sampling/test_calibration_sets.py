"""Calibration sets from settled work (OMIBench, A.3.2)."""

from __future__ import annotations

from collections import Counter

import pytest
from pydantic import JsonValue

from omibench.errors import ParamsError
from omibench.params.review import CalibrationParams
from omibench.review.calibration import measure_calibration
from omibench.review.contents import hash_content
from omibench.review.kinds import KINDS
from omibench.review.sampling.weekly import (
    CalibrationPlan,
    change_number,
    cut_question,
    draw_calibration,
    repeat_answer,
    swap_pictures,
)
from omibench.schemas.review import ReviewDecision, ReviewTask, TaskPicture
from review.builders import GOOD, decide, make_task
from review.sampling.test_weekly import settle_items

CONTENT = {
    "question": "A block slides down the slope of [IMAGE0]. It starts from rest. How fast is it?",
    "choices": [
        {"label": "A", "text": "2 m/s", "image": None},
        {"label": "B", "text": "3 m/s", "image": None},
    ],
    "answer": ["A"],
}  # fmt: skip


def settle(
    number: int, invalid: int, content: dict[str, JsonValue] | None = None, kind: str = "item"
) -> tuple[list[ReviewTask], list[ReviewDecision]]:
    """Settled tasks, the last of which are called not valid."""
    tasks, decisions = settle_items(number)
    for place, task in enumerate(tasks):
        picture = TaskPicture(sha256=f"{place:064x}", suffix="png")
        shown = [picture] if content and place % 2 else []
        changed = CONTENT if content is None else content
        text = hash_content(KINDS[kind], changed, shown)
        tasks[place] = task.model_copy(
            update={"content": changed, "pictures": shown, "content_hash": text}
        )
    by_id = {task.id: place for place, task in enumerate(tasks)}
    return tasks, [
        d.model_copy(
            update={
                "content_hash": tasks[by_id[d.task]].content_hash,
                "fields": GOOD if by_id[d.task] < number - invalid else BAD,
            }
        )
        for d in decisions
    ]


BAD = {"valid": "invalid", "quality": 2}


@pytest.mark.parametrize("invalid", [0, 4, 10, 25])
def test_a_third_of_a_set_has_another_verdict(invalid: int) -> None:
    tasks, decisions = settle(40, invalid)
    drawn = draw_calibration(tasks, decisions, CalibrationPlan("item", items=30))
    assert len({task.of for task in drawn}) == len(drawn) == 30
    verdicts = Counter(str(task.gold["valid"]) for task in drawn)
    assert min(verdicts["valid"], verdicts["invalid"]) == 10
    originals = {task.id: task for task in tasks}
    changed = [t for t in drawn if t.content != originals[str(t.of)].content]
    faulty = [task for task in drawn if task.gold == {"valid": "invalid"}]
    assert len(faulty) == max(0, 10 - invalid)
    assert len(changed) <= len(faulty)
    for task in faulty:
        original = originals[str(task.of)]
        assert task.content_hash != original.content_hash
        assert task.content_hash == hash_content(KINDS["item"], task.content, task.pictures)
        assert (task.content, task.pictures) != (original.content, original.pictures)
    same = [decide(900 + i, "new", "annotator", task, GOOD) for i, task in enumerate(drawn)]
    (result,) = measure_calibration(drawn, same, CalibrationParams())
    assert result.status == "failed"


def test_results_of_settled_tasks_are_gold() -> None:
    tasks, decisions = settle(40, 12)
    drawn = draw_calibration(tasks, decisions, CalibrationPlan("item", items=30))
    assert len(drawn) == 30
    assert all(task.gold in (GOOD, BAD) and task.purpose == "calibration" for task in drawn)
    assert all(task.id == f"{task.of}@calibration" for task in drawn)
    again = draw_calibration([*tasks, *drawn], decisions, CalibrationPlan("item", items=30))
    assert again == []
    answers = [decide(500 + i, "new", "annotator", t, t.gold) for i, t in enumerate(drawn)]
    (result,) = measure_calibration(drawn, answers, CalibrationParams())
    assert (result.person, result.status, result.set_name) == ("new", "passed", "calibration")


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        ({"question": "A long statement of a problem. What is x?"}, "question"),
        ({"question": "What is x in [IMAGE0]?"}, "pictures"),
        ({"question": "What is x?", "choices": CONTENT["choices"], "answer": ["B"]}, "choices"),
    ],
)
def test_each_fault_is_seen_in_what_the_reader_sees(
    content: dict[str, JsonValue], fault: str
) -> None:
    pictures = [TaskPicture(sha256=f"{n:064x}", suffix="png") for n in (1, 2)]
    task = make_task("p1", content=content, pictures=pictures[:1])
    other = make_task("p2", content=content, pictures=pictures[1:])
    makers = {"question": cut_question, "pictures": swap_pictures, "choices": repeat_answer}
    found = makers[fault](task, [task, other])
    assert found is not None
    assert found.gold == {"valid": "invalid"}
    if fault == "question":
        assert found.content["question"] == "A long statement of a problem."
    elif fault == "pictures":
        assert list(found.pictures) == [pictures[1].sha256]
    else:
        assert [c["text"] for c in found.content["choices"]] == ["3 m/s", "3 m/s"]  # type: ignore[index,union-attr]


def test_a_wrong_number_of_a_translation_is_to_be_corrected() -> None:
    content = {"question": "The 3 blocks of [IMAGE0] weigh 5 kg.", "original_question": "3 ... 5"}
    task = make_task("p1", "translation", content)
    fault = change_number(task, [])
    assert fault is not None
    assert fault.content["question"] == "The 4 blocks of [IMAGE0] weigh 5 kg."
    assert fault.gold == {"translation": "corrected"}


def test_a_set_that_one_answer_would_pass_is_refused() -> None:
    with pytest.raises(ParamsError, match=r"one answer to every task would agree with 100% of"):
        draw_calibration(*settle_items(40), CalibrationPlan("item", items=30))


def test_too_little_settled_work_is_refused() -> None:
    with pytest.raises(ParamsError, match="only 5 'item' tasks are settled"):
        draw_calibration(*settle_items(5), CalibrationPlan("item", items=30))
