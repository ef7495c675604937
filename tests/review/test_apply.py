"""A decisions file is typed, its decisions are done, and disagreements are escalated."""

from __future__ import annotations

import datetime
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from omibench.errors import FileFormatError, MissingInputError
from omibench.review.apply import Decision, Edit, apply, load_decisions, rejections
from omibench.schemas.curation import Reject
from omibench.schemas.problem import Choice, Problem
from omibench.schemas.tables import write_parquet
from review.builders import make_problem


def problem(number: int, **fields: Any) -> Problem:
    warnings = ["rationale: SIMULATED (sim)", "page_needs_ocr: 2"]
    plain = {"choices": None, "answer": ["1 m"], "number": str(number), "warnings": warnings}
    return make_problem(f"physics-{number}", **(plain | fields))


def decide(decision: str, by: str = "Ada", on: str = "physics-1", **more: Any) -> Decision:
    edit = Edit(**more.pop("edit")) if "edit" in more else None
    day = datetime.date(2026, 3, 1)
    return Decision(
        problem=on, decision=decision, reviewer=by, date=day, reason="Read it.", edit=edit, **more
    )


PROBLEMS = [problem(9), problem(1), problem(10)]


def test_decisions_are_done_and_the_rest_stays() -> None:
    new = {"answer": ["12 cm"], "subject": "physics", "topic": "waves"}
    left = apply(
        [decide("drop", on="physics-9"), decide("edit", edit=new), decide("keep", on="physics-10")],
        PROBLEMS,
    )
    assert [p.id for p in left] == ["physics-1", "physics-10"]
    assert (left[0].answer, left[0].topic, left[0].question) == (["12 cm"], "waves", "How far?")
    assert left[1] == PROBLEMS[2]
    assert apply([], PROBLEMS) == PROBLEMS


def test_choices_can_be_edited() -> None:
    choices = [Choice(label="A", text="1 m"), Choice(label="B", text="2 m")]
    (left,) = apply([decide("edit", edit={"choices": choices, "answer": ["B"]})], [problem(1)])
    assert left.choices == choices
    assert left.answer_type == "mcq"


def test_a_rewritten_rationale_is_no_longer_the_models() -> None:
    (left,) = apply([decide("edit", edit={"solution": "By Newton's law ..."})], [problem(1)])
    assert list(map(str, left.warnings)) == ["page_needs_ocr: 2"]
    (other,) = apply([decide("edit", edit={"topic": "waves"})], [problem(1)])
    assert other.warnings == problem(1).warnings


def test_an_edit_must_leave_a_consistent_problem() -> None:
    with pytest.raises(FileFormatError, match=r"physics-1: the edit by Ada .*\[IMAGE3\] is shown"):
        apply([decide("edit", edit={"question": "See [IMAGE3]."})], PROBLEMS)


