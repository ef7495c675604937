"""What `snakemake --report` says of the files of `analyze`: categories and labels.

Its categories are the parts of our own report, with a number before each, since Snakemake sorts
them by name. What a figure shows is read from the Vega-Lite beside it.
"""

from __future__ import annotations

from pathlib import Path


def number_category(name: str) -> str:
    """The category of a figure or section: "03 What hurts".

    Args:
        name: Its name; one that no part has, of a plug-in, is among what plug-ins added.
    """
    # Every start of Snakemake imports this module, and hardly one makes its report.
    from omibench.stages.analyze.parts import PARTS, find_part

    part = find_part(name)
    return f"{PARTS.index(part) + 1:02d} {part.title}"


def label_figure(figures: str, name: str) -> dict[str, str]:
    """What a list of figures says of one.

    Args:
        figures: The folder `analyze/figures`.
        name: The name of the figure.

    Returns:
        Its title, marked where it shows something simulated, and what it says.

    Raises:
        FileFormatError: The Vega-Lite is too large, or no JSON.
    """
    from omibench.files.intake import read_json

    file = Path(figures) / f"{name}.vl.json"
    if not file.exists():  # a drawing of a plug-in may come without
        return {"figure": name, "what it says": ""}
    specification = read_json(file)
    title = specification.get("title", name)
    text = title.get("text", name) if isinstance(title, dict) else title
    return {"figure": str(text), "what it says": str(specification.get("description", ""))}


def label_table(name: str) -> dict[str, str]:
    """What a list of tables says of the table of one result.

    Args:
        name: The name of the result.

    Returns:
        Its name and its title.
    """
    from omibench.stages.analyze.results.result import RESULTS

    title = RESULTS.get(name).title if name in RESULTS.names else ""
    return {"table": name, "what it shows": title}
