"""The pictures that a condition derives from a question's pictures, and their location."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from omibench.params.image import DEGRADATIONS, Images
from omibench.schemas.image_marks import list_image_marks
from omibench.schemas.problem import Choice, Question
from omibench.schemas.request import ImagePart
from omibench.settings.pictures.composite import compose
from omibench.settings.pictures.degrade import degrade
from omibench.settings.pictures.made import Recipe, make
from omibench.settings.pictures.occlude import occlude

PICTURES = "pictures"
"""Folder of derived pictures, next to that of the frozen dataset."""
STEM, CHOICE = "Image", "Choice"


def locate_pictures(folder: str | Path) -> Path:
    """Return the folder of the pictures derived from a frozen dataset in `folder`."""
    return Path(folder).parent / PICTURES


def degrade_picture(name: str, part: ImagePart, images: Images, folder: str | Path) -> ImagePart:
    """Return a degraded version of a picture; the original at grade 0."""
    if not images.grade:
        return part
    by = [kind for kind in DEGRADATIONS if kind in images.by]
    parameters = {"show": "degraded", "by": by, "grade": images.grade, "seed": images.seed}
    recipe = Recipe(locate_pictures(folder) / f"{'+'.join(by)}-{images.grade}", name, parameters)
    return make(
        recipe,
        [part],
        lambda sources: degrade(sources[0], by, images.grade, images.seed, part.sha256),
    )


def occlude_picture(name: str, part: ImagePart, images: Images, folder: str | Path) -> ImagePart:
    """Return a picture under a black patch."""
    parameters = {"show": "occluded", "share": images.share, "seed": images.seed}
    recipe = Recipe(locate_pictures(folder) / f"occluded-{images.share:g}", name, parameters)
    return make(
        recipe, [part], lambda sources: occlude(sources[0], images.share, images.seed, part.sha256)
    )


def compose_pictures(name: str, parts: Sequence[ImagePart], folder: str | Path) -> ImagePart:
    """Return all pictures on one canvas, in order and without labels.

    Args:
        name: The problem's id, with which the file's name begins.
        parts: The pictures.
        folder: The folder of the frozen dataset.

    Returns:
        The canvas.
    """
    parameters = {"show": "composite", "labels": []}
    recipe = Recipe(locate_pictures(folder) / "composite-unlabelled", name, parameters)
    return make(recipe, parts, compose)


def compose_labelled_pictures(
    name: str, parts: Mapping[int, ImagePart], labels: Mapping[int, str], folder: str | Path
) -> ImagePart:
    """Return all pictures on one canvas, each under its label, in the order of `labels`.

    Recipe and folder keep the name `composite`, which this condition used before, so that existing
    pictures and their responses are found.
    """
    order = list(labels)
    stem = sum(label.startswith(STEM) for label in labels.values())
    parameters = {"show": "composite", "labels": [labels[i] for i in order]}
    recipe = Recipe(locate_pictures(folder) / "composite", name, parameters)
    return make(
        recipe,
        [parts[i] for i in order],
        lambda images: compose(images, [labels[i] for i in order], stem),
    )


def make_labels(question: Question) -> dict[int, str]:
    """Return the label of each figure on a composite, in the order of the figures.

    Figures of the statement are numbered from 1; those of choices have their choice's letter.
    """
    stem = list(dict.fromkeys(list_image_marks(question.question)))
    stem += [i for i in range(len(question.images)) if i not in question.image_order()]
    labels = {index: f"{STEM} {number}" for number, index in enumerate(stem, 1)}
    for choice in question.choices or []:
        new = [i for i in dict.fromkeys(list_figures(choice)) if i not in labels]
        for number, index in enumerate(new, 1):
            labels[index] = f"{CHOICE} {choice.label}" + (f", {number}" if number > 1 else "")
    return labels


def list_figures(choice: Choice) -> list[int]:
    """Return the figures of a choice."""
    marks = list_image_marks(choice.text or "")
    return marks if choice.image is None else [*marks, choice.image]
