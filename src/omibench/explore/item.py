"""One item for its page: the problem, its gold answer, and the responses of cells side by side."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any, Final

import polars as pl
from pydantic import BaseModel

from omibench.errors import MissingInputError, OmibenchError, ParamsError
from omibench.explore.filters import describe_numbers
from omibench.explore.run import Items, Run
from omibench.explore.selection import Study
from omibench.params.setting import Cell
from omibench.schemas.cells import read_cell
from omibench.schemas.problem import Answer, Question
from omibench.schemas.tables import JudgementRow, SaliencyRow, map_file, read_parquet
from omibench.stages.analyze.explorer.item import (
    RESPONSE,
    VERDICT,
    describe_column,
    describe_outcomes,
    read_judgement,
)
from omibench.stages.analyze.explorer.requests import Link

MOST_COLUMNS: Final = 4
"""The maximum number of cells side by side."""
_OPTION: Final = ("image", "sha256", "option", "logprob", "chosen", "right")
Values = dict[str, Any]
ItemRows = defaultdict[str, list[Values]]
"""Rows by the id of their item."""
LinkMap = Callable[[Cell, str, int, str], str | None]
"""Returns the address of a heat map by cell, item, picture and option."""


def find_item(items: Items, name: str) -> tuple[Question, Answer]:
    """Return a problem and its gold answer.

    Raises:
        MissingInputError: The item does not exist.
    """
    question = items.questions.get(name)
    if question is None:
        raise MissingInputError(f"item {name[:80]!r} not found")
    return question, items.answers[name]


def list_outcomes(study: Study, name: str, rules: str) -> list[Values]:
    """Return every cell's outcome on an item under a scorer, of the samples that count.

    Args:
        study: The study, with a run.
        name: The id of the item.
        rules: The scorer.
    """
    run = study.run
    assert run is not None
    rows = run.list_verdicts(name).filter("counts", pl.col("rules") == rules).sort("index")
    by_cell: defaultdict[Cell, list[Values]] = defaultdict(list)
    for row in rows.iter_rows(named=True):
        by_cell[Cell(row["model"], row["setting"])].append(row)
    values = {key: rows[study.items.places[name]] for key, rows in study.read_measures().items()}
    measures = {cell: describe_numbers(values, place) for place, cell in enumerate(run.cells)}
    return describe_outcomes(run.cells, by_cell, run.simulated_cells, measures)


def check_cells(run: Run, cells: Sequence[Cell]) -> None:
    """Check that cells can be shown side by side.

    Raises:
        ParamsError: There are too many cells, or the run lacks one.
    """
    if len(cells) > MOST_COLUMNS:
        raise ParamsError(f"cells: at most {MOST_COLUMNS} side by side (got {len(cells)})")
    for cell in cells:
        if cell not in run.cells:
            raise ParamsError(f"cells: {cell.model}/{cell.setting} is not in the run")


class CellItems:
    """A cell's data on some items: responses, verdicts, judgements of the reasoning, saliency."""

    def __init__(self, run: Run, cell: Cell, names: Collection[str]) -> None:
        """Read the files of a cell.

        Args:
            run: The run.
            cell: The cell.
            names: The ids of the items.

        Raises:
            FileFormatError: The responses or verdicts cannot be read.
        """
        self._cell = cell
        self._responses = _read_rows(run, "infer", cell, names, RESPONSE)
        self._verdicts = _read_rows(run, "score", cell, names, ("id", *VERDICT))
        self._judgements = _read_beside(run, "judge", cell, names, JudgementRow)
        self._saliency = _read_beside(run, "saliency", cell, names, SaliencyRow)
        self._others = find_others(run, cell, names)

    def describe(self, name: str, link: Link, link_map: LinkMap) -> Values:
        """Return the responses to an item, as `document.describe_column`.

        Args:
            name: The id of the item.
            link: Returns the address of a picture.
            link_map: Returns the address of a heat map.
        """
        judgements: defaultdict[int, list[Values]] = defaultdict(list)
        for row in self._judgements[name]:
            # The agreement with human labels is in the report, which reads certificates.
            judgements[row["index"]].append(read_judgement(row, None) | {"calibration": ""})
        responses = [
            {**row, "left_out": (name, row["index"]) in self._others}
            for row in self._responses[name]
        ]
        column = describe_column(self._cell, responses, self._verdicts[name], judgements, link)
        return column | {"saliency": self._describe_saliency(name, link_map)}

    def _describe_saliency(self, name: str, link_map: LinkMap) -> Values | None:
        """Return the saliency of a choice, by the log-probabilities of the options.

        Returns:
            `{outcome, reason, simulated, options, maps}`: for each option, log P of the unmodified
            pictures, and the address of its heat map over each picture; None without measurements.
        """
        rows = self._saliency[name]
        if not rows:
            return None
        frame = pl.DataFrame(rows, infer_schema_length=None)
        places = frame.filter(pl.col("option") != "").select(_OPTION).unique(maintain_order=True)
        options = places.unique("option", keep="first", maintain_order=True)
        maps = places.unique(["image", "option"], maintain_order=True)
        return {
            "outcome": rows[0].get("outcome") or "scored",
            "reason": rows[0].get("reason") or "",
            "simulated": any(row["simulated"] for row in rows),
            "options": options.select("option", "logprob", "chosen", "right").to_dicts(),
            "maps": [
                {**place, "address": address}
                for place in maps.select("image", "option", "sha256").iter_rows(named=True)
                if (address := link_map(self._cell, name, place["image"], place["option"]))
            ],
        }


