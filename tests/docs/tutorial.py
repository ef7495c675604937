"""Commands and files of a tutorial page, read from its Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_BLOCK = re.compile(
    r"^```(?P<language>\w+)(?: (?P<name>\w+)=\"(?P<value>[^\"]*)\")?\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
_INSTALL = re.compile(
    r"^pip install (?:--no-compile )?'?\.(?P<extras>\[[\w,]+\])?'?$", re.MULTILINE
)
INSTALL, SERVES = "install", "until Ctrl-C"


@dataclass(frozen=True)
class Step:
    """A block of a page: a file to write, or commands to run.

    `edit` is the change of params.yaml that the prose before the commands asks for, as
    `KEY.KEY: VALUE`.
    """

    text: str
    file: str | None = None
    edit: str | None = None
    serves: bool = False

    @property
    def commands(self) -> list[str]:
        """The commands, one a line."""
        return self.text.strip().splitlines()


def read_extras(page: Path) -> str:
    """The extras that the install line of a page names, in brackets; empty for the base.

    Raises:
        AssertionError: The page has no such line, or several.
    """
    blocks = [b["text"] for b in _BLOCK.finditer(page.read_text("utf-8")) if b["value"] == INSTALL]
    (line,) = [match for block in blocks for match in _INSTALL.finditer(block)]
    return line["extras"] or ""


def read_steps(page: Path) -> Iterator[Step]:
    """The blocks of a page in order; those that install packages and plain text left out.

    Raises:
        AssertionError: A block of commands or of a file is in a form that nothing runs.
    """
    text = page.read_text("utf-8")
    assert text.count("```") % 2 == 0, page
    for block in _BLOCK.finditer(text):
        language, name, value = block["language"], block["name"], block["value"]
        if language == "text" or value == INSTALL:
            continue
        if language == "sh":
            assert name in (None, "edit") or value == SERVES, (page, value)
            edit = value if name == "edit" else None
            yield Step(block["text"], edit=edit, serves=value == SERVES)
        else:
            assert name == "title", (page, language)
            yield Step(block["text"], file=value)
