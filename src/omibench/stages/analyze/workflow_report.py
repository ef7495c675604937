"""Categories and labels of the files of `analyze` in `snakemake --report`.

The categories are the parts of our report, numbered because Snakemake sorts by name. The caption of
a figure is read from its Vega-Lite file.
"""

from __future__ import annotations

from pathlib import Path


def number_category(name: str) -> str:
    """Return the category of a figure or section, such as "03 What hurts".

    Args:
        name: Name of the card; unknown names belong to the part for plug-ins.
    """
    # Every start of Snakemake imports this module, but few make its report.
    from omibench.stages.analyze.page_order import PARTS, find_part

    part = find_part(name)
    return f"{PARTS.index(part) + 1:02d} {part.title}"


def label_figure(figures: str, name: str) -> dict[str, str]:
    """Return the labels of a figure.

    Args:
        figures: The folder `analyze/figures`.
        name: Name of the figure.

    Returns:
        Its title, marked if it shows simulated data, and its caption.

    Raises:
        FileFormatError: The Vega-Lite file is too large or not JSON.
    """
    from omibench.files.reading import read_json

    file = Path(figures) / f"{name}.vl.json"
    if not file.exists():  # a drawing of a plug-in may come without
        return {"figure": name, "finding": ""}
    specification = read_json(file)
    title = specification.get("title", name)
    text = title.get("text", name) if isinstance(title, dict) else title
    return {"figure": str(text), "finding": str(specification.get("description", ""))}


def label_table(name: str) -> dict[str, str]:
    """Return the labels of a result's table.

    Args:
        name: Name of the result.

    Returns:
        Its name and title.
    """
    from omibench.stages.analyze.results.result import RESULTS

    title = RESULTS.get(name).title if name in RESULTS.names else ""
    return {"table": name, "contents": title}