def find_others(run: Run, cell: Cell, names: Collection[str]) -> set[tuple[str, int]]:
    """Return the samples (item and index) of a cell that do not count under any scorer.

    Args:
        run: The run.
        cell: The cell.
        names: The ids of the items to look at.
    """
    others: set[tuple[str, int]] = set()
    for name in names:
        rows = run.list_verdicts(name).filter(model=cell.model, setting=cell.setting)
        counting = rows.filter("counts")["index"]
        others |= {(name, index) for index in rows["index"].unique() if index not in counting}
    return others


def find_heat_map(run: Run, cell: Cell, name: str, image: int, option: str) -> Path | None:
    """Return the heat map of an option over a picture, or None if the stage has not drawn one."""
    if cell not in run.cells:
        return None
    path = map_file(run.files.locate("saliency", cell).with_suffix(""), name, image, option)
    try:
        return path if path.is_file() else None
    except OSError:  # ids may be longer than file names can be
        return None


def _read_rows(
    run: Run, stage: str, cell: Cell, names: Collection[str], columns: Sequence[str]
) -> ItemRows:
    """Return the rows of some items in the file of a cell, by sample; none without a file.

    Columns that files of earlier versions lack are None.
    """
    path = run.files.find_file(stage, cell)
    if path is None:
        return defaultdict(list)
    present = set(pl.read_parquet_schema(path))
    frame = read_cell(path, [column for column in columns if column in present])
    missing = [pl.lit(None).alias(column) for column in columns if column not in present]
    return _group(frame.with_columns(missing).sort("index"), names)


def _read_beside(
    run: Run, stage: str, cell: Cell, names: Collection[str], row: type[BaseModel]
) -> ItemRows:
    """Return the rows of some items; none if the cell's file is missing or unreadable."""
    path = run.files.find_file(stage, cell)
    if path is None:
        return defaultdict(list)
    try:
        return _group(read_parquet(path, row), names)
    except OmibenchError:
        return defaultdict(list)


def _group(frame: pl.DataFrame, names: Collection[str]) -> ItemRows:
    by_item: ItemRows = defaultdict(list)
    for row in frame.filter(pl.col("id").is_in(list(names))).to_dicts():
        by_item[row["id"]].append(row)
    return by_item
