"""Commands that guides name exist, with the options that they are given there."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import typer.main

from command_line import app

GUIDES = ("docs/reviewing.md", "docs/agreement.md", "sample/README.md")
COMMAND = re.compile(r"omibench review ([a-z][^`#\n]*)")


def list_commands(guide: str) -> list[list[str]]:
    """The words of each command of a guide, alternatives such as `a|b` left out."""
    lines = [shlex.split(match) for match in COMMAND.findall(guide)]
    return [words for words in lines if "|" not in words[0]]


@pytest.mark.parametrize("guide", GUIDES)
def test_commands_of_guides_exist_with_their_options(root: Path, guide: str) -> None:
    commands = list_commands((root / guide).read_text("utf-8"))
    assert commands
    for words in commands:
        command, rest = find_command(words)
        options = {name for parameter in command.params for name in parameter.opts}
        named = {word for word in rest if word.startswith("-")}
        assert named <= options, " ".join(words)


def find_command(words: list[str]) -> tuple[Any, list[str]]:
    """The command that words name below `omibench review`, and the words behind its name."""
    command: Any = typer.main.get_command(app)
    rest = ["review", *words]
    while commands := getattr(command, "commands", {}):
        assert rest[0] in commands, " ".join(words)
        command, rest = commands[rest[0]], rest[1:]
    return command, rest
