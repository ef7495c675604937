"""Formulas on pages opened from disk: KaTeX and its script, written to the same folder.

Browsers load no modules from `file:` addresses, so the modules that applications load from a
server are joined into one classic script here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
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
MODULES: Final = ("dom", "unseen", "math", "inline", "formulas")
"""Ordered so that each follows its imports."""
_IMPORT: Final = re.compile(r'^import (\{[^}]*\}) from "\./([a-z]+)\.js";$', re.MULTILINE)
_EXPORT: Final = re.compile(r"^export (?=(?:async )?(?:function|const|class) (\w+))", re.MULTILINE)


def write_formula_files(folder: Path) -> None:
    """Write KaTeX with its fonts and licences, and the script that sets formulas.

    Args:
        folder: Output folder, created if missing; pages load `katex.min.css`, `katex.min.js`,
            `mhchem.min.js` and `formulas.js` from it, in this order.
    """
    vendored = files("omibench.web") / "vendored" / "katex"
    _copy_folder(vendored, folder)
    (folder / SCRIPT).write_text(join_modules(MODULES), "utf-8")


def join_modules(names: tuple[str, ...], others: Mapping[str, str] | None = None) -> str:
    """Join modules of `web/static` into one classic script.

    Args:
        names: Names without suffix; each after its imports.
        others: Texts of modules from other folders, by name.

    Raises:
        ValueError: If a module imports one that is not before it, or has an unsupported import.
    """
    folder = files("omibench.web") / "static"
    parts = ['"use strict";\n{\nconst modules = {};\n']
    for place, name in enumerate(names):
        module = (others or {}).get(name) or (folder / f"{name}.js").read_text("utf-8")
        parts.append(_make_function(name, module, names[:place]))
    return "".join(parts) + "}\n"


def _make_function(name: str, module: str, before: tuple[str, ...]) -> str:
    imported = [match[1] for match in _IMPORT.findall(module)]
    body = _IMPORT.sub(r"const \1 = modules.\2;", module)
    exported = _EXPORT.findall(body)
    body = _EXPORT.sub("", body)
    unknown = [other for other in imported if other not in before]
    if unknown or re.search(r"^(import|export)\b", body, re.MULTILINE):
        raise ValueError(f"{name}.js: has an unsupported import or export {unknown}")
    return f"modules.{name} = (() => {{\n{body}\nreturn {{ {', '.join(exported)} }};\n}})();\n"


def _copy_folder(source: Traversable, target: Path) -> None:
    target.mkdir(parents=True, exist_ok=True)
    for entry in source.iterdir():
        if entry.is_dir():
            _copy_folder(entry, target / entry.name)
        else:
            (target / entry.name).write_bytes(entry.read_bytes())
