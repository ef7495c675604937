"""Conditions: what stands in a conversation for each of a question's pictures.

The picture itself, words, another picture, or nothing. Pure, but for derived pictures, which
are files (`settings.pictures`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random
from typing import NamedTuple

from omibench.params.image import Images
from omibench.schemas.problem import Question
from omibench.schemas.request import ABSENT, ImagePart
from omibench.settings.pictures.derived import (
    composite,
    degraded,
    figures_of,
    labels_of,
    occluded,
)

NOT_SHOWN = "[image not shown]"

Piece = str | ImagePart
"""A run of words or a picture, before neighbouring words are joined."""


class Shown(NamedTuple):
    """`at` holds what stands for each figure, by its index; a figure without is not shown.

    `after` follows the question's text: what stands for pictures that are marked nowhere.
    """

    at: Mapping[int, Piece]
    after: Sequence[Piece] = ()


def shown(
    question: Question, images: Images, folder: str | Path = "", captions: Sequence[str] = ()
) -> Shown:
    """What stands for each picture of a question under a condition.

    Image paths are resolved against `folder`; `captions` count with `question.images`. Settings
    that need less than they are given never fail: `first` with a larger `k`, a figure that a
    question does not have, one picture that is to be shuffled or joined with others.
    """
    met = question.image_order()
    order = [*met, *(i for i in range(len(question.images)) if i not in met)]
    originals = {i: picture(question, i, folder) for i in order}
    if images.show == "captions":
        return worded(question, captions)
    if images.show == "none":
        return Shown({})
    if images.show == "composite" and len(order) > 1:
        return _joined(question, originals, folder)
    if images.show == "first":
        order = order[: images.k]
    at = {i: originals[i] for i in order}
    if images.show == "shuffled":
        at |= _shuffled(question, images.seed, at)
    if images.show == "degraded":
        at = {i: degraded(f"{question.id}.{i}", p, images, folder) for i, p in at.items()}
    if images.show == "occluded":
        hidden = [i for i in at if images.figure in (None, i)]
        at |= {i: occluded(f"{question.id}.{i}", at[i], images, folder) for i in hidden}
    return Shown(at, _loose([at[i] for i in order if i in at and i not in met]))


def picture(question: Question, index: int, folder: str | Path = "") -> ImagePart:
    """A figure as a part of a conversation; its path is resolved against `folder`."""
    figure = question.images[index]
    path = f"{folder}/{figure.file}" if str(folder) else figure.file
    return ImagePart(sha256=figure.sha256 or ABSENT + figure.file, path=path)


def worded(question: Question, captions: Sequence[str]) -> Shown:
    """Words for every picture; `captions` count with `question.images`."""
    words = {i: in_words(i, caption) for i, caption in enumerate(captions)}
    met = question.image_order()
    return Shown(words, [f"\n{words[i]}" for i in words if i not in met])


def in_words(index: int, caption: str) -> str:
    """The caption of a picture as it stands in a question: `index` counts from 0."""
    return f"[IMAGE{index}, described in words: {' '.join(caption.split()) or '(no description)'}]"


def _joined(question: Question, originals: Mapping[int, ImagePart], folder: str | Path) -> Shown:
    """One picture of all after the question; in the place of each stands its label there."""
    labels = labels_of(question)
    whole = composite(question.id, originals, labels, folder)
    return Shown({i: f"[{label}]" for i, label in labels.items()}, ["\n", whole])


def _loose(pictures: Sequence[ImagePart]) -> list[Piece]:
    return ["\n", *pictures] if pictures else []


def _shuffled(question: Question, seed: int, at: Mapping[int, ImagePart]) -> dict[int, ImagePart]:
    """The pictures outside of choices in other places than their own; those of choices stay.

    A picture choice keeps its letter, since the gold names it.
    """
    tied = {i for choice in question.choices or [] for i in figures_of(choice)}
    free = [i for i in at if i not in tied]
    if len({at[i].sha256 for i in free}) < 2:
        return {}
    rng = Random(json.dumps([seed, *(at[i].sha256 for i in free)]))  # noqa: S311
    moved = list(free)
    while [at[i].sha256 for i in moved] == [at[i].sha256 for i in free]:
        rng.shuffle(moved)
    return {i: at[j] for i, j in zip(free, moved, strict=True)}
