"""What code makes what: a hash over the meaning of a stage's own source.

It is among the parameters of every rule, so that changed code reruns what it made and a changed
comment, docstring or layout reruns nothing (design, section 4). The packages that the code imports
count by their installed version, so that an upgrade reruns what they made.
"""

from __future__ import annotations

import ast
import hashlib
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

PACKAGE = Path(__file__).parent
APART = ("models", "store", "progress")
"""Rooms whose packages do not count: what an SDK has fetched is in the store, and bought once."""
DISTRIBUTION = {"PIL": "pillow", "yaml": "pyyaml", "vl_convert": "vl-convert-python"}
"""Distributions whose name is not that of their module; others are looked for in all of them."""


class Source(NamedTuple):
    """What one file of source means, and every module that it imports, lazily or not.

    `facade` is what its `__getattr__` imports: for those who ask the package for a name, and not
    for those who import a module of it.
    """

    meaning: str
    imports: tuple[str, ...]
    facade: tuple[str, ...] = ()


def source_hash(stage: str) -> str:
    """Hash of every module that `omibench.<stage>` imports, directly or not; 16 hex digits.

    With the data files beside these modules, and the versions of the packages that they import.
    """
    closure = sorted(import_closure(f"omibench.{stage}"))
    digest = hashlib.sha256()
    for module in closure:
        digest.update(f"{module}\0{_source(module).meaning}\0".encode())
    for name in sorted(_packages(closure)):
        digest.update(f"{name}\0{version_of(name)}\0".encode())
    for file in _data_files(stage, closure):
        digest.update(hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()[:16]


def import_closure(module: str) -> set[str]:
    """The omibench modules that `module` needs, itself and its submodules included."""
    seen: set[str] = set()
    waiting = [module, *_submodules(module)]
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        is_module = _file_of(name) is not None
        source = _source(name if is_module else name.rpartition(".")[0])
        waiting += filter(_is_ours, source.imports if is_module else source.facade)
    return {name for name in seen if _file_of(name) is not None}


def packages_of(stage: str) -> set[str]:
    """The top-level modules of other packages that a stage's results depend on."""
    return _packages(import_closure(f"omibench.{stage}"))


def version_of(module: str) -> str:
    """The installed version of the distribution that brings a module; `absent` without one."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(DISTRIBUTION.get(module, module))
    except PackageNotFoundError:
        names = sorted(set(_distributions().get(module, ())))
        return " ".join(f"{name} {version(name)}" for name in names) or "absent"


def _packages(closure: set[str] | list[str]) -> set[str]:
    return {
        name.split(".")[0]
        for module in closure
        if module.split(".")[1] not in APART
        for name in _source(module).imports
        if name.split(".")[0] not in {"omibench", *sys.stdlib_module_names}
    }


@cache
def _distributions() -> dict[str, list[str]]:
    from importlib.metadata import packages_distributions

    return dict(packages_distributions())


def _imports(module: str) -> tuple[str, ...]:
    source = _source(module)
    return tuple(filter(_is_ours, source.imports + source.facade))


def _is_ours(name: str) -> bool:
    return name.split(".", maxsplit=1)[0] == "omibench"


def _submodules(module: str) -> list[str]:
    folder = PACKAGE.joinpath(*module.split(".")[1:])
    return [
        ".".join(["omibench", *path.relative_to(PACKAGE).with_suffix("").parts]).removesuffix(
            ".__init__"
        )
        for path in sorted(folder.rglob("*.py"))
        if path.name != "__init__.py" or path.parent != folder
    ]


def _file_of(module: str) -> Path | None:
    path = PACKAGE.joinpath(*module.split(".")[1:])
    candidates = [path.with_suffix(".py"), path / "__init__.py"]
    return next((c for c in candidates if c.is_file() and c != PACKAGE / "__init__.py"), None)


def _source(module: str) -> Source:
    path = _file_of(module)
    if path is None:
        return Source("", ())
    state = path.stat()
    return _parsed(path, state.st_mtime_ns, state.st_size)


@cache
def _parsed(path: Path, modified_ns: int, size: int) -> Source:
    tree = ast.parse(path.read_text("utf-8"))
    facade = [node for node in tree.body if getattr(node, "name", "") == "__getattr__"]
    rest = [node for node in tree.body if node not in facade]
    meaning = hashlib.sha256(_spelt(tree).encode()).hexdigest()
    return Source(meaning, _imported_by(rest), _imported_by(facade))


def _imported_by(nodes: Sequence[ast.AST]) -> tuple[str, ...]:
    names: list[str] = []
    waiting = list(nodes)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Import):
            # Any name of an imported module may be asked for: the star stands for it.
            names += [name for a in node.names for name in (a.name, f"{a.name}.*")]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            # `from omibench.ocr import pages` may name a module as well as a function.
            names += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        if not _for_types_only(node):
            waiting += ast.iter_child_nodes(node)
    return tuple(dict.fromkeys(names))


def _for_types_only(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.If)
        and isinstance(node.test, ast.Name)
        and node.test.id == "TYPE_CHECKING"
    )


def _spelt(node: object) -> str:
    """One spelling of a syntax tree, without docstrings: the same in every version of Python.

    `ast.dump` is not: versions differ in which empty fields they name.
    """
    if isinstance(node, ast.AST):
        fields = [
            f"{name}={_spelt(value)}"
            for name, value in ast.iter_fields(node)
            if value is not None and value != []
        ]
        return f"{type(node).__name__}({','.join(fields)})"
    if isinstance(node, list):
        first = 1 if node and _is_docstring(node[0]) else 0
        return f"[{','.join([_spelt(item) for item in node[first:]])}]"
    return repr(node)


def _is_docstring(node: object) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def _data_files(stage: str, closure: list[str]) -> list[Path]:
    """What lies beside the modules: all below the stage's folder, and in those of the others."""
    folders = {path.parent for name in closure if (path := _file_of(name))} - {PACKAGE}
    files = {path for folder in folders for path in folder.iterdir()}
    files |= set((PACKAGE / stage).rglob("*"))
    return sorted(p for p in files if p.is_file() and p.suffix not in (".py", ".pyc"))
