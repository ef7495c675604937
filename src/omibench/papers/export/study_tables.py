"""The tidy tables of a study, complete or restricted to one item of a paper."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from copy import copy
from functools import cached_property
from pathlib import Path
from typing import Final, NamedTuple, Self

import polars as pl

from omibench.errors import MissingInputError
from omibench.files.csv_file import unmark_formula
from omibench.files.intake import read_csv, read_frame
from omibench.papers.catalogue import Above, Among, Condition, Needs

_PLACES: Final = "printed-places"
"""The result with the cells of each item of the paper."""
_DESCRIBED: Final = {"models": "model", "settings": "setting"}
"""The results that describe models or settings, and their keys."""


class _Item(NamedTuple):
    """The scorers and cells of one item; no cells if the study does not define them."""

    rules: Sequence[str]
    cells: pl.DataFrame | None


class StudyTables:
    """The tidy tables in a results folder, each read on first use.

    Args:
        results: The results folder.

    Raises:
        MissingInputError: It contains no tables of results.
    """

    def __init__(self, results: Path) -> None:
        self.folder = results / "analyze" / "tables"
        self.names = sorted(path.stem for path in self.folder.glob("*.parquet"))
        if not self.names:
            raise MissingInputError(
                f"{results}: contains no tables of results (analyze/tables/*.parquet); run "
                "`omibench analyze` first, or give the results folder of a study"
            )
        self._main = results / "analyze" / "main.csv"
        self._frames: dict[str, pl.DataFrame] = {}
        self._item: _Item | None = None

    @property
    def dataset(self) -> str:
        """The name of the results' dataset."""
        frame = self._read(self.names[0])
        return str(frame["dataset"][0]) if frame.height else ""

    def table(self, name: str) -> pl.DataFrame:
        """Return the tidy table of a result; of an item, the rows for its scorers and cells.

        Raises:
            FileFormatError: The file cannot be read.
        """
        frame = self._read(name)
        if self._item is None:
            return frame
        rules, cells = self._item
        if name in _DESCRIBED:  # of the item's cells, else of any cell
            if cells is None and "accuracy" in self.names:
                cells = self._read("accuracy").select("model", "setting")
            return frame if cells is None else frame.join(cells, on=_DESCRIBED[name], how="semi")
        if frame["rules"].is_in(rules).any():
            frame = frame.filter(pl.col("rules").is_in([*rules, ""]))
        if cells is not None:
            about_cells = (pl.col("model") != "") & (pl.col("setting") != "")
            inside = frame.join(cells, on=["model", "setting"], how="semi")
            if inside.height:
                frame = pl.concat([frame.filter(~about_cells), inside.filter(about_cells)])
        return frame

    def _read(self, name: str) -> pl.DataFrame:
        if name not in self._frames:
            self._frames[name] = read_frame(self.folder / f"{name}.parquet")
        return self._frames[name]

    @cached_property
    def labels(self) -> Mapping[str, str]:
        """Model -> its name in the report; empty without a main table."""
        if not self._main.is_file():
            return {}
        return {
            unmark_formula(row.get("model", "")): unmark_formula(row.get("label", ""))
            for row in read_csv(self._main)
        }

    @cached_property
    def setting_labels(self) -> Mapping[str, str]:
        """Setting -> its name in the report; empty without a table."""
        frame = self._read("settings") if "settings" in self.names else None
        if frame is None or "label" not in frame.columns:  # of an earlier version
            return {}
        return dict(frame.select("setting", "label").iter_rows())

    def restrict(self, rules: Sequence[str], key: str) -> Self:
        """Return the tables restricted to a paper's scorers, and to the cells of one item.

        Args:
            rules: Scorers; rows of others are dropped if a table has one of these.
            key: An item such as `table2`; `infer.printed` of the study defines its cells.
        """
        other = copy(self)
        other._item = _Item(rules, self._list_cells(key))
        return other

    def _list_cells(self, key: str) -> pl.DataFrame | None:
        """Return the cells of an item, or of its parts `figure 3a`, ...; None if undefined."""
        if _PLACES not in self.names:
            return None
        place = re.sub(r"^([a-z]+)(\d)", r"\1 \2", key)
        cells = self._read(_PLACES).filter(pl.col("value").str.contains(f"^{place}[a-z]?$"))
        return cells.select("model", "setting").unique() if cells.height else None

    def meets(self, needs: Needs) -> bool:
        """Return whether the study contains what an item needs.

        Raises:
            FileFormatError: A table cannot be read.
        """
        if needs.listed and (self._item is None or self._item.cells is None):
            return False
        return all(
            name in self.names and _meets_all(self.table(name), conditions)
            for name, conditions in needs.tables.items()
        )


def _meets_all(frame: pl.DataFrame, conditions: Mapping[str, Condition]) -> bool:
    return frame.height > 0 and all(
        column in frame.columns and _meets(frame[column].drop_nulls(), condition)
        for column, condition in conditions.items()
    )


def _meets(values: pl.Series, condition: Condition) -> bool:
    present = {str(value) for value in values.unique() if str(value)}
    if isinstance(condition, Above):
        return bool((values > condition.above).any())
    if isinstance(condition, Among):
        return not present.isdisjoint(condition.among)
    if isinstance(condition, list):
        return present >= {*condition}
    return len(present) >= (1 if condition == "stated" else condition)
