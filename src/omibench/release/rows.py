"""Rows of a release: one item with gold answer and labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from omibench.datasets.releases.hashes import ORIGINAL, PREFIX, list_choices
from omibench.datasets.releases.schema import Access, ReleasedSource
from omibench.release.frozen_items import FrozenItem
from omibench.release.terms import find_licence
from omibench.schemas.attributes import Value, list_labels
from omibench.schemas.problem import Figure
from omibench.stages.freeze.rows import is_simulated


class ReleaseItem(NamedTuple):
    """One item with its split and source."""

    item: FrozenItem
    split: str
    source: ReleasedSource

    @property
    def access(self) -> Access:
        """`full` if its source can be redistributed, else `metadata`."""
        return "full" if self.source.redistribute else "metadata"

    @property
    def figures(self) -> list[Figure]:
        """Its figures in the order of the marks; missing figures have no bytes."""
        return [figure for figure in self.item.question.images if figure.sha256]


def list_several(items: Sequence[ReleaseItem]) -> dict[str, bool]:
    """Return the names of all attributes, sorted, and whether each is a list of labels.

    Args:
        items: All items, so that a column has one type in all files.
    """
    several: dict[str, bool] = {}
    for release_item in items:
        for name, value in release_item.item.answer.attributes.items():
            several[name] = several.get(name, False) or isinstance(value, list)
    return dict(sorted(several.items()))


def build_row(release_item: ReleaseItem, several: Mapping[str, bool]) -> dict[str, Any]:
    """Return the column values of an item, without the bytes of pictures.

    Args:
        release_item: The item.
        several: The result of `list_several`.
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
        "source": release_item.source.name,
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
