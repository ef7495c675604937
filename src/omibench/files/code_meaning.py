"""Semantics of one source file, independent of its comments, docstrings and layout."""

from __future__ import annotations

import ast
import hashlib
import json
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import NamedTuple

from omibench.files.writing import write_atomically

MEANINGS_FILE = Path(".snakemake/omibench/meanings.json")
"""Cache of the semantics of files, stored with Snakemake's metadata."""


class SourceSummary(NamedTuple):
    """Semantics of one source file, and every module that it imports, lazily or not.

    `facade` lists the imports of its `__getattr__`, which matter if a name is requested from the
    package but not if a submodule is imported.
    """

    meaning: str
    imports: tuple[str, ...]
    facade: tuple[str, ...] = ()


class Meanings:
    """Cache of the semantics of files by name and content hash.

    Parsing the whole package takes seconds. A cache written by another version of this module is
    ignored.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._reader = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()
        self._known: dict[str, tuple[str, SourceSummary]] = {}
        self._unsaved = False
        with suppress(OSError, ValueError, TypeError, KeyError):
            saved = json.loads(file.read_text("utf-8"))
            if saved["reader"] == self._reader:
                self._known = {
                    name: (content, SourceSummary(meaning, tuple(imports), tuple(facade)))
                    for name, (content, (meaning, imports, facade)) in saved["files"].items()
                }

    def of(self, path: Path, folder: Path) -> SourceSummary:
        """Return the semantics of a file's current content; its name is relative to `folder`."""
        name = path.relative_to(folder).as_posix()
        content = path.read_bytes()
        digest = hashlib.sha256(content).hexdigest()
        entry = self._known.get(name)
        if entry and entry[0] == digest:
            return entry[1]
        source = read_source(content.decode("utf-8"))
        self._known[name] = digest, source
        self._unsaved = True
        return source

    def save(self) -> None:
        """Store the entries that were parsed again; if that fails, they are parsed next time."""
        if not self._unsaved:
            return
        text = json.dumps({"reader": self._reader, "files": self._known})
        with suppress(OSError):
            write_atomically(self._file, text.encode())
            self._unsaved = False


@cache
def meanings(file: Path) -> Meanings:
    """Return the cache of a file, opened once."""
    return Meanings(file)


def read_source(text: str) -> SourceSummary:
    """Parse the semantics and imports of a module."""
    tree = ast.parse(text)
    facade = [node for node in tree.body if getattr(node, "name", "") == "__getattr__"]
    body = [node for node in tree.body if node not in facade]
    meaning = hashlib.sha256(_spell(tree).encode()).hexdigest()
    return SourceSummary(meaning, _list_imports(body), _list_imports(facade))


def _list_imports(nodes: Sequence[ast.AST]) -> tuple[str, ...]:
    names: list[str] = []
    waiting = list(nodes)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Import):
            # Any name of an imported module can be requested: the star represents it.
            names += [name for a in node.names for name in (a.name, f"{a.name}.*")]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            # `from omibench.stages.ocr import pages` can refer to a module or a function.
            names += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        elif isinstance(node, ast.Call):
            names += _main_of_process(node)
        if not _for_types_only(node):
            waiting += ast.iter_child_nodes(node)
    return tuple(dict.fromkeys(names))


def _main_of_process(call: ast.Call) -> list[str]:
    """Return the module that a process runs as its main one: `python_module("omibench.x")`."""
    if isinstance(call.func, ast.Name) and call.func.id == "python_module":
        first = call.args[0] if call.args else None
        if isinstance(first, ast.Constant) and isinstance(first.value, str):
            return [first.value]
    return []


def _for_types_only(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.If)
        and isinstance(node.test, ast.Name)
        and node.test.id == "TYPE_CHECKING"
    )


def _spell(node: object) -> str:
    """Serialise a syntax tree without docstrings, identically in every version of Python.

    `ast.dump` differs between versions in the empty fields it prints.
    """
    if isinstance(node, ast.AST):
        fields = [
            f"{name}={_spell(value)}"
            for name, value in ast.iter_fields(node)
            if value is not None and value != []
        ]
        return f"{type(node).__name__}({','.join(fields)})"
    if isinstance(node, list):
        first = 1 if node and _is_docstring(node[0]) else 0
        return f"[{','.join([_spell(item) for item in node[first:]])}]"
    return repr(node)


def _is_docstring(node: object) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )
