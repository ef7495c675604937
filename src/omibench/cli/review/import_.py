"""The verb `omibench review import`."""

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
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE...", help="Decisions, one JSON object a line.")
    ],
    review: ReviewFolder = None,
    params: Params = "params.yaml",
    source: Annotated[
        ImportFormat | None,
        typer.Option("--from", help="The files are JSON exports of this program."),
    ] = None,
    users: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="With --from: the users of Label Studio, as its GET /api/users answers them.",
        ),
    ] = None,
) -> None:
    """Add decisions of others to the record of a review.

    Importing a file again changes nothing. A line that does not fit its task is named and the
    others are taken; then the exit code is 3. A decision on content that has changed is taken, and
    its task is asked again.

    \b
    Example:
      omibench review import ann.jsonl bob.jsonl --review review
      omibench review import --from label-studio export.json --users users.json
    """
    from omibench.review.importing import import_files

    if users is not None and source is None:
        raise ParamsError("--users: goes with --from label-studio")
    folder = find_review_folder(review, params)
    if source is None:
        outcome = import_files(folder, files)
    else:
        outcome = _import_exports(folder, files, users)
    for error in outcome.errors:
        say(error, err=True)
    stale = f", {len(outcome.stale)} tasks stale ({', '.join(outcome.stale[:10])})"
    say(
        f"{outcome.added} decisions added, {outcome.repeated} there already, "
        f"{len(outcome.errors)} refused{stale if outcome.stale else ''}"
    )
    if outcome.errors:
        raise typer.Exit(EXIT_SOME_FAILED)


def _import_exports(folder: Path, files: Iterable[Path], users: Path | None) -> ImportOutcome:
    """Record the annotations of exports of Label Studio; those that people skipped are counted."""
    from omibench.review.folder import read_review
    from omibench.review.importing import import_decisions
    from omibench.review.label_studio.importing import read_export, read_users

    record = read_review(folder)
    addresses = read_users(users) if users is not None else {}
    exports = [read_export(file, record, addresses) for file in files]
    if skipped := sum(export.skipped for export in exports):
        say(f"{skipped} tasks were skipped there")
    return import_decisions(
        record,
        [decision for export in exports for decision in export.decisions],
        [error for export in exports for error in export.errors],
    )
