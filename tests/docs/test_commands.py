"""Commands in the guides exist, with the options that the guides give them."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import typer.main

from command_line import app

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted(
    path.relative_to(ROOT).as_posix()
    for path in (*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"))
    if path.name != "CHANGELOG.md"
)
_BLOCK = re.compile(r"```(?P<kind>\w*)[^\n]*\n(?P<code>.*?)```", re.DOTALL)
_VERBS = "|".join(typer.main.get_command(app).commands)  # type: ignore[attr-defined]
_INLINE = re.compile(rf"`omibench ((?:{_VERBS})\b[^`\n|<{{]*)`")


def list_commands(text: str) -> list[list[str]]:
    """Split each `omibench` command of a page, in shell blocks and inline code, into words."""
    blocks = [match["code"] for match in _BLOCK.finditer(text) if match["kind"] == "sh"]
    lines = [line for block in blocks for line in block.splitlines()]
    commands = [line.removeprefix("omibench ") for line in lines if line.startswith("omibench ")]
    commands += _INLINE.findall(_BLOCK.sub("", text))
    return [shlex.split(command, comments=True) for command in commands]


@pytest.fixture(scope="module")
def omibench() -> Any:
    return typer.main.get_command(app)


@pytest.mark.parametrize("page", PAGES)
def test_commands_of_a_page_exist_with_their_options(page: str, omibench: Any) -> None:
    for words in list_commands((ROOT / page).read_text("utf-8")):
        command, rest = omibench, words
        while commands := getattr(command, "commands", {}):
            if not rest:
                break
            assert rest[0] in commands, " ".join(words)
            command, rest = commands[rest[0]], rest[1:]
        known = {name for parameter in command.params for name in parameter.opts}
        given = rest[: rest.index("--")] if "--" in rest else rest
        options = {word.partition("=")[0] for word in given if word.startswith("-")}
        assert options <= {*known, "-h", "--help"}, " ".join(words)


NEEDED = {
    ("run",): "workflow", ("explore",): "web", ("flow",): "flows", ("serve",): "flows",
    ("reevaluate",): "flows", ("review", "serve"): "review", ("review", "user"): "review",
    ("ocr",): "pdf", ("store", "compact"): "packs",
}  # fmt: skip
"""The extra of a command that does nothing without it."""
INSTALLING = ("start", "own_study", "exploring", "scheduling", "reviewing", "store",
              "tutorials/papers", "tutorials/endpoint", "tutorials/responses",
              "tutorials/reviewers")  # fmt: skip


@pytest.mark.parametrize("page", INSTALLING)
def test_a_page_installs_the_extras_of_its_commands(page: str) -> None:
    text = (ROOT / f"docs/{page}.md").read_text("utf-8")
    installs = re.findall(r"pip install [^`\n]*\[([\w,]+)\]", text)
    named = {extra for extras in installs for extra in extras.split(",")}
    blocks = "".join(match[0] for match in _BLOCK.finditer(text))
    for words in list_commands(blocks):
        needed = {extra for start, extra in NEEDED.items() if tuple(words[: len(start)]) == start}
        assert needed <= named, " ".join(words)
