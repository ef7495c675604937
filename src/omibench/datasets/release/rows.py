"""A frozen dataset by item: question, gold answer and the text before translation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from omibench.datasets.release_contents import ORIGINAL, PREFIX, list_choices
from omibench.datasets.release_folder import Access, ReleasedGenerator, ReleasedSource
from omibench.errors import FileFormatError, MissingInputError
from omibench.schemas.problem import (
    FRESH,
    GENERATOR,
    Answer,
    Figure,
    Original,
    OriginalRow,
    Question,
    Value,
    join_labels,
    list_labels,
)
from omibench.schemas.tables import FrozenManifest, content_hash, read_jsonl, read_typed_json
from omibench.stages.freeze.rows import is_simulated
from omibench.stages.ocr.sources.manifest import Entry, Generated, Source, read_manifest


class FrozenItem(NamedTuple):
    """One problem of a freeze."""

    question: Question
    answer: Answer
    original: Original | None


class FrozenFolder(NamedTuple):
    """A folder written by `freeze`."""

    folder: Path
    manifest: FrozenManifest
    items: list[FrozenItem]


def read_freeze(folder: Path) -> FrozenFolder:
    """Read a freeze and compare its rows with its manifest.

    Args:
        folder: The folder of `freeze`: manifest.json, questions.jsonl, answers.jsonl, images/.

    Raises:
        MissingInputError: A file is missing.
        FileFormatError: The rows differ from the manifest, or do not match each other.
    """
    for name in ("manifest.json", "questions.jsonl", "answers.jsonl"):
        if not (folder / name).is_file():
            raise MissingInputError(f"{folder}: {name} not found; pass a folder written by freeze")
    manifest = read_typed_json(folder / "manifest.json", FrozenManifest)
    questions = read_jsonl(folder / "questions.jsonl", Question)
    answers = read_jsonl(folder / "answers.jsonl", Answer)
    if (content_hash(questions), content_hash(answers)) != (
        manifest.questions_sha256,
        manifest.answers_sha256,
    ):
        raise FileFormatError(
            f"{folder}: questions or answers do not match its manifest.json; freeze again"
        )
    golds = {answer.id: answer for answer in answers}
    if len(golds) != len(questions) or {q.id for q in questions} != golds.keys():
        raise FileFormatError(f"{folder}: questions and answers have different ids; freeze again")
    originals = _read_originals(folder / "originals.jsonl")
    items = [FrozenItem(q, golds[q.id], originals.get(q.id)) for q in questions]
    return FrozenFolder(folder, manifest, items)


def _read_originals(path: Path) -> dict[str, Original]:
    if not path.is_file():
        return {}
    return {row.id: row.original for row in read_jsonl(path, OriginalRow)}


# Terms of sources: licences and redistribution.


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
    entries: dict[str, Entry] = {}
    if manifest is not None:
        listing = read_manifest(manifest)
        entries |= {entry.name: entry for entry in listing.entries}
    versions = {name_source(i, dataset): i.answer.attributes.get(GENERATOR) for i in items}
    return [
        _describe(name, counts[name], entries.get(name), join_labels(versions[name]))
        for name in sorted(counts)
    ]


def _describe(name: str, count: int, entry: Entry | None, version: str) -> ReleasedSource:
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
        generator=_describe_generator(entry, version) if isinstance(entry, Generated) else None,
    )


def _describe_generator(entry: Generated, version: str) -> ReleasedGenerator:
    is_open = entry.keys == "released"
    return ReleasedGenerator(
        name=version,
        seed=entry.seed if is_open else None,
        counts=entry.counts,
        difficulty=entry.difficulty,
        keys=entry.keys,
    )


def prepare_answer(answer: Answer, source: ReleasedSource) -> Answer:
    """Return an answer as it is released.

    It has no attribute `fresh`, since models can see what is released, and neither key nor solution
    if its source withholds the keys.
    """
    attributes = {name: value for name, value in answer.attributes.items() if name != FRESH}
    released = answer.model_copy(update={"attributes": attributes})
    if not source.withholds_keys:
        return released
    return released.model_copy(update={"answer": [], "solution": None, "sketch": None})


# Rows of a release: one item with gold answer and labels.


class ReleaseItem(NamedTuple):
    """One item with its split and source."""

    question: Question
    answer: Answer
    original: Original | None
    split: str
    source: ReleasedSource

    @property
    def licence(self) -> str | None:
        """Its own licence, or that of its source."""
        return self.question.licence or self.source.licence

    @property
    def access(self) -> Access:
        """`full` if its source can be redistributed, else `metadata`."""
        return "full" if self.source.redistribute else "metadata"

    @property
    def figures(self) -> list[Figure]:
        """Its figures in the order of the marks; missing figures have no bytes."""
        return [figure for figure in self.question.images if figure.sha256]


def list_several(items: Sequence[ReleaseItem]) -> dict[str, bool]:
    """Return the names of all attributes, sorted, and whether each is a list of labels.

    Args:
        items: All items, so that a column has one type in all files.
    """
    several: dict[str, bool] = {}
    for item in items:
        for name, value in item.answer.attributes.items():
            several[name] = several.get(name, False) or isinstance(value, list)
    return dict(sorted(several.items()))


def build_row(item: ReleaseItem, several: Mapping[str, bool]) -> dict[str, Any]:
    """Return the column values of an item, without the bytes of pictures.

    Args:
        item: The item.
        several: The result of `list_several`.
    """
    question, answer, original = item.question, item.answer, item.original
    attributes = {
        PREFIX + name: _align(answer.attributes.get(name), is_list)
        for name, is_list in several.items()
    }
    return {
        "id": question.id,
        "question": question.question,
        "choices": list_choices(question.choices),
        "answer": answer.answer,
        "answer_type": answer.answer_type,
        "rationale": answer.solution,
        "rationale_simulated": is_simulated(answer),
        "subject": question.subject,
        "topic": answer.topic,
        "language": question.language,
        "group": question.group,
        "subset": question.subset,
        "source": item.source.name,
        "licence": item.licence,
        "access": item.access,
        "pages": question.pages,
        "figures": [_describe_figure(figure) for figure in item.figures],
        "original_language": original.language if original else None,
        "original_question": original.question if original else None,
        "original_choices": list_choices(original.choices) if original else None,
        "translator": original.translator if original else None,
        **attributes,
    }


def withhold_texts(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the row of an item that cannot be redistributed: its location, labels and key.

    Letters of a multiple-choice key are facts and stay (USNCO-V, data availability: the released
    metadata holds the answer key). Texts of question, choices, open answers and rationales are
    removed.
    """
    is_letter = row["answer_type"] == "mcq"
    return {
        **row,
        "question": None,
        "choices": None,
        "answer": row["answer"] if is_letter else None,
        "rationale": None,
        "figures": [{**figure, "caption": None} for figure in row["figures"]],
        **dict.fromkeys(ORIGINAL),
    }


def _align(value: Value | None, is_list: bool) -> Value | None:
    return list_labels(value) if is_list else value


def _describe_figure(figure: Figure) -> dict[str, Any]:
    return {
        "sha256": figure.sha256,
        "page": figure.page,
        "bbox": [float(value) for value in figure.bbox] if figure.bbox else None,
        "caption": figure.caption,
    }
