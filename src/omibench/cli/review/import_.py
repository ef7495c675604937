"""The command `omibench review import`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from omibench.cli.options import Params
from omibench.cli.review.options import ReviewFolder, find_review_folder
from omibench.errors import EXIT_SOME_FAILED, ParamsError
from omibench.text.terminal import say

if TYPE_CHECKING:
    from collections.abc import Iterable

    from omibench.review.importing import ImportOutcome

ImportFormat = Literal["label-studio"]


def import_(
    files: Annotated[list[Path], typer.Argument(metavar="FILE", help="JSONL files of decisions.")],
    review: ReviewFolder = None,
    params: Params = "params.yaml",
    source: Annotated[
        ImportFormat | None,
        typer.Option("--from", help="Read JSON exports of this tool instead."),
    ] = None,
    users: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="With --from: users of Label Studio, the JSON from its GET /api/users.",
        ),
    ] = None,
) -> None:
    """Add decisions from files to decisions.jsonl of a review.

    Importing a file twice changes nothing. Lines that do not fit their task are listed and skipped,
    and the exit code is 3. A decision on content that has changed since is stored, and its task is
    opened again.

    \b
    Example:
      omibench review import ann.jsonl bob.jsonl --review review
      omibench review import --from label-studio export.json --users users.json
    """
    from omibench.review.importing import import_files

    if users is not None and source is None:
        raise ParamsError("--users: needs --from label-studio")
    folder = find_review_folder(review, params)
    if source is None:
        outcome = import_files(folder, files)
    else:
        outcome = _import_exports(folder, files, users)
    for error in outcome.errors:
        say(error, err=True)
    stale = f", {len(outcome.stale)} tasks stale ({', '.join(outcome.stale[:10])})"
    say(
        f"{outcome.added} decisions added, {outcome.repeated} already present, "
        f"{len(outcome.errors)} refused{stale if outcome.stale else ''}"
    )
    if outcome.errors:
        raise typer.Exit(EXIT_SOME_FAILED)


def _import_exports(folder: Path, files: Iterable[Path], users: Path | None) -> ImportOutcome:
    """Import annotations from Label Studio exports and count the skipped tasks."""
    from omibench.review.folder import read_review
    from omibench.review.importing import import_decisions
    from omibench.review.label_studio.importing import read_export, read_users

    record = read_review(folder)
    addresses = read_users(users) if users is not None else {}
    exports = [read_export(file, record, addresses) for file in files]
    if skipped := sum(export.skipped for export in exports):
        say(f"{skipped} tasks were skipped in Label Studio")
    return import_decisions(
        record,
        [decision for export in exports for decision in export.decisions],
        [error for export in exports for error in export.errors],
    )
