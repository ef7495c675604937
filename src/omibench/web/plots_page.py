"""Page template of `dvc plots` with embedded scripts, so that nothing is downloaded.

DVC's own page loads Vega, Vega-Lite and Vega-Embed from a server on the internet. Write this one
with `python -m omibench.web.plots_page > .dvc/plots.html`, and set `plots.html_template =
plots.html` in `.dvc/config`.
"""

from __future__ import annotations

from importlib.resources import files
from typing import Final

from omibench.web.vega import read_vega_scripts

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
table { border-spacing: 15px }</style>
SCRIPTS
</head>
<body>
{plot_divs}
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
