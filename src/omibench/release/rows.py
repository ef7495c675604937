"""The rows of a release: one item with gold and labels, and the hashes of its parts."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from omibench.release.frozen_items import FrozenItem
from omibench.release.schema import Access, ReleasedSource, ReleaseRow
from omibench.release.terms import find_licence
from omibench.schemas.attributes import Value, list_labels
from omibench.schemas.problem import Choice, Figure
from omibench.stages.freeze.rows import is_simulated

QUESTION: Final = ("question", "choices")
GOLD: Final = ("answer",)
RATIONALE: Final = ("rationale",)
ORIGINAL: Final = ("original_language", "original_question", "original_choices", "translator")
LABELS: Final = ("subject", "topic", "language")
PREFIX: Final = "attribute_"
"""How the columns of attributes begin: no attribute of a benchmark takes the place of a column."""


class ReleaseItem(NamedTuple):
    """One item with its place in the release."""

    item: FrozenItem
    split: str
    source: ReleasedSource

    @property
    def access(self) -> Access:
        """`full` where its source may be given on, else `metadata`."""
        return "full" if self.source.redistribute else "metadata"

    @property
    def figures(self) -> list[Figure]:
        """Its figures in the order of the marks; those that are absent have no bytes."""
        return [figure for figure in self.item.question.images if figure.sha256]


def list_several(items: Sequence[ReleaseItem]) -> dict[str, bool]:
    """Names of all attributes, sorted, and whether an attribute is a list of labels.

    Args:
        items: All items: a column has one type over all files.
    """
    several: dict[str, bool] = {}
    for release_item in items:
        for name, value in release_item.item.answer.attributes.items():
            several[name] = several.get(name, False) or isinstance(value, list)
    return dict(sorted(several.items()))


def build_row(release_item: ReleaseItem, several: Mapping[str, bool]) -> dict[str, Any]:
    """All that is known of an item, as values of columns, without the bytes of pictures.

    Args:
        release_item: The item.
        several: What `list_several` says of the attributes.
    """
    question, answer, original = release_item.item
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
        "source": question.source or "",
        "licence": find_licence(release_item.item, release_item.source),
        "access": release_item.access,
        "pages": question.pages,
        "figures": [_describe_figure(figure) for figure in release_item.figures],
        "original_language": original.language if original else None,
        "original_question": original.question if original else None,
        "original_choices": list_choices(original.choices) if original else None,
        "translator": original.translator if original else None,
        **attributes,
    }


def describe_row(row: Mapping[str, Any], split: str) -> ReleaseRow:
    """The manifest's line of a row, computed from its values alone.

    Args:
        row: What `build_row` gave, or a row of a release's Parquet file.
        split: Where it stands.
    """
    return ReleaseRow(
        id=row["id"],
        split=split,
        access=row["access"],
        source=row["source"],
        licence=row["licence"],
        question_sha256=hash_values(row, QUESTION),
        answer_sha256=hash_values(row, GOLD),
        rationale_sha256=hash_values(row, RATIONALE) if row["rationale"] else None,
        original_sha256=hash_values(row, ORIGINAL) if row["original_question"] else None,
        labels_sha256=hash_values(row, [*LABELS, *_list_attributes(row)]),
        image_sha256=[figure["sha256"] for figure in row["figures"]],
    )


def withhold_texts(row: Mapping[str, Any]) -> dict[str, Any]:
    """The row of an item that may not be given on: where it stands, its labels and key.

    Letters of a multiple-choice key are facts and stay (USNCO-V, data availability: the released
    metadata holds the answer key); texts of question, choices, open answers and rationales go.
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


def hash_values(row: Mapping[str, Any], names: Sequence[str]) -> str:
    """SHA-256 over the JSON of some values of a row; those that are null or empty are left out."""
    values = {name: row[name] for name in names if row[name] not in (None, [], "")}
    text = json.dumps(values, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _list_attributes(row: Mapping[str, Any]) -> list[str]:
    return sorted(name for name in row if name.startswith(PREFIX))


def _align(value: Value | None, is_list: bool) -> Value | None:
    return list_labels(value) if is_list else value


def list_choices(choices: Sequence[Choice] | None) -> list[dict[str, Any]] | None:
    return [choice.model_dump() for choice in choices] if choices else None


def _describe_figure(figure: Figure) -> dict[str, Any]:
    return {
        "sha256": figure.sha256,
        "page": figure.page,
        "bbox": [float(value) for value in figure.bbox] if figure.bbox else None,
        "caption": figure.caption,
    }
