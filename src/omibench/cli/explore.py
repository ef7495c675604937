"""Find the files that the explorer reads."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from omibench.cli.options import BehindTls, Host, Port, ResultsArgument
from omibench.errors import ArgumentError, MissingInputError, OmibenchError, ParamsError
from omibench.text.terminal import say

if TYPE_CHECKING:
    from omibench.explore.app.live import LiveStudy, Snapshot
    from omibench.explore.app.settings import ExplorerSettings, ExplorerSources
    from omibench.explore.query import ItemQuery
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
    from omibench.datasets.unpack import is_release, unpack_release
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
        review: Review folder for tags and notes; notes need a parameter file.

    Raises:
        MissingInputError: A folder does not contain results.
        ParamsError: The parameter file is invalid.
    """
    from omibench.explore.app.settings import ExplorerSources
    from omibench.explore.index import locate_index

    results, study = find_results_and_study(results, params)
    _check_results(results)
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
        params: Parameter file; None for params.yaml if its `study.results`, or that of its
            rehearsal, is this folder.

    Raises:
        ParamsError: The given file is invalid, or params.yaml, which names the folder, is.
    """
    from omibench.cli.options import DEFAULT_PARAMS, show_study
    from omibench.study.plan.rehearsal import APART

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
    if not params and results.resolve() == own.with_name(own.name + APART).resolve():
        return results, show_study(DEFAULT_PARAMS, ["simulated=true"])
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

    from pydantic import ValidationError

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


# The command `omibench explore`.

PORT = 8766


Other = Annotated[
    Path | None,
    typer.Option(
        metavar="RESULTS",
        help="Results folder of another run; shows the verdicts that changed.",
    ),
]
Dataset = Annotated[
    Path | None,
    typer.Option(metavar="DIR", help="Show a frozen dataset or release, without responses."),
]
Benchmark = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="With --dataset: the benchmark whose files these are, such as emma.",
    ),
]
ResultsParams = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help="Parameter file of the results.  [params.yaml, if its study.results matches]",
        show_default=False,
    ),
]
Review = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR", help="Store tags in this review folder, and notes as its decisions."
    ),
]
Export = Annotated[
    list[str] | None,
    typer.Option(
        metavar="ITEMS",
        help="Write pages of these problems instead of serving: an id, a file of ids, or an "
        "address copied from the explorer; repeatable.",
    ),
]
Out = Annotated[Path | None, typer.Option(metavar="DIR", help="With --export: folder to write.")]
Names = Annotated[
    str | None,
    typer.Option(metavar="NAMES", help="With --export: only these, separated by commas."),
]
Scorer = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="With --export: scorer shown first.  [the main scorer]"),
]
PaperPages = Annotated[
    bool, typer.Option("--paper-pages", help="With --export: also show pages of the papers.")
]
SecretFile = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="File with the password of the explorer; required with --behind-tls.",
    ),
]


def explore(
    results: ResultsArgument = None,
    other: Other = None,
    dataset: Dataset = None,
    benchmark: Benchmark = None,
    params: ResultsParams = None,
    review: Review = None,
    export: Export = None,
    out: Out = None,
    models: Names = None,
    settings: Names = None,
    scorer: Scorer = None,
    paper_pages: PaperPages = False,
    port: Port = PORT,
    host: Host = "127.0.0.1",
    behind_tls: BehindTls = "",
    secret_file: SecretFile = None,
) -> None:
    """Browse single problems with the responses of all models and settings.

    The explorer listens on this machine only and writes nothing, except tags and notes if you give
    --review. To reach it from other machines, put a TLS proxy in front and give --behind-tls and
    --secret-file. It can run while a study does: changed results are read again.

    With --export, selected problems are written as pages that open from disk or any web server.

    \b
    Example:
      omibench explore results
      omibench explore results --other results-before
      omibench explore --dataset release/v1.0.0
      omibench explore results --export physics-3 --export "?ready=all-wrong" --out appendix
    """
    from omibench.explore.app.live import LiveStudy
    from omibench.explore.query import ItemQuery

    if dataset is not None and (other is not None or review is not None):
        raise ParamsError("--other, --review: need results, not --dataset")
    if dataset is None and benchmark is not None:
        raise ParamsError("--benchmark: needs --dataset DIR, the folder with its files")
    if bool(export) != (out is not None):
        raise ArgumentError(
            "--export, --out: give both or neither: the problems to write, and the folder"
        )
    if not export and (models or settings or scorer or paper_pages):
        raise ArgumentError(
            "--models, --settings, --scorer, --paper-pages: need --export; in the browser, "
            "choose them on the page"
        )

    def read_study(scratch: str) -> LiveStudy:
        if dataset is not None:
            return LiveStudy(find_dataset(dataset, benchmark, Path(scratch)))
        return LiveStudy(find_sources(results, other, params, None if export else review))

    with TemporaryDirectory(prefix="omibench-explore-") as scratch:
        if export and out is not None:
            query = ItemQuery(
                rules=scorer, models=_split_names(models), settings=_split_names(settings)
            )
            _write_export(read_study(scratch).read(), export, out, query, paper_pages)
        else:
            served = _read_server_settings(host, port, behind_tls, secret_file)
            _serve(read_study(scratch), dataset, served)


def _read_server_settings(
    host: str, port: int, behind_tls: str, secret_file: Path | None
) -> ExplorerSettings:
    """Return the settings of a server that is safe to start."""
    from omibench.extras import require_extra

    require_extra("web", "explore")
    from omibench.explore.app.settings import ExplorerSettings
    from omibench.web.address import check_listening, read_secret

    check_listening(host, secret_file is not None, behind_tls)
    secret = read_secret(secret_file) if secret_file is not None else None
    return ExplorerSettings(host=host, port=port, origin=behind_tls, secret=secret)


def _serve(live: LiveStudy, dataset: Path | None, served: ExplorerSettings) -> None:
    """Serve a study until the process is stopped.

    Args:
        live: The study.
        dataset: The folder given as a dataset without responses.
        served: The server settings.
    """
    from omibench.explore.app.application import run_explorer

    for line in live.read().warnings:
        say(line, err=True)
    place = live.read().sources.results or dataset
    run_explorer(live, served, lambda address: say(f"{place}: {address} (Ctrl-C stops it)"))


def _write_export(
    snapshot: Snapshot, items: list[str], out: Path, query: ItemQuery, paper_pages: bool
) -> None:
    """Write the pages of problems into a folder and print its path."""
    from omibench.explore.export import choose_items, export_items
    from omibench.files.outputs import spare_store

    sources = snapshot.sources
    folder = sources.results or sources.dataset
    if out.resolve().is_relative_to(folder.resolve()):
        raise ArgumentError(f"--out {out}: is inside {folder}; give a folder outside of it")
    choice = choose_items(snapshot.study, items, query)
    for line in snapshot.warnings:
        say(line, err=True)
    out = spare_store(out, sources.store or "store")
    page = export_items(out, snapshot, choice, with_pages=paper_pages)
    say(f"{page}: {len(choice.ids)} problems, {len(choice.cells)} cells", err=True)


def _split_names(text: str | None) -> tuple[str, ...]:
    return tuple(name.strip() for name in (text or "").split(",") if name.strip())
