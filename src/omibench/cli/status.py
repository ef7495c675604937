"""The command `omibench status`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from omibench.cli.options import AsJson, Override, Params, show_study
from omibench.errors import ParamsError, SomeFailedError
from omibench.text.terminal import count_noun, say, say_lines

EVERY_S = 5.0


def status(
    watch: Annotated[bool, typer.Option("--watch", help="Refresh until the run ends.")] = False,
    every: Annotated[
        float,
        typer.Option(metavar="SECONDS", min=0.2, help="With --watch: seconds between two updates."),
    ] = EVERY_S,
    html: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also write an HTML page.")
    ] = None,
    as_json: AsJson = False,
    params: Params = "params.yaml",
    override: Override = None,
    lacking: Annotated[
        bool,
        typer.Option(
            "--lacking", help="Print the files of cells with missing responses, one per line."
        ),
    ] = False,
) -> None:
    """Show the progress of a study and its failures.

    Shows jobs, requests, dollars and the time left. Writes nothing and can run at any time. With
    --watch, it ends with the run and exits with 3 if jobs failed.

    \b
    Example:
      omibench status
      omibench status --params studies/emma_recorded.yaml --watch --html status.html
    """
    from omibench.files.outputs import output_file
    from omibench.study.status.reader import Looker
    from omibench.study.status.text import render, write_page
    from omibench.study.status.text import watch as watch_run

    if watch and (as_json or lacking):
        raise ParamsError("status: --watch cannot be combined with --json or --lacking")
    study = show_study(params, override)
    html = output_file(html, study.study.store, "--html") if html else None
    looker = Looker(study, params, override or [])
    snapshot = watch_run(looker, every, html) if watch else looker.look()
    looker.close()
    if watch:
        if snapshot.failures:
            raise SomeFailedError(f"status: {count_noun(len(snapshot.failures), 'job')} failed")
        return
    if html is not None:
        write_page(html, snapshot, None)
    if as_json:
        say_lines(snapshot.model_dump_json(indent=2))
    elif lacking:
        for path in snapshot.lacking:
            say(path)
    else:
        say_lines(render(snapshot))
