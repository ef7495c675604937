"""Scripts for interactive figures in a page: Vega, and an interpreter of expressions.

With the interpreter no page needs `unsafe-eval`. Both are the published files; the interpreter
is a module, whose single import and export are replaced for use as a classic script.
"""

from __future__ import annotations

from importlib.resources import files
from typing import Final

_IMPORT: Final = "import { ascending, isString, DisallowedObjectProperties } from 'vega-util';"
_EXPORT: Final = "export { expression as expressionInterpreter };"


def read_vega_scripts() -> list[str]:
    """Read the scripts in the order in which a page runs them.

    The second defines `omibenchInterpreter`, the option `expr` of a `vega.View`.
    """
    folder = files("omibench.web") / "vendored" / "vega"
    vega = (folder / "vega.min.js").read_text("utf-8")
    interpreter = (folder / "vega-interpreter.js").read_text("utf-8")
    return [vega, make_classic(interpreter)]


def make_classic(module: str) -> str:
    """Return the interpreter as a classic script.

    Raises:
        ValueError: If the module has an unknown import or export.
    """
    if module.count(_IMPORT) != 1 or module.count(_EXPORT) != 1:
        raise ValueError("vega-interpreter.js: has an unknown import or export")
    names = "const { ascending, isString, DisallowedObjectProperties } = vega;"
    body = module.replace(_IMPORT, names).replace(_EXPORT, "return expression;")
    return f"const omibenchInterpreter = (() => {{\n{body}\n}})();\n"
