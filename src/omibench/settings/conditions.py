"""Conditions: the content of a conversation for each of a question's pictures.

This is the picture itself, text, another picture, or nothing. Pure, except for derived pictures,
which are files (`settings.pictures`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random

from omibench.errors import PluginError
from omibench.params.setting import Images
from omibench.schemas.problem import Question, write_image_mark
from omibench.schemas.request import ABSENT, ImagePart
from omibench.settings.pictures.transforms import (
    compose_labelled_pictures,
    compose_pictures,
    degrade_picture,
    list_figures,
    make_labels,
    occlude_picture,
)
from omibench.settings.registry import CONDITIONS, Pictures, Shown, condition

NOT_SHOWN = "[image not shown]"


def show_pictures(
    question: Question, images: Images, folder: str | Path = "", captions: Sequence[str] = ()
) -> Shown:
    """Return the content for each picture of a question under a condition.

    Image paths are relative to `folder`; `captions` are in the order of `question.images`. Settings
    never fail on a problem that has less than they need: `first` with a larger `k`, a figure that a
    question lacks, a single picture to shuffle or join.
    """
    originals = {i: picture(question, i, folder) for i in question.all_images()}
    show = CONDITIONS.get(images.show)
    with CONDITIONS.calling(images.show, question.id):
        shown = show(Pictures(question, images, folder, originals, captions))
        if not isinstance(shown, Shown):
            raise PluginError(
                f"image condition {images.show!r} (of {question.id}): returned "
                f"{type(shown).__name__}; return Shown"
            )
        return shown


@condition("all")
def show_all(pictures: Pictures) -> Shown:
    """Show every picture at its mark."""
    return place_where_marked(pictures.question, pictures.originals)


@condition("none")
def show_none(pictures: Pictures) -> Shown:
    """Show no picture."""
    return Shown({})


@condition("captions")
def show_captions(pictures: Pictures) -> Shown:
    """Show text instead of every picture."""
    return show_words(pictures.question, pictures.captions)


@condition("first")
def show_first(pictures: Pictures) -> Shown:
    """Show the first `k` pictures."""
    first = list(pictures.originals.items())[: pictures.images.k]
    return place_where_marked(pictures.question, dict(first))


@condition("composite")
def show_composite(pictures: Pictures) -> Shown:
    """Show one picture of all after the question, with the dataset's text and choices.

    OMIBench, section 5 and appendix L: all images are concatenated in order, the text of the
    question and the choices are unchanged. So a mark `[IMAGEi]` is sent as plain text.
    """
    question, originals = pictures.question, pictures.originals
    if len(originals) < 2:
        return show_all(pictures)
    in_order = [originals[i] for i in make_labels(question)]
    canvas = compose_pictures(question.id, in_order, pictures.folder)
    return Shown({i: write_image_mark(i) for i in originals}, ["\n", canvas])


@condition("labelled-composite")
def show_labelled_composite(pictures: Pictures) -> Shown:
    """Show one picture of all after the question, and a label instead of each."""
    question, originals = pictures.question, pictures.originals
    if len(originals) < 2:
        return show_all(pictures)
    labels = make_labels(question)
    canvas = compose_labelled_pictures(question.id, originals, labels, pictures.folder)
    return Shown({i: f"[{label}]" for i, label in labels.items()}, ["\n", canvas])


@condition("shuffled")
def show_shuffled(pictures: Pictures) -> Shown:
    """Show the pictures outside of choices in permuted places."""
    question, originals = pictures.question, pictures.originals
    moved = _shuffle(question, pictures.images.seed, originals)
    return place_where_marked(question, {**originals, **moved})


@condition("degraded")
def show_degraded(pictures: Pictures) -> Shown:
    """Show every picture as a degraded photograph of itself."""
    question, images = pictures.question, pictures.images
    worse = {
        i: degrade_picture(f"{question.id}.{i}", original, images, pictures.folder)
        for i, original in pictures.originals.items()
    }
    return place_where_marked(question, worse)


@condition("occluded")
def show_occluded(pictures: Pictures) -> Shown:
    """Show every picture, or one, under a black patch."""
    question, images, originals = pictures.question, pictures.images, pictures.originals
    patched = {
        i: occlude_picture(f"{question.id}.{i}", original, images, pictures.folder)
        for i, original in originals.items()
        if images.figure in (None, i)
    }
    return place_where_marked(question, {**originals, **patched})


def place_where_marked(question: Question, pictures: Mapping[int, ImagePart]) -> Shown:
    """Place pictures at the question's marks; unmarked ones follow the question."""
    met = question.image_order()
    loose = [picture for i, picture in pictures.items() if i not in met]
    return Shown(pictures, ["\n", *loose] if loose else [])


def picture(question: Question, index: int, folder: str | Path = "") -> ImagePart:
    """Return a figure as a part of a conversation; its path is relative to `folder`."""
    figure = question.images[index]
    path = f"{folder}/{figure.file}" if str(folder) else figure.file
    return ImagePart(sha256=figure.sha256 or ABSENT + figure.file, path=path)


def show_words(question: Question, captions: Sequence[str]) -> Shown:
    """Return text for every picture; `captions` are in the order of `question.images`."""
    words = {i: in_words(i, caption) for i, caption in enumerate(captions)}
    met = question.image_order()
    return Shown(words, [f"\n{words[i]}" for i in words if i not in met])


def in_words(index: int, caption: str) -> str:
    """Return the caption of a picture as it appears in a question: `index` counts from 0."""
    return f"[IMAGE{index}, described in words: {' '.join(caption.split()) or '(no description)'}]"


def _shuffle(question: Question, seed: int, at: Mapping[int, ImagePart]) -> dict[int, ImagePart]:
    """Permute the pictures outside of choices.

    A picture choice keeps its letter, since the gold answer refers to it.
    """
    tied = {i for choice in question.choices or [] for i in list_figures(choice)}
    free = [i for i in at if i not in tied]
    if len({at[i].sha256 for i in free}) < 2:
        return {}
    rng = Random(json.dumps([seed, *(at[i].sha256 for i in free)]))  # noqa: S311
    moved = list(free)
    while [at[i].sha256 for i in moved] == [at[i].sha256 for i in free]:
        rng.shuffle(moved)
    return {i: at[j] for i, j in zip(free, moved, strict=True)}
