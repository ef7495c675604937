"""The command `omibench allow`: allow the code of a study's folder on this machine."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from omibench.cli.options import DEFAULT_PARAMS, Params, require_file
from omibench.errors import OmibenchError, ParamsError
from omibench.text.terminal import printable, say, say_lines

if TYPE_CHECKING:
    from collections.abc import Mapping

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
