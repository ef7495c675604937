"""The benchmark `moons`: `moons.csv` with the columns planet, moons and picture."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel

from omibench.datasets.dataset import Dataset
from omibench.datasets.found import Found
from omibench.datasets.registry import benchmark
from omibench.datasets.rows import naming, the_file, typed_rows
from omibench.params.benchmark import BenchmarkParams
from omibench.schemas.problem import Answer, Question


class MoonsRow(BaseModel):
    """One planet."""

    planet: str
    moons: str
    picture: str


@benchmark("moons", rules="within-a-percent")
def load(folder: Path, scratch: Path, params: BenchmarkParams) -> Dataset:
    """Yield one question per planet, in file order."""
    found = Found(folder, scratch)
    file = the_file(folder, "moons")
    questions, answers = [], []
    for row in typed_rows(file, MoonsRow, "planet"):
        with naming(file, row.planet):
            text = f"[IMAGE0]\nHow many moons has {row.planet}?"
            figure = found.figure(row.picture)
            questions.append(Question(id=row.planet, question=text, images=[figure]))
            answers.append(
                Answer(id=row.planet, answer=[row.moons], answer_type="open", n_images=1)
            )
    return Dataset(questions, answers, folder)
