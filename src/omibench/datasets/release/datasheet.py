"""Guide for extracting items that cannot be redistributed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated

from pydantic import Field, StringConstraints, ValidationError

from omibench.datasets.release.card import ReleaseFacts, write_table
from omibench.datasets.release.rows import ReleaseItem
from omibench.datasets.release_folder import ReleasedSource, ReleaseProvenance
from omibench.errors import FileFormatError
from omibench.files.yaml_file import read_yaml
from omibench.review.report import AgreementFigure, ReviewReport
from omibench.schemas.problem import FrozenModel
from omibench.schemas.review import ReviewCounts
from omibench.schemas.validation import explain
from omibench.stages.freeze.card import escape_cell
from omibench.stages.freeze.rows import is_simulated


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


# Authors' statements for the datasheet: `--statements FILE.yaml`.

Statement = Annotated[str, StringConstraints(strip_whitespace=True, max_length=20_000)]


class AuthorStatements(FrozenModel):
    """Markdown texts by section of the datasheet; omitted ones are empty."""

    motivation: Statement = ""
    """Purpose, creators and funding."""
    composition: Statement = ""
    """Limits of the data: known errors, personal or offensive content, relations."""
    collection: Statement = ""
    """Collectors, time, consent; ethical review."""
    preprocessing: Statement = ""
    """Processing steps that the provenance does not contain."""
    uses: Statement = ""
    """Existing uses, and discouraged uses."""
    distribution: Statement = ""
    """Availability and date; restrictions by third parties."""
    maintenance: Statement = ""
    """Maintainer, how to report errors, and duration of support."""
    contact: Annotated[str, Field(max_length=500)] = ""


def read_statements(path: Path) -> AuthorStatements:
    """Read the file.

    Raises:
        MissingInputError: The file does not exist.
        FileFormatError: The file is not YAML, or has an unknown section or one that is not text.
    """
    try:
        return AuthorStatements.model_validate(read_yaml(path) or {})
    except ValidationError as error:
        raise FileFormatError(f"{path}: {explain(error, AuthorStatements)}") from None


# Datasheet of a release: how it was made, from provenance and authors' statements.
#
# The sections are those of "Datasheets for Datasets" (Gebru et al., 2021).

UNSTATED = "No statement by the authors."


def write_datasheet(provenance: ReleaseProvenance, facts: ReleaseFacts) -> str:
    """Return the datasheet as Markdown, one section per stage in the life of a dataset.

    Args:
        provenance: The provenance of the release.
        facts: The facts.
    """
    texts = facts.statements
    sections: Mapping[str, tuple[Sequence[str], str]] = {
        "Motivation": ([], texts.motivation),
        "Composition": (_describe_composition(facts), texts.composition),
        "Collection": (_describe_collection(provenance, facts), texts.collection),
        "Preprocessing and labelling": (
            _describe_preprocessing(provenance, facts),
            texts.preprocessing,
        ),
        "Human review": (_describe_review(provenance, facts.review), ""),
        "Uses": (_describe_uses(provenance, facts.items), texts.uses),
        "Distribution": (_describe_distribution(facts), texts.distribution),
        "Maintenance": (_describe_maintenance(provenance, texts), texts.maintenance),
    }
    lines = [f"# Datasheet of {escape_cell(provenance.name)} {provenance.version}", ""]
    if provenance.findings:
        lines += ["This is a draft. Findings against a release:", ""]
        lines += [f"- {escape_cell(finding)}" for finding in provenance.findings] + [""]
    for heading, (record, statement) in sections.items():
        ending = [] if heading == "Human review" else [statement or UNSTATED, ""]
        lines += [f"## {heading}", "", *record, *([""] if record else []), *ending]
    return "\n".join([*lines, f"Canary: `{provenance.canary}`", ""])


def _describe_composition(facts: ReleaseFacts) -> list[str]:
    items = facts.items
    questions = [item.question for item in items]
    answers = [item.answer for item in items]
    kinds = Counter(answer.answer_type for answer in answers)
    uses = Counter(sha256 for q in questions for sha256 in {f.sha256 for f in q.images})
    groups = Counter(question.group for question in questions if question.group)
    return [
        "- An item is a problem with its pictures and gold. Items with a reference solution: "
        f"{sum(bool(i.answer.solution) for i in items):,}.",
        f"- {len(items):,} items: {kinds['mcq']:,} multiple-choice, {kinds['open']:,} open; "
        f"{_list_counts(question.subject for question in questions)}.",
        f"- Splits: {_list_counts(item.split for item in items)}.",
        f"- Languages: {_list_counts(question.language for question in questions)}. Translated "
        f"items, with their original text: {sum(i.original is not None for i in items):,}.",
        f"- {len(uses):,} different pictures, {sum(n > 1 for n in uses.values()):,} of them in "
        "several items.",
        f"- Related items share a group: {sum(n > 1 for n in groups.values()):,} groups contain "
        f"{sum(n for n in groups.values() if n > 1):,} items.",
        "- Metadata-only items, without texts and pictures in the release: "
        f"{sum(map(_is_withheld, items)):,}.",
        "- Pictures with metadata of cameras or programs (EXIF, XMP, IPTC, comments): "
        f"{facts.pictures_with_notes:,}.",
        "- Statistics and labels are in README.md, columns in schema.json.",
    ]


def _describe_collection(provenance: ReleaseProvenance, facts: ReleaseFacts) -> list[str]:
    values = (i.answer.attributes.get("year") for i in facts.items)
    years = sorted({value for value in values if isinstance(value, str) and value.isdigit()})
    span = [f"- Years of the problems: {years[0]} to {years[-1]}."] if years else []
    return [
        *span,
        "- Sources, from the manifest of sources:",
        *(f"  - {describe_source(source)}" for source in provenance.sources),
        "- SHA-256 of the files of the sources are in provenance.json.",
    ]


def _describe_preprocessing(provenance: ReleaseProvenance, facts: ReleaseFacts) -> list[str]:
    items = facts.items
    judged = provenance.frozen.simulated
    translators = Counter(i.original.translator for i in items if i.original)
    lines = [
        "- Pictures have the frozen bytes; they are never re-encoded.",
        f"- Translators, with their items: {_list_counts(translators.elements()) or 'none'}.",
        "- Items with their original solution as a sketch in addition to the reference solution: "
        f"{sum(bool(i.answer.sketch) for i in items):,}.",
        "- Items whose rationale a simulated model wrote: "
        f"{sum(is_simulated(i.answer) for i in items):,}.",
    ]
    if judged:
        counts = ", ".join(f"{escape_cell(name)} of {n:,}" for name, n in sorted(judged.items()))
        lines.append(f"- Simulated models judged problems: {counts}.")
    if provenance.frozen.synthetic:
        lines.append(f"- The problems are synthetic: {escape_cell(provenance.frozen.synthetic)}.")
    return [
        *lines,
        f"- Software: omibench {provenance.packages.get('omibench', '')} at the commit "
        f"`{provenance.commit or 'not known'}`; all versions are in provenance.json.",
    ]


def _describe_review(provenance: ReleaseProvenance, report: ReviewReport | None) -> list[str]:
    frozen = provenance.frozen.review
    at_freeze = [] if frozen is None else [*_describe_frozen_review(frozen), ""]
    if report is None:
        if provenance.review_sha256:
            digest = provenance.review_sha256
            return [
                *at_freeze,
                f"The review decisions are in the file with the SHA-256 `{digest}`.",
            ]
        return at_freeze[:-1] or ["No review decisions were given when the release was built."]
    rows = [
        [kind.kind, *map(str, (kind.tasks, kind.settled, kind.escalated, kind.people))]
        for kind in report.kinds
    ]
    head = ["Kind of task", "Tasks", "Settled", "Escalated", "People"]
    lines = [
        *at_freeze,
        f"{report.decisions:,} decisions of {len(report.people):,} people, of whom "
        f"{len(report.simulated):,} are simulated by programs; the head hash of the log is "
        f"`{report.head}`.",
        "",
        *write_table(head, rows),
    ]
    if not report.agreement:
        return [*lines, "", "Agreement was not measured."]
    head = [
        "Kind of task", "Field", "Measure", "Between", "Value", "95 % interval", "Compared",
        "People", "Simulated",
    ]  # fmt: skip
    return [*lines, "", *write_table(head, map(_describe_agreement, report.agreement))]


def _describe_frozen_review(counts: ReviewCounts) -> list[str]:
    """Return the state of the review when the dataset was frozen."""
    kinds = ", ".join(map(escape_cell, counts.kinds))
    return [
        f"- Items reviewed before the freeze: {counts.problems:,}, by "
        f"{counts.people:,} people ({counts.simulated_people:,} of them simulated by programs).",
        f"- Required reviewers per item: {counts.reviewers}, in tasks of the kinds {kinds}.",
        f"- Problems removed by reviewers: {counts.dropped:,}. Open tasks at the freeze: "
        f"{counts.unsettled:,}.",
        f"- Head hash of the log at the freeze: `{counts.head}`.",
    ]


def _describe_agreement(figure: AgreementFigure) -> list[str]:
    value = "-" if figure.value is None else f"{figure.value:.3f}"
    has_interval = figure.low is not None and figure.high is not None
    interval = f"{figure.low:.3f} to {figure.high:.3f}" if has_interval else "-"
    counts = f"{figure.units or figure.tasks:,}", f"{figure.people:,}"
    names = figure.kind, figure.title, figure.measure, figure.between or "-"
    return [*names, value, interval, *counts, "yes" if figure.simulated else "no"]


def _describe_uses(provenance: ReleaseProvenance, items: Sequence[ReleaseItem]) -> list[str]:
    halves = (
        "- For the evaluation of models: `questions.jsonl` contains the model inputs, "
        "`answers.jsonl` the gold answers for scoring."
    )
    return [
        *([] if all(map(_is_withheld, items)) else [halves]),
        f"- Do not train on it: every file and row contains the text `{provenance.canary}`, so "
        "that training corpora can be searched for it.",
    ]


def _describe_distribution(facts: ReleaseFacts) -> list[str]:
    licences = Counter(i.licence or "none stated" for i in facts.items)
    return [
        f"- Licences: {_list_counts(licences.elements())}; each item lists its own.",
        "- Texts and pictures are included if the source allows it; README.md lists the sources.",
        "- SHA256SUMS contains the hash of every file.",
    ]


def _describe_maintenance(provenance: ReleaseProvenance, statements: AuthorStatements) -> list[str]:
    return [
        "- A release never changes. Versions are semantic: changed questions, pictures, gold "
        "answers or splits and removed items increase the first number; added items and changed "
        "labels, rationales, licences or access increase the second.",
        "- CHANGELOG.md lists what changed, item by item; manifest.jsonl allows comparisons.",
        f"- Contact: {escape_cell(statements.contact) or 'not stated'}.",
    ]


def _is_withheld(item: ReleaseItem) -> bool:
    return item.access == "metadata"


def _list_counts(values: Iterable[str]) -> str:
    """Return values with their counts, the most frequent first: `physics 3, biology 1`."""
    counts = sorted(Counter(values).items(), key=lambda pair: (-pair[1], pair[0]))
    return ", ".join(f"{escape_cell(value)} {count:,}" for value, count in counts)
