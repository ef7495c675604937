"""Statistics of a dataset card: numbers, labels, and published numbers for comparison."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from omibench.datasets.release.rows import ReleaseItem
from omibench.datasets.release.statistics import PrintedValue, Statistic, ValueCount
from omibench.datasets.release_folder import ReleaseProvenance
from omibench.stages.freeze.card import escape_cell, find_size, join_licences, list_licence_lines

if TYPE_CHECKING:
    from omibench.datasets.release.datasheet import AuthorStatements
    from omibench.review.report import ReviewReport


class ReleaseFacts(NamedTuple):
    """What the card and the datasheet of a release say, in addition to its provenance."""

    items: Sequence[ReleaseItem]
    review: ReviewReport | None
    """None if no review folder was given."""
    statements: AuthorStatements
    pictures_with_notes: int
    statistics: Mapping[str, Statistic]
    labels: Sequence[ValueCount]
    labels_by_split: Mapping[str, Sequence[ValueCount]]
    printed: Sequence[PrintedValue]
    """Published numbers; empty if no paper is given."""
    tokenizer: str

    @property
    def has_halves(self) -> bool:
        """Whether the release contains questions.jsonl and answers.jsonl."""
        return any(item.access == "full" for item in self.items)


def _write_statistics(facts: ReleaseFacts) -> list[str]:
    rows = [
        [name.replace("_", " "), _format_number(statistic), statistic.unit]
        for name, statistic in facts.statistics.items()
    ]
    lines = [
        "## Statistics",
        "",
        *write_table(["Statistic", "Value", "Unit"], rows),
        "",
        "Texts are measured as Markdown with LaTeX, without marks of pictures; the choices of an "
        f"item are one text. Tokens are counted by {facts.tokenizer}. A picture counts once "
        "under pictures, and once per use under images.",
    ]
    return lines + _write_labels(facts) + _write_printed(facts.printed)


def write_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Return a Markdown table with escaped cells."""
    lines = ["| " + " | ".join(map(escape_cell, row)) + " |" for row in rows]
    return ["| " + " | ".join(head) + " |", "|" + "---|" * len(head), *lines]


def _write_labels(facts: ReleaseFacts) -> list[str]:
    """Return one row per value; with several splits, one column for each."""
    total = facts.statistics["problems"].value
    splits = facts.labels_by_split if len(facts.labels_by_split) > 1 else {}
    by_split = [{row[:2]: row.items for row in rows} for rows in splits.values()]
    rows = [
        [
            count.attribute,
            count.value,
            f"{count.items:,}",
            f"{100 * count.items / total:.1f} %",
            *(f"{items.get(count[:2], 0):,}" for items in by_split),
        ]
        for count in facts.labels
    ]
    head = ["Attribute", "Value", "Items", "Share", *splits]
    note = "An item with several labels of an attribute counts for each."
    return ["", "### Labels", "", *write_table(head, rows), "", note]


def _write_printed(printed: Sequence[PrintedValue]) -> list[str]:
    rows = [
        [
            value.statistic.replace("_", " "),
            value.group or "all",
            value.printed,
            _format_number(value.measured) if value.measured else "-",
            value.measured.unit if value.measured else "-",
            value.note,
        ]
        for value in printed
    ]
    if not rows:
        return []
    head = ["Statistic", "Items", "Printed", "This release", "Unit", "Note"]
    return ["", "### Beside print", "", *write_table(head, rows)]


def _format_number(statistic: Statistic) -> str:
    value = statistic.value
    if statistic.unit == "year":
        return f"{value:.0f}"
    return f"{value:,.2f}" if isinstance(value, float) else f"{value:,}"


# Dataset card of a release: README.md with the YAML header for hubs and `datasets`.


