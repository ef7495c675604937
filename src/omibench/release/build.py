"""Build of a release: an immutable folder from a freeze, reproducible byte for byte."""

from __future__ import annotations

import json
import secrets
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from omibench.datasets.releases.folder import (
    DOCUMENT_BYTES,
    MANIFEST,
    PROVENANCE,
    read_manifest_rows,
    read_release_provenance,
    write_sums,
)
from omibench.datasets.releases.halves import write_halves
from omibench.datasets.releases.hashes import describe_row
from omibench.datasets.releases.schema import ReleaseProvenance, ReleaseRow
from omibench.errors import MissingInputError, OutputError, reason_of
from omibench.files.hashes import hash_file
from omibench.files.intake import read_text
from omibench.release.card import CardFacts, list_splits, write_card
from omibench.release.card_statistics import CardStatistics
from omibench.release.changes import check_version, compare_rows, describe_changes
from omibench.release.columns import describe_columns
from omibench.release.croissant import describe_croissant
from omibench.release.datasheet import DatasheetFacts, write_datasheet
from omibench.release.findings import list_findings, refuse_findings
from omibench.release.frozen_items import FrozenFolder, read_freeze
from omibench.release.guides import write_extraction_guide
from omibench.release.options import ReleaseOptions
from omibench.release.printed import compare_with_print
from omibench.release.provenance import collect_provenance
from omibench.release.review import summarize_release_review
from omibench.release.rows import ReleaseItem, build_row, list_several
from omibench.release.splits import assign_splits, rank_item
from omibench.release.statements import AuthorStatements, read_statements
from omibench.release.statistics import Statistic, ValueCount, compute_statistics, count_values
from omibench.release.tables import PictureReader, plan_shards, write_table
from omibench.release.terms import find_licence, list_sources, name_source
from omibench.review.report import ReviewReport
from omibench.schemas.tables import write_json, write_jsonl, write_text
from omibench.stages.rationale.tokenizers import describe_tokenizer, open_tokenizer

SAMPLE_ITEMS: Final = 20
CHANGELOG: Final = "CHANGELOG.md"


def build_release(folder: Path, out: Path, options: ReleaseOptions) -> ReleaseProvenance:
    """Write a release of a freeze, completely or not at all.

    The same freeze, commit and packages give the same bytes, since no file contains a time.

    Args:
        folder: The folder of `freeze`.
        out: The folder of the release, which must not exist.
        options: Options of the release.

    Returns:
        The provenance of the release.

    Raises:
        ReleaseRefusedError: There are findings, and the release is not a draft.
        OutputError: `out` exists, is in the results folder of the freeze, or cannot be written.
        ParamsError: The version is too low for the changes, or the split is not possible.
    """
    _check_target(folder, out)
    freeze = read_freeze(folder)
    review = _read_review(freeze, options.review)
    statements = read_statements(options.statements) if options.statements else AuthorStatements()
    items, provenance = _prepare(freeze, options, review)
    partial = out.with_name(f".{out.name}.{secrets.token_hex(6)}.part")
    try:
        partial.mkdir(parents=True)
        plan = _ReleasePlan(items, provenance, options, review, statements)
        _write_release(partial, freeze, plan)
        partial.rename(out)
    except OSError as error:
        raise OutputError(f"--out {out}: cannot be written: {reason_of(error)}") from None
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return provenance


class _ReleasePlan(NamedTuple):
    """The data of a release before the first file is written."""

    items: Sequence[ReleaseItem]
    provenance: ReleaseProvenance
    options: ReleaseOptions
    review: ReviewReport | None
    statements: AuthorStatements


def _read_review(freeze: FrozenFolder, folder: Path | None) -> ReviewReport | None:
    """None if no review folder is given."""
    if folder is None or folder.is_file():
        return None
    return summarize_release_review(folder, [item.question.id for item in freeze.items])


def _check_target(folder: Path, out: Path) -> None:
    if out.exists():
        raise OutputError(
            f"--out {out}: already exists, and releases never change; pass a new folder"
        )
    if out.resolve().is_relative_to(folder.resolve().parent):
        raise OutputError(
            f"--out {out}: is in the results folder {folder.parent}, which jobs write to; pass a "
            "folder outside it"
        )


def _prepare(
    freeze: FrozenFolder, options: ReleaseOptions, review: ReviewReport | None
) -> tuple[list[ReleaseItem], ReleaseProvenance]:
    """Return the items with split and source, and the provenance; raise as `build_release`."""
    for item in freeze.items:
        for figure in item.question.images:
            if not figure.sha256:
                raise MissingInputError(
                    f"{item.question.id}: its picture {figure.file} is missing; get it and freeze "
                    "again"
                )
    sources = list_sources(freeze.items, freeze.manifest.name, options.sources)
    by_name = {source.name: source for source in sources}
    splits = assign_splits(freeze.items, options.split, options.seed)
    items = [
        ReleaseItem(item, split, by_name[name_source(item, freeze.manifest.name)])
        for item, split in zip(freeze.items, splits, strict=True)
    ]
    allowed = options.without_rationale or freeze.manifest.without_rationale_allowed
    findings = list_findings(freeze, items, sources, allowed, review)
    if not options.draft:
        refuse_findings(findings)
    provenance = collect_provenance(freeze, sources, findings, review, options)
    return items, provenance


