"""`omibench prompts`: the words that are sent, and files of your own in their place."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from omibench.cli.help import make_group
from omibench.text.terminal import say_lines

if TYPE_CHECKING:
    from omibench.prompts.table import PlacedFile

prompts_app = make_group(
    "prompts", "The words of every prompt, and files of your own in their place."
)
StudyParams = Annotated[
    str | None,
    typer.Option("--params", metavar="FILE", help="The study.  [params.yaml, where there is one]"),
]


@prompts_app.command("list")
def list_(
    params: StudyParams = None,
    text: Annotated[bool, typer.Option("--text", help="Print the words, too.")] = False,
) -> None:
    """List every prompt with its slots, hash, printed original, and the study's file in its place.

    A slot in brackets may be left out of a file. Outside of a study the built-in prompts are
    listed.

    \b
    Example:
      omibench prompts list
      omibench prompts list --params studies/omibench.yaml --text
    """
    from omibench.prompts.table import describe_catalogue

    say_lines("\n".join(describe_catalogue(_read_files(params), text)))


@prompts_app.command()
def show(
    name: Annotated[str, typer.Argument(help="A prompt, such as gptscore.")],
    params: StudyParams = None,
) -> None:
    """Show one prompt with its words.

    \b
    Example:
      omibench prompts show gptscore
    """
    from omibench.prompts.catalogue import find_prompt
    from omibench.prompts.table import describe_prompt

    files = _read_files(params)
    say_lines("\n".join(describe_prompt(find_prompt(name), files.get(name, ()), with_text=True)))


@prompts_app.command()
def check(
    files: Annotated[
        list[str], typer.Argument(metavar="FILE...", help="Text files, or folders of them.")
    ],
    name: Annotated[
        str | None,
        typer.Option("--as", metavar="NAME", help="The prompt.  [the file's name without .txt]"),
    ] = None,
    params: StudyParams = None,
) -> None:
    """Say which slots files of prompts lack, and which of theirs there are not.

    Exits with 1 where a file cannot be used. Prompts of a study's plug-ins are known with it.

    \b
    Example:
      omibench prompts check prompts
      omibench prompts check pasted.txt --as gptscore
    """
    from omibench.errors import MissingInputError
    from omibench.prompts.folder import list_text_files
    from omibench.prompts.table import check_prompt_file

    _read_files(params)
    paths: list[str] = []
    for file in files:
        if not Path(file).exists():
            raise MissingInputError(f"{file}: cannot be read: it does not exist")
        found = [str(path) for path in list_text_files(file)] if Path(file).is_dir() else [file]
        if not found:
            say_lines(f"{file}: holds no text file", err=True)
        paths += found
    faults = [fault for path in paths for fault in check_prompt_file(path, name)]
    if faults:
        say_lines("\n".join(faults), err=True)
        raise typer.Exit(1)
    if paths:
        say_lines("\n".join(f"{path}: can be used" for path in paths))


def _read_files(params: str | None) -> dict[str, list[PlacedFile]]:
    """The files that a study puts in the places of prompts, by name; none outside of a study.

    The prompts of judges that its plug-ins bring are in the catalogue then.
    """
    from omibench.judges.instrument import register
    from omibench.judges.registry import build_instrument
    from omibench.params.study import load_study
    from omibench.params.wordings.uses import list_prompt_uses
    from omibench.prompts.table import PlacedFile

    if params is None and not Path("params.yaml").is_file():
        return {}
    study = load_study(params or "params.yaml")
    for name, panel in study.judge.others.items():
        register(build_instrument(name, panel))
    files: dict[str, list[PlacedFile]] = {}
    for use in list_prompt_uses(study):
        files.setdefault(use.prompt, []).append(PlacedFile(use.key, use.file))
    return files
