"""What the dataset holds, counted from the frozen problems."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from tests.stages.analyze.conftest import Folders

from omibench.schemas.problem import Answer, Question
from omibench.schemas.tables import read_jsonl

pytestmark = pytest.mark.usefixtures("undrawn")


@pytest.fixture(scope="module")
def tables(made: Folders, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("dataset")
    block = made.study.analyze.model_copy(update={"explorer": False})
    made.analyze(out, made.study.model_copy(update={"analyze": block}))
    return out / "tables"


def test_counts_and_means_are_those_of_the_frozen_problems(made: Folders, tables: Path) -> None:
    table = pl.read_parquet(tables / "dataset.parquet")
    answers = read_jsonl(made.freeze / "answers.jsonl", Answer)
    questions = {q.id: q for q in read_jsonl(made.freeze / "questions.jsonl", Question)}

    def estimate(metric: str, value: str = "", cut: str = "") -> float:
        (row,) = table.filter(metric=metric, slice=cut, value=value).iter_rows(named=True)
        return float(row["estimate"])

    assert estimate("problems") == len(answers)
    biology = [a for a in answers if a.subject == "biology"]
    assert estimate("problems", "biology", "subject") == len(biology)
    assert estimate("share of problems", "biology", "subject") == pytest.approx(
        len(biology) / len(answers), abs=1e-6
    )
    assert estimate("images", "biology", "subject") == pytest.approx(
        sum(a.n_images for a in biology) / len(biology), abs=1e-6
    )
    lengths = [len(questions[a.id].question) for a in answers]
    row = table.filter(metric="question characters", slice="").row(0, named=True)
    assert row["estimate"] == pytest.approx(sum(lengths) / len(lengths), abs=1e-6)
    assert (row["least"], row["most"]) == (min(lengths), max(lengths))


def test_every_question_is_in_one_bin_of_lengths(made: Folders, tables: Path) -> None:
    table = pl.read_parquet(tables / "question-lengths.parquet")
    questions = read_jsonl(made.freeze / "questions.jsonl", Question)
    for row in table.iter_rows(named=True):
        inside = [q for q in questions if row["least"] <= len(q.question) <= row["most"]]
        assert row["n"] == len(inside)
    assert table["n"].sum() == len(questions)
