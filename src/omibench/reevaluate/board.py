"""The board: report, tables and metrics of a study in a folder for readers or a web server."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from filecmp import cmp
from pathlib import Path

from omibench.errors import MissingInputError, OutputError, reason_of
from omibench.files.atomic import replace_atomically
from omibench.schemas.tables import write_text

REPORT = Path("analyze/report.html")
METRICS = Path("analyze/metrics.json")
CHANGES = "changes.md"
_INDEX = """\
<!doctype html>
<meta charset="utf-8">
<meta http-equiv="refresh" content="0; url=analyze/report.html">
<title>Report</title>
<a href="analyze/report.html">The report</a>, <a href="changes.md">what changed</a>
"""


def publish(results: Path, board: Path) -> Path:
    """Update a board with a study's results and return its report's path.

    `analyze/` is copied, with the `freeze/images/` and `pictures/` that its pages show. Files that
    no longer exist are deleted from the board. Each file is replaced atomically, the report last,
    so that readers never see a partial file.

    Raises:
        MissingInputError: The report does not exist.
        OutputError: The board folder cannot be written.
    """
    if not (results / REPORT).is_file():
        raise MissingInputError(f"{results / REPORT}: report not found")
    try:
        for part in (Path("freeze/images"), Path("pictures"), Path("analyze")):
            names = list(_files(results / part))
            for name in sorted(names, key=lambda name: part / name == REPORT):
                _copy(results / part / name, board / part / name)
            for name in set(_files(board / part)) - set(names):
                (board / part / name).unlink()
        write_text(board / "index.html", _INDEX)
    except OSError as error:
        raise OutputError(
            f"{board}: the board cannot be written: {reason_of(error, True)}"
        ) from None
    return board / REPORT


def _files(folder: Path) -> Iterator[Path]:
    return (path.relative_to(folder) for path in folder.rglob("*") if path.is_file())


def _copy(source: Path, target: Path) -> None:
    if target.is_file() and cmp(source, target, shallow=False):
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    with replace_atomically(target) as partial:
        shutil.copyfile(source, partial)
