"""Guide for extracting items that cannot be redistributed."""

from __future__ import annotations

from omibench.datasets.releases.schema import ReleasedSource, ReleaseProvenance
from omibench.stages.freeze.card import escape_cell


def write_extraction_guide(provenance: ReleaseProvenance) -> str:
    """Return Markdown that describes how to get the metadata-only items.

    Args:
        provenance: The provenance of the release; only sources that cannot be redistributed are
            described.
    """
    lines = [
        "# Extraction guide",
        "",
        "The texts and pictures of these sources cannot be redistributed. For each of their items "
        "`manifest.jsonl` has the SHA-256 of question, gold and pictures, and the Parquet files "
        "have its pages and the box of each picture (PDF points from the top left corner).",
        "",
        "1. Get the papers listed below and compare their SHA-256.",
        "2. List them in a `sources.yaml` under the same names, and run `ocr`, `filter`, "
        "`rationale` and `freeze` of omibench at the commit in `provenance.json`. A source without "
        "files is a benchmark: get it from its authors, set `benchmark` in params.yaml, and run "
        "`freeze`.",
        "3. Set `redistribute: true` in your copy of `sources.yaml`, build a private release, and "
        "compare it with `omibench release diff`, which lists items that differ.",
        "",
    ]
    for source in provenance.sources:
        if source.redistribute is False:
            lines += [f"## {escape_cell(source.name)}", "", describe_source(source), ""]
            lines += [_describe_file(source, name) for name in sorted(source.files)] + [""]
    return "\n".join([*lines, f"Canary: `{provenance.canary}`", ""])


def describe_source(source: ReleasedSource) -> str:
    """Return name, competition, year, licence and number of items of a source."""
    parts = [source.name, source.competition, str(source.year or ""), source.licence]
    return f"{escape_cell(', '.join(filter(None, parts)))}: {source.items} items"


def _describe_file(source: ReleasedSource, name: str) -> str:
    place = f", from {escape_cell(source.urls[name])}" if name in source.urls else ""
    return f"- {escape_cell(name)}: SHA-256 `{source.files[name]}`{place}"
