"""The commands `init`, `new` and `allow`: new folders, and whether their code may run here."""

from __future__ import annotations

import shlex
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from omibench.cli.options import DEFAULT_PARAMS, Params, require_file
from omibench.errors import OmibenchError, ParamsError
from omibench.text.terminal import printable, say, say_lines

if TYPE_CHECKING:
    from collections.abc import Mapping

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
        write_study,
    )

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


# The command `omibench allow`: allow the code of a study's folder on this machine.

LISTED = 40
"""The number of parts of the code listed one by one; the rest is counted by folder."""


def allow(
    context: typer.Context,
    show: Annotated[
        bool, typer.Option("--show", help="Only list the code and its hash; allow nothing.")
    ] = False,
    forget: Annotated[
        bool, typer.Option("--forget", help="Allow nothing of this folder any more.")
    ] = False,
    params: Params = DEFAULT_PARAMS,
) -> None:
    """Allow the code that comes with a study to run on this machine.

    Lists what could run: plug-ins, Snakefile, rules, profiles, other code in the study's folder,
    own code of models, and results, a store or prompts outside the folder. Read it first: --show
    lists it without allowing it. What you allow is remembered by hash in your state directory, so a
    change is refused until you allow it again. A folder that `omibench init` or `omibench new` made
    here is allowed whatever its code.

    In CI and on machines without your state directory, set OMIBENCH_ALLOW to the hash in the last
    line instead.

    \b
    Example:
      omibench allow --show
      omibench allow
      OMIBENCH_ALLOW=$HASH omibench run
    """
    from functools import partial

    from omibench.files.locations import in_study_folder
    from omibench.files.yaml_file import read_mapping
    from omibench.plugins.allowance import (
        allow_code,
        find_code,
        forget_folder,
        hash_code,
        is_allowed_folder,
        list_states,
    )

    if show and forget:
        raise ParamsError("allow: give either --show or --forget")
    require_file(params, "allow")
    params = context.with_resource(in_study_folder(params, partial(say, err=True)))
    if forget:
        say(f"forgotten in {forget_folder()}: {Path.cwd()}")
        return
    code = find_code(read_mapping(params))
    whole = is_allowed_folder()
    if whole:
        say(f"{Path.cwd()}: omibench made this folder here, so all of its code is allowed")
    elif not code:
        say(f"{Path.cwd()}: has no code of its own; nothing needs to be allowed")
    say_lines("\n".join(_describe_code(list_states(code))))
    if not show and code and not whole:
        say(f"allowed: remembered in {allow_code(code)}")
    if code:
        say(f"hash: {hash_code(code)}")


def _describe_code(states: Mapping[str, str]) -> list[str]:
    """Return a line for each part of the code, and one per folder and state beyond the limit."""
    names = sorted(states, key=lambda name: (states[name] == "allowed", name))
    lines = [f"  {states[name]:<8} {printable(name)}" for name in names[:LISTED]]
    rest = Counter((states[name], Path(name).parts[0]) for name in names[LISTED:])
    return lines + [
        f"  {state:<8} {printable(top)}: {count:,} more" for (state, top), count in rest.items()
    ]


def allow_new(folder: Path, is_clean: bool) -> None:
    """Allow a folder in which omibench has just written files, or say why it is not allowed.

    Args:
        folder: The folder.
        is_clean: Whether all code that was there before is allowed.
    """
    from omibench.plugins.allowance import allow_folder

    hint = "`omibench allow --show` lists it, `omibench allow` allows it"
    if not is_clean:
        say(f"omibench: {folder.absolute()} had other code, which is not allowed; {hint}", err=True)
        return
    try:
        allow_folder(folder)
    except OmibenchError as error:
        say(f"omibench: {error}; {hint}", err=True)
