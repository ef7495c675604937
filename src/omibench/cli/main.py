"""The commands that print documents generated from the types: schema, files."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Annotated, Any

import typer

from omibench.cli.allow import allow
from omibench.cli.configfiles import STOPPED_BY_USER, end_stopped, end_with_defect, exit_with_error
from omibench.cli.experts import experts_app
from omibench.cli.explore import explore
from omibench.cli.flows import flow_app, reevaluate, serve
from omibench.cli.graph import code_hash, record, trust
from omibench.cli.init import init, new
from omibench.cli.look import look
from omibench.cli.ocr_quality import ocr_quality
from omibench.cli.options import FullSummaries
from omibench.cli.plan import budget_app, plan, status
from omibench.cli.prompts import prompts_app
from omibench.cli.release import release_app
from omibench.cli.results import results_app
from omibench.cli.review import review_group
from omibench.cli.run import run
from omibench.cli.stages.adaptive import adaptive_app
from omibench.cli.stages.evaluate import aggregate, analyze, fill, infer, saliency
from omibench.cli.stages.judge import certify, judge
from omibench.cli.stages.papers import filter_, freeze, ocr, rationale
from omibench.cli.stages.score import score
from omibench.cli.stages.tune import tune
from omibench.cli.store import store_app
from omibench.errors import MissingExtraError, OmibenchError
from omibench.extras import find_extra, install_command
from omibench.models.api.stop import signals_watched
from omibench.text.terminal import WIDEST, guarded_streams, say, say_lines


def schema() -> None:
    """Print the JSON schema of parameter files.

    \b
    Example:
      omibench schema > schemas/params.schema.json
    """
    from omibench.graph.result_files import params_schema

    say_lines(params_schema())


def files() -> None:
    """Print a table of every file that omibench writes.

    \b
    Example:
      omibench files > docs/files.md
    """
    from omibench.graph.result_files import files_table

    say_lines(files_table())


# The command line: its commands in the order of `omibench --help`, and its error handling.
#
# Commands import heavy packages when they run, so that `omibench --help` stays fast.

GROUPS: Mapping[str, tuple[Callable[..., None] | typer.Typer, ...]] = {
    "Start": (init, plan, run, status),
    "Build a dataset": (
        ocr,
        look,
        filter_,
        rationale,
        review_group,
        freeze,
        release_app,
        ocr_quality,
    ),
    "Evaluate models": (
        *(tune, infer, fill, adaptive_app, experts_app),
        *(score, judge, aggregate, saliency, certify),
    ),
    "Evaluate on a schedule": (serve, reevaluate, flow_app),
    "Analyse results": (analyze, results_app, explore),
    "Keep and share results and responses": (store_app, budget_app, record, trust),
    "Extend and inspect": (new, allow, prompts_app, schema, files, code_hash),
}
"""Headings of `omibench --help`, with their commands and groups of commands."""
VERBS: tuple[Callable[..., None], ...] = tuple(
    part for parts in GROUPS.values() for part in parts if not isinstance(part, typer.Typer)
)


def _name_part(part: Callable[..., None] | typer.Typer) -> str:
    if isinstance(part, typer.Typer):
        return str(part.info.name)
    return part.__name__.rstrip("_").replace("_", "-")


class AllCommands(FullSummaries):
    """The root command, with commands grouped by task."""

    headings = {heading: [*map(_name_part, parts)] for heading, parts in GROUPS.items()}

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
        name: The only command or group that it has, which saves a job of the graph the
            declaration of all others; all of them without a name, or with an unknown one.
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
    every = [part for parts in GROUPS.values() for part in parts]
    for part in [part for part in every if _name_part(part) == name] or every:
        if isinstance(part, typer.Typer):
            made.add_typer(part)
        else:
            made.command(name=_name_part(part))(part)
    return made


app = make_app()


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
