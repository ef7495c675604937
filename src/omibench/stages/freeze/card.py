"""Dataset card: README.md of a frozen dataset, with the YAML header for hubs."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence

from omibench.schemas.problem import Answer, Example, Question
from omibench.schemas.tables import FrozenManifest
from omibench.stages.freeze.rows import is_simulated

_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"))


def dataset_card(
    manifest: FrozenManifest,
    questions: Sequence[Question],
    answers: Sequence[Answer],
    examples: Sequence[Example] = (),
    stripped: int | None = 0,
) -> str:
    """Return the card as Markdown: contents, sources, and simulated parts.

    `stripped` is the number of pictures from which metadata was removed, None if it was kept.
    """
    body = _body(manifest, questions, answers, examples, stripped)
    return "\n".join([*_header(manifest, questions), *body]) + "\n"


def _header(manifest: FrozenManifest, questions: Sequence[Question]) -> list[str]:
    languages = sorted({question.language for question in questions})
    size = find_size(len(questions))
    files = (("questions", "questions.jsonl"), ("answers", "answers.jsonl"))
    return [
        "---",
        f"pretty_name: {json.dumps(manifest.name)}",
        f"version: {json.dumps(manifest.version)}",
        *list_licence_lines(manifest.licence),
        f"language: {json.dumps(languages)}",
        "task_categories: [visual-question-answering]",
        "tags: [multi-image, olympiad, reasoning]",
        f"size_categories: [{json.dumps(size)}]",
        "configs:",
        *(f"- {{config_name: {name}, data_files: {file}}}" for name, file in files),
        "---",
    ]


def find_size(problems: int) -> str:
    """Return the size category of hubs for a number of problems."""
    return next((name for limit, name in _SIZES if problems < limit), "100K<n<1M")


def _body(
    manifest: FrozenManifest,
    questions: Sequence[Question],
    answers: Sequence[Answer],
    examples: Sequence[Example],
    stripped: int | None,
) -> list[str]:
    counts = Counter(question.subject for question in questions)
    types = Counter(question.answer_type for question in questions)
    per_problem = Counter(len({f.sha256 or f.file for f in q.images}) for q in questions)
    sources = Counter(question.source or "-" for question in questions)
    return [
        f"# {escape_cell(manifest.name)} {manifest.version}",
        "",
        f"{manifest.problems} problems with {manifest.images} distinct images: "
        f"{types['mcq']} multiple-choice and {types['open']} open-ended.",
        *_describe_synthetic(manifest),
        *_describe_simulated(answers),
        *_describe_judged(manifest),
        *_describe_corrected(manifest),
        *_describe_review(manifest),
        "",
        *_table("Subject", counts.items()),
        *_table("Images per problem", sorted(per_problem.items())),
        *_table("Source", sources.items()),
        "## Files",
        "",
        "- `questions.jsonl`: model inputs, without answers and solutions.",
        "- `answers.jsonl`: gold answers and reference rationales, for scoring only.",
        "- `originals.jsonl`: original texts of translated problems; empty if none were "
        "translated.",
        *_examples(examples),
        "- `images/`: every picture once, named by the SHA-256 of its bytes.",
        "- `manifest.json`: counts and content hashes.",
        "",
        *_notes(stripped, manifest.images),
        "`[IMAGE0]`, `[IMAGE1]`, ... in a question mark the positions of its `images`, counted "
        "from 0.",
        "",
        f"Content: questions `{manifest.questions_sha256}`, answers `{manifest.answers_sha256}`.",
        *_describe_licences(questions),
    ]


def _examples(examples: Sequence[Example]) -> list[str]:
    if not examples:
        return []
    aside = sum(example.take == "sampled" for example in examples)
    return [
        f"- `examples.jsonl`: solved problems to show as in-context examples ({len(examples)}); "
        f"settings that can show those set aside ({aside}) do not ask them."
    ]


def _notes(stripped: int | None, images: int) -> list[str]:
    """Return the sentence on metadata of cameras and programs in pictures."""
    if stripped is None:
        return ["Pictures are as read, with metadata of cameras and programs.", ""]
    if not stripped:
        return []
    return [
        f"Metadata (EXIF with places and devices, XMP, IPTC, comments) was removed from {stripped} "
        f"of {images} pictures; pixels, colour profiles and orientation are unchanged.",
        "",
    ]


def _describe_synthetic(manifest: FrozenManifest) -> list[str]:
    if manifest.synthetic is None:
        return []
    return [
        "",
        f"> **SIMULATED**: the problems are invented (`{escape_cell(manifest.synthetic)}`): they "
        "have the counts of a published study, but not its content. They do not measure models.",
    ]


def _describe_simulated(answers: Sequence[Answer]) -> list[str]:
    count = sum(map(is_simulated, answers))
    if not count:
        return []
    return [
        "",
        f"> **SIMULATED**: {count} of {len(answers)} rationales were written by a simulated model "
        "and are not reference solutions. Each states this in its first line.",
    ]


def _describe_judged(manifest: FrozenManifest) -> list[str]:
    if not manifest.simulated:
        return []
    kinds = ", ".join(
        f"{escape_cell(name.replace('_', ' '))} of {count}"
        for name, count in manifest.simulated.items()
    )
    return [
        "",
        f"> **SIMULATED**: simulated models judged the problems before they were frozen ({kinds}): "
        "no real model has checked what they accepted or translated.",
    ]


def _describe_corrected(manifest: FrozenManifest) -> list[str]:
    if not manifest.corrected:
        return []
    counts = Counter(kind for kinds in manifest.corrected.values() for kind in kinds)
    listing = ", ".join(f"{escape_cell(kind)} of {count}" for kind, count in sorted(counts.items()))
    return [
        "",
        f"People corrected the reading of {len(manifest.corrected)} problems ({listing}); "
        "`manifest.json` lists them.",
    ]


def _describe_review(manifest: FrozenManifest) -> list[str]:
    review = manifest.review
    if review is None:
        return []
    lines = [
        "",
        f"People reviewed {review.problems} of the {manifest.problems} problems; {review.people} "
        f"took part, {review.reviewers} were required per problem, and {review.dropped} problems "
        "were removed.",
    ]
    if review.unsettled:
        lines += ["", f"{review.unsettled} disputed or changed tasks were not settled."]
    if review.simulated_people:
        lines += [
            "",
            f"> **SIMULATED**: {review.simulated_people} of {review.people} reviewers are "
            "simulated; no person has checked their decisions.",
        ]
    return lines


def _table(heading: str, rows: Iterable[tuple[object, int]]) -> list[str]:
    lines = [f"| {escape_cell(str(name))} | {count} |" for name, count in rows]
    return [f"| {heading} | Problems |", "|---|---|", *lines, ""]


def escape_cell(text: str) -> str:
    """Escape external text for a line of Markdown: no markup, links or external pictures."""
    line = "".join(c if c.isprintable() else " " for c in " ".join(text.split()))
    escaped = re.sub(r"[\\`\[\]|]", r"\\\g<0>", line)
    return escaped.replace("&", "&amp;").replace("<", "&lt;")


def join_licences(licences: Iterable[str | None]) -> str | None:
    """Return the licences of items as one text; None if an item states none."""
    stated = set(licences)
    return (
        None if None in stated or "" in stated else ", ".join(sorted(filter(None, stated))) or None
    )


def _describe_licences(questions: Sequence[Question]) -> list[str]:
    """Return what problems without a licence mean for the whole; nothing if all state one."""
    unstated = sum(not question.licence for question in questions)
    if not unstated:
        return []
    stated = sorted({escape_cell(q.licence) for q in questions if q.licence})
    others = f" The others: {', '.join(stated)}." if stated else ""
    return ["", f"{unstated:,} of {len(questions):,} problems state no licence.{others}"]


def list_licence_lines(name: str | None) -> list[str]:
    """Return the header's licence: hubs use Creative Commons identifiers such as cc-by-4.0."""
    if name is None:
        return []
    identifier = name.lower().replace(" ", "-")
    if re.fullmatch(r"cc[a-z0-9.-]*", identifier) and "--" not in identifier:
        return [f"license: {identifier}"]
    return ["license: other", f"license_name: {json.dumps(name)}"]
