"""Find the files that the explorer reads."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import ValidationError

from omibench.errors import MissingInputError, OmibenchError, ParamsError
from omibench.text.terminal import say

if TYPE_CHECKING:
    from omibench.explore.app.settings import ExplorerSources
    from omibench.params.study import Study


def find_dataset(folder: Path, benchmark: str | None, scratch: Path) -> ExplorerSources:
    """Find the files of a dataset without responses.

    Args:
        folder: A frozen dataset, a release, or the files of a benchmark.
        benchmark: Benchmark whose importer reads the files; None for an omibench dataset.
        scratch: Folder for the unpacked release or the imported files.

    Raises:
        MissingInputError: The folder does not contain a dataset.
        FileFormatError: The dataset cannot be read.
        ParamsError: The benchmark does not exist.
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
        f"--dataset {folder}: is not a dataset: it contains neither questions.jsonl of "
        "`omibench freeze` nor manifest.jsonl of a release; for files of a benchmark add "
        "--benchmark NAME"
    )


def find_sources(
    results: Path | None, other: Path | None, params: str | None, review: Path | None
) -> ExplorerSources:
    """Find the files of a results folder.

    Args:
        results: Results folder; None for `study.results` of the parameters.
        other: Results folder of another run, to compare with.
        params: Parameter file; None for params.yaml if its `study.results` is this folder.
        review: Review folder for notes.

    Raises:
        MissingInputError: A folder does not contain results, or notes lack a parameter file.
        ParamsError: The parameter file is invalid.
    """
    from omibench.explore.app.settings import ExplorerSources
    from omibench.explore.index import locate_index

    results, study = find_results_and_study(results, params)
    _check_results(results)
    if review is not None and study is None:
        raise MissingInputError("--review: notes need the study's parameters; add --params FILE")
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


def find_results_and_study(results: Path | None, params: str | None) -> tuple[Path, Study | None]:
    """Find a results folder and its parameters: labels, the main scorer, the store.

    Args:
        results: Results folder; None for `study.results` of the parameters, else `results/`.
        params: Parameter file; None for params.yaml if its `study.results` is this folder.

    Raises:
        ParamsError: The given file is invalid, or params.yaml, which names the folder, is.
    """
    from omibench.cli.options import DEFAULT_PARAMS, show_study

    if params is None and not Path(DEFAULT_PARAMS).is_file():
        return results or Path("results"), None
    try:
        study = show_study(params or DEFAULT_PARAMS)
    except OmibenchError as error:
        if params is not None or results is None:
            raise
        say(f"{error}; models and settings are shown without their labels", err=True)
        return results, None
    own = Path(study.study.results)
    if results is None:
        return own, study
    return results, study if params or own.resolve() == results.resolve() else None


def _check_results(folder: Path) -> None:
    """Raise MissingInputError if a folder does not contain results."""
    if (folder / "freeze" / "questions.jsonl").is_file():
        return
    if (folder / "questions.jsonl").is_file() or (folder / "manifest.jsonl").is_file():
        raise MissingInputError(
            f"{folder}: is a dataset without responses; run `omibench explore --dataset {folder}`"
        )
    raise MissingInputError(
        f"{folder}: is not a results folder: it has no freeze/questions.jsonl; give the folder "
        "`study.results` of a study whose dataset is frozen"
    )


def _import_benchmark(folder: Path, name: str, scratch: Path, out: Path) -> Path:
    """Write an imported benchmark as a frozen dataset and return its folder of pictures."""
    from collections import Counter

    from omibench.datasets.registry import load_benchmark
    from omibench.params.benchmark import BenchmarkParams
    from omibench.schemas.tables import FrozenManifest, content_hash, write_json, write_jsonl
    from omibench.schemas.validation import explain

    if not folder.is_dir():
        raise MissingInputError(f"--dataset {folder}: is not a folder")
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
