"""A decisions file is typed: what is wrong in it is named by file, entry and field."""

from __future__ import annotations

import datetime
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from omibench.errors import FileFormatError, MissingInputError
from omibench.review import Decision, load_decisions

GOOD = """
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
    edit, keep = load_decisions(written(tmp_path, GOOD))
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
    assert old in GOOD
    path = written(tmp_path, GOOD.replace(old, new))
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
