"""The verb `omibench explore`."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from omibench.cli.explore.export import ItemExportOptions, write_export
from omibench.cli.options import BehindTls, Host, Port
from omibench.text.terminal import say

PORT = 8766


def explore(
    results: Annotated[
        Path, typer.Argument(metavar="[RESULTS]", help="Folder of results.", show_default=True)
    ] = Path("results"),
    other: Annotated[
        Path | None,
        typer.Option(metavar="RESULTS", help="Another run, to see which verdicts changed."),
    ] = None,
    dataset: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="A frozen dataset or release, before a model is asked."),
    ] = None,
    benchmark: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Whose files --dataset names: emma, mathreal, ..."),
    ] = None,
    params: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Parameter file of the results.  [params.yaml, where it names them]",
            show_default=False,
        ),
    ] = None,
    review: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Take notes on items as decisions of this review."),
    ] = None,
    export: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ITEMS",
            help="Write pages of these items, in place of serving: an id, a file of ids, or an "
            "address of the explorer; may be repeated.",
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder of the pages of --export.")
    ] = None,
    models: Annotated[
        str | None, typer.Option(metavar="NAMES", help="Of --export: only these, with commas.")
    ] = None,
    settings: Annotated[
        str | None, typer.Option(metavar="NAMES", help="Of --export: only these, with commas.")
    ] = None,
    rules: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Rule book of the first page.  [the main one]"),
    ] = None,
    paper_pages: Annotated[
        bool, typer.Option("--paper-pages", help="Show pages of papers in what is exported.")
    ] = False,
    port: Port = PORT,
    host: Host = "127.0.0.1",
    behind_tls: BehindTls = "",
    secret_file: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="What people type to log in; needed behind TLS."),
    ] = None,
) -> None:
    """Look at single items in a browser: all models and settings, side by side.

    It listens on this machine alone and writes nothing, unless --review names a folder for notes.
    For other machines a TLS terminator has to stand before it, and a file with a secret is needed.
    Results that are being written are shown as far as they are, and read again when they change.

    With --export chosen items become pages in a folder of their own, which open from disk or from
    any web server.

    \b
    Example:
      omibench explore results
      omibench explore results --other results-before
      omibench explore --dataset release/v1.0.0
      omibench explore results --export physics-3 --export "?ready=all-wrong" --out appendix
    """
    from omibench.cli.explore.sources import find_dataset, find_sources
    from omibench.errors import ParamsError
    from omibench.explore.app.live import LiveStudy

    if dataset is not None and (other is not None or review is not None):
        raise ParamsError("--other, --review: go with results, and --dataset has none")
    if dataset is None and benchmark is not None:
        raise ParamsError("--benchmark: name the folder of its files with --dataset")
    chosen = ItemExportOptions(export or [], out, models, settings, rules, paper_pages)
    chosen.check()
    if export:
        with TemporaryDirectory(prefix="omibench-explore-") as scratch:
            if dataset is not None:
                sources = find_dataset(dataset, benchmark, Path(scratch))
            else:
                sources = find_sources(results, other, params, None)
            write_export(LiveStudy(sources).read(), chosen)
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
        if dataset is not None:
            sources = find_dataset(dataset, benchmark, Path(scratch))
        else:
            sources = find_sources(results, other, params, review)
        live = LiveStudy(sources)
        for line in live.read().warnings:
            say(line, err=True)
        place = sources.results or dataset
        run_explorer(live, served, lambda address: say(f"{place}: {address} (Ctrl-C stops it)"))
