"""EMMA and EMMA-mini, from a folder of published response files (github.com/EMMA-Bench/EMMA).

The Parquet files hold questions beside responses: pid, subject, type, question, options, answer.
Images are not among them, so `<image_1>` stays in the text as it is: what needs no images works.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from omibench.benchmarks.dataset import Dataset
from omibench.errors import FileFormatError, MissingInputError
from omibench.problem import Answer, AnswerType, Choice, Question, Subject

SUBJECTS: dict[str, Subject] = {
    "Math": "mathematics",
    "Physics": "physics",
    "Chemistry": "chemistry",
    "Coding": "coding",
}
_COLUMNS = ("pid", "subject", "type", "question", "options", "answer")
_IMAGE = re.compile(r"<image_(\d+)>")


def load(folder: Path, scratch: Path) -> Dataset:
    """Every problem of every file once, by subject and number.

    The texts are those of the first file by name: later files repair a character of an option
    here and there. Raises MissingInputError when there is no Parquet file, FileFormatError when
    one lacks a column or two files disagree about a problem's gold, type or number of options.
    """
    rows: dict[str, dict[str, Any]] = {}
    files = sorted(folder.glob("*.parquet"))
    if not files:
        raise MissingInputError(f"{folder}: holds no .parquet file with EMMA problems")
    for file in files:
        for row in _rows(file):
            known = rows.setdefault(row["pid"], row)
            if _essence(known) != _essence(row):
                raise FileFormatError(f"{file}: {row['pid']} differs from the file read before it")
    ordered = sorted(rows.values(), key=_by_subject_and_number)
    return Dataset([_question(row) for row in ordered], [_answer(row) for row in ordered], folder)


def _rows(file: Path) -> list[dict[str, Any]]:
    import polars as pl

    try:
        frame = pl.read_parquet(file)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise FileFormatError(f"{file}: is not a Parquet file: {error}") from None
    missing = [name for name in _COLUMNS if name not in frame.columns]
    if missing:
        raise FileFormatError(f"{file}: lacks the column {missing[0]!r}; it has {frame.columns}")
    return frame.select(_COLUMNS).to_dicts()


def _essence(row: dict[str, Any]) -> tuple[str, str, int]:
    return row["answer"].strip().casefold(), _kind(row), len(row["options"] or [])


def _by_subject_and_number(row: dict[str, Any]) -> tuple[str, int, str]:
    digits = re.search(r"\d+", row["pid"])
    return row["subject"], int(digits.group()) if digits else 0, row["pid"]


def _kind(row: dict[str, Any]) -> AnswerType:
    # Spelt "Multiple Choice" and "Multiple choice".
    return "mcq" if row["type"].casefold() == "multiple choice" else "open"


def _choices(row: dict[str, Any]) -> list[Choice] | None:
    if _kind(row) == "open":
        return None
    return [Choice(label=chr(ord("A") + i), text=text) for i, text in enumerate(row["options"])]


def _question(row: dict[str, Any]) -> Question:
    return Question(
        id=row["pid"],
        question=row["question"],
        choices=_choices(row),
        subject=SUBJECTS.get(row["subject"], "other"),
    )


def _answer(row: dict[str, Any]) -> Answer:
    gold = row["answer"].strip()
    shown = {*_IMAGE.findall(row["question"]), *_IMAGE.findall(" ".join(row["options"] or []))}
    return Answer(
        id=row["pid"],
        # Golds are spelt "D" and "d".
        answer=[gold.upper() if _kind(row) == "mcq" else gold],
        answer_type=_kind(row),
        choices=_choices(row),
        subject=SUBJECTS.get(row["subject"], "other"),
        n_images=len(shown),
    )
