"""How to extract what may not be given on."""

from __future__ import annotations

from omibench.datasets.releases.schema import ReleasedSource, ReleaseProvenance
from omibench.stages.freeze.card import escape_cell


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
        "`rationale` and `freeze` of omibench at the commit that `provenance.json` names. Where "
        "no file is named, the source is a benchmark: get it from its authors, name it in "
        "`benchmark` of params.yaml, and run `freeze`.",
        "3. Set `redistribute: true` in your own copy of `sources.yaml`, build a release for "
        "yourself, and compare it with `omibench release diff`: items that are the same are not "
        "listed.",
        "",
    ]
    for source in provenance.sources:
        if source.redistribute is False:
            lines += [f"## {escape_cell(source.name)}", "", describe_source(source), ""]
            lines += [_describe_file(source, name) for name in sorted(source.files)] + [""]
    return "\n".join([*lines, f"Canary: `{provenance.canary}`", ""])


def describe_source(source: ReleasedSource) -> str:
    """Name, competition, year, licence and number of items of a source."""
    parts = [source.name, source.competition, str(source.year or ""), source.licence]
    return f"{escape_cell(', '.join(filter(None, parts)))}: {source.items} items"


def _describe_file(source: ReleasedSource, name: str) -> str:
    place = f", from {escape_cell(source.urls[name])}" if name in source.urls else ""
    return f"- {escape_cell(name)}: SHA-256 `{source.files[name]}`{place}"
