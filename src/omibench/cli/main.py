"""The command line: its commands in the order of `omibench --help`, and its error handling."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from importlib import import_module
from typing import Annotated, Any

import typer

from omibench.cli.configfiles import STOPPED_BY_USER, end_stopped, end_with_defect, exit_with_error
from omibench.cli.options import FullSummaries
from omibench.errors import MissingExtraError, OmibenchError
from omibench.extras import find_extra, install_command
from omibench.models.api.stop import signals_watched
from omibench.text.terminal import WIDEST, guarded_streams, say

GROUPS: Mapping[str, tuple[str, ...]] = {
    "Start": ("init.init", "plan.plan", "run.run", "status.status"),
    "Build a dataset": (
        *("papers.ocr", "look.look", "papers.filter_", "papers.rationale"),
        *("review.review_app", "papers.freeze", "release.release_app", "look.ocr_quality"),
    ),
    "Evaluate models": (
        *("evaluate.tune", "evaluate.infer", "evaluate.fill"),
        *("evaluate.adaptive_app", "evaluate.experts_app", "score.score"),
        *("judge.judge", "evaluate.aggregate", "evaluate.saliency"),
        "judge.certify",
    ),
    "Evaluate on a schedule": ("flows.serve", "flows.reevaluate", "flows.flow_app"),
    "Analyse results": ("evaluate.analyze", "results.results_app", "explore.explore"),
    "Keep and share results and responses": (
        *("store.store_app", "budget.budget_app", "graph.record", "graph.trust"),
    ),
    "Extend and inspect": (
        *("init.new", "init.allow", "prompts.prompts_app"),
        *("graph.schema", "graph.files", "graph.code_hash"),
    ),
}
"""Headings of `omibench --help`, with the functions of their commands and the groups of commands,
by their places in `omibench.cli`. A command imports its own module alone, and heavy packages when
it runs."""


def _name_command(place: str) -> str:
    """Return the name to type: `adaptive` for `evaluate.adaptive_app`."""
    return place.rpartition(".")[2].removesuffix("_app").rstrip("_").replace("_", "-")


class AllCommands(FullSummaries):
    """The root command, with commands grouped by task."""

    headings = {heading: [*map(_name_command, places)] for heading, places in GROUPS.items()}

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a command, also by its former name."""
        if cmd_name == "resume":
            say("`omibench resume` is now part of `omibench run`", err=True)
            cmd_name = "run"
        return super().get_command(ctx, cmd_name)


def _name_option(name: str) -> str:
    """Return the name of an option, also for its former name."""
    if name != "rules":
        return name
    say("`--rules` is now called `--scorer`", err=True)
    return "scorer"


def _print_version(is_requested: bool) -> None:
    if is_requested:
        from omibench import __version__

        say(f"omibench {__version__}")
        raise typer.Exit


def omibench(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    """Build multi-image benchmarks from exam papers and evaluate vision-language models on them.

    Snakemake runs a study: start it with `omibench run` (or `snakemake --cores all`) in a folder
    that has a params.yaml. Its rules call the stage commands below.
    """


def make_app(name: str | None = None) -> typer.Typer:
    """Make the command line.

    Args:
        name: The only command or group that it has, which saves a job of the graph the import
            of all others; all of them without a name, or with an unknown one.
    """
    made = typer.Typer(
        name="omibench",
        cls=AllCommands,
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={
            "help_option_names": ["-h", "--help"],
            "max_content_width": WIDEST,
            "token_normalize_func": _name_option,
        },
    )
    made.callback()(omibench)
    every = {_name_command(place): place for places in GROUPS.values() for place in places}
    for command in [name] if name in every else every:
        module, _, part = every[command].rpartition(".")
        made_part = getattr(import_module(f"omibench.cli.{module}"), part)
        if isinstance(made_part, typer.Typer):
            made.add_typer(made_part)
        else:
            made.command(name=command)(made_part)
    return made


def main() -> None:
    """Run the command line; a user error prints one line and sets the exit code."""
    with guarded_streams(), signals_watched(whole_program=True):
        try:
            make_app(*sys.argv[1:2])()
        except OmibenchError as error:
            exit_with_error(error)
        except SystemExit as ended:
            if ended.code == STOPPED_BY_USER:
                end_stopped()
            raise
        except ModuleNotFoundError as error:
            extra = find_extra(error.name or "")
            if extra is None:
                end_with_defect()
            exit_with_error(
                MissingExtraError(
                    f"{' '.join(sys.argv[1:2])} needs {error.name}, which is not "
                    f"installed: {install_command(extra)}"
                )
            )
        except Exception:
            end_with_defect()
