"""The command `omibench init`."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from omibench.cli.allow import allow_new
from omibench.errors import ParamsError
from omibench.text.terminal import printable, say, say_lines

if TYPE_CHECKING:
    from omibench.study.init.contents import StudyFiles


def init(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Folder of the new study.")],
    papers: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Build a dataset from the exam papers in this folder."),
    ] = None,
    generator: Annotated[
        str | None,
        typer.Option(
            metavar="NAME[,...]",
            help="Make problems from a seed: chemistry, coding, circuit or body.",
        ),
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
    answer keys by file name. If one of these files exists, nothing is written. Code in the new
    study's folder may run on this machine; see `omibench allow`.

    \b
    Example:
      omibench init regional --papers papers
      omibench init unseen --generator circuit,body
      omibench init my-emma --benchmark emma
      omibench init replication --study usnco_v
    """
    from omibench.plugins.allowance import find_code
    from omibench.study.init.contents import (
        study_of_benchmark,
        study_of_generators,
        study_of_papers,
        study_that_ships,
    )
    from omibench.study.init.write import write_study

    if sum(option is not None for option in (papers, generator, benchmark, study)) != 1:
        raise ParamsError(
            "init: give exactly one of --papers DIR, --generator NAME, --benchmark NAME and "
            "--study NAME"
        )
    if papers is not None:
        files = study_of_papers(papers, folder)
    elif generator is not None:
        files = study_of_generators(generator.split(","), folder)
    elif benchmark is not None:
        files = study_of_benchmark(benchmark)
    else:
        files = study_that_ships(study or "")
    is_clean = not find_code({}, folder)
    write_study(folder, files)
    allow_new(folder, is_clean)
    say(f"{folder}: {', '.join(sorted(files.texts))}", err=True)
    for line in files.pairs:
        say(f"  {printable(line)}", err=True)
    say_lines("\n".join(_next_commands(folder, files)))


def _next_commands(folder: Path, files: StudyFiles) -> list[str]:
    """Return the commands to type next, each with a remark."""
    data = files.study.data
    place = printable(data or "")
    plan = ("omibench plan", "requests, cost and time; sends nothing")
    rehearse = ("omibench run --simulated", "rehearse with simulated models: no keys, no data")
    if "sources.yaml" in files.texts and not files.pairs:
        commands = [
            ("${EDITOR:-vi} sources.yaml", "choose counts and difficulty"),
            ("omibench run", "make the problems, then filter and freeze them"),
        ]
    elif "sources.yaml" in files.texts:
        commands = [
            ("${EDITOR:-vi} sources.yaml", "check the pairs of papers and answer keys"),
            ("omibench run", "read the papers, then filter and freeze their problems"),
        ]
    elif not data:
        edit = ("${EDITOR:-vi} params.yaml", "set `data` to the folder of the recorded responses")
        commands = [rehearse, edit, plan, ("omibench run", "run the study")]
    else:
        if not (folder / data).is_dir():
            plan = (plan[0], f"{plan[1]}; over generated problems until {place} is there")
        commands = [plan, rehearse, ("omibench run", f"run the study on the data in {place}")]
    commands.insert(0, (f"cd {printable(shlex.quote(str(folder)))}", ""))
    width = max(len(command) for command, _ in commands)
    return [
        f"{command:<{width}}  # {remark}" if remark else command for command, remark in commands
    ]


# The command `omibench new`.


def new(
    kind: Annotated[
        str,
        typer.Argument(
            metavar="KIND",
            help="provider, scorer, setting, strategy, aggregation, benchmark, model-reason, "
            "section, result, judge or engine.",
        ),
    ],
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="Its name in params.yaml, such as my-rules.")
    ],
    plugin: Annotated[bool, typer.Option("--plugin", hidden=True)] = False,
) -> None:
    """Write a new scorer, provider, setting or other part from a template, with its test.

    It is a file in the current folder, which you list under `plugins` in params.yaml. Nothing is
    overwritten. Code in this folder may then run on this machine; see `omibench allow`.

    \b
    Example:
      omibench new scorer my-rules
      omibench new section hours
    """
    from omibench.plugins.allowance import are_allowed, find_code
    from omibench.study.scaffold.write import write_part

    if kind == "rules":
        say("`omibench new rules` is now called `omibench new scorer`", err=True)
        kind = "scorer"
    is_clean = are_allowed(find_code({}))
    part = write_part(kind, name, Path())
    allow_new(Path(), is_clean)
    lines = [f"new      {path}" for path in part.created]
    lines += ["", "In params.yaml:", part.usage, "", f"Test it: pytest {part.created[-1]}"]
    say_lines("\n".join(lines))
