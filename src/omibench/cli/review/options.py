"""Options that the verbs of `omibench review` share, and the folder that they name."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from omibench.errors import MissingInputError

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
    is_text = params.lstrip().startswith("{")
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
