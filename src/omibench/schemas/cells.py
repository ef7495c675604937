"""Failed cells: no response, or too many requests with errors."""

from __future__ import annotations

import json
import logging
import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from omibench.errors import FileFormatError, UntrustedError
from omibench.files.parquet import Footer, read_footer, read_frame
from omibench.files.reading import open_regular
from omibench.schemas.request import NOT_BOUGHT, Outcome

if TYPE_CHECKING:
    import polars as pl


ERROR: Outcome = "provider_error"


def failed_reason(outcomes: Mapping[str, int], share: float) -> str | None:
    """Return why a cell with these outcomes (outcome -> responses) has failed, or None.

    Only errors of the provider count: refused and truncated responses are results, and requests
    stopped by the budget were never sent. `share` is the tolerated share of errors among all
    responses, in [0, 1].
    """
    total, errors = sum(outcomes.values()), outcomes.get(ERROR, 0)
    if not errors:
        return None
    if not count_answered(outcomes):
        return "no request got a response"
    if errors > share * total:
        return f"more than {100 * share:g} % of its requests (infer.failed_share) ended in errors"
    return None


def count_answered(outcomes: Mapping[str, int]) -> int:
    """Return the number of responses of any content."""
    counts = Counter(outcomes)
    return counts.total() - sum(counts[outcome] for outcome in NOT_BOUGHT)


# Origin of the file of a cell: its cell, the job that made it, and the hash of its content.
#
# It is in the key-value metadata of the Parquet file, so rows and columns are those of any other
# file. A file that belongs elsewhere or was changed is not read.

KEY: Final = "omibench"
CELL_STAGES: Final = ("infer", "score", "judge", "aggregate", "saliency")
"""Stages of the graph with a file for each cell: RESULTS/STAGE/MODEL/SETTING.parquet."""
_RESPONSES: Final = CELL_STAGES[0]
_CHUNK: Final = 1 << 20
log = logging.getLogger("omibench.schemas.cells")


class CellOrigin(NamedTuple):
    """Cell and job of a file."""

    stage: str
    model: str
    setting: str
    job: str = ""
    """Hash of the job's parameters. Empty if no job of the graph made it."""
    responses: str = ""
    """Hash of the cell's responses that it was made from; empty for the responses."""
    content: str = ""
    """Hash of the file's bytes before its origin."""

    @property
    def words(self) -> str:
        """Cell and stage, for messages."""
        return f"the stage {self.stage} for {self.model} under {self.setting}"


def is_cell(path: Path) -> bool:
    """Return whether a path is that of a cell of a study: RESULTS/infer/MODEL/SETTING.parquet."""
    return path.suffix == ".parquet" and path.parent.parent.name in CELL_STAGES


def describe_origin(path: Path, job: str = "") -> CellOrigin | None:
    """Return the origin for a file written to `path`; None if it is not the file of a cell.

    Args:
        path: Output path.
        job: Hash of the job that writes it.
    """
    if not is_cell(path):
        return None
    stage, model, setting = path.parent.parent.name, path.parent.name, path.stem
    responses = _find_responses(path)
    digest = content_hash(responses) if responses.is_file() and stage != _RESPONSES else ""
    return CellOrigin(stage, model, setting, job, digest)


def build_metadata(origin: CellOrigin, parquet: bytes) -> dict[str, str]:
    """Return the metadata of a file whose bytes are `parquet` without it."""
    footer_length = int.from_bytes(parquet[-8:-4], "little")
    content = sha256(parquet[: len(parquet) - 8 - footer_length]).hexdigest()
    return {KEY: json.dumps(origin._replace(content=content)._asdict(), sort_keys=True)}


def read_origin(path: Path) -> CellOrigin | None:
    """Read the origin stored in a Parquet file; None if it has none.

    Raises:
        FileFormatError: If it is not a Parquet file, or its origin cannot be read.
    """
    text = _footer(path).metadata.get(KEY)
    if text is None:
        return None
    try:
        values = json.loads(text)
        return CellOrigin(**{name: str(values[name]) for name in CellOrigin._fields})
    except (ValueError, TypeError, KeyError, RecursionError):
        raise FileFormatError(f"{path}: its stored origin cannot be read") from None


def check_origin(path: Path, *, with_content: bool = True) -> None:
    """Raise UntrustedError if the file of a cell belongs to another or was changed.

    A file without origin was written by an older version: it is accepted with one warning. A
    path that is not the file of a cell is not checked.

    Args:
        path: The file.
        with_content: Whether to check its content too, not only its cell.

    Raises:
        UntrustedError: If it belongs elsewhere, was edited, or was made from other responses.
        FileFormatError: If it cannot be read.
    """
    if not is_cell(path):
        return
    origin = read_origin(path)
    responses = _find_responses(path)
    if origin is None:
        if path != responses and responses.is_file() and read_origin(responses):
            raise _refusal(
                path, "has no stored origin, but the responses that it was made from have one"
            )
        _warn_of_old(path)
        return
    expected = (path.parent.parent.name, path.parent.name, path.stem)
    if origin[:3] != expected:
        raise _refusal(path, f"is the file of {origin.words}, moved to the place of another")
    if not with_content:
        return
    if content_hash(path) != origin.content:
        raise _refusal(path, "was edited after it was made")
    if origin.responses and responses.is_file() and content_hash(responses) != origin.responses:
        raise _refusal(path, f"was made from other responses than those of {responses}")


def content_hash(path: Path) -> str:
    """Return the SHA-256 of a Parquet file without the origin at its end.

    Raises:
        FileFormatError: If it is not a Parquet file.
    """
    state = path.stat()
    # A copy can have the size and time of another file, but not its time of change.
    return _content_hash(path.absolute(), state.st_ino, state.st_ctime_ns, state.st_size)


@cache
def _content_hash(path: Path, inode: int, changed_ns: int, size: int) -> str:
    remaining = _footer(path).start
    digest = sha256()
    with open_regular(path) as file:
        while remaining and (chunk := file.read(min(_CHUNK, remaining))):
            digest.update(chunk)
            remaining -= len(chunk)
    return digest.hexdigest()


def _footer(path: Path) -> Footer:
    with open_regular(path) as file:
        try:
            return read_footer(file)
        except (ValueError, OSError) as error:
            raise FileFormatError(f"{path}: is not a Parquet file: {error}") from None


def _find_responses(path: Path) -> Path:
    return path.parents[2] / _RESPONSES / path.parent.name / path.name


def _refusal(path: Path, reason: str) -> UntrustedError:
    command = f"snakemake --cores all --forcerun {shlex.quote(str(path))}"
    return UntrustedError(
        f"{path}: {reason}; nothing is read from it. Restore the original, or rebuild it with "
        f"`{command}`; no response is requested twice"
    )


_old: set[str] = set()


def _warn_of_old(path: Path) -> None:
    if not _old:
        _old.add(str(path))
        log.warning(
            "omibench: %s has no stored origin because an older version wrote it; it is "
            "accepted, and other files like it are not reported",
            path,
        )


# Files of cells: reading, with a command to rebuild a broken one.


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
