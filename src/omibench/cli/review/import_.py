"""The command `omibench review import`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from omibench.cli.options import Params
from omibench.cli.review.options import ReviewFolder, find_review_folder
from omibench.errors import EXIT_SOME_FAILED
from omibench.text.terminal import say


def import_(
    files: Annotated[list[Path], typer.Argument(metavar="FILE", help="JSONL files of decisions.")],
    review: ReviewFolder = None,
    params: Params = "params.yaml",
) -> None:
    """Add decisions from files to decisions.jsonl of a review.

    Importing a file twice changes nothing. Lines that do not fit their task are listed and skipped,
    and the exit code is 3. A decision on content that has changed since is stored, and its task is
    opened again.

    \b
    Example:
      omibench review import ann.jsonl bob.jsonl --review review
    """
    from omibench.review.importing import import_files

    outcome = import_files(find_review_folder(review, params), files)
    for error in outcome.errors:
        say(error, err=True)
    stale = f", {len(outcome.stale)} tasks stale ({', '.join(outcome.stale[:10])})"
    say(
        f"{outcome.added} decisions added, {outcome.repeated} already present, "
        f"{len(outcome.errors)} refused{stale if outcome.stale else ''}"
    )
    if outcome.errors:
        raise typer.Exit(EXIT_SOME_FAILED)
