"""Keys as tables and texts: what each line says, and one clear line for what says nothing."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest
from tests.stages.ocr.conftest import exam

from omibench.errors import PaperError
from omibench.params.stages.ocr import OcrParams
from omibench.schemas.problem import Problem
from omibench.schemas.tables import read_jsonl
from omibench.stages.ocr import read_papers
from omibench.stages.ocr.structure.key_tables import LIMIT, Read, read_key_file

LABELS = ["1", "2", "3", "4"]
SECTIONED = ["A1", "A2", "B1", "B2"]


def read(folder: Path, name: str, text: str, labels: list[str] = LABELS) -> Read:
    (folder / name).write_text(text, "utf-8")
    return read_key_file(str(folder / name), None, labels)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("k.csv", "number,answer\n1,C\n2,\"A, C\"\n3,12 m; 3 s\n4,-\n"),
        ("k.csv", "1,C\n2,\"A, C\"\n\n3,12 m; 3 s\n4,\n"),
        ("k.csv", "\ufeffPoints;Answer;No.\r\n2;C;1\r\n2;A, C;2\r\n5;\"12 m; 3 s\";3\r\n1; ;4\r\n"),
        ("k.tsv", "1\tC\tbecause\n2\tA, C\n3\t12 m; 3 s\n4\t—\n"),
        ("k.txt", "# the key\n1. C\n2) A, C\n\n3: 12 m; 3 s\n4.\n"),
        ("k.TXT", "Q1 C\n2, A, C\n3 = 12 m; 3 s\n(4) —\n"),
    ],
)  # fmt: skip
def test_tables_and_texts_say_the_same(tmp_path: Path, name: str, text: str) -> None:
    key, strange = read(tmp_path, name, text)
    assert [key.get(label) for label in LABELS] == [["C"], ["A", "C"], ["12 m", "3 s"], None]
    assert key.blank == {"4"}
    assert strange == []


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("1.C", ["C"]), ("1 a", ["a"]), ("1 (A) 3 m", ["(A) 3 m"]), ("1.5", ["5"]),
        ("1 1.5", ["1.5"]), ("1)\t-3", ["-3"]), ("1: 2: 3", ["2: 3"]), ("第1题 C", ["C"]),
    ],
)  # fmt: skip
def test_a_line_of_a_text(tmp_path: Path, line: str, answer: list[str]) -> None:
    assert read(tmp_path, "k.txt", line).key.get("1") == answer


def test_sections_parts_and_cancelled_problems(tmp_path: Path) -> None:
    key, strange = read(tmp_path, "k.txt", "A1 C\nB.2: 4\nB1a) 3 m\nB1b) 5 m\nA2 void", SECTIONED)
    assert (key.get("A1"), key.get("B2"), key.get("B1")) == (["C"], ["4"], ["(a) 3 m", "(b) 5 m"])
    assert (key.cancelled, strange) == ({"A2"}, [])


def test_two_answers_to_one_number_are_no_answer(tmp_path: Path) -> None:
    key = read(tmp_path, "k.csv", "1,C\n1,D\n2,A\n2,A\n").key
    assert (key.get("1"), key.get("2"), key.doubtful) == (None, ["A"], {"1"})


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        (
            "k.csv",
            "number,answer\n1,C\n\nfirst,B\n",
            r"line 4: 'first' does not begin with the number",
        ),
        ("k.csv", "nr,letter\n1,C\n", r"line 1: 'nr' does not begin with the number"),
        ("k.csv", "1,C\n2\n", r"line 2: '2' has no answer"),
        ("k.csv", '1,C\n2,"A\n', r"line 2: is not CSV: unexpected end of data"),
        ("k.txt", "1 C\nTotal: 30\n", r"line 2: 'Total: 30' does not begin with the number"),
        ("k.txt", "1 C\n2\n", r"line 2: '2' has no answer"),
        ("k.txt", "x" * 900, r"line 1: 'x{60}\.\.\.' does not begin with the number"),
    ],
)
def test_what_says_nothing_is_named_with_its_line(
    tmp_path: Path, name: str, text: str, words: str
) -> None:
    with pytest.raises(PaperError, match=rf"{name}, {words}") as raised:
        read(tmp_path, name, text)
    assert raised.value.code == "key_unreadable"


def test_files_that_are_no_text_are_refused(tmp_path: Path) -> None:
    def code(path: Path, sha256: str | None = None) -> str:
        with pytest.raises(PaperError) as raised:
            read_key_file(str(path), sha256, LABELS)
        return raised.value.code

    (tmp_path / "latin.csv").write_bytes("1,Ä".encode("cp1252"))
    (tmp_path / "large.csv").write_bytes(b"1,C\n" * (LIMIT // 4 + 1))
    (tmp_path / "field.csv").write_text('1,"' + "x" * 2_001 + '"')
    (tmp_path / "long.txt").write_text("1. " + "x" * 2_001)
    assert code(tmp_path / "latin.csv") == "key_unreadable"
    assert code(tmp_path / "large.csv") == "key_unreadable"
    assert code(tmp_path / "field.csv") == "key_unreadable"
    assert code(tmp_path / "long.txt") == "key_unreadable"
    assert code(tmp_path / "none.csv") == "file_missing"
    os.mkfifo(tmp_path / "pipe.csv")
    assert code(tmp_path / "pipe.csv") == "file_missing"
    (tmp_path / "good.csv").write_text("1,C")
    assert code(tmp_path / "good.csv", "0" * 64) == "sha256_mismatch"
    right = hashlib.sha256(b"1,C").hexdigest().upper()
    assert read_key_file(str(tmp_path / "good.csv"), right, LABELS).key.get("1") == ["C"]


@pytest.mark.slow
def test_a_paper_takes_its_answers_from_a_table(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    exam(1).save(tmp_path / "paper.pdf")
    manifest = tmp_path / "sources.yaml"
    manifest.write_text("sources: [{name: p, paper: paper.pdf, key: answers.csv}]")
    (tmp_path / "answers.csv").write_text("1,5 m\n99,C\n")
    report = read_papers([], tmp_path / "out", OcrParams(), manifest=manifest)
    assert report.files[0].codes == ["key_number_unknown"]
    assert "answers.csv: line 2 ('99')" in caplog.text
    problems = read_jsonl(tmp_path / "out/problems.jsonl", Problem)
    assert problems[0].answer == ["5 m"]
    (tmp_path / "answers.csv").write_text("1,5 m\nlast,C\n")
    report = read_papers([], tmp_path / "out", OcrParams(), manifest=manifest)
    assert report.files[0].codes == ["key_unreadable"]
    assert (
        "answers.csv, line 2: 'last' does not begin with the number of a problem; write"
        in caplog.text
    )
