"""The meaning of source files; of plug-ins their files, a hash, and the line that raised."""

from __future__ import annotations

import ast
import hashlib
import json
import os
import sys
import traceback
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib.metadata import EntryPoint, distributions
from pathlib import Path
from typing import NamedTuple

from omibench.errors import OmibenchError, PluginError
from omibench.files.outputs import write_atomically
from omibench.plugins.built_in import built_in_parts

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


# The source of plug-ins: their files, a hash of their meaning, and the line that raised.

HEX_DIGITS = 16


class PluginSource(NamedTuple):
    """The source of one plug-in: a file, or the folder of a package.

    `meaning` is a hash that comments, docstrings and layout do not change.
    """

    origin: str
    path: Path
    meaning: str
    is_installed: bool = False


SOURCES: dict[str, PluginSource] = {}
"""The loaded plug-ins of this process, by origin."""


def text_meaning(text: str) -> str:
    """Return the hash of the meaning of a Python file's text, 16 hex digits.

    Raises:
        SyntaxError: It is not valid Python.
    """
    return read_source(text).meaning[:HEX_DIGITS]


def package_meaning(path: Path) -> str:
    """Return the hash of the meaning of a module or package folder, with its data files."""
    return _hash_files(_package_files(path), path.parent)


def _hash_files(files: Iterable[Path], folder: Path) -> str:
    digest = hashlib.sha256()
    for file in files:
        content = file.read_bytes()
        name = file.relative_to(folder).as_posix()
        is_code = file.suffix == ".py"
        meaning = text_meaning(content.decode("utf-8")) if is_code else _hash(content)
        digest.update(f"{name}\0{meaning}\0".encode())
    return digest.hexdigest()[:HEX_DIGITS]


def module_meaning(path: Path, module: str) -> str:
    """Return the hash of the meaning of one module of a package and of what it imports there.

    The package's data files count, and all of its code if some imports are computed.

    Args:
        path: The package's folder, or the file of a single module.
        module: Dotted name of the module, such as `my_package.scorers`.
    """
    if path.is_file():
        return package_meaning(path)
    files = {_dotted_name(file, path): file for file in path.rglob("*.py")}
    needed: set[str] = set()
    waiting = [module]
    while waiting:
        name = waiting.pop()
        if name in needed or name not in files:
            continue
        needed.add(name)
        imports = _list_inner_imports(files[name], name)
        if imports is None:
            return package_meaning(path)
        parents = name.split(".")
        waiting += [*imports, *(".".join(parents[:end]) for end in range(1, len(parents)))]
    chosen = {files[name] for name in needed}
    counted = (file for file in _package_files(path) if file.suffix != ".py" or file in chosen)
    return _hash_files(counted, path.parent)


def _dotted_name(file: Path, package: Path) -> str:
    parts = file.relative_to(package.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _list_inner_imports(file: Path, name: str) -> list[str] | None:
    """Return every module that a file may import; None if some are computed."""
    package = name if file.name == "__init__.py" else name.rpartition(".")[0]
    found: list[str] = []
    for node in ast.walk(ast.parse(file.read_bytes())):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1]
            start = ".".join([*(above if node.level else []), *([node.module or ""])]).strip(".")
            found += [start, *(f"{start}.{alias.name}" for alias in node.names)]
        if _computes_imports(node):
            return None
    return found


def _computes_imports(node: ast.AST) -> bool:
    names = {"importlib", "pkgutil", "__import__", "exec", "eval"}
    if isinstance(node, ast.Import):
        return any(alias.name.partition(".")[0] in names for alias in node.names)
    if isinstance(node, ast.ImportFrom):
        return not node.level and (node.module or "").partition(".")[0] in names
    return isinstance(node, ast.Name) and node.id in names


def describe_error(error: BaseException, origin: str) -> str:
    """Describe a plug-in's exception on one line: file, line, type and text."""
    message = " ".join(str(error).split())
    kind = type(error).__name__
    text = f"{kind}: {message}" if message else kind
    if isinstance(error, OmibenchError):
        text = message
    if isinstance(error, SyntaxError):
        file = Path(error.filename).name if error.filename else origin
        return f"{file}, line {error.lineno}: {type(error).__name__}: {error.msg}"
    source = SOURCES.get(origin)
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if source and Path(frame.filename).is_relative_to(source.path):
            inner = Path(frame.filename).relative_to(source.path).as_posix()
            place = origin if inner == "." else f"{origin}, {inner}"
            return f"{place}, line {frame.lineno}: {text}"
    return f"{origin}: {text}"


