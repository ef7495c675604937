"""The scripts that draw interactive figures in a page: Vega, and an interpreter of expressions.

With the interpreter no page needs `unsafe-eval`. Both are the published files; the interpreter is a
module, whose one import and one export are replaced by what a classic script has.
"""

from __future__ import annotations

from importlib.resources import files
from typing import Final

_IMPORT: Final = "import { ascending, isString, DisallowedObjectProperties } from 'vega-util';"
_EXPORT: Final = "export { expression as expressionInterpreter };"


def read_vega_scripts() -> list[str]:
    """Read the scripts, in the order in which a page runs them.

    The second defines `omibenchInterpreter`, the option `expr` of a `vega.View`.
    """
    folder = files("omibench.web") / "vendored" / "vega"
    vega = (folder / "vega.min.js").read_text("utf-8")
    interpreter = (folder / "vega-interpreter.js").read_text("utf-8")
    return [vega, make_classic(interpreter)]


def make_classic(module: str) -> str:
    """The interpreter as a classic script.

    Raises:
        ValueError: The module imports or exports something else than is known.
    """
    if module.count(_IMPORT) != 1 or module.count(_EXPORT) != 1:
        raise ValueError("vega-interpreter.js: its import or export is not the one that is known")
    names = "const { ascending, isString, DisallowedObjectProperties } = vega;"
    body = module.replace(_IMPORT, names).replace(_EXPORT, "return expression;")
    return f"const omibenchInterpreter = (() => {{\n{body}\n}})();\n"
