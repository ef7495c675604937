"""Options shared by the commands of `omibench review`, and the review folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from omibench.errors import MissingInputError

if TYPE_CHECKING:
    from omibench.params.review import ReviewParams

ReviewFolder = Annotated[
    Path | None,
    typer.Option("--review", metavar="DIR", help="Review folder.  [review.folder of --params]"),
]


def find_review_folder(folder: Path | None, params: str) -> Path:
    """Return the review folder: `--review`, else `review.folder` of the parameters.

    Raises:
        MissingInputError: Neither is given.
    """
    if folder is not None:
        return folder
    is_text = _is_text(params)
    if not is_text and not Path(params).is_file():
        raise MissingInputError(
            f"review: {params} does not exist, so no review folder is known; give --review DIR"
        )
    from omibench.cli.options import read_study

    named = read_study(params, None).review.folder
    if not named:
        raise MissingInputError(
            f"{'--params' if is_text else params}: review.folder is missing; give --review DIR, or "
            "write `review: {folder: DIR}`"
        )
    return Path(named)


def read_review_params(params: str) -> ReviewParams:
    """Return the `review` block of the parameters; its defaults if the file does not exist."""
    if not _is_text(params) and not Path(params).is_file():
        from omibench.params.review import ReviewParams

        return ReviewParams()
    from omibench.cli.options import read_study

    return read_study(params, None).review


def _is_text(params: str) -> bool:
    """Whether `params` is JSON text instead of a file name."""
    return params.lstrip().startswith("{")
