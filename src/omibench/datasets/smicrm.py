"""SMiCRM (zenodo.org/records/10811653; Leung et al. 2024): molecules with mechanistic arrows.

`mechanism.csv` has the columns `file_path` and `SMILES`, as its authors' script `SMILEStoSD.py`
(github.com/ting2025/SMiCRM) reads them; the pictures lie in any folder below. Paths are those of
the authors' machine, so only the file name counts. The archive was not available for testing.
"""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from typing import Annotated, Final

from pydantic import AliasChoices, BaseModel, BeforeValidator, Field

from omibench.datasets.dataset import Dataset, make_answer
from omibench.datasets.found import Found
from omibench.datasets.registry import benchmark
from omibench.datasets.rows import read_dataset, the_file
from omibench.params.benchmark import BenchmarkParams
from omibench.schemas.problem import Answer, Question

TASK: Final = (
    "[IMAGE0]\nThe picture shows molecules of one step of a reaction mechanism, with arrows for "
    "the movement of electrons. Write the structures, without the arrows, as one SMILES string."
)


class SmicrmRow(BaseModel):
    """One picture and its molecules."""

    file_path: Annotated[
        str,
        BeforeValidator(lambda path: PurePosixPath(str(path).replace("\\", "/")).name),
        Field(min_length=1),
    ]
    smiles: Annotated[str, Field(min_length=1, validation_alias=AliasChoices("SMILES", "smiles"))]


@benchmark("smicrm")
def load(folder: Path, scratch: Path, params: BenchmarkParams) -> Dataset:
    """Read one problem per picture. Raises as `the_file` and `typed_rows`."""
    finder = Found(folder, scratch)
    file = the_file(folder, "mechanism", "mechanism/mechanism")

    def convert(row: SmicrmRow) -> tuple[Question, Answer]:
        question = Question(
            id=f"smicrm-{PurePosixPath(row.file_path).stem}",
            question=TASK,
            images=[finder.figure(row.file_path)],
            subject="chemistry",
        )
        return question, make_answer(question, [row.smiles.strip()], topic="structure recognition")

    return read_dataset(folder, [file], SmicrmRow, "file_path", convert)
