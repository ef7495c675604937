"""How files are written: for whom to read, whole, to which paths, and as safe CSV."""

from __future__ import annotations

import os
import re
import secrets
import stat
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from omibench.errors import OutputError, reason_of

if TYPE_CHECKING:
    import polars as pl

FILE, FOLDER = 0o600, 0o700
SHARED_FILE, SHARED_FOLDER = 0o660, 0o2770


def is_shared(folder: Path) -> bool:
    """Return whether a folder is group-shared: set-group-ID bit and group write access."""
    try:
        mode = folder.stat().st_mode
    except OSError:
        return False
    return bool(mode & stat.S_ISGID and mode & stat.S_IWGRP)


def file_mode(folder: Path) -> int:
    """Return the mode of a file in a folder of the store."""
    return SHARED_FILE if is_shared(folder) else FILE


def make_folder(folder: Path) -> Path:
    """Create a folder of the store and its missing parents. Raises OSError."""
    missing = []
    above = folder
    while not above.exists():
        missing.append(above)
        above = above.parent
    for path in reversed(missing):
        mode = SHARED_FOLDER if is_shared(path.parent) else FOLDER
        with suppress(FileExistsError):
            path.mkdir(FOLDER)
            path.chmod(mode)  # override the umask
    if missing:
        folder.mkdir(exist_ok=True)  # raises if a file of that name exists
    elif not folder.is_dir():
        raise FileExistsError(17, "File exists", str(folder))
    return folder


def open_new(path: Path, flags: int) -> int:
    """Open a file of the store; a new file gets the store's mode."""
    mode = file_mode(path.parent)
    file = os.open(path, flags | os.O_CREAT | os.O_CLOEXEC, FILE)
    if mode != FILE and os.fstat(file).st_size == 0:
        with suppress(OSError):  # another user's
            os.fchmod(file, mode)
    return file


def tighten(*paths: Path) -> int:
    """Remove excess permissions from files and folders; return the number of changes.

    Files of another user are not changed.
    """
    return sum(_tighten(path) for path in paths)


def tighten_all(store: Path) -> int:
    """Apply `tighten` to the whole store."""
    return sum(_tighten(path) for path in _walk_store(store))


def _walk_store(store: Path) -> Iterator[Path]:
    yield store
    for folder, folders, files in os.walk(store):
        for name in (*folders, *files):
            yield Path(folder) / name


def _tighten(path: Path) -> int:
    try:
        status = path.lstat()
        if not (stat.S_ISDIR(status.st_mode) or stat.S_ISREG(status.st_mode)):
            return 0
        shared = is_shared(path if stat.S_ISDIR(status.st_mode) else path.parent)
        allowed = 0o2770 if shared else 0o700
        mode = stat.S_IMODE(status.st_mode)
        if not mode & ~allowed & 0o077:
            return 0
        path.chmod(mode & (allowed | 0o7000))
    except OSError:
        return 0
    return 1


# Atomic file writes, safe under concurrent readers and writers.


@contextmanager
def replace_atomically(path: Path) -> Iterator[Path]:
    """Write a file of any size through a partial file that replaces `path`.

    The partial file is in the same folder under a unique name, so that threads and processes can
    write one path concurrently. It does not exist on entry. If the block fails, it is removed
    and `path` is unchanged.

    Args:
        path: File to write, in an existing folder.

    Yields:
        Path of the partial file.

    Raises:
        OSError: If the file cannot be written, also if the block did not write it.
    """
    partial = path.with_name(f".{path.name}.{secrets.token_hex(6)}.part")
    try:
        yield partial
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def write_atomically(path: Path, data: bytes) -> None:
    """Write a file and create its parent folders. Raises OSError.

    Args:
        path: File to write.
        data: Its content.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with replace_atomically(path) as partial:
        partial.write_bytes(data)


def write_private(path: Path, data: bytes, *, durable: bool = False) -> None:
    """Write a file as `write_atomically` with a store's modes (`omibench.files.outputs`). Raises
    OSError.

    Args:
        path: File to write.
        data: Its content.
        durable: Whether the file must survive a kill or a power cut once this returns.
    """
    make_folder(path.parent)
    with (
        replace_atomically(path) as partial,
        os.fdopen(open_new(partial, os.O_WRONLY | os.O_EXCL), "wb") as file,
    ):
        file.write(data)
        if durable:
            file.flush()
            os.fsync(file.fileno())
    if durable:
        with suppress(OSError):  # not every file system syncs folders
            sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Sync a folder, so that its file names survive a power cut. Raises OSError."""
    file = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(file)
    finally:
        os.close(file)


# Output paths of commands: never over inputs, never inside the store of responses.


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