def _package_files(path: Path) -> Iterable[Path]:
    if path.is_file():
        return [path]
    files = (file for file in path.rglob("*") if file.is_file())
    return sorted(f for f in files if "__pycache__" not in f.parts and f.suffix != ".pyc")


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


# Parts of installed packages, from entry points of the groups `omibench.<kind>`.
#
#     [project.entry-points."omibench.scorers"] halves = "my_package.rules"
#
# The entry point's name is that of the part; importing the module registers it. Listing the names
# imports nothing.

PREFIX = "omibench."
LEFT_OUT = "OMIBENCH_PLUGIN_FOLDERS_LEFT_OUT"
"""Environment variable with the folders of `sys.path` in which no plug-ins are looked for."""


class InstalledPart(NamedTuple):
    """A part in an installed package; `origin` is the package with its version."""

    entry_point: EntryPoint
    origin: str

    @property
    def package(self) -> str:
        """The package, or single module, to import."""
        return self.entry_point.module.partition(".")[0]


@cache
def installed_parts() -> Mapping[str, Mapping[str, tuple[InstalledPart, ...]]]:
    """Return all parts of installed packages: kind -> name -> origin.

    The current folder, which Python would also search, is excluded: a package in a folder of papers
    or results is not a plug-in.
    """
    parts: dict[str, dict[str, tuple[InstalledPart, ...]]] = {}
    for kind, part in _entry_points():
        names = parts.setdefault(kind, {})
        names[part.entry_point.name] = (*names.get(part.entry_point.name, ()), part)
    return parts


def installed_names(kind: str) -> list[str]:
    """Return the names of a kind from installed packages, in alphabetical order."""
    return sorted(installed_parts().get(kind, {}))


def find_installed(kind: str, name: str) -> InstalledPart:
    """Return the installed part of that name.

    Raises:
        PluginError: Several packages provide it, or a built-in part has this name.
    """
    first, *duplicates = installed_parts()[kind][name]
    if duplicates or name in built_in_parts(kind):
        other_origin = duplicates[0].origin if duplicates else "omibench"
        raise PluginError(
            f"{name!r} in the entry points omibench.{kind} is defined by {other_origin} and by "
            f"{first.origin}; uninstall one of the packages, or ask its author to rename the part"
        )
    return first


def check_installed() -> None:
    """Reject packages with conflicting part names before any part is used.

    Raises:
        PluginError: See `find_installed`, for any part of any kind.
    """
    for kind, names in installed_parts().items():
        for name in names:
            find_installed(kind, name)


def note_source(part: InstalledPart) -> None:
    """Store the meaning hash of a part's package before its code runs."""
    if part.origin in SOURCES:
        return
    from importlib.util import find_spec

    spec = find_spec(part.package)
    if spec is None or spec.origin is None:
        return
    file = Path(spec.origin)
    path = file.parent if spec.submodule_search_locations else file
    SOURCES[part.origin] = PluginSource(part.origin, path, package_meaning(path), is_installed=True)


def _entry_points() -> Iterator[tuple[str, InstalledPart]]:
    left_out = {Path.cwd().resolve()}
    left_out |= {Path(f).resolve() for f in os.environ.get(LEFT_OUT, "").split(os.pathsep) if f}
    folders = [entry for entry in sys.path if entry and Path(entry).resolve() not in left_out]
    seen_names: set[str] = set()
    for distribution in distributions(path=folders):
        parts = [e for e in distribution.entry_points if e.group.startswith(PREFIX)]
        # Reading the name of every package takes a quarter of a second and is rarely needed.
        if not parts or distribution.name in seen_names:
            continue
        seen_names.add(distribution.name)
        origin = f"{distribution.name} {distribution.version}"
        for entry_point in parts:
            yield entry_point.group.removeprefix(PREFIX), InstalledPart(entry_point, origin)
