"""What each table and figure of a paper is: README.md of an exported folder, and docs/papers.md."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, Literal, NamedTuple

from omibench.papers.catalogue import PaperItem, PaperItems, RehearsalItem, RehearsalRecord
from omibench.schemas.tables import write_text
from omibench.stages.analyze.figures import FIGURES

Kind = Literal["measured", "simulated", "printed", "missing", "impossible", "no numbers"]
Status = Literal["made", "made, simulated", "missing", "printed", "impossible", "no numbers"]
MEANINGS: dict[Kind, str] = {
    "measured": "made from this study's responses",
    "simulated": "made from this study, with SIMULATED responses, judges or problems: the numbers "
    "say nothing about a real model",
    "printed": "only the paper's own numbers",
    "missing": "not made: the study lacks a requirement",
    "impossible": "cannot be made: its data was never published",
    "no numbers": "an example or a drawing, without results",
}
GUIDE_HEAD: Final = """\
# Tables and figures of the four papers

Written by `make generated` from `published/papers.yaml` and from the newest rehearsal of the
papers' own studies, whole with all overlays and made-up people: {date}, commit `{commit}`
(`python benchmarks/paper_studies.py`). To make these files from the results of studies:

    omibench results export RESULTS --with RESULTS --paper NAME --out DIR

- **made**: from data that the authors published; the row lists it.
- **made, simulated**: the rehearsal made it, with simulated models; nobody has run the real ones.
- **missing**: omibench lacks what the row says; real results make it.
- **printed**: only the paper's own numbers.
- **impossible**: its data was never published.
- **no numbers**: an example, a drawing or a list of prompts.
"""


class ExportedItem(NamedTuple):
    """A table or figure: number, content, status, reason if it is missing, and files."""

    key: str
    title: str
    kind: Kind
    reason: str
    files: list[str]


def write_overview(path: Path, title: str, dataset: str, entries: Sequence[ExportedItem]) -> None:
    """Write the README of an exported folder.

    Args:
        path: The file.
        title: The paper's title.
        dataset: The dataset of the study's results.
        entries: The content of the folder, in order.

    Raises:
        OutputError: The file cannot be written.
    """
    counts = Counter(entry.kind for entry in entries)
    lines = [
        f"# {_plain(title)}: tables and figures",
        "",
        f"Dataset of the study: {_plain(dataset)}.",
        "",
        *(f"- **{kind}** ({counts[kind]}): {MEANINGS[kind]}" for kind in MEANINGS if counts[kind]),
        "",
        "| | what it shows | what it is | files |",
        "|---|---|---|---|",
        *(_describe(entry) for entry in entries),
        "",
        "Files that end in `_printed.csv` contain the paper's printed numbers.",
    ]
    write_text(path, "\n".join(lines) + "\n")


def summarise_entries(entries: Sequence[ExportedItem]) -> str:
    """Return the number of tables and figures of each kind: '12 measured, 3 missing'."""
    counts = Counter(entry.kind for entry in entries)
    return ", ".join(f"{counts[kind]} {kind}" for kind in MEANINGS if counts[kind])


def _describe(entry: ExportedItem) -> str:
    reason = f": {_plain(entry.reason)}" if entry.reason else ""
    files = ", ".join(f"[{name}]({name})" for name in entry.files)
    return f"| {entry.key} | {_plain(entry.title)} | {entry.kind}{reason} | {files} |"


def _plain(text: str) -> str:
    flat = " ".join(text.split())
    return "".join(f"\\{sign}" if sign in "\\`*{}[]<>|" else sign for sign in flat)


def describe_papers(papers: Mapping[str, PaperItems], record: RehearsalRecord) -> str:
    """Render docs/papers.md.

    Args:
        papers: The catalogue.
        record: What became of each item in the newest rehearsal.

    Returns:
        Markdown with a table for each paper.
    """
    statuses = {
        (name, key): find_status(item, record.items[name][key])
        for name, paper in papers.items()
        for key, item in paper.items.items()
    }
    counts = Counter(statuses.values())
    lines = [
        GUIDE_HEAD.format(date=record.date, commit=record.commit),
        f"{len(statuses)} tables and figures: "
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
            "| item | content | status | made from | needs |",
            "|---|---|---|---|---|",
            *(
                _describe_item(key, item, statuses[name, key], record.items[name][key].reason)
                for key, item in paper.items.items()
            ),
        ]
    return "\n".join(lines) + "\n"


def find_status(item: PaperItem, outcome: RehearsalItem) -> Status:
    """Return the status of a table or figure, as the newest rehearsal left it."""
    if outcome.kind == "simulated":
        return "made" if item.made else "made, simulated"
    if outcome.kind in ("no numbers", "impossible"):
        return "no numbers" if item.no_numbers else "impossible"
    return "missing" if item.awaits or outcome.kind == "missing" else "printed"


def _describe_item(key: str, item: PaperItem, status: Status, reason: str) -> str:
    results = [f"`{name}`" for name in list_results(item)]
    drawn = [f"figure `{name}`" for name in item.figures]
    sources = [*results, *drawn, *([f"[print](../published/{item.printed})"] * bool(item.printed))]
    reason = item.made or reason
    words = f"{status}: {reason}" if reason else status
    needs = item.needs.words if item.needs else ""
    return f"| {key} | {item.title} | {words} | {', '.join(sources)} | {needs} |"


def list_results(item: PaperItem) -> list[str]:
    """Return the results that the table and figures of an item are made from."""
    return list(dict.fromkeys([*item.results, *(FIGURES.get(name).table for name in item.figures)]))
