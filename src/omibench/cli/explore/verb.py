"""The command `omibench explore`."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from omibench.cli.options import BehindTls, Host, Port, ResultsArgument
from omibench.errors import ArgumentError, ParamsError
from omibench.text.terminal import say

if TYPE_CHECKING:
    from omibench.explore.app.live import Snapshot
    from omibench.explore.query import ItemQuery

PORT = 8766


def explore(
    results: ResultsArgument = None,
    other: Annotated[
        Path | None,
        typer.Option(
            metavar="RESULTS",
            help="Results folder of another run; shows the verdicts that changed.",
        ),
    ] = None,
    dataset: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Show a frozen dataset or release, without responses."),
    ] = None,
    benchmark: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="With --dataset: the benchmark whose files these are, such as emma.",
        ),
    ] = None,
    params: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Parameter file of the results.  [params.yaml, if its study.results matches]",
            show_default=False,
        ),
    ] = None,
    review: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Store notes on problems as decisions of this review folder."
        ),
    ] = None,
    export: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ITEMS",
            help="Write pages of these problems instead of serving: an id, a file of ids, or an "
            "address copied from the explorer; repeatable.",
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="With --export: folder to write.")
    ] = None,
    models: Annotated[
        str | None,
        typer.Option(metavar="NAMES", help="With --export: only these, separated by commas."),
    ] = None,
    settings: Annotated[
        str | None,
        typer.Option(metavar="NAMES", help="With --export: only these, separated by commas."),
    ] = None,
    rules: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="With --export: scorer shown first.  [the main scorer]"),
    ] = None,
    paper_pages: Annotated[
        bool, typer.Option("--paper-pages", help="With --export: also show pages of the papers.")
    ] = False,
    port: Port = PORT,
    host: Host = "127.0.0.1",
    behind_tls: BehindTls = "",
    secret_file: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="File with the password of the explorer; required with --behind-tls.",
        ),
    ] = None,
) -> None:
    """Browse single problems with the responses of all models and settings.

    The explorer listens on this machine only and writes nothing, except notes if you give
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
    from omibench.cli.explore.sources import find_dataset, find_sources
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
    if not export and (models or settings or rules or paper_pages):
        raise ArgumentError(
            "--models, --settings, --rules, --paper-pages: need --export; in the browser, "
            "choose them on the page"
        )

    def read_study(scratch: str) -> LiveStudy:
        if dataset is not None:
            return LiveStudy(find_dataset(dataset, benchmark, Path(scratch)))
        return LiveStudy(find_sources(results, other, params, None if export else review))

    if export and out is not None:
        query = ItemQuery(rules=rules, models=_split_names(models), settings=_split_names(settings))
        with TemporaryDirectory(prefix="omibench-explore-") as scratch:
            _write_export(read_study(scratch).read(), export, out, query, paper_pages)
        return
    from omibench.extras import require_extra

    require_extra("web", "explore")
    from omibench.explore.app.server import run_explorer
    from omibench.explore.app.settings import ExplorerSettings
    from omibench.web.serving.listening import check_listening, read_secret

    check_listening(host, secret_file is not None, behind_tls)
    secret = read_secret(secret_file) if secret_file is not None else None
    served = ExplorerSettings(host=host, port=port, origin=behind_tls, secret=secret)
    with TemporaryDirectory(prefix="omibench-explore-") as scratch:
        live = read_study(scratch)
        for line in live.read().warnings:
            say(line, err=True)
        place = live.read().sources.results or dataset
        run_explorer(live, served, lambda address: say(f"{place}: {address} (Ctrl-C stops it)"))


def _write_export(
    snapshot: Snapshot, items: list[str], out: Path, query: ItemQuery, paper_pages: bool
) -> None:
    """Write the pages of problems into a folder and print its path."""
    from omibench.explore.export.choice import choose_items
    from omibench.explore.export.write import export_items
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
