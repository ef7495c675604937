"""Build a release of a frozen dataset: review, findings, provenance, files."""

from __future__ import annotations

import json
import platform
import secrets
import shutil
import uuid
from collections.abc import Collection, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Final

from omibench.datasets.release.card import ReleaseFacts, list_splits, write_card
from omibench.datasets.release.changes import check_version, compare_rows, describe_changes
from omibench.datasets.release.croissant import describe_croissant
from omibench.datasets.release.datasheet import (
    AuthorStatements,
    read_statements,
    write_datasheet,
    write_extraction_guide,
)
from omibench.datasets.release.rows import (
    FrozenFolder,
    ReleaseItem,
    build_row,
    list_several,
    list_sources,
    name_source,
    prepare_answer,
    read_freeze,
)
from omibench.datasets.release.splits import ReleaseOptions, assign_splits, rank_item
from omibench.datasets.release.statistics import (
    Statistic,
    ValueCount,
    compare_with_print,
    compute_statistics,
    count_values,
)
from omibench.datasets.release.tables import (
    PictureReader,
    describe_columns,
    plan_shards,
    write_table,
)
from omibench.datasets.release_contents import describe_row, write_halves
from omibench.datasets.release_folder import (
    DOCUMENT_BYTES,
    MANIFEST,
    PROVENANCE,
    DrawnSplit,
    ReleasedSource,
    ReleaseProvenance,
    ReleaseRow,
    read_manifest_rows,
    read_release_provenance,
    write_sums,
)
from omibench.errors import MissingInputError, OmibenchError, OutputError, reason_of
from omibench.extras import require_extra
from omibench.files.programs import ask_git
from omibench.files.reading import hash_file, read_text
from omibench.params.review import DECISIONS
from omibench.review.agreement import measure_agreement
from omibench.review.contents import PROBLEM_KINDS
from omibench.review.folder import raise_bad_lines, read_review
from omibench.review.report import ReviewReport, summarize_review
from omibench.schemas.review import ReviewCounts
from omibench.schemas.tables import content_hash, write_json, write_jsonl, write_text
from omibench.stages.freeze.rows import is_simulated
from omibench.stages.rationale.degenerate import describe_tokenizer, open_tokenizer
from omibench.text.lists import list_first

# Review of the items of a release.

DATASET_KINDS: Final = frozenset(
    {*PROBLEM_KINDS, "photo_screening", "photo_conditions", "photo_fields"}
)
"""Kinds of tasks about a dataset; the others are about responses and people."""


def summarize_release_review(folder: Path, ids: Collection[str]) -> ReviewReport:
    """Return the state of the review of a release's items.

    Tasks on problems outside the release and on responses of models are excluded; the head hash
    covers the whole log.

    Args:
        folder: The folder with tasks.jsonl and decisions.jsonl.
        ids: Ids of the items.

    Raises:
        MissingInputError: The folder or its tasks.jsonl does not exist.
        FileFormatError: A line cannot be read.
    """
    record = read_review(folder)
    raise_bad_lines(record.errors)
    members = frozenset(ids)
    tasks = [
        task for task in record.tasks if task.kind in DATASET_KINDS and task.problem in members
    ]
    agreement = measure_agreement(tasks, record.decisions)
    return summarize_review(tasks, record.decisions, agreement=agreement)


# Provenance of a release, independent of the time.

_PACKAGES: Final = ("omibench", "numpy", "pillow", "pyarrow", "pydantic")
"""The packages that determine the bytes of a release."""
_NAMESPACE: Final = uuid.UUID("6f0f3a43-7a2b-5d0e-9d5c-3e0a8a7c2b11")


def collect_provenance(
    freeze: FrozenFolder,
    sources: Sequence[ReleasedSource],
    findings: Sequence[str],
    review: ReviewReport | None,
    options: ReleaseOptions,
) -> ReleaseProvenance:
    """Return the contents of `provenance.json`, from the freeze and the repository of its study.

    The repository is that of the freeze folder, else that of the current folder.

    Args:
        freeze: The dataset.
        sources: The sources of its items.
        findings: Findings against the release, which make it a draft.
        review: The review of the items, if a folder is given.
        options: Options of the release.
    """
    version_text = options.version or freeze.manifest.version
    study = _find_study(freeze.folder)
    lock = study / "dvc.lock"
    return ReleaseProvenance(
        name=freeze.manifest.name,
        version=version_text + ("-draft" if findings else ""),
        draft=bool(findings),
        findings=list(findings),
        commit=_read_commit(study),
        dvc_lock_sha256=hash_file(lock) if lock.is_file() else None,
        frozen=freeze.manifest,
        review_sha256=_hash_decisions(options.review),
        review_head=_find_head(freeze.manifest.review, review),
        packages={"python": platform.python_version(), **{n: version(n) for n in _PACKAGES}},
        sources=list(sources),
        canary=make_canary(freeze.manifest.name),
        seed=options.seed,
        split=DrawnSplit(
            name=options.split.name,
            items=options.split.items,
            attributes=list(options.split.attributes),
        )
        if options.split
        else None,
    )


