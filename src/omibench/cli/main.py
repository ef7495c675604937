"""The command line: its verbs, in the order of `omibench --help`, and what becomes of errors.

Heavy imports live inside the verbs, so that `omibench --help` stays quick.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated

import typer

from omibench.cli.budget import budget_app
from omibench.cli.code_hash import code_hash
from omibench.cli.documents import files, schema
from omibench.cli.ending import STOPPED_BY_USER, end_stopped, end_with_defect, exit_with_error
from omibench.cli.explore import explore
from omibench.cli.graph import record, trust
from omibench.cli.help import GroupedCommands
from omibench.cli.init import init
from omibench.cli.new import new
from omibench.cli.ocr_quality import ocr_quality
from omibench.cli.plan import plan
from omibench.cli.prompts import prompts_app
from omibench.cli.release import release_app
from omibench.cli.results import results_app
from omibench.cli.resume import resume
from omibench.cli.review import review_group
from omibench.cli.run import run
from omibench.cli.stages.aggregate import aggregate
from omibench.cli.stages.analyze import analyze
from omibench.cli.stages.certify import certify
from omibench.cli.stages.filter import filter_
from omibench.cli.stages.freeze import freeze
from omibench.cli.stages.infer import fill, infer
from omibench.cli.stages.judge import judge
from omibench.cli.stages.ocr import ocr
from omibench.cli.stages.rationale import rationale
from omibench.cli.stages.saliency import saliency
from omibench.cli.stages.score import score
from omibench.cli.status import status
from omibench.cli.store import store_app
from omibench.errors import OmibenchError
from omibench.models.traffic.stop import signals_watched
from omibench.text.terminal import guarded_streams, say

app = typer.Typer(
    name="omibench",
    cls=GroupedCommands,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="From raw exam papers to a report on how well models reason over several images.",
)
GROUPS: Mapping[str, tuple[Callable[..., None], ...]] = {
    "Studies": (init, plan, run, status, resume, explore),
    "Stages: datasets from exam papers": (ocr, filter_, rationale, freeze),
    "Stages: evaluation": (*(infer, fill, score, judge, aggregate, certify, saliency, analyze),),
    "Results of others": (record, trust),
    "Reference": (ocr_quality, schema, files, code_hash),
    "Parts of your own": (new,),
}
"""The verbs by the headings of `omibench --help`."""
VERBS: tuple[Callable[..., None], ...] = tuple(verb for group in GROUPS.values() for verb in group)
STORES = "Responses and budget"

for heading, verbs in GROUPS.items():
    for verb in verbs:
        name = verb.__name__.rstrip("_").replace("_", "-")
        app.command(name=name, rich_help_panel=heading)(verb)
app.add_typer(results_app, name="results", rich_help_panel="Reference")
app.add_typer(review_group, name="review", rich_help_panel="Reference")
app.add_typer(release_app, name="release", rich_help_panel="Reference")
app.add_typer(store_app, name="store", rich_help_panel=STORES)
app.add_typer(budget_app, name="budget", rich_help_panel=STORES)
app.add_typer(prompts_app, name="prompts", rich_help_panel="Reference")


def main() -> None:
    """Run the command line; a user's mistake is one line on standard error and an exit code."""
    with guarded_streams(), signals_watched(whole_program=True):
        try:
            app()
        except OmibenchError as error:
            exit_with_error(error)
        except SystemExit as ended:
            if ended.code == STOPPED_BY_USER:
                end_stopped()
            raise
        except Exception:
            end_with_defect()


def _print_version(is_requested: bool) -> None:
    if is_requested:
        from omibench import __version__

        say(f"omibench {__version__}")
        raise typer.Exit


@app.callback()
def omibench(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Say which it is."),
    ] = False,
) -> None:
    """From raw exam papers to a report on how well models reason over several images."""
