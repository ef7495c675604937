"""Two texts of a release: the datasheet, and how to extract what may not be given on."""

from __future__ import annotations

from collections.abc import Sequence

from omibench.datasets.releases.schema import ReleasedSource, ReleaseProvenance
from omibench.release.rows import ReleaseItem
from omibench.stages.freeze.card import escape_cell


def write_datasheet(provenance: ReleaseProvenance, items: Sequence[ReleaseItem]) -> str:
    """Markdown that says how the dataset was made, from what is recorded of it.

    Args:
        provenance: What the release was made from.
        items: Its items.
    """
    translated = sum(release_item.item.original is not None for release_item in items)
    solved = sum(bool(release_item.item.answer.solution) for release_item in items)
    review = (
        f"People's decisions are the file with the SHA-256 `{provenance.review_sha256}`."
        if provenance.review_sha256
        else "No file of people's decisions was named when the release was built."
    )
    lines = [
        f"# Datasheet of {escape_cell(provenance.name)} {provenance.version}",
        "",
        "## Composition",
        "",
        f"{len(items)} items from {len(provenance.sources)} sources; {solved} have a reference "
        f"solution, {translated} were translated and keep their original text.",
        "",
        "## Collection",
        "",
        *(f"- {_describe_source(source)}" for source in provenance.sources),
        "",
        "## Review",
        "",
        review,
        *(["", "What is open:", ""] if provenance.findings else []),
        *(f"- {escape_cell(finding)}" for finding in provenance.findings),
        "",
        "## Distribution",
        "",
        "The licence stands with each item; texts and pictures are given where the source allows.",
        f"Data with the text `{provenance.canary}` should not be in training corpora.",
        "",
        "## Maintenance",
        "",
        "Versions are semantic: a changed question, picture or gold and a removed item raise the "
        "first number, added items and changed labels or rationales the second.",
    ]
    return "\n".join(lines) + "\n"


def write_extraction_guide(provenance: ReleaseProvenance) -> str:
    """Markdown that says how to get the items that are given as metadata.

    Args:
        provenance: Of the release; only sources that may not be given on are described.
    """
    lines = [
        "# Extraction guide",
        "",
        "The texts and pictures of these sources may not be given on. For each of their items "
        "`manifest.jsonl` has the SHA-256 of question, gold and pictures, and the Parquet files "
        "have its pages and the box of each picture (PDF points from the top left corner).",
        "",
        "1. Get the papers named below and compare their SHA-256.",
        "2. Name them in a `sources.yaml`, under the same names, and run `ocr`, `filter`, "
        "`rationale` and `freeze` of omibench at the commit that `provenance.json` names.",
        "3. Set `redistribute: true` in your own copy of `sources.yaml`, build a release for "
        "yourself, and compare it with `omibench release diff`: items that are the same are not "
        "listed.",
        "",
    ]
    for source in provenance.sources:
        if source.redistribute is False:
            lines += [f"## {escape_cell(source.name)}", "", _describe_source(source), ""]
            lines += [_describe_file(source, name) for name in sorted(source.files)] + [""]
    return "\n".join([*lines, f"Canary: `{provenance.canary}`", ""])


def _describe_source(source: ReleasedSource) -> str:
    parts = [source.name, source.competition, str(source.year or ""), source.licence]
    return f"{escape_cell(', '.join(filter(None, parts)))}: {source.items} items"


def _describe_file(source: ReleasedSource, name: str) -> str:
    place = f", from {escape_cell(source.urls[name])}" if name in source.urls else ""
    return f"- {escape_cell(name)}: SHA-256 `{source.files[name]}`{place}"
