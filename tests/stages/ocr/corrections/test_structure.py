"""Problems split and merged, with the marks of their figures."""

from __future__ import annotations

import pytest

from omibench.schemas.problem import Choice, DoubtfulFormula, Figure, Problem, ProblemWarning
from omibench.stages.ocr.corrections.entry import Correction, CorrectionEntry, Split
from omibench.stages.ocr.corrections.problems import (
    CorrectionLog,
    MisfitError,
    correct_structure,
    merge_problems,
    set_field,
    split_problem,
)


def make_problem(number: str, question: str, **fields: object) -> Problem:
    values: dict[str, object] = {
        "id": f"mock-{number}",
        "group": f"mock-{number}",
        "source": "mock",
        "source_sha256": "0" * 64,
        "pages": [1],
        "number": number,
        "question": question,
    }
    return Problem.model_validate(values | fields)


def make_figures(*names: str) -> list[Figure]:
    return [Figure(file=f"{name}.png", sha256=name * 64) for name in names]


def list_files(problem: Problem) -> list[str]:
    return [figure.file for figure in problem.images]


def test_figures_go_with_the_text_that_shows_them() -> None:
    problem = make_problem(
        "1",
        "See [IMAGE1].\n\nAnd now [IMAGE0] and [IMAGE1]?",
        images=make_figures("a", "b", "c", "d"),
        choices=[Choice(label="A", image=2), Choice(label="B", text="[IMAGE0] again")],
    )
    first, second = split_problem(problem, Split(at="And now", number="2"))
    assert (first.question, first.choices) == ("See [IMAGE0].", None)
    assert list_files(first) == ["b.png", "d.png"]
    assert second.question == "And now [IMAGE0] and [IMAGE1]?"
    assert list_files(second) == ["a.png", "b.png", "c.png"]
    assert [(c.text, c.image) for c in second.choices or []] == [
        (None, 2),
        ("[IMAGE0] again", None),
    ]


def test_a_problem_is_split_within_its_choices() -> None:
    texts = ["one", "two 2. Which is it?", "three", "four"]
    choices = [Choice(label=k, text=t) for k, t in zip("ABCD", texts, strict=True)]
    first, second = split_problem(
        make_problem("1", "What?", choices=choices), Split(at="Which is", number="2")
    )
    assert [choice.text for choice in first.choices or []] == ["one", "two 2."]
    assert second.question == "Which is it?"
    assert [choice.label for choice in second.choices or []] == ["C", "D"]


@pytest.mark.parametrize("at", ["nowhere", "again"])
def test_a_split_needs_one_place(at: str) -> None:
    with pytest.raises(MisfitError, match=r"occurs \d times"):
        split_problem(make_problem("1", "again and again"), Split(at=at, number="2"))


def test_marks_of_a_merged_problem_count_on() -> None:
    one = make_problem("1", "See [IMAGE0].", images=make_figures("a"), pages=[1])
    two = make_problem(
        "2",
        "And [IMAGE0] with [IMAGE1].",
        images=make_figures("b", "c"),
        choices=[Choice(label="A", image=1), Choice(label="B", text="[IMAGE0]")],
        pages=[2],
    )
    merged = merge_problems(one, two)
    assert merged.question == "See [IMAGE0].\n\nAnd [IMAGE1] with [IMAGE2]."
    assert list_files(merged) == ["a.png", "b.png", "c.png"]
    assert [(c.text, c.image) for c in merged.choices or []] == [(None, 2), ("[IMAGE1]", None)]
    assert (merged.id, merged.pages) == ("mock-1", [1, 2])
    with pytest.raises(MisfitError, match="both have a choice A"):
        merge_problems(two, two)


def test_what_cannot_be_done_is_said_and_a_gap_that_is_closed_goes() -> None:
    gap = ProblemWarning("number_gap", "1 is followed by 3")
    problems = [make_problem("1", "One. Two."), make_problem("3", "Three.", warnings=[gap])]
    changes: list[dict[str, object]] = [
        {"problem": "1", "split": {"at": "Two.", "number": "3"}},
        {"problem": "1", "merge": "7"},
        {"problem": "3", "split": {"at": "Three.", "number": "4"}, "was": "Something else."},
        {"problem": "1", "split": {"at": "Two.", "number": "2"}},
    ]
    entries = [
        CorrectionEntry(
            number=k,
            line=k,
            correction=Correction.model_validate({"paper": "mock", "by": "Ana", **change}),
        )
        for k, change in enumerate(changes)
    ]
    log = CorrectionLog(entries)
    corrected = correct_structure(problems, entries, log)
    assert [problem.number for problem in corrected] == ["1", "2", "3"]
    assert corrected[2].warnings == []
    assert [row.status for row in log.rows] == ["misfit", "misfit", "misfit", "applied"]
    assert log.rows[0].reason == "problem 3 already exists"
    assert log.rows[1].reason == "no problem 7 was read"
    assert log.rows[3].problems == ["1", "2"]


def test_doubts_go_with_the_text_that_they_were_about() -> None:
    formulas = [
        DoubtfulFormula(
            page=3,
            bbox=(9.5, y, 20.4, y + 9),
            latex=latex,
            file="f.png",
            sha256="",
            doubts=["unsure"],
        )
        for y, latex in ((100, "x^{2}"), (200, "y^{2}"))
    ]
    warnings = [
        ProblemWarning("formula_doubtful", f"page 3, box (10, {y}, 20, {y + 9}): unsure")
        for y in (100, 200)
    ]
    problem = make_problem(
        "1",
        "Find $x^{2}$.",
        choices=[Choice(label="A", text="$y^{2}$"), Choice(label="B", text="z \ufffd")],
        doubtful_formulas=formulas,
        warnings=[*warnings, ProblemWarning("garbled_text", "characters")],
    )
    by_ana = {"paper": "mock", "by": "Ana", "problem": "1"}
    choice = {"label": "A", "text": "$y^{3}$"}
    after = set_field(problem, Correction.model_validate({**by_ana, "choice": choice}))
    assert after.doubtful_formulas == formulas[:1]
    assert [warning.code for warning in after.warnings] == ["formula_doubtful", "garbled_text"]
    choice = {"label": "B", "text": "z"}
    after = set_field(after, Correction.model_validate({**by_ana, "choice": choice}))
    assert [str(warning) for warning in after.warnings] == [str(warnings[0])]
    first, second = split_problem(problem, Split(at="$x^{2}$", number="2"))
    assert first.doubtful_formulas == []
    assert second.doubtful_formulas == formulas