def _find_head(frozen: ReviewCounts | None, review: ReviewReport | None) -> str | None:
    """Return the head hash at the freeze, else that of the review folder."""
    if frozen is not None:
        return frozen.head
    return review.head if review else None


def _hash_decisions(review: Path | None) -> str | None:
    """Return the hash of a decisions file, given directly or by its folder; empty if missing."""
    if review is None:
        return None
    path = review / DECISIONS if review.is_dir() else review
    return hash_file(path) if path.is_file() else None


def make_canary(name: str) -> str:
    """Return the text to search training data for, the same in every release of a dataset."""
    return f"{name} canary {uuid.uuid5(_NAMESPACE, name)}"


def _find_study(freeze: Path) -> Path:
    """Return the repository root of a freeze, else of the current folder, else that folder."""
    for folder in (freeze, Path()):
        if top := ask_git(folder, "rev-parse", "--show-toplevel"):
            return Path(top)
    return Path()


def _read_commit(study: Path) -> str | None:
    commit = ask_git(study, "rev-parse", "HEAD")
    if not commit:
        return None
    # Untracked files can be earlier releases. A submodule has a configuration of its own.
    options = ("--untracked-files=no", "--ignore-submodules=all")
    has_changes = ask_git(study, "status", "--porcelain", *options)
    return commit + ("+changed" if has_changes else "")


# Findings that prevent a release, one line each with the items or sources.

MOST_NAMES: Final = 50


class ReleaseRefusedError(OmibenchError):
    """Raised if there are findings against a release that is not a draft."""


def list_findings(
    freeze: FrozenFolder,
    items: Sequence[ReleaseItem],
    sources: Sequence[ReleasedSource],
    without_rationale: bool,
    review: ReviewReport | None = None,
) -> list[str]:
    """Return all findings that prevent releasing a freeze.

    Args:
        freeze: The dataset.
        items: Its items with their sources.
        sources: The sources of the items.
        without_rationale: Whether items without a reference solution are allowed.
        review: The review of the items, if a folder is given.

    Returns:
        One line per finding; empty if the freeze can be released.
    """
    unsaid = [source.name or "(no name)" for source in sources if source.redistribute is None]
    unlicensed = [i.question.id for i in items if not i.licence]
    unsolved = [i.question.id for i in items if not (i.answer.solution or i.source.withholds_keys)]
    simulated = [i.question.id for i in items if is_simulated(i.answer)]
    findings = [
        _list_names("sources without `redistribute: true` or `false` in sources.yaml", unsaid),
        _list_names("items without a licence, their own or their source's", unlicensed),
        _list_names("items whose rationale a simulated model wrote", simulated),
    ]
    findings += _list_review_findings(freeze.manifest.review, review)
    if not without_rationale:
        findings.append(_list_names("items without a rationale", unsolved))
    if freeze.manifest.synthetic:
        findings.append(f"the problems are synthetic: {freeze.manifest.synthetic}")
    if freeze.manifest.simulated:
        kinds = ", ".join(f"{name} of {n}" for name, n in freeze.manifest.simulated.items())
        findings.append(f"simulated models judged the problems: {kinds}")
    return [finding for finding in findings if finding]


def _list_review_findings(frozen: ReviewCounts | None, review: ReviewReport | None) -> list[str]:
    """Return the findings about the review, at the freeze and since."""
    findings = []
    if frozen is not None:
        people, simulated = frozen.people, frozen.simulated_people
        if frozen.unsettled:
            findings.append(f"review tasks that were open at the freeze: {frozen.unsettled}")
    elif review is not None:
        people, simulated = len(review.people), len(review.simulated)
    else:
        return []
    if simulated:
        findings.append(f"{simulated} of {people} people of the review are simulated")
    if review is not None:
        findings += [
            _list_names(
                "review tasks with decisions on other content; decide them again", review.stale
            ),
            _list_names("review tasks that wait for a senior", review.escalations),
        ]
        if frozen is not None and frozen.head != review.head:
            findings.append(
                f"the head hash of the review is {review.head[:12]}, but the dataset was frozen at "
                f"{frozen.head[:12]}; freeze again"
            )
    return findings