def test_a_decision_on_a_rejected_problem_says_why_it_was_rejected(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    why = {"reason": "answer_missing", "evidence": "no key gives an answer"}
    reject = Reject(
        id="physics-11", **why, reasons=["answer_missing", "too_few_images"],
        evidences=["no key gives an answer", "1 distinct"], stage="filter", source="p", number="11",
        question="?",
    )  # fmt: skip
    (tmp_path / "filter").mkdir()
    write_parquet(tmp_path / "filter/rejects.parquet", [reject], Reject)
    told = partial(rejections, tmp_path / "rationale/problems.jsonl")
    with pytest.raises(
        MissingInputError,
        match=r"which the filter rejected: answer_missing \(no key gives an answer\), "
        r"too_few_images \(1 distinct\); fix",
    ):
        apply([decide("keep", on="physics-11")], PROBLEMS, told)
    assert apply([decide("drop", on="physics-11")], PROBLEMS, told) == PROBLEMS
    assert "rejected already: answer_missing" in caplog.text
    with pytest.raises(MissingInputError, match="not among the 3"):
        apply([decide("keep", on="physics-12")], PROBLEMS, told)
    (tmp_path / "filter/rejects.parquet").write_text("broken")
    with pytest.raises(MissingInputError, match="not among the 3"):
        apply([decide("keep", on="physics-11")], PROBLEMS, told)


def test_an_unknown_problem_is_an_error_with_the_nearest_id() -> None:
    with pytest.raises(MissingInputError, match=r"'physics-11'.* did you mean 'physics-1"):
        apply([decide("keep", on="physics-11")], PROBLEMS)
    with pytest.raises(MissingInputError, match=r"'zzz', which is not among the 3 problems$"):
        apply([decide("keep", on="zzz")], PROBLEMS)


@pytest.mark.parametrize(
    ("first", "second", "conflict"),
    [
        (decide("keep"), decide("drop", by="Bo"), "drop after keep"),
        (decide("drop"), decide("keep", by="Bo"), "keep after drop"),
        (decide("edit", edit={"topic": "waves"}), decide("drop", by="Bo"), "drop after edit"),
        (decide("keep"), decide("edit", by="Bo", edit={"topic": "waves"}), "edit after keep"),
        (
            decide("edit", edit={"topic": "waves", "answer": ["1"]}),
            decide("edit", by="Bo", edit={"topic": "optics"}),
            "`topic` is set to 'optics' after 'waves'",
        ),
    ],
)
def test_reviewers_who_contradict_each_other_are_escalated(
    first: Decision, second: Decision, conflict: str
) -> None:
    with pytest.raises(FileFormatError, match=rf"Bo .* contradicts Ada .*{conflict}; escalate"):
        apply([first, second], PROBLEMS)


@pytest.mark.parametrize(
    "agreed",
    [
        [decide("drop"), decide("drop", by="Bo")],
        [decide("edit", edit={"topic": "waves"}), decide("keep", by="Bo")],
        [
            decide("edit", edit={"topic": "waves"}),
            decide("edit", by="Bo", edit={"topic": "waves", "answer": ["2 m"]}),
        ],
        [decide("keep"), decide("drop"), decide("drop", by="Bo")],
    ],
)
def test_reviewers_who_agree(agreed: list[Decision]) -> None:
    left = apply(agreed, [problem(1)])
    assert len(left) == (0 if agreed[-1].decision == "drop" else 1)
    if left:
        assert left[0].topic == "waves"


def test_a_binding_decision_settles_a_disagreement() -> None:
    quarrel = [decide("keep"), decide("drop", by="Bo")]
    senior = decide("edit", by="Cy", edit={"answer": ["2 m"]}, binding=True)
    (left,) = apply([*quarrel, senior], [problem(1)])
    assert left.answer == ["2 m"]
    with pytest.raises(FileFormatError, match="contradicts Cy"):
        apply([*quarrel, senior, decide("drop", by="Di")], [problem(1)])


def test_a_later_decision_of_one_reviewer_replaces_the_earlier() -> None:
    changed = [decide("drop"), decide("edit", edit={"topic": "waves"})]
    (left,) = apply(changed, [problem(1)])
    assert left.topic == "waves"


# What is wrong in a decisions file is named by file, entry and field.


FILE = """
- problem: physics-3
  decision: edit
  reviewer: Ada
  date: 2026-03-01
  reason: The key prints metres, the figure says centimetres.
  edit: {answer: [12 cm], topic: mechanics}
- {problem: physics-4, decision: keep, reviewer: Bo, date: 2026-03-02, reason: Solved it; agrees.}
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "review.yaml"
    path.write_text(text, "utf-8")
    return path


def test_a_good_file(tmp_path: Path) -> None:
    edit, keep = load_decisions(written(tmp_path, FILE))
    assert edit.edit is not None
    assert edit.edit.answer == ["12 cm"]
    assert edit.edit.model_fields_set == {"answer", "topic"}
    assert keep.date == datetime.date(2026, 3, 2)
    assert load_decisions(written(tmp_path, "")) == []


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("decision: keep", "decision: hold", r"entry 2 \(physics-4\): decision: .*'hold'"),
        ("reviewer: Bo", "reviewer: ''", r"entry 2 \(physics-4\): reviewer: .*at least 1"),
        ("date: 2026-03-02", "date: soon", r"entry 2 \(physics-4\): date: .*'soon'"),
        (", reason: Solved it; agrees.", "", r"entry 2 \(physics-4\): reason: Field required"),
        ("answer: [12 cm]", "answer: [12]", r"entry 1 .*edit\.answer\.0: .*string \(got 12\)"),
        ("answer: [12 cm]", "answer: 12 cm", r"edit\.answer: .*list \(got '12 cm'\)"),
        ("topic: mech", "topics: mech", r"edit\.topics: Extra inputs are not permitted"),
        ("edit: {answer: [12 cm], topic: mechanics}", "edit: {}", "no field is given under `edit`"),
        ("decision: edit", "decision: drop", "decision is drop, but there is an `edit`"),
        ("- problem: physics-3", "- prob: physics-3", r"entry 1: problem: Field required"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in FILE
    path = written(tmp_path, FILE.replace(old, new))
    with pytest.raises(FileFormatError, match=message) as error:
        load_decisions(path)
    assert str(error.value).startswith(str(path))
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("problem: x", "contains a dict, not a list"),
        ("- [", "is not valid YAML"),
        ("- just words", "entry 1: "),
    ],
)
def test_what_is_no_list_of_decisions(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(FileFormatError, match=message):
        load_decisions(written(tmp_path, text))


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(MissingInputError, match=r"none\.yaml: cannot be read"):
        load_decisions(tmp_path / "none.yaml")


words = st.text(alphabet=st.characters(blacklist_categories=("C", "Z")), min_size=1)


@given(
    st.builds(
        Decision, problem=words, decision=st.sampled_from(["keep", "drop"]), reviewer=words,
        date=st.dates(), reason=words, edit=st.none(), binding=st.booleans(),
    )
)  # fmt: skip
def test_a_decision_survives_yaml(tmp_path_factory: pytest.TempPathFactory, one: Decision) -> None:
    path = tmp_path_factory.mktemp("review") / "review.yaml"
    path.write_text(yaml.safe_dump([one.model_dump()], allow_unicode=True), "utf-8")
    assert load_decisions(path) == [one]