def _write_release(out: Path, freeze: FrozenFolder, plan: _ReleasePlan) -> None:
    items, provenance, options, review, statements = plan
    several = list_several(items)
    rows = [describe_row(build_row(item, several), item.split) for item in items]
    reader = PictureReader(freeze.folder)
    digests = _write_tables(out, items, reader, several, provenance)
    marked = [row.model_copy(update={"canary": provenance.canary}) for row in rows]
    write_jsonl(out / MANIFEST, marked)
    has_halves = _write_halves(out, items, provenance.canary)
    columns = describe_columns(several)
    write_json(out / "schema.json", {"canary": provenance.canary, "columns": columns})
    write_json(out / PROVENANCE, provenance)
    _write_changelog(out, rows, provenance, options.previous)
    sheet = DatasheetFacts(items, len(reader.with_notes), review, statements)
    write_text(out / "datasheet.md", write_datasheet(provenance, sheet))
    if any(item.access == "metadata" for item in items):
        write_text(out / "EXTRACTION.md", write_extraction_guide(provenance))
    facts = CardFacts(
        items=items,
        numbers=_count_items(items, reader, options),
        pictures_with_notes=len(reader.with_notes),
        has_halves=has_halves,
    )
    write_text(out / "README.md", write_card(provenance, facts))
    for path in sorted(out.glob("*")):
        if path.is_file():
            digests[path.name] = hash_file(path)
    licences = sorted(filter(None, {find_licence(item.item, item.source) for item in items}))
    croissant = describe_croissant(provenance, digests, list_splits(items), several, licences)
    text = json.dumps(croissant, indent=2, ensure_ascii=False)
    write_text(out / "croissant.json", text + "\n")
    digests["croissant.json"] = hash_file(out / "croissant.json")
    write_sums(out, digests, provenance.canary)


def _count_items(
    items: Sequence[ReleaseItem], reader: PictureReader, options: ReleaseOptions
) -> CardStatistics:
    """Return the numbers of the card; pictures of items without texts are measured too."""
    count_tokens = open_tokenizer(options.tokenizer, "--tokenizer")
    for release_item in items:
        for figure in release_item.figures:
            reader.note_size(figure)

    def compute(
        members: Sequence[ReleaseItem],
    ) -> tuple[dict[str, Statistic], list[ValueCount]]:
        return compute_statistics(members, reader.sizes, count_tokens), count_values(members)

    statistics, labels = compute(items)
    by_split = {
        name: count_values([item for item in items if item.split == name])
        for name in list_splits(items)
    }
    printed = compare_with_print(options.printed, items, compute) if options.printed else []
    tokenizer = describe_tokenizer(options.tokenizer)
    return CardStatistics(statistics, labels, by_split, printed, tokenizer)


def _write_tables(
    out: Path,
    items: Sequence[ReleaseItem],
    reader: PictureReader,
    several: Mapping[str, bool],
    provenance: ReleaseProvenance,
) -> dict[str, str]:
    """Write the Parquet files and return their SHA-256 by path."""
    tables: dict[str, Sequence[ReleaseItem]] = {}
    for split in list_splits(items):
        shards = plan_shards([item for item in items if item.split == split], reader)
        for number, shard in enumerate(shards):
            tables[f"data/{split}-{number:05d}-of-{len(shards):05d}.parquet"] = shard
    tables["sample/test-00000-of-00001.parquet"] = _draw_sample(items, provenance.seed)
    for name, members in tables.items():
        write_table(out / name, members, reader, several, provenance.canary)
    return {name: hash_file(out / name) for name in tables}


def _draw_sample(items: Sequence[ReleaseItem], seed: int) -> list[ReleaseItem]:
    """Return twenty items, those with texts first, in the order of the release."""
    ranked = sorted(
        items,
        key=lambda item: (item.access != "full", rank_item(seed, item.item.question.id)),
    )
    ids = {item.item.question.id for item in ranked[:SAMPLE_ITEMS]}
    return [item for item in items if item.item.question.id in ids]


def _write_halves(out: Path, items: Sequence[ReleaseItem], canary: str) -> bool:
    """Write separate questions and answers of the items with texts; return whether any exist."""
    members = [item.item for item in items if item.access == "full"]
    if members:
        questions = [member.question for member in members]
        write_halves(out, questions, [member.answer for member in members], canary)
    return bool(members)


def _write_changelog(
    out: Path, rows: Sequence[ReleaseRow], provenance: ReleaseProvenance, previous: Path | None
) -> None:
    heading = f"# Changelog of {provenance.name}\n\nCanary: `{provenance.canary}`\n"
    if previous is None:
        write_text(out / CHANGELOG, f"{heading}\n## {provenance.version}\n\n- first release\n")
        return
    before = read_release_provenance(previous)
    changes = compare_rows(read_manifest_rows(previous), rows)
    check_version(before.version, provenance.version, changes)
    lines = "".join(f"- {line}\n" for line in describe_changes(changes)[:-1])
    path = previous / CHANGELOG
    older = read_text(path, DOCUMENT_BYTES).partition("\n## ") if path.is_file() else ("", "", "")
    entries = f"\n## {provenance.version}\n\n{lines}{''.join(older[1:])}"
    write_text(out / CHANGELOG, heading + entries)