def refuse_findings(findings: Sequence[str]) -> None:
    """Raise ReleaseRefusedError with all findings, if any."""
    if findings:
        raise ReleaseRefusedError(
            f"release: {len(findings)} finding{'s' * (len(findings) > 1)} against it; fix them, or "
            "pass --draft:",
            *(f"  {finding}" for finding in findings),
        )


def _list_names(finding: str, names: Sequence[str]) -> str:
    if not names:
        return ""
    return f"{len(names)} {finding}: {list_first(names, MOST_NAMES)}"


# Build of a release: an immutable folder from a freeze, reproducible byte for byte.

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
    require_extra("release", "release build", "pyarrow")
    _check_target(folder, out)
    freeze = read_freeze(folder)
    review = _read_review(freeze, options.review)
    statements = read_statements(options.statements) if options.statements else AuthorStatements()
    items, provenance = _prepare(freeze, options, review)
    partial = out.with_name(f".{out.name}.{secrets.token_hex(6)}.part")
    try:
        partial.mkdir(parents=True)
        several = list_several(items)
        rows = [describe_row(build_row(item, several), item.split) for item in items]
        reader = PictureReader(folder)
        digests = _write_tables(partial, items, reader, several, provenance)
        marked = [row.model_copy(update={"canary": provenance.canary}) for row in rows]
        write_jsonl(partial / MANIFEST, marked)
        if full := [item for item in items if item.access == "full"]:
            questions = [item.question for item in full]
            write_halves(partial, questions, [item.answer for item in full], provenance.canary)
        columns = describe_columns(several)
        write_json(partial / "schema.json", {"canary": provenance.canary, "columns": columns})
        write_json(partial / PROVENANCE, provenance)
        _write_changelog(partial, rows, provenance, options.previous)
        facts = _collect_facts(items, reader, options, review, statements)
        write_text(partial / "datasheet.md", write_datasheet(provenance, facts))
        if len(full) < len(items):
            write_text(partial / "EXTRACTION.md", write_extraction_guide(provenance))
        write_text(partial / "README.md", write_card(provenance, facts))
        for path in sorted(partial.glob("*")):
            if path.is_file():
                digests[path.name] = hash_file(path)
        stated = {item.licence for item in items}
        licences = sorted(filter(None, stated)) if all(stated) else []
        croissant = describe_croissant(provenance, digests, list_splits(items), several, licences)
        text = json.dumps(croissant, indent=2, ensure_ascii=False)
        write_text(partial / "croissant.json", text + "\n")
        digests["croissant.json"] = hash_file(partial / "croissant.json")
        write_sums(partial, digests, provenance.canary)
        partial.rename(out)
    except OSError as error:
        raise OutputError(f"--out {out}: cannot be written: {reason_of(error)}") from None
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return provenance


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
    items = []
    for item, split in zip(freeze.items, splits, strict=True):
        source = by_name[name_source(item, freeze.manifest.name)]
        answer = prepare_answer(item.answer, source)
        items.append(ReleaseItem(item.question, answer, item.original, split, source))
    released = {"answers_sha256": content_hash([item.answer for item in items])}
    freeze = freeze._replace(manifest=freeze.manifest.model_copy(update=released))
    allowed = options.without_rationale or freeze.manifest.without_rationale_allowed
    findings = list_findings(freeze, items, sources, allowed, review)
    if not options.draft:
        refuse_findings(findings)
    provenance = collect_provenance(freeze, sources, findings, review, options)
    return items, provenance


def _collect_facts(
    items: Sequence[ReleaseItem],
    reader: PictureReader,
    options: ReleaseOptions,
    review: ReviewReport | None,
    statements: AuthorStatements,
) -> ReleaseFacts:
    """Return the facts of card and datasheet; pictures of items without texts are measured too."""
    count_tokens = open_tokenizer(options.tokenizer, "--tokenizer")
    for item in items:
        for figure in item.figures:
            reader.note_size(figure)

    def compute(
        members: Sequence[ReleaseItem],
    ) -> tuple[dict[str, Statistic], list[ValueCount]]:
        return compute_statistics(members, reader.sizes, count_tokens), count_values(members)

    statistics, labels = compute(items)
    return ReleaseFacts(
        items=items,
        review=review,
        statements=statements,
        pictures_with_notes=len(reader.with_notes),
        statistics=statistics,
        labels=labels,
        labels_by_split={
            name: count_values([item for item in items if item.split == name])
            for name in list_splits(items)
        },
        printed=compare_with_print(options.printed, items, compute) if options.printed else [],
        tokenizer=describe_tokenizer(options.tokenizer),
    )


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
        key=lambda item: (item.access != "full", rank_item(seed, item.question.id)),
    )
    ids = {item.question.id for item in ranked[:SAMPLE_ITEMS]}
    return [item for item in items if item.question.id in ids]


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
