"""One folder of results as the explorer reads it: cells, responses without texts, verdicts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final

from omibench.errors import FileFormatError, MissingInputError, reason_of
from omibench.params.cell import Cell
from omibench.schemas.cells.files import read_cell

if TYPE_CHECKING:
    import polars as pl

RESPONSE: Final = ("id", "index", "key", "outcome", "simulated", "output_tokens", "cost_usd")
VERDICT: Final = ("id", "index", "rules", "extracted", "verdict", "outcome", "simulated")
JUDGE_RULES: Final = "gptscore"
_VOTE_MARK: Final = "/"
"""Stands between a rule book and the judge of a panel whose own verdict it is."""


@dataclass(frozen=True)
class Run:
    """The results of one study, as they are on disk; cells that are not scored yet have responses
    alone.

    Attributes:
        folder: The folder that holds `freeze/`, `infer/` and `score/`.
        name: What it is called in the explorer.
        cells: Its cells with responses, models in alphabetical order.
        responses: One row a response: `model, setting` and `RESPONSE`.
        verdicts: One row a verdict: `model, setting` and `VERDICT`; those of single judges of a
            panel are left out.
        unreadable: What is said of cells whose files cannot be read, and that are left out.
    """

    folder: Path
    name: str
    cells: tuple[Cell, ...]
    responses: pl.DataFrame
    verdicts: pl.DataFrame
    unreadable: tuple[str, ...] = ()
    labels: dict[str, str] = field(default_factory=dict)
    """Names under which models and settings are shown, by their own."""
    stated_rules: str | None = None
    """The rule book that params name first; None where they name none."""

    @cached_property
    def rules(self) -> list[str]:
        """The rule books that have verdicts, the judge last."""
        names = sorted(self.verdicts["rules"].unique().to_list())
        return sorted(names, key=lambda name: (name == JUDGE_RULES, name))

    @cached_property
    def main_rules(self) -> str | None:
        """The rule book of the grid: the one of the params, else the first that has verdicts."""
        if self.stated_rules in self.rules:
            return self.stated_rules
        return next(iter(self.rules), None)

    @cached_property
    def is_simulated(self) -> bool:
        """Whether any response or verdict is simulated."""
        return bool(self.responses["simulated"].any() or self.verdicts["simulated"].any())

    @cached_property
    def simulated_cells(self) -> frozenset[Cell]:
        """The cells with a simulated response or verdict."""
        frames = (self.responses, self.verdicts)
        return frozenset(
            Cell(model, setting)
            for frame in frames
            for model, setting in frame.filter(simulated=True)
            .select("model", "setting")
            .unique()
            .rows()
        )

    def find_file(self, stage: str, cell: Cell) -> Path:
        """The file of a cell in a stage."""
        return self.folder / stage / cell.model / f"{cell.setting}.parquet"

    def label(self, name: str) -> str:
        """The name under which a model or setting is shown."""
        return self.labels.get(name, name)


class CellReader:
    """Reads files of cells, and remembers those that have not changed since."""

    def __init__(self) -> None:
        self._frames: dict[Path, tuple[tuple[int, int], pl.DataFrame]] = {}

    def read(self, path: Path, cell: Cell, columns: Sequence[str]) -> pl.DataFrame:
        """Some columns of a cell's file, behind `model` and `setting`.

        Raises:
            MissingInputError: It is not there.
            FileFormatError: It cannot be read.
        """
        stamp = _stamp(path)
        remembered = self._frames.get(path)
        if remembered is None or remembered[0] != stamp:
            remembered = (stamp, _read(path, cell, columns))
            self._frames[path] = remembered
        return remembered[1]


def open_run(
    folder: Path,
    labels: dict[str, str] | None = None,
    stated_rules: str | None = None,
    reader: CellReader | None = None,
) -> Run:
    """Read a folder of results.

    A study that is being run is read as far as it is: a cell without a readable file of responses
    is left out and named.

    Args:
        folder: The folder that holds `freeze/`, `infer/` and `score/`.
        labels: Names under which models and settings are shown.
        stated_rules: The rule book that params name first.
        reader: Remembers cells between one look and the next.

    Raises:
        MissingInputError: The folder holds no results.
        FileFormatError: No cell can be read.
    """
    import polars as pl

    reader = reader or CellReader()
    if not (folder / "freeze" / "questions.jsonl").is_file():
        raise MissingInputError(
            f"{folder}: holds no results: freeze/questions.jsonl is not there; name the folder "
            "`study.results` of a study that has frozen its dataset"
        )
    cells, responses, verdicts, unreadable = [], [], [], []
    for cell in list_cells(folder / "infer"):
        place = f"{cell.model}/{cell.setting}.parquet"
        try:
            responses.append(reader.read(folder / "infer" / place, cell, RESPONSE))
        except (FileFormatError, MissingInputError) as error:
            unreadable.append(str(error))
            continue
        cells.append(cell)
        if (folder / "score" / place).is_file():
            try:
                verdicts.append(reader.read(folder / "score" / place, cell, VERDICT))
            except (FileFormatError, MissingInputError) as error:
                unreadable.append(str(error))
    if unreadable and not cells:
        raise FileFormatError(unreadable[0])
    return Run(
        folder=folder,
        name=folder.resolve().name,
        cells=tuple(cells),
        responses=pl.concat(responses) if responses else _empty(RESPONSE),
        verdicts=_leave_votes_out(pl.concat(verdicts)) if verdicts else _empty(VERDICT),
        unreadable=tuple(unreadable),
        labels=labels or {},
        stated_rules=stated_rules,
    )


def list_cells(infer: Path) -> Iterator[Cell]:
    """The cells of which a folder of responses holds a file.

    Args:
        infer: The folder; it need not be there.
    """
    for path in sorted(infer.glob("*/*.parquet")):
        if not path.name.startswith(".") and not path.parent.name.startswith("."):
            yield Cell(path.parent.name, path.stem)


def _stamp(path: Path) -> tuple[int, int]:
    try:
        status = path.stat()
    except OSError as error:
        raise MissingInputError(f"{path}: cannot be read: {reason_of(error)}") from None
    return status.st_mtime_ns, status.st_size


def _read(path: Path, cell: Cell, columns: Sequence[str]) -> pl.DataFrame:
    import polars as pl

    frame = read_cell(path, columns)
    models, settings = pl.lit(cell.model).alias("model"), pl.lit(cell.setting).alias("setting")
    return frame.select(models, settings, *columns).cast(_types(columns))


def _empty(columns: Sequence[str]) -> pl.DataFrame:
    import polars as pl

    return pl.DataFrame(schema=_types(("model", "setting", *columns)))


def _types(columns: Sequence[str]) -> pl.Schema:
    import polars as pl

    numbers: dict[str, pl.DataType] = {
        "index": pl.Int64(),
        "output_tokens": pl.Int64(),
        "cost_usd": pl.Float64(),
        "verdict": pl.Float64(),
        "simulated": pl.Boolean(),
    }
    return pl.Schema({name: numbers.get(name, pl.String()) for name in columns})


def _leave_votes_out(verdicts: pl.DataFrame) -> pl.DataFrame:
    import polars as pl

    return verdicts.filter(~pl.col("rules").str.contains(_VOTE_MARK, literal=True))
