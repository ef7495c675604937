"""The commands that start Prefect's flows: `reevaluate`, `serve` and the group `flow`."""

from __future__ import annotations

import logging
import os
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer

from omibench.cli.options import DEFAULT_PARAMS, Params, make_group, read_study, require_file
from omibench.text.terminal import printable, say

Cores = Annotated[int, typer.Option(help="Cores for Snakemake.", min=1)]
Lanes = Annotated[int, typer.Option(help="Concurrent shards per endpoint.", min=1)]
ShardSize = Annotated[int, typer.Option(help="Requests per task.", min=1)]

flow_app = make_group("flow", "Run one of Prefect's flows once, with or without a server.")


@flow_app.command()
def evaluate(
    params: Params = DEFAULT_PARAMS, shard: ShardSize = 200, cores: Cores = 2, lanes: Lanes = 4
) -> None:
    """Request the responses of every cell that needs an API, then build the report.

    \b
    Example:
      omibench flow evaluate --shard 100
    """
    _run("evaluate", params, shard, cores, lanes)


@flow_app.command()
def judge(
    params: Params = DEFAULT_PARAMS, shard: ShardSize = 100, cores: Cores = 2, lanes: Lanes = 4
) -> None:
    """Run the study's judges on every response, then build the scores.

    \b
    Example:
      omibench flow judge
    """
    _run("judge", params, shard, cores, lanes)


@flow_app.command()
def rationales(
    params: Params = DEFAULT_PARAMS, shard: ShardSize = 50, cores: Cores = 2, lanes: Lanes = 4
) -> None:
    """Judge problems, write missing rationales and topic labels, then build their files.

    \b
    Example:
      omibench flow rationales
    """
    _run("rationales", params, shard, cores, lanes)


def reevaluate(
    params: Params = DEFAULT_PARAMS,
    shard: ShardSize = 200,
    cores: Cores = 2,
    lanes: Lanes = 4,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only list new models and their cost.")
    ] = False,
    pending: Annotated[
        bool,
        typer.Option("--pending", help="Only list the models that wait for approval."),
    ] = False,
    approve: Annotated[
        list[str] | None,
        typer.Option(
            metavar="MODEL",
            help="Only let the next run evaluate a pending or cancelled model; `all` for each.",
        ),
    ] = None,
) -> None:
    """Evaluate new models at the watched endpoints and hubs, within the month's budget.

    \b
    Example:
      omibench reevaluate --dry-run
      omibench reevaluate --pending
      omibench reevaluate --approve new-model
    """
    if pending or approve:
        _decide(params, approve or [])
        return
    _run("reevaluate", params, shard, cores, lanes, dry_run)


def serve(
    port: Annotated[int, typer.Option(help="Port of the server on loopback.")] = 4200,
    home: Annotated[
        Path | None, typer.Option(help="Prefect's folder, with its database.  [.prefect]")
    ] = None,
) -> None:
    """Serve the scheduled flows of this folder's study with Prefect, until Ctrl-C.

    The schedules are those of prefect.yaml in this folder; without one, new models are looked for
    every hour.

    \b
    Example:
      omibench serve --port 4300
    """
    _require("omibench serve")
    from omibench.flows.serve import serve_folder

    serve_folder(port, home)


def _decide(params: str, approved: list[str]) -> None:
    """Approve models, then list those that still wait."""
    import time

    from omibench.cli.options import show_study
    from omibench.files.locations import in_study_folder
    from omibench.study.reevaluate.decisions import approve, list_asked

    with in_study_folder(params, partial(say, err=True)) as there:
        study = show_study(there)
        now = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime())
        for name in approve(study, Path(there), approved, now) if approved else []:
            say(f"{name}: the next run evaluates it; to start one now: omibench reevaluate")
        waiting = list_asked(Path(study.study.results))
        for sighting in waiting:
            say(printable(f"{sighting.state} since {sighting.when}: {sighting.why}"))
        if not waiting:
            say("no model waits for approval")


def _run(name: str, params: str, *options: object) -> None:
    """Start the flow `name`, a function of its module, in the folder of its study.

    A signal ends it with 128 plus its number, like every command.
    """
    _require("flows")
    require_file(params, name, ", since Snakemake reads it")
    from omibench.cli.configfiles import end_stopped
    from omibench.files.locations import in_study_folder
    from omibench.models.api.stop import signals_watched, stop_requested

    os.environ.setdefault("PREFECT_LOGGING_LEVEL", "INFO")
    with signals_watched(whole_program=True):
        try:
            with in_study_folder(params, partial(say, err=True)) as there:
                read_study(there)
            getattr(import_module(f"omibench.flows.{name}"), name)(params, *options)
        except BaseException:
            if stop_requested() is not None:
                # Prefect's state adds nothing, and its server may be gone.
                logging.disable()
                end_stopped()
            raise


def _require(what: str) -> None:
    from omibench.extras import require_extra

    require_extra("flows", what, "prefect")
