"""The command `omibench run`: Snakemake with the options that most studies need."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from omibench.cli.options import DEFAULT_PARAMS, Override, Params, read_study
from omibench.errors import MissingInputError, ParamsError, SomeFailedError
from omibench.text.terminal import say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omibench.params.study import Study

_DIRECTORY = ("--directory", "-d")


def run(
    context: typer.Context,
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="-- OPTION", help="Further options and targets for snakemake."),
    ] = None,
    cores: Annotated[
        int | None,
        typer.Option("--cores", "-c", min=1, help="Number of processor cores.  [all]"),
    ] = None,
    simulated: Annotated[
        bool,
        typer.Option(
            "--simulated", help="Rehearse the study with simulated models: no keys, no cost."
        ),
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", "-n", help="Only list the jobs that would run.")
    ] = False,
    params: Params = DEFAULT_PARAMS,
    override: Override = None,
) -> None:
    """Run a study from its papers or benchmark to the report.

    Runs `snakemake` in the folder of the study: that of its params.yaml; for a parameter file with
    another name, the nearest folder with a Snakefile. Only missing or outdated files are built, and
    jobs that a killed run left unfinished are repeated. While another run of the study is active,
    the command is refused. The last line is the path of the report.

    \b
    Example:
      omibench run
      omibench run --cores 2 --params studies/usnco_v.yaml --simulated
      omibench run -- --keep-going freeze_all
    """
    from omibench.cli.processes import run_alone, run_module
    from omibench.extras import require_extra
    from omibench.files.study_folder import SNAKEFILE, in_study_folder
    from omibench.status.processes import asks_only

    require_extra("workflow", "omibench run", "snakemake")
    if params.lstrip().startswith("{"):
        raise ParamsError(
            "run: --params: JSON text is not possible here, since Snakemake reads it; give a file"
        )
    started_in = Path.cwd()
    params = context.with_resource(in_study_folder(params, partial(say, err=True)))
    if not Path(SNAKEFILE).is_file():
        raise MissingInputError(
            f"run: {Path.cwd()} has no Snakefile; change to the folder of your study, or create "
            "one with `omibench init FOLDER`"
        )
    pairs = [*(override or []), *(["simulated=true"] if simulated else [])]
    study = read_study(params, pairs)
    options = ["--dry-run"] if dry_run else []
    command = [*_options(cores, params, pairs), *options, *(words or [])]
    if asks_only(command):
        code = run_module("snakemake", *command)
    else:
        folder = _find_folder(words or [])
        code = run_alone(
            "snakemake", *command, results=study.study.results, say=_say, folder=folder
        )
    if code:
        raise SomeFailedError(
            f"run: snakemake ended with exit code {code}; `omibench status` lists what failed and "
            "what remains, `omibench run` continues from there"
        )
    if not dry_run:
        say(_last_line(study, Path() if Path.cwd() == started_in else Path.cwd()))


def _options(cores: int | None, params: str, pairs: Sequence[str]) -> list[str]:
    """Return the options of Snakemake; one that takes several values is followed by an option."""
    configfile = [] if params == DEFAULT_PARAMS else ["--configfile", params]
    config = ["--config", *pairs] if pairs else []
    return [*configfile, *config, "--rerun-incomplete", "--cores", str(cores or "all")]


def _say(line: object) -> None:
    say(f"omibench: {line}", err=True)


def _find_folder(words: Sequence[str]) -> Path:
    """Return the folder in which Snakemake works."""
    for place, word in enumerate(words):
        if word in _DIRECTORY and place + 1 < len(words):
            return Path(words[place + 1])
        if word.startswith("--directory="):
            return Path(word.partition("=")[2])
    return Path()


def _last_line(study: Study, folder: Path) -> str:
    results = folder / study.study.results
    report, dataset = results / "analyze/report.html", results / "freeze/manifest.json"
    if study.cells and report.is_file():
        return f"report: {report}"
    if dataset.is_file():
        return f"dataset: {dataset.parent}{os.sep}"
    return f"results: {results}{os.sep}"
