"""Formulas on pages opened from disk: KaTeX and its script, written to the same folder.

Browsers load no modules from `file:` addresses, so the modules that applications load from a
server are joined into one classic script here.
"""

from __future__ import annotations

import re
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Final

FORMULAS_POLICY: Final = (
    "default-src 'none'; style-src 'unsafe-inline' 'self'; img-src data: 'self'; "
    "script-src 'self'; font-src 'self'"
)
"""Policy of a page with these scripts as separate files and no inline script."""
SCRIPT: Final = "formulas.js"
_IMPORT: Final = re.compile(r'^import (\{[^}]*\}) from "\./(?:web/)?([a-z]+)\.js";$', re.MULTILINE)
_EXPORT: Final = re.compile(r"^export (?=(?:async )?(?:function|const|class) (\w+))", re.MULTILINE)


def write_formula_files(folder: Path) -> None:
    """Write KaTeX with its fonts and licences, and the script that sets formulas.

    Args:
        folder: Output folder, created if missing; pages load `katex.min.css`, `katex.min.js`,
            `mhchem.min.js` and `formulas.js` from it, in this order.
    """
    vendored = files("omibench.web") / "vendored" / "katex"
    _copy_folder(vendored, folder)
    (folder / SCRIPT).write_text(join_modules("formulas"), "utf-8")


def join_modules(name: str, *folders: Traversable) -> str:
    """Join a module and all that it imports into one classic script.

    Args:
        name: Name without suffix.
        folders: Folders of modules besides `web/static`, which they are searched before.

    Raises:
        ValueError: If modules import each other, or one has an unsupported import or export.
    """
    places = (*folders, files("omibench.web") / "static")
    parts: dict[str, str] = {}

    def add(name: str, importing: tuple[str, ...]) -> None:
        if name in importing:
            raise ValueError(f"{name}.js: imports itself, by {' and '.join(importing)}")
        paths = [place / f"{name}.js" for place in places]
        module = next(path for path in paths if path.is_file()).read_text("utf-8")
        for _, needed in _IMPORT.findall(module):
            if needed not in parts:
                add(needed, (*importing, name))
        parts[name] = _make_function(name, module)

    add(name, ())
    return "".join(['"use strict";\n{\nconst modules = {};\n', *parts.values(), "}\n"])


def _make_function(name: str, module: str) -> str:
    body = _IMPORT.sub(r"const \1 = modules.\2;", module)
    exported = _EXPORT.findall(body)
    body = _EXPORT.sub("", body)
    if re.search(r"^(import|export)\b", body, re.MULTILINE):
        raise ValueError(f"{name}.js: has an unsupported import or export")
    return f"modules.{name} = (() => {{\n{body}\nreturn {{ {', '.join(exported)} }};\n}})();\n"


def _copy_folder(source: Traversable, target: Path) -> None:
    target.mkdir(parents=True, exist_ok=True)
    for entry in source.iterdir():
        if entry.is_dir():
            _copy_folder(entry, target / entry.name)
        else:
            (target / entry.name).write_bytes(entry.read_bytes())
