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


# Page template of `dvc plots` with embedded scripts, so that nothing is downloaded.
#
# DVC's own page loads Vega, Vega-Lite and Vega-Embed from a server on the internet. Write this one
# with `python -m omibench.web.plots_page > .dvc/plots.html`, and set `plots.html_template =
# plots.html` in `.dvc/config`.

_EMBED: Final = """\
// DVC calls this for each plot, with the selector of its place and its Vega-Lite. The plot of one
// model gets its name, and bars show their numbers to the pointer.
const vegaEmbed = (selector, specification) => {
  const rows = specification.data?.values ?? [];
  const models = new Set(rows.map((row) => row.model));
  const [model] = models;
  const mark = rows.some((row) => row.simulated === "true") ? " · SIMULATED" : "";
  if (models.size === 1 && model) {
    specification.title = { ...specification.title, subtitle: model + mark };
  }
  const refuse = () => Promise.reject(new Error("a plot loads nothing"));
  const { spec } = vegaLite.compile(specification, {
    config: { bar: { tooltip: { content: "data" } } },
    logger: vega.logger(vega.Error),
  });
  const view = new vega.View(vega.parse(spec, null, { ast: true }), {
    expr: omibenchInterpreter,
    renderer: "svg",
    hover: true,
    loader: { load: refuse, sanitize: refuse, http: refuse, file: refuse },
    logLevel: vega.Error,
  });
  return view.initialize(document.getElementById(selector.slice(1))).runAsync();
};
"""
_PAGE: Final = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; \
script-src 'unsafe-inline'; img-src 'self' data: file:">
{refresh_tag}
<title>Plots of DVC</title>
<style>body { font-family: system-ui, sans-serif; margin: 1.5rem }
table { border-spacing: 15px }
svg { max-width: 100%; height: auto }</style>
SCRIPTS
</head>
<body>
<main>
<h1>Plots</h1>
{plot_divs}
</main>
</body>
</html>
"""


def make_plots_page() -> str:
    """Return the template: DVC inserts its plots at `{plot_divs}`."""
    vega, interpreter = read_vega_scripts()
    lite = files("omibench.web") / "vendored" / "vega" / "vega-lite.min.js"
    scripts = [vega, lite.read_text("utf-8"), interpreter, _EMBED]
    return _PAGE.replace("SCRIPTS", "\n".join(f"<script>\n{text}</script>" for text in scripts))


if __name__ == "__main__":
    print(make_plots_page(), end="")
