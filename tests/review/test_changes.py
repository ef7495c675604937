"""What a settled task makes of a problem."""

from __future__ import annotations

from typing import Any

import pytest

from omibench.errors import FileFormatError
from omibench.review.changes import apply_fields, find_drop
from omibench.review.kinds import KINDS
from omibench.schemas.problem import Choice, Figure, Original, Problem
from omibench.schemas.review import ReviewTask
from review import builders
from review.builders import CHOICES, make_task

CANDIDATES = [{"id": "c1", "text": "It rolls."}, {"id": "c2", "text": "It slides."}]


def make_problem(**values: Any) -> Problem:
    fields = {"question": "How\r\nfar?", "topic": "waves"}
    return builders.make_problem(**(fields | {"warnings": ["rationale: SIMULATED (sim)"]} | values))


def settle(kind: str, problem: Problem | None = None, *simulated: str, **fields: Any) -> Problem:
    content = {"candidates": CANDIDATES} if kind == "rationale" else {}
    task: ReviewTask = make_task("p1", kind, content)
    return apply_fields(problem or make_problem(), task, fields, simulated)


@pytest.mark.parametrize(
    ("kind", "fields", "reason"),
    [
        ("item", {"valid": "invalid"}, "valid: invalid"),
        ("item", {"valid": "valid"}, None),
        ("translation", {"translation": "ambiguous"}, "translation: ambiguous"),
        ("difficulty", {"curation": "too_special"}, "curation: too_special"),
        ("page", {"usable": "usable", "pictures": "wrong"}, "pictures: wrong"),
        ("photo_screening", {"complete": "no"}, "complete: no"),
    ],
)
def test_answers_that_drop_an_item(kind: str, fields: dict[str, Any], reason: str | None) -> None:
    assert find_drop(KINDS[kind], fields) == reason


def test_edited_texts_replace_those_of_the_problem() -> None:
    left = settle(
        "item", question="How far?", choices="A. 3 m\nB. 2 m", answer="B", solution="It jumps."
    )
    assert (left.question, left.answer, left.solution) == ("How far?", ["B"], "It jumps.")
    assert left.choices == [Choice(label="A", text="3 m"), CHOICES[1]]
    assert left.warnings == []
    assert settle("item", question="How\nfar?") == make_problem()


def test_a_solution_of_a_model_goes_with_the_question_that_it_was_written_for() -> None:
    assert settle("item", answer="B").solution is None
    assert settle("item", answer="B", solution_valid="valid").solution == "It rolls."
    assert settle("item", make_problem(warnings=[]), answer="B").solution == "It rolls."
    assert settle("item", solution_valid="invalid").solution is None
    assert settle("item", solution_valid="invalid", solution="So.").solution == "So."


def test_what_a_simulated_person_writes_is_marked() -> None:
    left = settle("item", None, "bot", solution="So.")
    assert [str(warning) for warning in left.warnings] == ["rationale: SIMULATED (bot)"]
    assert settle("item", None, "bot", solution_valid="invalid").warnings == []


def test_an_edit_that_does_not_fit_is_one_line() -> None:
    with pytest.raises(
        FileFormatError, match=r"item:p1: the settled decision does not fit: .*IMAGE7"
    ):
        settle("item", question="See [IMAGE7].")
    with pytest.raises(
        FileFormatError, match="item:p1: the settled decision does not fit: choices:"
    ):
        settle("item", choices="nothing")


def test_a_page_is_corrected_in_its_own_language() -> None:
    original = Original(language="es", question="¿Cuánto?", choices=CHOICES, translator="m")
    left = settle("page", make_problem(original=original), question="¿Cuántos?", answer="B")
    assert left.original == original.model_copy(update={"question": "¿Cuántos?"})
    assert (left.question, left.answer) == ("How\r\nfar?", ["B"])


def test_a_verified_translation_is_vouched_for_by_people_alone() -> None:
    problem = make_problem(warnings=["translation: from es by sim; SIMULATED (sim)", "x: y"])
    left = settle("translation", problem, translation="verified")
    assert [warning.code for warning in left.warnings] == ["x"]
    assert settle("translation", problem, "bot", translation="verified") == problem
    left = settle("translation", problem, translation="corrected", question="How long?")
    assert left.question == "How long?"


def test_a_rationale_keeps_its_mark_until_a_person_writes_it() -> None:
    assert settle("rationale", candidate="c1", action="accept") == make_problem()
    other = settle("rationale", candidate="c2", action="accept")
    assert other.solution == "It slides."
    assert [str(warning) for warning in other.warnings] == ["rationale: SIMULATED (sim)"]
    written = settle("rationale", candidate="c2", action="revise", solution="It stops.")
    assert (written.solution, written.warnings) == ("It stops.", [])


def test_a_label_that_is_kept_leaves_the_finer_topics() -> None:
    attributes: dict[str, Any] = {"topics": ["thin lenses", "images"], "subfield": "optics"}
    problem = make_problem(topic="optics", attributes=attributes)
    left = settle("label", problem, subject=problem.subject, subfield="optics", topic="optics")
    assert left == problem


def test_labels_are_subject_subfield_and_topics() -> None:
    problem = make_problem(
        attributes={"domain": "physics", "subfield": "optics", "topics": ["waves"]},
        warnings=["label: SIMULATED (sim)"],
    )
    left = settle("label", problem, subject="mathematics", subfield="algebra", topic="a # b")
    assert (left.subject, left.topic, left.warnings) == ("mathematics", "a", [])
    assert left.attributes == {"domain": "mathematics", "subfield": "algebra", "topics": ["a", "b"]}
    left = settle("label", problem, "bot", subject="physics", subfield="none", topic="waves")
    assert left.attributes == {"domain": "physics", "topics": ["waves"]}
    assert left.warnings == problem.warnings


def test_conditions_and_fields_of_photographs_are_attributes_and_gold() -> None:
    left = settle("photo_conditions", blur=2, rotation="Upright")
    assert left.attributes == {
        "blur": "2",
        "rotation": "Upright",
        "noise": ["blur"],
        "noise groups": ["image quality degradation"],
    }
    left = settle("photo_fields", question="What?", answer="B", stage="High", table="0")
    assert (left.question, left.answer) == ("What?", ["B"])
    assert left.attributes == {"stage": "High", "table": "0"}
    assert settle("difficulty", curation="keep", level="hard").attributes == {"difficulty": "hard"}


def test_a_photograph_stays_in_a_question_that_is_written_down_anew() -> None:
    figure = Figure(file="a.png", sha256="a" * 64)
    problem = make_problem(question="[IMAGE0]", images=[figure])
    assert settle("photo_fields", problem, question="What?").question == "[IMAGE0]\nWhat?"
    assert settle("photo_fields", problem, question="In [IMAGE0]?").question == "In [IMAGE0]?"
    assert settle("page", problem, question="What?").question == "What?"
