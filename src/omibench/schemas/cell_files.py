"""The files of cells: what is said of one that cannot be read."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from omibench.errors import FileFormatError
from omibench.files.intake import read_frame

if TYPE_CHECKING:
    import polars as pl


def read_cell(path: str | Path, columns: Sequence[str] | None = None) -> pl.DataFrame:
    """A Parquet file, or some of its columns. Raises as `read_parquet` does."""
    try:
        return read_frame(path, columns=columns)
    except FileFormatError as error:
        again = f"snakemake --cores all --forcerun {shlex.quote(str(path))}"
        way = f"; make it anew with `{again}`" if _is_cell(Path(path)) else ""
        raise FileFormatError(f"{error}{way}") from None


def _is_cell(path: Path) -> bool:
    """Whether a path is that of a cell of a study: RESULTS/infer/MODEL/SETTING.parquet."""
    stages = ("infer", "score", "judge", "aggregate", "saliency")
    return path.suffix == ".parquet" and path.parent.parent.name in stages
