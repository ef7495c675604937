"""The command `omibench init`."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from omibench.errors import ParamsError
from omibench.text.terminal import printable, say, say_lines

if TYPE_CHECKING:
    from omibench.init.contents import StudyFiles


def init(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Folder of the new study.")],
    papers: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Build a dataset from the exam papers in this folder."),
    ] = None,
    benchmark: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Evaluate models on a benchmark, such as emma."),
    ] = None,
    study: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Copy the study of a paper: omibench, emma, emma_mini, emma_recorded, usnco_v "
            "or mathreal.",
        ),
    ] = None,
) -> None:
    """Create a study in a new folder.

    Writes params.yaml, a Snakefile that uses the rules of the installed omibench, profiles,
    dvc.yaml, .gitignore, requirements.txt and, for papers, a sources.yaml that pairs papers with
    answer keys by file name. If one of these files exists, nothing is written.

    \b
    Example:
      omibench init regional --papers papers
      omibench init my-emma --benchmark emma
      omibench init replication --study usnco_v
    """
    from omibench.init.contents import study_of_benchmark, study_of_papers, study_that_ships
    from omibench.init.write import write_study

    if sum(option is not None for option in (papers, benchmark, study)) != 1:
        raise ParamsError(
            "init: give exactly one of --papers DIR, --benchmark NAME and --study NAME"
        )
    if papers is not None:
        files = study_of_papers(papers, folder)
    elif benchmark is not None:
        files = study_of_benchmark(benchmark)
    else:
        files = study_that_ships(study or "")
    write_study(folder, files)
    say(f"{folder}: {', '.join(sorted(files.texts))}", err=True)
    say_lines("\n".join(_next_commands(folder, files)))


def _next_commands(folder: Path, files: StudyFiles) -> list[str]:
    """Return the commands to type next, each with a remark."""
    commands = [(f"cd {printable(shlex.quote(str(folder)))}", "")]
    if "sources.yaml" in files.texts:
        commands.append(("${EDITOR:-vi} sources.yaml", "check the pairs of papers and answer keys"))
    else:
        commands.append(("omibench plan", "requests, cost and time; sends nothing"))
        commands.append(
            ("omibench run --simulated", "rehearse with simulated models: no keys, no data")
        )
    data = files.study.data
    remark = f"run the study on the data in {printable(data)}" if data else "the study"
    commands.append(("omibench run", remark))
    width = max(len(command) for command, _ in commands)
    return [
        f"{command:<{width}}  # {remark}" if remark else command for command, remark in commands
    ]
