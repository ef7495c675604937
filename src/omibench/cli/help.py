"""The list of verbs in `omibench --help`, under headings."""

from __future__ import annotations

from typing import Any

from typer.core import TyperGroup

UNGROUPED = "Other commands"


class GroupedCommands(TyperGroup):
    """A group whose help lists its commands by their `rich_help_panel`, as plain text."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write one section a heading, in the order in which the commands were added."""
        sections: dict[str, list[tuple[str, str]]] = {}
        commands = {name: self.get_command(ctx, name) for name in self.list_commands(ctx)}
        width = formatter.width - 6 - max(map(len, commands), default=0)
        for name, command in commands.items():
            if command is None or command.hidden:
                continue
            heading = getattr(command, "rich_help_panel", None)
            heading = heading if isinstance(heading, str) else UNGROUPED
            sections.setdefault(heading, []).append((name, command.get_short_help_str(width)))
        for heading, rows in sections.items():
            with formatter.section(heading):
                formatter.write_dl(rows)
