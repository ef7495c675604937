"""Options that the verbs of `omibench review` share, and the folder that they name."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from omibench.errors import MissingInputError

if TYPE_CHECKING:
    from omibench.params.review import ReviewParams

ReviewFolder = Annotated[
    Path | None,
    typer.Option(
        "--review", metavar="DIR", help="Folder of the review; by default params `review.folder`."
    ),
]


def find_review_folder(folder: Path | None, params: str) -> Path:
    """The folder of the review: that of `--review`, else the one that the params name.

    Raises:
        MissingInputError: Neither names one.
    """
    if folder is not None:
        return folder
    is_text = _is_text(params)
    if not is_text and not Path(params).is_file():
        raise MissingInputError(
            f"review: there is no {params} that names a folder: give `--review DIR`"
        )
    from omibench.cli.options import read_study

    named = read_study(params, None).review.folder
    if not named:
        raise MissingInputError(
            f"review: {'the params' if is_text else params} name no folder: give `--review DIR`, "
            "or write `review: {folder: DIR}`"
        )
    return Path(named)


def read_review_params(params: str) -> ReviewParams:
    """What the params say of reviews; what they say by default where there is no such file."""
    if not _is_text(params) and not Path(params).is_file():
        from omibench.params.review import ReviewParams

        return ReviewParams()
    from omibench.cli.options import read_study

    return read_study(params, None).review


def _is_text(params: str) -> bool:
    """Whether the params are the JSON text itself."""
    return params.lstrip().startswith("{")
