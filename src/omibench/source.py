"""What code makes what: a hash over the meaning of a stage's own source.

It is among the parameters of every rule, so that changed code reruns what it made and a changed
comment, docstring or layout reruns nothing (design, section 4).
"""

from __future__ import annotations

import ast
import hashlib
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parent


def source_hash(stage: str) -> str:
    """Hash of every module that `omibench.<stage>` imports, directly or not; 16 hex digits."""
    digest = hashlib.sha256()
    for module in sorted(import_closure(f"omibench.{stage}")):
        digest.update(f"{module}\0{_meaning(_file_of(module))}\0".encode())
    digest.update(_data_files(stage))
    return digest.hexdigest()[:16]


def import_closure(module: str) -> set[str]:
    """The omibench modules that `module` needs, itself and its submodules included."""
    found: set[str] = set()
    waiting = [module, *_submodules(module)]
    while waiting:
        name = waiting.pop()
        if name not in found and _file_of(name) is not None:
            found.add(name)
            waiting += _imports(name)
    return found


@cache
def _imports(module: str) -> tuple[str, ...]:
    names: list[str] = []
    for node in ast.walk(_tree(_file_of(module))):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            # `from omibench.ocr import pages` may name a module as well as a function.
            names += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    return tuple(name for name in names if name.split(".")[0] == "omibench")


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


def _tree(path: Path | None) -> ast.Module:
    return ast.parse(path.read_text("utf-8")) if path else ast.Module([], [])


def _meaning(path: Path | None) -> str:
    tree = _tree(path)
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list) and body and _is_docstring(body[0]):
            body.pop(0)
    return ast.dump(tree)


def _is_docstring(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def _data_files(stage: str) -> bytes:
    folder = PACKAGE / stage
    files = sorted(p for p in folder.rglob("*") if p.is_file() and p.suffix not in (".py", ".pyc"))
    return b"".join(hashlib.sha256(path.read_bytes()).digest() for path in files)