def write_card(provenance: ReleaseProvenance, facts: ReleaseFacts) -> str:
    """Return the card as Markdown: contents, sources, and how to load them.

    Args:
        provenance: The provenance of the release.
        facts: The facts.
    """
    sections = [
        _write_header(provenance, facts),
        _write_introduction(provenance, facts),
        _write_use(facts),
        _write_statistics(facts),
        _write_sources(provenance),
        _write_pictures(facts),
        _write_files(facts),
        ["## Canary", "", f"`{provenance.canary}`", "", _CANARY],
    ]
    return "\n".join(line for section in sections for line in [*section, ""])


_CANARY = "Do not train on data that contains this text; a model that knows the text has seen it."


def list_splits(items: Sequence[ReleaseItem]) -> list[str]:
    """Return the splits of the items, `test` last."""
    return sorted({item.split for item in items}, key=lambda name: (name == "test", name))


def _write_header(provenance: ReleaseProvenance, facts: ReleaseFacts) -> list[str]:
    languages = sorted({i.question.language for i in facts.items})
    has_several = any(len(i.question.images) > 1 for i in facts.items)
    tags = [*(["multi-image"] if has_several else []), "benchmark", "reasoning"]
    return [
        "---",
        f"pretty_name: {json.dumps(provenance.name)}",
        f"version: {json.dumps(provenance.version)}",
        *list_licence_lines(join_licences(i.licence for i in facts.items)),
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


def _write_introduction(provenance: ReleaseProvenance, facts: ReleaseFacts) -> list[str]:
    withheld = sum(item.access == "metadata" for item in facts.items)
    splits = Counter(item.split for item in facts.items)
    lines = [f"# {escape_cell(provenance.name)} {provenance.version}", ""]
    if provenance.draft:
        lines += ["> **DRAFT**: do not cite. Findings against a release:", ">"]
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
            f"{withheld} of them are metadata only: their texts and pictures cannot be "
            "redistributed, and EXTRACTION.md describes how to get them from their papers."
        )
    return lines


def _write_use(facts: ReleaseFacts) -> list[str]:
    halves = [
        "",
        "Each item contains its gold answer. `questions.jsonl` and `answers.jsonl` separate them: "
        "give models only the former, with the pictures of the same id.",
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
            source.licence or "not stated, or of each item",
            {True: "yes", False: "no: metadata", None: "not stated"}[source.redistribute],
        ]
        for source in provenance.sources
    ]
    head = ["Source", "Items", "Licence", "Texts and pictures included"]
    return ["## Sources", "", *write_table(head, rows)]


def _write_pictures(facts: ReleaseFacts) -> list[str]:
    if not any(item.figures for item in facts.items if item.access == "full"):
        return ["## Pictures", "", "The release contains no pictures."]
    if facts.pictures_with_notes:
        notes = (
            f"{facts.pictures_with_notes} pictures contain metadata of cameras or programs (EXIF, "
            "XMP, IPTC, comments)."
        )
    else:
        notes = (
            "No picture contains metadata of cameras or programs (EXIF with places and devices, "
            "XMP, IPTC, comments): it was removed by the freeze, and checked again for the release."
        )
    return [
        "## Pictures",
        "",
        "Pictures have the frozen bytes; they are never re-encoded.",
        notes,
    ]


def _write_files(facts: ReleaseFacts) -> list[str]:
    halves = "- `questions.jsonl`, `answers.jsonl`: model inputs and gold answers, separately."
    return [
        "## Files",
        "",
        "- `data/`: the items as Parquet, pictures embedded.",
        "- `sample/`: 20 of them.",
        *([halves] if facts.has_halves else []),
        "- `manifest.jsonl`: hashes of texts and pictures, licence and source of each item.",
        "- `schema.json`: the meaning of each column. `croissant.json`: the same in "
        "machine-readable form.",
        "- `datasheet.md`: how the dataset was made. `provenance.json`: its inputs.",
        "- `SHA256SUMS`: checksums of all files; verify them with `sha256sum -c SHA256SUMS` or "
        "`omibench release verify`.",
    ]
