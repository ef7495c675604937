"""EMMA from its published files: every problem once, golds apart from questions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.datasets.conftest import Read

from omibench.errors import FileFormatError, MissingInputError, ParamsError
from omibench.schemas.problem import Choice

ROW = {
    "pid": "Math_2", "subject": "Math", "type": "Multiple choice", "question": "<image_1> Which?",
    "options": ["left", "<image_2>"], "answer": "b",
}  # fmt: skip
OPEN = {
    **ROW,
    "pid": "Coding_1",
    "subject": "Coding",
    "type": "Open-ended",
    "options": [],
    "answer": " 7 ",
}


def write(path: Path, *rows: dict[str, Any]) -> None:
    schema = dict.fromkeys(ROW, pl.String) | {"options": pl.List(pl.String)}
    pl.DataFrame(rows, schema=schema).write_parquet(path)


def test_problems_of_all_files_once_and_in_order(tmp_path: Path, read: Read) -> None:
    write(tmp_path / "a.parquet", {**ROW, "pid": "Math_10"}, ROW)
    write(tmp_path / "b.parquet", ROW, OPEN)
    questions, answers, _ = read("emma", tmp_path)
    assert [q.id for q in questions] == [a.id for a in answers] == ["Coding_1", "Math_2", "Math_10"]
    assert [q.answer_type for q in questions] == ["open", "mcq", "mcq"]
    assert questions[1].choices == [
        Choice(label="A", text="left"),
        Choice(label="B", text="<image_2>"),
    ]
    assert questions[1].images == []
    assert [a.answer for a in answers] == [["7"], ["B"], ["B"]]
    assert [a.n_images for a in answers] == [1, 2, 2]
    assert [a.subject for a in answers] == ["coding", "mathematics", "mathematics"]


def test_a_repaired_option_is_no_disagreement(tmp_path: Path, read: Read) -> None:
    write(tmp_path / "a.parquet", ROW)
    write(tmp_path / "b.parquet", {**ROW, "options": ["on the left", "<image_2>"]})
    (question,), _, _ = read("emma", tmp_path)
    assert question.choices is not None
    assert question.choices[0].text == "left"


def test_two_files_that_disagree_are_refused(tmp_path: Path, read: Read) -> None:
    write(tmp_path / "a.parquet", ROW)
    write(tmp_path / "b.parquet", {**ROW, "answer": "A"})
    with pytest.raises(FileFormatError, match=r"b\.parquet: Math_2 differs"):
        read("emma", tmp_path)


def test_a_missing_column_is_named(tmp_path: Path, read: Read) -> None:
    pl.DataFrame({"pid": ["x"]}).write_parquet(tmp_path / "a.parquet")
    with pytest.raises(FileFormatError, match="lacks the column 'subject'"):
        read("emma", tmp_path)


def test_what_is_not_there_is_said(tmp_path: Path, read: Read) -> None:
    with pytest.raises(MissingInputError, match="the folder does not exist"):
        read("emma", tmp_path / "none")
    with pytest.raises(MissingInputError, match=r"no \.parquet file"):
        read("emma", tmp_path)
    with pytest.raises(ParamsError, match="data: must be the folder"):
        read("emma", None)
    with pytest.raises(ParamsError, match="'papers' is not read from files"):
        read("papers", tmp_path)


def test_the_published_files_hold_emma_mini(shared_data: Path, read: Read) -> None:
    questions, answers, _ = read("emma", shared_data / "emma" / "dev")
    # The two files of the thinking model hold five problems that no other file has.
    assert len(questions) == len(answers) == 405
    subjects = [q.subject for q in questions]
    assert {s: subjects.count(s) for s in set(subjects)} == {
        "mathematics": 102, "physics": 103, "chemistry": 100, "coding": 100,
    }  # fmt: skip
    for answer in answers:
        labels = {choice.label for choice in answer.choices or []}
        assert answer.answer_type == "open" or set(answer.answer) <= labels


PNG = b"\x89PNG\r\n\x1a\nany"


def picture(n: int) -> dict[str, Any]:
    return {"bytes": PNG + bytes([n]), "path": f"{n}.png"}


def test_the_layout_of_the_hub_brings_its_pictures(tmp_path: Path, read: Read) -> None:
    row = {
        **ROW, "context": "Look at <image_3>.", "category": "2D Transformation", "task": "none",
        "image_1": picture(1), "image_2": None, "image_3": picture(3), "solution": "because",
    }  # fmt: skip
    (tmp_path / "Math").mkdir()
    pl.DataFrame([row]).write_parquet(tmp_path / "Math" / "test-00000-of-00001.parquet")
    (question,), (answer,), _ = read("emma", tmp_path)
    assert question.question == "Look at [IMAGE1].\n[IMAGE0] Which?"
    assert [Path(f.file).read_bytes()[-1] for f in question.images] == [1, 3]
    assert question.choices is not None
    assert question.choices[1].text == "<image_2>", "a picture that is not there keeps its mark"
    assert (answer.n_images, answer.solution) == (2, "because")
    assert answer.attributes == {"category": "2D Transformation"}


def whole(folder: Path) -> Path:
    """Two subjects: one of three categories, of which one is small, and one of 20 problems."""
    sizes = {"Math": {"a": 80, "b": 60, "c": 10}, "Coding": {"x;y": 10, "y": 10}}
    rows = [
        {**ROW, "pid": f"{subject}_{category}_{n}", "subject": subject, "category": category,
         "task": category}
        for subject, categories in sizes.items()
        for category, size in categories.items()
        for n in range(size)
    ]  # fmt: skip
    pl.DataFrame(rows).write_parquet(folder / "all.parquet")
    return folder


def test_mini_draws_a_hundred_a_subject_evenly_by_category(tmp_path: Path, read: Read) -> None:
    questions, answers, _ = read("emma-mini", whole(tmp_path))
    assert [q.id for q in questions] == [a.id for a in answers]
    drawn = [(a.subject, a.topic) for a in answers]
    assert {key: drawn.count(key) for key in set(drawn)} == {
        ("mathematics", "a"): 45, ("mathematics", "b"): 45, ("mathematics", "c"): 10,
        ("coding", "x;y"): 10, ("coding", "y"): 10,
    }  # fmt: skip


def test_mini_depends_on_its_seed_alone(tmp_path: Path, read: Read) -> None:
    folder = whole(tmp_path)
    first, again, other = (
        [a.id for a in read("emma-mini", folder, seed=seed).answers] for seed in ("0", "0", "1")
    )
    assert first == again != other


def test_a_problem_of_several_categories_has_each(tmp_path: Path, read: Read) -> None:
    row = {**ROW, "subject": "Coding", "category": "Polar; Legend;Polar", "source": "charts"}
    pl.DataFrame([row]).write_parquet(tmp_path / "all.parquet")
    (answer,) = read("emma", tmp_path).answers
    assert answer.attributes["category"] == ["Polar", "Legend"]
    assert (answer.topic, answer.attributes["source"]) == ("Polar; Legend;Polar", "charts")
