"""Which files the explorer reads, from what the command line names."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import ValidationError

from omibench.errors import MissingInputError, OmibenchError, ParamsError
from omibench.text.terminal import say

if TYPE_CHECKING:
    from omibench.explore.app.settings import ExplorerSources
    from omibench.params.study import Study

DEFAULT_PARAMS = "params.yaml"


def find_dataset(folder: Path, benchmark: str | None, scratch: Path) -> ExplorerSources:
    """The files of a dataset, before a model is asked.

    Args:
        folder: A frozen dataset, a release, or the files of a benchmark.
        benchmark: Whose importer reads the files; None for a dataset of ours.
        scratch: Where a release is unpacked, and what an importer gives is written.

    Raises:
        MissingInputError: The folder is no such dataset.
        FileFormatError: It cannot be read.
        ParamsError: There is no such benchmark.
    """
    from omibench.datasets.releases.unpack import is_release, unpack_release
    from omibench.explore.app.settings import ExplorerSources

    name = folder.resolve().name
    if benchmark is not None:
        out = scratch / "dataset"
        pictures = _import_benchmark(folder, benchmark, scratch, out)
        return ExplorerSources(out, pictures=pictures, name=f"{benchmark} ({name})")
    if is_release(folder):
        out = scratch / "release"
        out.mkdir(parents=True)
        unpack_release(folder, out)
        return ExplorerSources(out, name=name)
    if (folder / "questions.jsonl").is_file():
        return ExplorerSources(folder)
    if (folder / "freeze" / "questions.jsonl").is_file():
        return ExplorerSources(folder / "freeze", name=name)
    raise MissingInputError(
        f"--dataset {folder}: is no dataset: it holds neither questions.jsonl of `omibench freeze` "
        "nor manifest.jsonl of a release; say with --benchmark NAME whose files they are"
    )


def find_sources(
    results: Path, other: Path | None, params: str | None, review: Path | None
) -> ExplorerSources:
    """The files of results.

    Args:
        results: The folder of results.
        other: Those of another run.
        params: The parameter file; None for the one beside, if it names these results.
        review: The folder into which notes are written.

    Raises:
        MissingInputError: A folder is not what it should be, or notes lack the parameters.
        ParamsError: The parameter file is wrong.
    """
    from omibench.explore.app.settings import ExplorerSources
    from omibench.explore.index import locate_index

    _check_results(results)
    study = find_study(params, results)
    if review is not None and study is None:
        raise MissingInputError(
            "--review: notes need the parameters of the study: name them with --params FILE"
        )
    if other is not None:
        _check_results(other)
    named_review = study.review.folder if study else None
    return ExplorerSources(
        dataset=results / "freeze",
        results=results,
        other=other,
        study=study,
        store=Path(study.study.store) if study else results.parent / "store",
        review=review,
        pages=review or (Path(named_review) if named_review else None),
        index=locate_index(results),
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


def _check_results(folder: Path) -> None:
    """Raise MissingInputError unless a folder holds results; a dataset is named as such."""
    if (folder / "freeze" / "questions.jsonl").is_file():
        return
    if (folder / "questions.jsonl").is_file() or (folder / "manifest.jsonl").is_file():
        raise MissingInputError(
            f"{folder}: is a dataset without responses: `omibench explore --dataset {folder}`"
        )
    raise MissingInputError(
        f"{folder}: holds no results: freeze/questions.jsonl is not there; name the folder "
        "`study.results` of a study that has frozen its dataset"
    )


def _import_benchmark(folder: Path, name: str, scratch: Path, out: Path) -> Path:
    """Write what an importer reads as a frozen dataset; the folder of its pictures."""
    from collections import Counter

    from omibench.datasets.registry import load_benchmark
    from omibench.params.benchmark import BenchmarkParams
    from omibench.schemas.tables import FrozenManifest, content_hash, write_json, write_jsonl
    from omibench.schemas.validation import explain

    if not folder.is_dir():
        raise MissingInputError(f"--dataset {folder}: is no folder")
    try:
        params = BenchmarkParams(name=name)
    except ValidationError as error:
        raise ParamsError(f"--benchmark: {explain(error, BenchmarkParams)}") from None
    questions, answers, pictures = load_benchmark(params, str(folder), scratch)
    write_jsonl(out / "questions.jsonl", questions)
    write_jsonl(out / "answers.jsonl", answers)
    manifest = FrozenManifest(
        name=name,
        version="",
        problems=len(questions),
        images=sum(len(question.images) for question in questions),
        questions_sha256=content_hash(questions),
        answers_sha256=content_hash(answers),
        subjects=dict(Counter(question.subject for question in questions)),
    )
    write_json(out / "manifest.json", manifest)
    return pictures
