"""The reference of results and figures, written from their docstrings and registrations."""

from __future__ import annotations

import inspect
import re

from omibench.stages.analyze.figures.figure import FIGURES
from omibench.stages.analyze.results.result import RESULTS

_HEAD = """\
# Results

Every table in `results/analyze/tables/`: one CSV and one Parquet file per result. The
[columns that all tables share](analyze_files.md#columns-of-every-table) come first, then the
columns described here. `estimate`, `low` and `high` are shares in [0, 1] unless the metric says
otherwise. The guide is [Results](../results.md).
"""
_SECTION = re.compile(r"\n\n(?P<name>Args|Returns|Raises|Examples):\n")


def write_results() -> str:
    """Write the page as Markdown: one section per built-in result, then a table of figures."""
    lines = [_HEAD]
    for name in sorted(RESULTS.built_in_names):
        part = RESULTS.get(name)
        text, returns = _read_docstring(part.tabulate.__doc__ or "")
        source = f" Source: {part.source}." if part.source else ""
        lines += [f"## {name} {{#{name}}}", "", f"**{_escape(part.title)}.**{_escape(source)}", ""]
        lines += [_escape(text), "", _escape(returns), ""]
        figures = [f"`{f}`" for f in FIGURES.built_in_names if FIGURES.get(f).table == name]
        if figures:
            lines += [f"Figures: {', '.join(figures)}.", ""]
    lines += ["## Figures", "", "| figure | drawn from | title | source |", "|---|---|---|---|"]
    for name in FIGURES.built_in_names:
        figure = FIGURES.get(name)
        cells = f"[`{figure.table}`](#{figure.table}) | {_escape(figure.title)}"
        lines.append(f"| `{name}` | {cells} | {_escape(figure.source)} |")
    return "\n".join(lines) + "\n"


def _read_docstring(docstring: str) -> tuple[str, str]:
    """Split a docstring into its description and the text of its section `Returns`."""
    pieces = _SECTION.split(inspect.cleandoc(docstring))
    sections = dict(zip(pieces[1::2], pieces[2::2], strict=True))
    returns = " ".join(sections.get("Returns", "").split())
    returns = re.sub(r"; None (if|for)\b", r"; no table \1", returns)
    return pieces[0], re.sub(r"\bNone (if|for|without)\b", r"No table \1", returns)


def _escape(text: str) -> str:
    """Escape what Markdown would read as a tag or a link, outside of code."""
    pieces = re.split(r"(`[^`]*`)", text)
    return "".join(p if p.startswith("`") else re.sub(r"([<\[|])", r"\\\1", p) for p in pieces)
