"""The modules of docs/reference/plugin_modules.md have these names; examples need no others."""

from __future__ import annotations

import ast
import re
from importlib import import_module
from pathlib import Path
from string import Template

import pytest

ROOT = Path(__file__).parents[2]
TEMPLATES = ROOT / "src/omibench/study/scaffold/templates"
SLOTS = {"name": "mine", "title": "Mine"}


def read_promises() -> dict[str, set[str]]:
    """Module -> names, from the table of the guide."""
    text = (ROOT / "docs/reference/plugin_modules.md").read_text("utf-8")
    section = text[text.index("## What plug-ins import") :].partition("\n## ")[0]
    rows = re.findall(r"^\| `(omibench[\w.]*)` \| (.*) \|$", section, re.MULTILINE)
    return {module: set(re.findall(r"`(\w+)`", names)) for module, names in rows}


def list_imports(source: str) -> list[tuple[str, str]]:
    return [
        (node.module or "", alias.name)
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("omibench.")
        for alias in node.names
    ]


@pytest.mark.parametrize("module", sorted(read_promises()))
def test_a_module_that_is_promised_has_its_names(module: str) -> None:
    for name in read_promises()[module]:
        assert hasattr(import_module(module), name), f"{module} has no {name}"


def test_templates_and_examples_import_what_is_promised() -> None:
    promises = read_promises()
    files = [
        *ROOT.glob("examples/plugin/**/*.py"),
        *(file for file in TEMPLATES.glob("*.py.txt") if not file.name.endswith("_test.py.txt")),
    ]
    assert len(files) > 10
    for file in files:
        source = Template(file.read_text("utf-8")).safe_substitute(SLOTS)
        for module, name in list_imports(source):
            assert name in promises.get(module, ()), f"{file.name}: {module}.{name}"
