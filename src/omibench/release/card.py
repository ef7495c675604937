"""The dataset card of a release: README.md with the YAML header that hubs and `datasets` read."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from omibench.datasets.releases.schema import ReleaseProvenance
from omibench.release.card_statistics import CardStatistics, write_statistics, write_table
from omibench.release.rows import ReleaseItem
from omibench.release.terms import find_licence
from omibench.stages.freeze.card import escape_cell, find_size, list_licence_lines


class CardFacts(NamedTuple):
    """What the card says of a release beside its provenance."""

    items: Sequence[ReleaseItem]
    numbers: CardStatistics
    pictures_with_notes: int
    has_halves: bool
    """Whether questions.jsonl and answers.jsonl are in the release."""


def write_card(provenance: ReleaseProvenance, facts: CardFacts) -> str:
    """Markdown that says what the release holds, from what, and how it is loaded.

    Args:
        provenance: What it was made from.
        facts: What it holds.
    """
    sections = [
        _write_header(provenance, facts),
        _write_introduction(provenance, facts),
        _write_use(facts),
        write_statistics(facts.numbers),
        _write_sources(provenance),
        _write_pictures(facts),
        _write_files(facts),
        ["## Canary", "", f"`{provenance.canary}`", "", _CANARY],
    ]
    return "\n".join(line for section in sections for line in [*section, ""])


_CANARY = (
    "Data with this text should not be in training corpora; a model that knows it has seen it."
)


def list_splits(items: Sequence[ReleaseItem]) -> list[str]:
    """The splits that items stand in, `test` last."""
    return sorted({item.split for item in items}, key=lambda name: (name == "test", name))


def _write_header(provenance: ReleaseProvenance, facts: CardFacts) -> list[str]:
    licences = sorted(filter(None, {find_licence(i.item, i.source) for i in facts.items}))
    languages = sorted({i.item.question.language for i in facts.items})
    has_several = any(len(i.item.question.images) > 1 for i in facts.items)
    tags = [*(["multi-image"] if has_several else []), "benchmark", "reasoning"]
    return [
        "---",
        f"pretty_name: {json.dumps(provenance.name)}",
        f"version: {json.dumps(provenance.version)}",
        *list_licence_lines(", ".join(licences) or None),
        f"language: {json.dumps(languages)}",
        "task_categories: [visual-question-answering]",
        f"tags: {json.dumps(tags)}",
        f"size_categories: [{json.dumps(find_size(len(facts.items)))}]",
        "configs:",
        "- config_name: default",
        "  default: true",
        "  data_files:",
        *(
            f"  - {{split: {name}, path: data/{name}-*.parquet}}"
            for name in list_splits(facts.items)
        ),
        "- config_name: sample",
        "  data_files:",
        "  - {split: test, path: sample/test-*.parquet}",
        "---",
    ]


def _write_introduction(provenance: ReleaseProvenance, facts: CardFacts) -> list[str]:
    withheld = sum(item.access == "metadata" for item in facts.items)
    splits = Counter(item.split for item in facts.items)
    lines = [f"# {escape_cell(provenance.name)} {provenance.version}", ""]
    if provenance.draft:
        lines += ["> **DRAFT**: not to be cited. What stands against a release:", ">"]
        lines += [f"> - {escape_cell(finding)}" for finding in provenance.findings] + [""]
    parts = ", ".join(f"{splits[name]} in `{name}`" for name in list_splits(facts.items))
    lines.append(f"{len(facts.items)} items: {parts}.")
    if provenance.split:
        manner = f"in proportion to {', '.join(provenance.split.attributes)}, "
        lines.append(
            f"`{provenance.split.name}` was drawn {manner * bool(provenance.split.attributes)}with "
            f"the seed {provenance.seed}."
        )
    if withheld:
        lines.append(
            f"{withheld} of them are given as metadata: their texts and pictures may not be given "
            "on, and EXTRACTION.md says how to get them from their papers."
        )
    return lines


def _write_use(facts: CardFacts) -> list[str]:
    halves = [
        "",
        "Each item holds its gold, for people. `questions.jsonl` and `answers.jsonl` keep them "
        "apart: give models the former alone, with the pictures of the same id.",
    ]
    return [
        "## Use",
        "",
        "```python",
        "from datasets import load_dataset",
        "",
        'items = load_dataset("FOLDER")',
        'sample = load_dataset("FOLDER", "sample")',
        "```",
        *(halves if facts.has_halves else []),
    ]


def _write_sources(provenance: ReleaseProvenance) -> list[str]:
    rows = [
        [
            source.name or "-",
            str(source.items),
            source.licence or "of each item",
            {True: "yes", False: "no: metadata", None: "not stated"}[source.redistribute],
        ]
        for source in provenance.sources
    ]
    head = ["Source", "Items", "Licence", "Texts and pictures given"]
    return ["## Sources", "", *write_table(head, rows)]


def _write_pictures(facts: CardFacts) -> list[str]:
    if not any(item.figures for item in facts.items if item.access == "full"):
        return ["## Pictures", "", "No picture is in the release."]
    if facts.pictures_with_notes:
        notes = (
            f"{facts.pictures_with_notes} pictures hold what cameras or programs noted in them "
            "(EXIF, XMP, IPTC, comments)."
        )
    else:
        notes = (
            "None holds what cameras or programs note (EXIF with places and devices, XMP, IPTC, "
            "comments): it was taken out when the dataset was frozen, and looked for again here."
        )
    return [
        "## Pictures",
        "",
        "Pictures are the bytes that were frozen, never encoded again.",
        notes,
    ]


def _write_files(facts: CardFacts) -> list[str]:
    halves = "- `questions.jsonl`, `answers.jsonl`: what models see, and gold, apart."
    return [
        "## Files",
        "",
        "- `data/`: the items as Parquet, pictures embedded.",
        "- `sample/`: 20 of them.",
        *([halves] if facts.has_halves else []),
        "- `manifest.jsonl`: hashes of texts and pictures, licence and source of each item.",
        "- `schema.json`: what each column is. `croissant.json`: the same for machines.",
        "- `datasheet.md`: how the dataset was made. `provenance.json`: from what.",
        "- `SHA256SUMS`: of every file; `sha256sum -c SHA256SUMS`, or `omibench release verify`.",
    ]
