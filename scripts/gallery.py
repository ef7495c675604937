"""Write docs/gallery.md and its pictures from the figures of an analyzed study.

    make study && python scripts/gallery.py

The page shows the sample study, whose models are simulated. Run it again after a change of a figu
"""

from __future__ import annotations

import argparse
import json
import shutil
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs/gallery.md"
PICTURES = ROOT / "docs/images/gallery"
HEAD = """# Gallery

The figures of the sample study (`make study`), as its report shows them. Its models are
**simulated**: the numbers illustrate the figures and say nothing about real models. A study writes
each figure as SVG and Vega-Lite to `results/analyze/figures/`; [the reference of
results](reference/results.md) describes all tables and figures.
"""


def describe_figure(specification: Path) -> tuple[str, str]:
    """Return the title and the finding of a figure, from its Vega-Lite file."""
    chart = json.loads(specification.read_text("utf-8"))
    description = str(chart.get("description", ""))
    heading = chart.get("title", "")
    text = str(heading.get("text", "") if isinstance(heading, dict) else heading)
    title = text.removeprefix("SIMULATED · ") or description.partition(" (")[0]
    return title, description.removeprefix(title).lstrip(". ")


def write_gallery(results: Path) -> int:
    """Copy the figures of a results folder and write the page.

    Args:
        results: Results folder of an analyzed study.

    Returns:
        The number of figures.

    Raises:
        FileNotFoundError: The folder has no figures.
    """
    figures = sorted((results / "analyze/figures").glob("*.svg"))
    if not figures:
        raise FileNotFoundError(f"{results}/analyze/figures: has no figure; run `make study`")
    shutil.rmtree(PICTURES, ignore_errors=True)
    PICTURES.mkdir(parents=True)
    parts = [HEAD]
    for figure in figures:
        shutil.copy(figure, PICTURES / figure.name)
        title, text = describe_figure(figure.with_suffix(".vl.json"))
        parts.append(f"## {title}\n\n![{title}](images/gallery/{figure.name})\n\n{text}\n")
    PAGE.write_text("\n".join(parts), "utf-8")
    return len(figures)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("results", type=Path, nargs="?", default=ROOT / "results")
    print(f"{PAGE}: {write_gallery(parser.parse_args().results)} figures")
