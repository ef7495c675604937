"""Which files the explorer reads, from what the command line names."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from omibench.errors import MissingInputError, OmibenchError
from omibench.text.terminal import say

if TYPE_CHECKING:
    from omibench.explore.app.settings import ExplorerSources
    from omibench.params.study import Study

DEFAULT_PARAMS = "params.yaml"


def find_sources(
    results: Path,
    other: Path | None,
    dataset: Path | None,
    params: str | None,
    review: Path | None,
    scratch: Path,
) -> ExplorerSources:
    """Which files the explorer reads.

    Args:
        results: The folder of results; left aside where `dataset` is given.
        other: Those of another run.
        dataset: A frozen dataset or release, before a model is asked.
        params: The parameter file; None for the one beside, if it names these results.
        review: The folder into which notes are written.
        scratch: Where a release is unpacked.

    Raises:
        MissingInputError: A folder is not what it should be.
        FileFormatError: A release is not what it says.
        ParamsError: The parameter file is wrong.
    """
    from omibench.explore.app.settings import ExplorerSources
    from omibench.explore.index import locate_index

    if dataset is not None:
        if other is not None:
            raise MissingInputError("--other: goes with results, and --dataset has none")
        if review is not None:
            raise MissingInputError("--review: notes go with results: leave --dataset away")
        return ExplorerSources(_open_dataset(dataset, scratch))
    folder = _check_results(results)
    study = find_study(params, folder)
    if review is not None and study is None:
        raise MissingInputError(
            "--review: notes need the parameters of the study: name them with --params FILE"
        )
    named_review = study.review.folder if study else None
    return ExplorerSources(
        dataset=folder / "freeze",
        results=folder,
        other=_check_results(other) if other is not None else None,
        study=study,
        store=Path(study.study.store) if study else folder.parent / "store",
        review=review,
        pages=review or (Path(named_review) if named_review else None),
        index=locate_index(folder),
    )


def find_study(params: str | None, results: Path) -> Study | None:
    """The parameters of results: labels, the main rule book, the store.

    Args:
        params: The file as a person names it; None for params.yaml, where that is there and names
            these results.
        results: The folder of results.

    Raises:
        ParamsError: The file that is named is wrong.
    """
    from omibench.cli.options import read_study

    if params is not None:
        return read_study(params, None)
    if not Path(DEFAULT_PARAMS).is_file():
        return None
    try:
        study = read_study(DEFAULT_PARAMS, None)
    except OmibenchError as error:
        say(f"{error}; models and settings are shown without their labels", err=True)
        return None
    return study if Path(study.study.results).resolve() == results.resolve() else None


def _check_results(folder: Path) -> Path:
    """Raises MissingInputError unless a folder holds results; a dataset is named as such."""
    if (folder / "freeze" / "questions.jsonl").is_file():
        return folder
    if (folder / "questions.jsonl").is_file() or (folder / "manifest.jsonl").is_file():
        raise MissingInputError(
            f"{folder}: is a dataset without responses: `omibench explore --dataset {folder}`"
        )
    raise MissingInputError(
        f"{folder}: holds no results: freeze/questions.jsonl is not there; name the folder "
        "`study.results` of a study that has frozen its dataset"
    )


def _open_dataset(folder: Path, scratch: Path) -> Path:
    """The folder of a frozen dataset; a release is unpacked."""
    from omibench.datasets.releases.unpack import is_release, unpack_release

    if is_release(folder):
        unpack_release(folder, scratch)
        return scratch
    if not (folder / "questions.jsonl").is_file() and (folder / "freeze").is_dir():
        return folder / "freeze"
    if not (folder / "questions.jsonl").is_file():
        raise MissingInputError(
            f"--dataset {folder}: is no dataset: it holds neither questions.jsonl of `omibench "
            "freeze` nor manifest.jsonl of a release"
        )
    return folder
