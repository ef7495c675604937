"""What tasks on a problem show, and when the decisions on them become stale."""

from __future__ import annotations

from typing import Any

import pytest

from omibench.review.contents import (
    PROBLEM_KINDS,
    compute_hash,
    find_suffix,
    get_solution,
    hash_content,
    list_pictures,
    make_content,
)
from omibench.review.kinds import KINDS, find_kind
from omibench.schemas.problem import Figure, Original, Problem
from omibench.schemas.review import ReviewTask
from review import builders

FIGURE = Figure(file="images/a.JPG", sha256="a" * 64, page=2, bbox=(0, 0, 9, 9), caption="Fig. 1")


def make_problem(**values: Any) -> Problem:
    fields: dict[str, Any] = {
        "question": "How far, [IMAGE0]?\r\nSay why.", "images": [FIGURE], "source": "ipho.pdf",
        "number": "3", "pages": [2, 3], "year": 2019, "topic": "waves",
        "attributes": {"subfield": "optics"},
    }  # fmt: skip
    return builders.make_problem("ipho-3", **(fields | values))


def make_task(kind: str, problem: Problem, **parts: Any) -> ReviewTask:
    content = (make_content(kind, problem) or {}) | parts
    digest = hash_content(find_kind(kind), content, list_pictures(problem))
    return builders.make_task(problem.id, kind, content, content_hash=digest)


PROBLEM = make_problem()
TRANSLATED = make_problem(
    question="How far?",
    original=Original(
        language="es", question="¿Cuánto?", choices=PROBLEM.choices, translator="sim"
    ),
)


@pytest.mark.parametrize("kind", PROBLEM_KINDS)
def test_contents_are_parts_of_their_kind(kind: str) -> None:
    parts = {part.name for part in KINDS[kind].parts}
    content = make_content(kind, TRANSLATED)
    assert content is not None
    assert set(content) <= parts
    assert content["answer"] == ["A"]
    assert content["choices"] == [choice.model_dump() for choice in PROBLEM.choices or []]


@pytest.mark.parametrize("kind", [kind for kind in PROBLEM_KINDS if kind != "translation"])
def test_an_unchanged_problem_has_the_hash_of_its_task(kind: str) -> None:
    task = make_task(kind, PROBLEM, candidates=[{"id": "ipho-3#0", "text": "x"}])
    assert compute_hash(task, PROBLEM) == task.content_hash
    changed = PROBLEM.model_copy(update={"answer": ["B"]})
    assert compute_hash(task, changed) != task.content_hash
    without_choices = PROBLEM.model_copy(update={"choices": None})
    assert compute_hash(task, without_choices) != task.content_hash
    other_picture = FIGURE.model_copy(update={"sha256": "b" * 64})
    redrawn = PROBLEM.model_copy(update={"images": [other_picture]})
    assert compute_hash(task, redrawn) != task.content_hash


def test_a_task_read_from_its_file_has_the_same_hash() -> None:
    task = make_task("item", PROBLEM)
    again = ReviewTask.model_validate_json(task.model_dump_json())
    assert compute_hash(again, PROBLEM) == task.content_hash


def test_labels_and_facts_do_not_make_a_decision_stale() -> None:
    relabelled = make_problem(subject="chemistry", topic="x", attributes={"subfield": "y"})
    for kind in ("item", "label", "difficulty", "page"):
        task = make_task(kind, PROBLEM)
        assert compute_hash(task, relabelled) == task.content_hash


def test_only_the_item_is_about_the_solution() -> None:
    solved = make_problem(solution="It slides.")
    changed = {
        kind
        for kind in PROBLEM_KINDS
        if compute_hash(make_task(kind, TRANSLATED), solved.model_copy(update={
            "question": TRANSLATED.question, "original": TRANSLATED.original,
        })) != make_task(kind, TRANSLATED).content_hash
    }  # fmt: skip
    assert changed == {"item"}


def test_a_page_is_checked_as_it_was_read_whether_or_not_it_was_translated() -> None:
    before = make_problem(question="¿Cuánto?", language="es")
    content = make_content("page", before)
    assert content is not None
    assert content["question"] == "¿Cuánto?"
    assert compute_hash(make_task("page", before), TRANSLATED) == compute_hash(
        make_task("page", TRANSLATED), TRANSLATED
    )


def test_a_translation_check_needs_a_translation() -> None:
    assert make_content("translation", PROBLEM) is None
    content = make_content("translation", TRANSLATED)
    assert content is not None
    assert (content["original_question"], content["question"]) == ("¿Cuánto?", "How far?")
    task = make_task("translation", TRANSLATED)
    assert compute_hash(task, PROBLEM) is None


def test_a_page_check_needs_a_page() -> None:
    assert make_content("page", make_problem(pages=[])) is None


def test_line_ends_are_those_of_browsers_and_files_alike() -> None:
    content = make_content("item", PROBLEM)
    assert content is not None
    assert content["question"] == "How far, [IMAGE0]?\nSay why."
    kind = find_kind("item")
    assert hash_content(kind, {"question": "a\r\nb"}) == hash_content(kind, {"question": "a\nb"})


def test_the_facts_say_where_an_item_is_from() -> None:
    content = make_content("item", PROBLEM)
    assert content is not None
    assert content["facts"] == {
        "source": "ipho.pdf", "number": "3", "pages": "2, 3", "year": "2019",
    }  # fmt: skip
    assert content["labels"] == {"subject": "physics", "topic": "waves", "subfield": "optics"}


@pytest.mark.parametrize("kind", PROBLEM_KINDS)
def test_no_label_reaches_an_auditor(kind: str) -> None:
    content = make_content(kind, make_problem(topic="hidden", attributes={"subfield": "hidden"}))
    for part in KINDS[kind].list_visible_parts("auditor"):
        assert "hidden" not in str((content or {}).get(part.name))


def test_pictures_stand_in_the_order_of_their_marks() -> None:
    absent = FIGURE.model_copy(update={"sha256": ""})
    (picture,) = list_pictures(make_problem(images=[FIGURE, absent]))
    assert (picture.file, picture.label) == (f"pictures/{'a' * 64}.jpg", "Fig. 1")
    (captioned,) = list_pictures(make_problem(question="See [IMAGE0]\nFig. 1\nHow far?"))
    assert captioned.label == ""
    assert [find_suffix(name) for name in ("x.webp", "x.tiff", "x")] == ["webp", "png", "png"]


def test_the_rationale_that_was_settled_on() -> None:
    task = make_task("rationale", PROBLEM, candidates=[{"id": "ipho-3#0", "text": "By hand."}])
    assert get_solution(task, {"candidate": "ipho-3#0", "solution": None}) == "By hand."
    assert get_solution(task, {"candidate": "ipho-3#0", "solution": "Anew."}) == "Anew."
    assert get_solution(task, {"candidate": "none"}) is None
