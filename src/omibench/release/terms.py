"""Terms of sources: licences and redistribution."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from omibench.datasets.releases.schema import ReleasedSource
from omibench.release.frozen_items import FrozenItem
from omibench.stages.ocr.sources.manifest import Rows, Source, read_manifest
from omibench.stages.ocr.sources.photographs import Photographs


def name_source(item: FrozenItem, dataset: str) -> str:
    """Return the source of an item; by default, the dataset that it was read from."""
    return item.question.source or dataset


def list_sources(
    items: Sequence[FrozenItem], dataset: str, manifest: Path | None
) -> list[ReleasedSource]:
    """Return the known terms of each source.

    Args:
        items: Items of a freeze.
        dataset: The name of the freeze, the source of items without one.
        manifest: The sources.yaml with `licence` and `redistribute`; None if unknown.

    Returns:
        One row per source of the items, by name; `redistribute` is None if not stated.

    Raises:
        FileFormatError: The manifest is invalid.
        MissingInputError: The manifest does not exist.
    """
    counts = Counter(name_source(item, dataset) for item in items)
    entries: dict[str, Source | Photographs | Rows] = {}
    if manifest is not None:
        listing = read_manifest(manifest)
        entries |= {entry.name: entry for entry in listing.entries}
    return [_describe(name, counts[name], entries.get(name)) for name in sorted(counts)]


def find_licence(item: FrozenItem, source: ReleasedSource) -> str | None:
    """Return the item's own licence, or that of its source."""
    return item.question.licence or source.licence


def _describe(name: str, count: int, entry: Source | Photographs | Rows | None) -> ReleasedSource:
    if entry is None:
        return ReleasedSource(name=name, items=count, licence=None, redistribute=None)
    hashes, urls = (entry.sha256, entry.url) if isinstance(entry, Source) else ({}, {})
    return ReleasedSource(
        name=name,
        items=count,
        licence=entry.licence,
        redistribute=entry.redistribute,
        competition=entry.competition,
        year=entry.year,
        files={Path(path).name: digest.lower() for path, digest in hashes.items()},
        urls={Path(path).name: url for path, url in urls.items()},
    )
