"""Show commands in `--help` under headings, each with its full summary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import typer
from typer.core import TyperGroup

COMMANDS = "Commands"


class FullSummaries(TyperGroup):
    """A group of commands whose help shows the whole first paragraph of each.

    Attributes:
        headings: Heading -> names of the commands under it, in order. Other commands come last,
            under `Commands`.
    """

    headings: ClassVar[Mapping[str, Sequence[str]]] = {}

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of the commands in the order of the headings."""
        placed = [name for names in self.headings.values() for name in names]
        names = super().list_commands(ctx)
        return sorted(names, key=lambda name: placed.index(name) if name in placed else len(placed))

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a command by name; its first paragraph is its summary."""
        command = super().get_command(ctx, cmd_name)
        if command and not command.short_help and command.help:
            command.short_help = " ".join(command.help.split("\n\n")[0].split())
        return command

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write one section per heading."""
        headings = {name: heading for heading, names in self.headings.items() for name in names}
        sections: dict[str, list[tuple[str, str]]] = {}
        for name in self.list_commands(ctx):
            command = self.get_command(ctx, name)
            if command and not command.hidden:
                row = (name, command.get_short_help_str())
                sections.setdefault(headings.get(name, COMMANDS), []).append(row)
        for heading, rows in sections.items():
            with formatter.section(heading):
                formatter.write_dl(rows)


def make_group(name: str, summary: str) -> typer.Typer:
    """Make a group of commands, such as `omibench store`.

    Args:
        name: The name to type.
        summary: One sentence for the help.
    """
    return typer.Typer(
        name=name,
        cls=FullSummaries,
        no_args_is_help=True,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
        help=summary,
    )
