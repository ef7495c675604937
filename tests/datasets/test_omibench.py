"""OMIBench as released: rows, marks in options, embedded pictures, groups, absent pictures."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.datasets.conftest import Read

from omibench.errors import FileFormatError, MissingInputError

PNG = b"\x89PNG\r\n\x1a\nfirst"
ROW: dict[str, Any] = {
    "id": "physics-1-1", "subject": "physics", "answer_type": "mcq",
    "question": "Compare [IMAGE0] and [IMAGE1].", "image_list": ["a.png", "b.png"],
    "choice_list": ["[IMAGE1]", "as in [IMAGE0], or [IMAGE1]"], "answer": ["A"], "solution": "s",
    "img_category": "optics",
}  # fmt: skip
OPEN = {**ROW, "id": "math-2", "subject": "mathematics", "answer_type": "open", "choice_list": []}


def write(folder: Path, *rows: dict[str, Any]) -> Path:
    (folder / "test.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return folder


def test_options_are_pictures_or_texts_with_marks(tmp_path: Path, read: Read) -> None:
    (question, other), (answer, _), _ = read("omibench", write(tmp_path, ROW, OPEN))
    assert question.choices is not None
    assert [(c.label, c.text, c.image) for c in question.choices] == [
        ("A", None, 1),
        ("B", "as in [IMAGE0], or [IMAGE1]", None),
    ]
    assert other.choices is None
    assert (answer.answer, answer.solution, answer.n_images) == (["A"], "s", 2)
    assert answer.attributes == {"category": "optics"}
    assert "s" not in question.model_dump().values()


def test_pictures_are_found_in_any_folder_below(tmp_path: Path, read: Read) -> None:
    (tmp_path / "images" / "deep").mkdir(parents=True)
    (tmp_path / "images" / "deep" / "a.png").write_bytes(PNG)
    (question,), _, folder = read("omibench", write(tmp_path, ROW))
    found, absent = question.images
    assert (folder / found.file).read_bytes() == PNG
    assert found.sha256 == hashlib.sha256(PNG).hexdigest()
    assert (absent.file, absent.sha256) == ("b.png", "")


def test_the_pictures_of_a_parquet_file_are_in_it(tmp_path: Path, read: Read) -> None:
    pictures = [{"bytes": PNG, "path": "x.png"}, {"bytes": PNG + b"2", "path": None}]
    rows = [{**ROW, "image_list": pictures}, {**OPEN, "image_list": pictures[1:], "question": "?"}]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "test.parquet")
    (question, other), _, folder = read("omibench", tmp_path)
    assert [(folder / f.file).read_bytes() for f in question.images] == [PNG, PNG + b"2"]
    assert other.images == question.images[1:]
    assert other.group == question.group == "physics-1-1"


def test_questions_of_one_stem_share_a_group(tmp_path: Path, read: Read) -> None:
    def row(name: str, *images: str) -> dict[str, Any]:
        return {**OPEN, "id": name, "question": "?", "image_list": list(images)}

    rows = [
        row("physics-7-1", "a.png"), row("math-1", "b.png"), row("physics-7-2", "c.png"),
        row("math-3", "c.png", "d.png"), row("physics-ReMI-7", "e.png"),
        row("physics-ReMI-8", "f.png"),
    ]  # fmt: skip
    questions, _, _ = read("omibench", write(tmp_path, *rows))
    assert [q.group for q in questions] == [
        "physics-7-1", "math-1", "physics-7-1", "physics-7-1", "physics-ReMI-7", "physics-ReMI-8",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"answer": []}, r"test\.jsonl: physics-1-1: answer: "),
        ({"subject": "art"}, r"physics-1-1: subject: .*'art'"),
        ({"image_list": ["a.png"]}, r"physics-1-1: .*\[IMAGE1\] is shown but there are 1 images"),
        ({"id": ""}, r"item 1"),
    ],
)
def test_a_wrong_row_is_named(
    tmp_path: Path, read: Read, change: dict[str, Any], message: str
) -> None:
    with pytest.raises(FileFormatError, match=message):
        read("omibench", write(tmp_path, {**ROW, **change}))


def test_an_id_comes_once(tmp_path: Path, read: Read) -> None:
    with pytest.raises(FileFormatError, match="physics-1-1: two items have this id"):
        read("omibench", write(tmp_path, ROW, ROW))


def test_broken_files_are_named(tmp_path: Path, read: Read) -> None:
    with pytest.raises(MissingInputError, match=r"test\.jsonl"):
        read("omibench", tmp_path)
    (tmp_path / "test.jsonl").write_text('{"id": ', "utf-8")
    with pytest.raises(FileFormatError, match="line 1: is not JSON"):
        read("omibench", tmp_path)
    (tmp_path / "test.jsonl").unlink()
    (tmp_path / "test.parquet").write_bytes(b"PAR1")
    with pytest.raises(FileFormatError, match="is not a Parquet file"):
        read("omibench", tmp_path)


def test_the_official_split_loads_whole(shared_data: Path, read: Read) -> None:
    questions, answers, _ = read("omibench", shared_data / "omibench")
    assert len(questions) == 1322
    assert Counter(q.subject for q in questions) == {
        "mathematics": 430, "physics": 424, "biology": 251, "chemistry": 217,
    }  # fmt: skip
    assert Counter(a.answer_type for a in answers) == {"open": 748, "mcq": 574}
    shown = {
        s: [a.n_images for a in answers if a.subject == s] for s in {a.subject for a in answers}
    }
    means = {subject: round(sum(counts) / len(counts), 2) for subject, counts in shown.items()}
    # In print: 3.07, 4.00, 2.35 and 3.34; physics differs in the released split.
    assert means == {"biology": 3.07, "chemistry": 3.99, "mathematics": 2.35, "physics": 2.83}
    assert round(sum(a.n_images for a in answers) / 1322, 2) == 2.91
    assert all(set(q.image_order()) == set(range(len(q.images))) for q in questions)
