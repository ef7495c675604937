"""Generate the reference of the Python API: each public name, described by mkdocstrings."""

from __future__ import annotations

import importlib
import sys
from collections import defaultdict


def write_python_api() -> str:
    """Return the page as Markdown: every name of `omibench.__all__` under its defining module."""
    package = importlib.import_module("omibench")
    modules: dict[str, list[str]] = defaultdict(list)
    for name in sorted(package.__all__):
        if name.startswith("__"):
            continue
        value = getattr(package, name)
        home = getattr(value, "__module__", None)
        if home in sys.modules and hasattr(sys.modules[home], getattr(value, "__name__", "")):
            modules[str(home)].append(str(value.__name__))
    lines = ["# Python", "", "The names of `import omibench`; each is loaded on first use."]
    for module, names in sorted(modules.items()):
        lines += ["", f"## {module}", ""]
        lines += [f"::: {module}.{name}" for name in names]
    return "\n".join(lines) + "\n"
