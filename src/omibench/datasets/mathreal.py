"""MathReal: `testmini.json` and its photographs (github.com/junfeng0288/MathReal).

The table is in the folder itself or, as in a clone of its repository, in `json`.

Every problem has a photograph; some also have a clean picture of the same figure. Paper
MathReal, sections 3 and 4.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel

from omibench.datasets.dataset import Dataset, make_answer
from omibench.datasets.found import Found
from omibench.datasets.registry import benchmark
from omibench.datasets.rows import naming, the_file, typed_rows
from omibench.errors import FileFormatError
from omibench.params.benchmark import BenchmarkParams
from omibench.schemas.problem import Answer, Figure, Question, Value

REAL, CLEAN = "real", "clean"
SIDES: Final = {REAL: (REAL,), CLEAN: (CLEAN,), "both": (REAL, CLEAN)}
"""`benchmark.pictures` -> the pictures with which a record is read."""
FILES = ("testmini", "test", "index", "json/testmini", "json/test")
_ABSENT = ("0", "Upright")
"""Grades of a condition that a photograph does not have."""


class MathRealRow(BaseModel):
    """One record of the release."""

    idx: int
    ImgReal: str
    ImgClean: str | None = None
    QuestionCN: str
    QuestionEN: str
    DescriptionCN: str | None = None
    DescriptionEN: str | None = None
    AnswerCN: str
    AnswerEN: str
    Category: str
    EducationalStage: str
    QuestionType: str
    Difficulty: str
    ImageQualityDegradation: dict[str, Any] = {}
    ImagePerspectiveVariation: dict[str, Any] = {}
    ContentInterference: dict[str, Any] = {}


@benchmark(
    "mathreal",
    rules="mathreal",
    published=(
        "mathreal_main.csv",
        "mathreal_real_vs_clean.csv",
        "mathreal_six_settings.csv",
        "mathreal_multiple_choice.csv",
        "mathreal_fill_in.csv",
        "mathreal_constructed_response.csv",
    ),
)
def load(folder: Path, scratch: Path, params: BenchmarkParams) -> Dataset:
    """Read every record with its photograph, question and answer in `params.language`.

    With `pictures: clean`, only records with a clean picture are read, with that picture. With
    `both`, these records are read twice, once with each picture, as two items of one group
    (table 8). Raises FileFormatError if no record has a clean picture.
    """
    language = params.language
    finder = Found(folder, scratch)
    file = the_file(folder, *FILES)
    sides = SIDES[params.pictures]
    rows = [r for r in typed_rows(file, MathRealRow, "idx") if sides == (REAL,) or r.ImgClean]
    if not rows:
        raise FileFormatError(f"{file}: no record has a clean picture (`benchmark.pictures`)")
    questions, answers = [], []
    for row in rows:
        for side in sides:
            place = _place(row, side, paired=len(sides) > 1)
            with naming(file, place["id"]):
                figure = finder.figure((row.ImgClean if side == CLEAN else None) or row.ImgReal)
            questions.append(_question(row, figure, language, place))
            answers.append(_answer(row, questions[-1], side))
    return Dataset(questions, answers, folder)


def _place(row: MathRealRow, side: str, *, paired: bool) -> dict[str, str]:
    """Return the id of an item and, if its problem is read twice, the group of both items."""
    name = f"mathreal-{row.idx:04}"
    if not paired:
        return {"id": name}
    return {"id": f"{name}-{CLEAN}" if side == CLEAN else name, "group": name}


def _question(
    row: MathRealRow, figure: Figure, language: str, place: Mapping[str, str]
) -> Question:
    chinese = language == "zh"
    text = row.QuestionCN if chinese else row.QuestionEN
    described = row.DescriptionCN if chinese else row.DescriptionEN
    return Question(
        **place,
        question=f"[IMAGE0]\n{text}",
        images=[figure.model_copy(update={"caption": described or None})],
        subject="mathematics",
        language=language,
    )


def _answer(row: MathRealRow, question: Question, side: str) -> Answer:
    """Return item attributes; with `pair`, which picture is shown if both exist (table 8)."""
    return make_answer(
        question,
        [row.AnswerCN if question.language == "zh" else row.AnswerEN],
        topic=row.Category,
        attributes={
            "category": row.Category,
            "difficulty": row.Difficulty,
            "stage": row.EducationalStage,
            "type": row.QuestionType,
            **({"pair": side} if row.ImgClean else {}),
            **_list_conditions(row),
        },
    )


def _list_conditions(row: MathRealRow) -> dict[str, Value]:
    """Return the grade of each photograph condition, and the conditions present.

    `noise` and `noise groups` are MathReal's subtypes and categories (section 3.4): a grade
    above 0, or a picture that is not upright.
    """
    groups: dict[str, Mapping[str, Any]] = {
        "image quality degradation": row.ImageQualityDegradation,
        "image perspective variation": row.ImagePerspectiveVariation,
        "content interference": row.ContentInterference,
    }
    noise = {
        name: [condition for condition, grade in sorted(group.items()) if _is_there(grade)]
        for name, group in groups.items()
    }
    subtypes = [condition for conditions in noise.values() for condition in conditions]
    several = {"noise": subtypes, "noise groups": [name for name in noise if noise[name]]}
    return {
        **{name: labels for name, labels in several.items() if labels},
        **{name: str(grade) for group in groups.values() for name, grade in sorted(group.items())},
    }


def _is_there(grade: Any) -> bool:
    return str(grade) not in _ABSENT
