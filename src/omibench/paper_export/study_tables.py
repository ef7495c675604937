"""The tidy tables of a study, whole or cut to what one place of a paper shows."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from omibench.errors import MissingInputError
from omibench.files.csv_file import unmark_formula
from omibench.files.intake import read_csv, read_frame

if TYPE_CHECKING:
    import polars as pl

PLACES: Final = "printed-places"
"""The result that says which cells a place of the paper is made of."""


class StudyTables:
    """The tidy tables in a results folder, each read when it is first asked for.

    Args:
        results: The results folder.

    Raises:
        MissingInputError: It holds no tables of results.
    """

    def __init__(self, results: Path) -> None:
        self.folder = results / "analyze" / "tables"
        self.names = sorted(path.stem for path in self.folder.glob("*.parquet"))
        if not self.names:
            raise MissingInputError(
                f"{results}: holds no tables of results (analyze/tables/*.parquet); "
                "run `omibench analyze` first, or give the results folder of a study"
            )
        self.labels = _read_labels(results / "analyze" / "main.csv")
        self._frames: dict[str, pl.DataFrame] = {}

    @property
    def dataset(self) -> str:
        """The name of the dataset that the results are about."""
        frame = self.table(self.names[0])
        return str(frame["dataset"][0]) if frame.height else ""

    def table(self, name: str) -> pl.DataFrame:
        """Read the tidy table of a result.

        Raises:
            FileFormatError: The file cannot be read.
        """
        if name not in self._frames:
            self._frames[name] = read_frame(self.folder / f"{name}.parquet")
        return self._frames[name]

    @cached_property
    def setting_labels(self) -> Mapping[str, str]:
        """Setting -> the name that the report shows it under; empty where no table says it."""
        if "settings" not in self.names:
            return {}
        frame = self.table("settings")
        if "label" not in frame.columns:  # of an earlier version
            return {}
        return dict(frame.select("setting", "label").iter_rows())

    def restrict(self, rules: Sequence[str], key: str) -> RestrictedTables:
        """The same tables with the rows of a paper's rule books, and of the cells of one place.

        Args:
            rules: Rule books; rows of others are left out where a table has one of these.
            key: Such as `table2`; `infer.printed` of the study says which cells it is made of.
        """
        return RestrictedTables(self, rules, self._list_cells(key))

    def _list_cells(self, key: str) -> pl.DataFrame | None:
        """The cells of a place, or of its parts `figure 3a`, ...; None where it names none."""
        import polars as pl

        if PLACES not in self.names:
            return None
        place = re.sub(r"^([a-z]+)(\d)", r"\1 \2", key)
        cells = self.table(PLACES).filter(pl.col("value").str.contains(f"^{place}[a-z]?$"))
        return cells.select("model", "setting").unique() if cells.height else None


class RestrictedTables(NamedTuple):
    """The tables of a study, cut to what one place of a paper shows."""

    study: StudyTables
    rules: Sequence[str]
    cells: pl.DataFrame | None

    @property
    def names(self) -> list[str]:
        """The results that the study has."""
        return self.study.names

    @property
    def labels(self) -> Mapping[str, str]:
        """Model -> the name under which it is shown."""
        return self.study.labels

    @property
    def setting_labels(self) -> Mapping[str, str]:
        """Setting -> the name under which it is shown."""
        return self.study.setting_labels

    def table(self, name: str) -> pl.DataFrame:
        """The rows of a result's table that are about these rule books and cells.

        Raises:
            FileFormatError: The file cannot be read.
        """
        import polars as pl

        frame = self.study.table(name)
        if frame["rules"].is_in(self.rules).any():
            frame = frame.filter(pl.col("rules").is_in([*self.rules, ""]))
        if self.cells is not None:
            about_cells = (pl.col("model") != "") & (pl.col("setting") != "")
            inside = frame.join(self.cells, on=["model", "setting"], how="semi")
            if inside.height:
                frame = pl.concat([frame.filter(~about_cells), inside.filter(about_cells)])
        return frame


def _read_labels(main: Path) -> Mapping[str, str]:
    """Model -> the name that the report shows it under; empty without a main table."""
    if not main.is_file():
        return {}
    return {
        unmark_formula(row.get("model", "")): unmark_formula(row.get("label", ""))
        for row in read_csv(main)
    }
