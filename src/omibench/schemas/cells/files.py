"""Files of cells: reading, with a command to rebuild a broken one."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from omibench.errors import FileFormatError
from omibench.files.intake import read_frame
from omibench.schemas.cells.origin import check_origin, is_cell

if TYPE_CHECKING:
    import polars as pl


def read_cell(path: str | Path, columns: Sequence[str] | None = None) -> pl.DataFrame:
    """Read a Parquet file, or some of its columns. Raises as `read_parquet` does.

    The content of a cell's file is checked against its stated hash if all of it is read.
    """
    try:
        check_origin(Path(path), with_content=columns is None)
        return read_frame(path, columns=columns)
    except FileFormatError as error:
        command = f"snakemake --cores all --forcerun {shlex.quote(str(path))}"
        way = f"; rebuild it with `{command}`" if is_cell(Path(path)) else ""
        raise FileFormatError(f"{error}{way}") from None
