"""Generates docs/papers.md: one row for each table and figure of the papers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Final, Literal

from omibench.paper_export.catalogue import PaperItem, PaperItems

Status = Literal["made", "made, simulated", "printed", "impossible", "no numbers"]
HEAD: Final = """\
# Tables and figures of the four papers

Written from `published/papers.yaml` by `make generated`. To make these files from the
results of a study:

    omibench results export RESULTS --paper NAME --out DIR

- **made**: from data that the authors published; the row lists it.
- **made, simulated**: the code makes it, but was run only with simulated models, not with the
  real ones.
- **printed**: only the paper's own numbers.
- **impossible**: its data was never published.
- **no numbers**: an example, a drawing or a list of prompts.
"""


def describe_papers(papers: Mapping[str, PaperItems]) -> str:
    """Render docs/papers.md.

    Args:
        papers: The catalogue.

    Returns:
        Markdown with a table for each paper.
    """
    counts = Counter(
        find_status(item) for paper in papers.values() for item in paper.items.values()
    )
    total = sum(counts.values())
    lines = [
        HEAD,
        f"{total} tables and figures: "
        + ", ".join(f"{count} {status}" for status, count in counts.most_common())
        + ".",
    ]
    for name, paper in papers.items():
        lines += [
            "",
            f"## {paper.title}",
            "",
            f"`--paper {name}`",
            "",
            "| | content | status | made from | needs |",
            "|---|---|---|---|---|",
            *(_describe(key, item) for key, item in paper.items.items()),
        ]
    return "\n".join(lines) + "\n"


def find_status(item: PaperItem) -> Status:
    """Return the best status that a table or figure can have."""
    if item.no_numbers:
        return "no numbers"
    if item.impossible:
        return "printed" if item.printed else "impossible"
    if not item.table and not item.figures:
        return "printed"
    return "made" if item.made else "made, simulated"


def _describe(key: str, item: PaperItem) -> str:
    results = [f"`{name}`" for name in item.results]
    drawn = [f"figure `{name}`" for name in item.figures]
    sources = [*results, *drawn, *([f"[print](../published/{item.printed})"] * bool(item.printed))]
    status = find_status(item)
    reason = item.made or item.impossible or item.no_numbers
    words = f"{status}: {reason}" if reason else status
    needs = item.needs.words if item.needs else ""
    return f"| {key} | {item.title} | {words} | {', '.join(sources)} | {needs} |"
