"""Write a new part from its template, with a passing test."""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import NamedTuple

from omibench.errors import OutputError, ParamsError
from omibench.files.intake import read_text
from omibench.plugins.registry import known_names
from omibench.scaffold.kinds import KINDS
from omibench.schemas.validation import suggest_name

NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
PATH_IMPORT = "from pathlib import Path\n"
LOAD_IMPORT = "from omibench.plugins.files import load_file\n"
LOAD_FIXTURE = """

@pytest.fixture(autouse=True)
def _plugin() -> None:
    load_file("${module}.py", folder=Path(__file__).parent)
"""
"""Additional lines in the test of a plug-in; a built-in part is loaded by its name."""


class NewPart(NamedTuple):
    """New files, and the use of the part in params."""

    created: list[Path]
    usage: str


def is_checkout(folder: Path) -> bool:
    """Return whether a folder is the root of a checkout of omibench, for built-in parts."""
    project = folder / "pyproject.toml"
    return (
        (folder / "src/omibench/plugins").is_dir()
        and project.is_file()
        and 'name = "omibench"' in read_text(project)
    )


def write_part(kind: str, name: str, folder: Path, as_plugin: bool) -> NewPart:
    """Write the module of a new part and its test.

    Args:
        kind: Key of `KINDS`.
        name: Name in params: lower-case letters, digits and hyphens.
        folder: Root of a checkout, or the folder of a study.
        as_plugin: Whether to write a plug-in file into `folder` instead of a built-in part.

    Returns:
        The written files, and the part's use.

    Raises:
        ParamsError: If the kind is unknown, or the name is invalid or in use.
        OutputError: If one of its files already exists; nothing is written then.
    """
    if kind not in KINDS:
        raise ParamsError(f"new: {kind!r} is not a kind of part{suggest_name(kind, KINDS)}")
    _check_name(kind, name)
    texts = dict(_texts(kind, name, folder, as_plugin))
    existing = next((path for path in texts if path.exists()), None)
    if existing:
        raise OutputError(f"{existing}: already exists and is not changed; choose another name")
    for path, text in texts.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    usage = KINDS[kind].usage.replace("NAME", name)
    plugins = f"plugins: [{_module(name)}.py]\n" if as_plugin else ""
    return NewPart([*texts], plugins + usage)


def _check_name(kind: str, name: str) -> None:
    if not NAME.fullmatch(name) or keyword.iskeyword(name):
        raise ParamsError(
            f"new: {name!r} is not a valid name; use lower-case letters, digits and hyphens, "
            "such as my-rules"
        )
    if name in known_names(KINDS[kind].registry):
        raise ParamsError(f"new {kind}: the name {name!r} is taken; choose another one")


def _texts(kind: str, name: str, folder: Path, as_plugin: bool) -> Iterator[tuple[Path, str]]:
    module, place = _module(name), KINDS[kind].folder
    words = {"name": name, "module": module, "title": _title(name)}
    part = folder / f"{module}.py" if as_plugin else folder / f"src/omibench/{place}/{module}.py"
    yield part, _template(f"{kind}.py.txt").substitute(words)
    test = f"test_{module}.py"
    words |= {
        "path_import": PATH_IMPORT if as_plugin else "",
        "path_block": f"{PATH_IMPORT}\n" if as_plugin else "",
        "load_import": LOAD_IMPORT if as_plugin else "",
        "load_fixture": Template(LOAD_FIXTURE).substitute(words) if as_plugin else "",
    }
    path = folder / test if as_plugin else folder / f"tests/{place}" / test
    yield path, _template(f"{kind}_test.py.txt").substitute(words)


def _template(file: str) -> Template:
    return Template((files("omibench.scaffold") / "templates" / file).read_text("utf-8"))


def _module(name: str) -> str:
    return name.replace("-", "_")


def _title(name: str) -> str:
    """Return the name as a class name: `my-rules` is `MyRules`."""
    return "".join(word.capitalize() for word in name.split("-"))
