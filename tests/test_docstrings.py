"""The section Args of a docstring names parameters that the function has."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ARGS = re.compile(r"^Args:\n((?:[ ]+.*\n?|\n)*)", re.M)
NAME = re.compile(r"^    \*{0,2}(\w+)(?: \([^)]*\))?:", re.M)


def definitions(node: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef]:
    """The functions and classes of a module at any depth; expressions hold none."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield child
        if not isinstance(child, ast.expr):
            yield from definitions(child)


def documented(text: str) -> Iterator[tuple[str, set[str], set[str]]]:
    """Each function or class with such a section: its name, the names there, its parameters."""
    for node in definitions(ast.parse(text)):
        members = node.body if isinstance(node, ast.ClassDef) else [node]
        functions = [m for m in members if isinstance(m, ast.FunctionDef | ast.AsyncFunctionDef)]
        if isinstance(node, ast.ClassDef):
            functions = [m for m in functions if m.name == "__init__"]
        section = ARGS.search(ast.get_docstring(node) or "")
        if section and functions:
            arguments = functions[0].args
            every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
            every += [a for a in (arguments.vararg, arguments.kwarg) if a]
            yield node.name, set(NAME.findall(section[1])), {a.arg for a in every}


def test_documented_parameters_exist(root: Path) -> None:
    sections, wrong = 0, []
    for path in sorted((root / "src").rglob("*.py")):
        for name, names, parameters in documented(path.read_text("utf-8")):
            sections += 1
            wrong += [f"{path}: {name}: {extra}" for extra in sorted(names - parameters)]
    assert sections > 50
    assert not wrong


def test_a_name_that_is_no_parameter_is_found() -> None:
    text = 'def f(a):\n    """Do it.\n\n    Args:\n        a: One.\n        b: Two.\n    """\n'
    assert list(documented(text)) == [("f", {"a", "b"}, {"a"})]
