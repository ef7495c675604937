"""Output paths of commands: never over inputs, never inside the store of responses."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from omibench.errors import OutputError, reason_of

if TYPE_CHECKING:
    import polars as pl


def output_folder(path: str | Path, store: str | Path, option: str = "--out") -> Path:
    """Create the folder to write into. Raises OutputError if it cannot be created.

    Also raises for a folder of the `store` of responses. `option` is the option with the path.
    """
    spare_store(path, store, option)
    return made_folder(path, option)


def made_folder(path: str | Path, option: str = "--out") -> Path:
    """Create a folder if missing. Raises OutputError on failure."""
    folder = Path(path)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"{option} {folder}: cannot be a folder: {reason_of(error)}") from None
    return folder


def output_file(path: str | Path, store: str | Path, option: str = "--out") -> Path:
    """Create the folder of a file. Raises OutputError if that fails or the file is a folder.

    Also raises for a file of the `store` of responses. `option` is the option with the path.
    """
    target = spare_store(path, store, option)
    if target.is_dir():
        raise OutputError(f"{option} {target}: is a folder; give a file in it")
    made_folder(target.parent, option)
    return target


def output_parquet(path: str | Path, store: str | Path, *inputs: Path | None) -> Path:
    """Prepare a Parquet file to write. Raises OutputError for a folder or another file type.

    Also raises for one of the `inputs`, and for a file of the `store` of responses.
    """
    target = Path(path)
    if target.suffix != ".parquet":
        raise OutputError(f"--out {target}: is written as Parquet; name it *.parquet")
    return spare_inputs(output_file(target, store), *inputs)


def spare_inputs(target: Path, *inputs: Path | None) -> Path:
    """Prepare a file to write. Raises OutputError if it is one of the inputs."""
    for source in inputs:
        if source and target.exists() and source.exists() and target.samefile(source):
            raise OutputError(
                f"--out: would overwrite {target}, which is an input; give another file"
            )
    return target


def spare_store(target: str | Path, store: str | Path, option: str = "--out") -> Path:
    """Raise OutputError if a path is in the store of responses.

    The store contains only responses; any other file there would be taken for one.
    """
    if Path(target).resolve().is_relative_to(Path(store).resolve()):
        raise OutputError(
            f"{option} {target}: is in {store}, the store of responses, which only keeps "
            "responses; give a path outside it"
        )
    return Path(target)


# CSV files that are safe to open in a spreadsheet, which treats a cell starting with = as a
# formula.
#
# Names of models, settings and subjects are untrusted. A text that a spreadsheet would calculate
# gets a leading apostrophe, which marks text in spreadsheets. So does a text that starts with an
# apostrophe, so that `unmark_formula` restores the original. Numbers remain numbers.

MARK = "'"
# Spreadsheets in Chinese, Japanese and Korean also treat full-width signs as formulas.
_FORMULA = re.compile("^[=+\\-@\t\r\n'\uff1d\uff0b\uff0d\uff20]")
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")


def mark_formula(value: object) -> Any:
    """Return the value for the file: a text that would be calculated is marked as text."""
    if not isinstance(value, str) or not _FORMULA.match(value) or _NUMBER.fullmatch(value):
        return value
    return MARK + value


def unmark_formula(cell: str) -> str:
    """Return the original text of `mark_formula`."""
    return cell.removeprefix(MARK)


def unmark_cell(cell: str) -> str:
    """Apply `unmark_formula` to files that a user may have written: other apostrophes are kept."""
    text = cell.removeprefix(MARK)
    return text if text != cell and mark_formula(text) == cell else cell


def write_csv(
    path: Path, records: Sequence[Mapping[str, Any]], columns: Sequence[str] = ()
) -> None:
    """Write records as CSV (UTF-8, commas, one line each).

    Args:
        path: Output file; its parent folders are created.
        records: Rows, each with a value for every column.
        columns: Header of a table without rows.

    Raises:
        OutputError: If its folder cannot be created.
    """
    made_folder(path.parent)
    path.write_text(format_csv(records, columns), "utf-8", newline="")


def format_csv(records: Sequence[Mapping[str, Any]], columns: Sequence[str] = ()) -> str:
    """Return records as `write_csv` writes them.

    Args:
        records: Rows, each with a value for every column.
        columns: Header of a table without rows.
    """
    import polars as pl

    rows = [
        {mark_formula(name): mark_formula(value) for name, value in record.items()}
        for record in records
    ]
    frame = (
        pl.DataFrame(rows, infer_schema_length=None)
        if rows
        else pl.DataFrame(schema=dict.fromkeys(map(mark_formula, columns), pl.String))
    )
    return frame.write_csv()


def write_frame_csv(path: Path, frame: pl.DataFrame) -> None:
    """Write a frame as `write_csv` writes records; for tables of many rows.

    Args:
        path: Output file; its parent folders are created.
        frame: Rows, with columns of text, numbers and truth values only.

    Raises:
        OutputError: If its folder cannot be created.
    """
    import polars as pl

    made_folder(path.parent)
    number = f"^(?:{_NUMBER.pattern})$"
    marked = []
    for name, kind in frame.schema.items():
        if kind == pl.String:
            text = pl.col(name)
            is_formula = text.str.contains(_FORMULA.pattern) & ~text.str.contains(number)
            marked.append(pl.when(is_formula).then(MARK + text).otherwise(text).alias(name))
    frame.with_columns(marked).write_csv(path)
