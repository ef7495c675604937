"""`omibench prompts`: show the prompts and check your replacements."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from omibench.cli.options import make_group, read_study, show_study
from omibench.text.terminal import say

if TYPE_CHECKING:
    from omibench.settings.prompts import PlacedFile

prompts_app = make_group("prompts", "Show the prompts sent to models, and check your replacements.")
StudyParams = Annotated[
    str | None,
    typer.Option(
        "--params", metavar="FILE", help="Parameter file of the study.  [params.yaml, if it exists]"
    ),
]


@prompts_app.command("list")
def list_(
    params: StudyParams = None,
    text: Annotated[bool, typer.Option("--text", help="Also print the texts.")] = False,
) -> None:
    """List all prompts with their slots, hash, source in a paper, and the study's replacement.

    Slots in brackets are optional. Outside of a study, the built-in prompts are listed. Plug-ins
    are not run, so their prompts are missing.

    \b
    Example:
      omibench prompts list
      omibench prompts list --params studies/omibench.yaml --text
    """
    from omibench.settings.prompts import describe_catalogue

    for line in describe_catalogue(_read_files(params, run_plugins=False), text):
        say(line)


@prompts_app.command()
def show(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="Name of the prompt, such as gptscore.")
    ],
    params: StudyParams = None,
) -> None:
    """Print the text of one prompt.

    With --params, it runs the plug-ins of that file to find theirs.

    \b
    Example:
      omibench prompts show gptscore
    """
    from omibench.settings.prompts import describe_prompt, find_prompt

    files = _read_files(params, run_plugins=params is not None)
    for line in describe_prompt(find_prompt(name), files.get(name, ()), with_text=True):
        say(line)


@prompts_app.command()
def check(
    files: Annotated[
        list[str], typer.Argument(metavar="FILE", help="Text files, or folders with text files.")
    ],
    name: Annotated[
        str | None,
        typer.Option(
            "--as", metavar="NAME", help="Prompt that the file replaces.  [file name without .txt]"
        ),
    ] = None,
    params: StudyParams = None,
) -> None:
    """Check replacement files for missing and unknown slots.

    Exits with 1 if a file cannot be used. Prompts of plug-ins need --params, which runs them.

    \b
    Example:
      omibench prompts check prompts
      omibench prompts check pasted.txt --as gptscore
    """
    from omibench.errors import MissingInputError
    from omibench.settings.prompt_names import list_text_files
    from omibench.settings.prompts import check_prompt_file

    _read_files(params, run_plugins=params is not None)
    paths: list[str] = []
    for file in files:
        if not Path(file).exists():
            raise MissingInputError(f"{file}: the file does not exist")
        found = [str(path) for path in list_text_files(file)] if Path(file).is_dir() else [file]
        if not found:
            say(f"{file}: contains no text file", err=True)
        paths += found
    faults = [fault for path in paths for fault in check_prompt_file(path, name)]
    for fault in faults:
        say(fault, err=True)
    if faults:
        raise typer.Exit(1)
    for path in paths:
        say(f"{path}: can be used")


def _read_files(params: str | None, *, run_plugins: bool) -> dict[str, list[PlacedFile]]:
    """Return the study's replacement files by prompt name; empty outside of a study.

    Run plug-ins add the prompts of their judges to the catalogue.
    """
    from omibench.answers.judges.instrument import register
    from omibench.answers.judges.registry import JUDGES, build_instrument
    from omibench.params.prompt_files import list_prompt_uses
    from omibench.settings.prompts import PlacedFile

    if params is None and not Path("params.yaml").is_file():
        return {}
    file = params or "params.yaml"
    study = read_study(file) if run_plugins else show_study(file)
    for name, panel in study.judge.others.items():
        if JUDGES.load(name):
            register(build_instrument(name, panel))
    files: dict[str, list[PlacedFile]] = {}
    for use in list_prompt_uses(study):
        files.setdefault(use.prompt, []).append(PlacedFile(use.key, use.file))
    return files
