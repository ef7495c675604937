"""`omibench review`: human review of a dataset."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from omibench.cli.options import make_group
from omibench.errors import MissingInputError

if TYPE_CHECKING:
    from omibench.params.review import ReviewParams


review_app = make_group(
    "review", "Have people review problems and responses, and use their decisions."
)


# Options shared by the commands of `omibench review`, and the review folder.

ReviewFolder = Annotated[
    Path | None,
    typer.Option("--review", metavar="DIR", help="Review folder.  [review.folder of --params]"),
]


Kinds = Annotated[
    str | None,
    typer.Option("--kind", metavar="KIND[,...]", help="Only tasks of these kinds."),
]


def find_review_folder(folder: Path | None, params: str) -> Path:
    """Return the review folder: `--review`, else `review.folder` of the parameters.

    Raises:
        MissingInputError: Neither is given.
    """
    return folder if folder is not None else find_review(None, params)[0]


def find_review(folder: Path | None, params: str) -> tuple[Path, ReviewParams]:
    """Return the review folder, and the `review` block: its defaults without a parameter file.

    Raises:
        MissingInputError: Neither `--review` nor `review.folder` is given.
    """
    from omibench.cli.options import show_study
    from omibench.params.review import ReviewParams

    has_params = _is_text(params) or Path(params).is_file()
    if not has_params and folder is None:
        raise MissingInputError(
            f"review: {params} does not exist, so no review folder is known; give --review DIR"
        )
    block = show_study(params).review if has_params else ReviewParams()
    return name_folder(folder, block, params), block


def name_folder(folder: Path | None, block: ReviewParams, params: str) -> Path:
    """Return `--review`, else the folder of the block. Raises MissingInputError without one."""
    if folder is not None:
        return folder
    if not block.folder:
        raise MissingInputError(
            f"{'--params' if _is_text(params) else params}: review.folder is missing; give "
            "--review DIR, or write `review: {folder: DIR}`"
        )
    return Path(block.folder)


def _is_text(params: str) -> bool:
    """Whether `params` is JSON text instead of a file name."""
    return params.lstrip().startswith("{")
