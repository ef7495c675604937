"""Derived pictures: files that some conditions show instead of the originals."""

from __future__ import annotations

import hashlib
import io
import json
import math
import os
import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import product
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import numpy as np
from PIL import Image, ImageDraw, ImageFilter, ImageFont, ImageOps
from PIL.PngImagePlugin import PngInfo

from omibench.errors import ModelError, OmibenchError, OutputError, reason_of
from omibench.files.outputs import write_atomically
from omibench.files.pictures import READERS
from omibench.files.reading import hash_file, open_regular, read_bytes
from omibench.models.drawn import as_rgb
from omibench.params.setting import DEGRADATIONS, Degradation, Images
from omibench.schemas.problem import Choice, Question, list_image_marks
from omibench.schemas.request import ImagePart

MOST_PIXELS = 50_000_000
"""Maximum pixels of a picture: 150 MB as RGB."""
ORIENTATION = 0x0112
"""The EXIF tag of a picture's rotation."""
QUARTER_TURNS = range(5, 9)
_JPEG = ("JPEG", "MPO")


class OpenedPicture(NamedTuple):
    """A picture in RGB as a viewer shows it, and whether its file was a JPEG."""

    image: Image.Image
    jpeg: bool


def open_picture(part: ImagePart) -> OpenedPicture:
    """Open a picture of a conversation: on white if transparent, rotated by its EXIF tag.

    Raises MissingInputError if the file does not exist and ModelError if its bytes differ from the
    dataset, it has too many pixels, or it cannot be decoded.
    """
    data = read_bytes(part.path)
    if hashlib.sha256(data).hexdigest() != part.sha256:
        raise ModelError(
            f"{part.path}: its content differs from the dataset ({part.sha256[:12]}); restore the "
            "file or freeze the dataset again"
        )
    return decode_picture(data, part.path)


def read_size(path: str) -> tuple[int, int] | None:
    """Return width and height in pixels as a viewer shows a picture, from the file's header.

    None if the file is missing or its header cannot be read.
    """
    try:
        with open_regular(path) as file, Image.open(file, formats=READERS) as image:
            turned = image.getexif().get(ORIENTATION, 1) in QUARTER_TURNS
            return (image.height, image.width) if turned else (image.width, image.height)
    except (OmibenchError, OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        return None


def decode_picture(data: bytes, source: str) -> OpenedPicture:
    """Decode the picture in a file; `source` is its name in errors. Raises ModelError."""
    try:
        with warnings.catch_warnings():
            # Up to twice its limit, which is above ours, Pillow only warns.
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)
            image = Image.open(io.BytesIO(data), formats=READERS)
        if image.width * image.height > MOST_PIXELS:
            raise Image.DecompressionBombError
        upright = ImageOps.exif_transpose(image)
        return OpenedPicture(as_rgb(upright), image.format in _JPEG)
    except Image.DecompressionBombError:
        raise ModelError(
            f"{source}: has more than {MOST_PIXELS:,} pixels, the supported maximum; scale the "
            "picture down and freeze the dataset again"
        ) from None
    except (OSError, ValueError, SyntaxError, EOFError) as error:
        raise ModelError(f"{source}: is not a readable picture: {reason_of(error)}") from None


# Generated pictures: drawn once from a recipe, kept under `<results>/pictures` for all models.
#
# A file's name contains the recipe's hash, by which a later process finds it, and that of its
# bytes, which reveals damage. Concurrent processes are safe: each writes the same bytes atomically.

VERSION = 1
"""Version of all drawing code: increased with every change of its output, so that all pictures
are drawn again."""
JPEG_QUALITY = 92
_FILE_NAME = re.compile(r".+\.([0-9a-f]{16})-([0-9a-f]{16})\.(?:png|jpg)")

Draw = Callable[[Sequence["Image.Image"]], "Image.Image"]
_DRAWING: ContextVar[bool] = ContextVar("drawing", default=True)


class Recipe(NamedTuple):
    """The recipe of a picture: `parameters` and the sources' bytes determine it.

    It is stored in `folder`, under a name that begins with `stem`.
    """

    folder: Path
    stem: str
    parameters: Mapping[str, object]


def make(recipe: Recipe, sources: Sequence[ImagePart], draw: Draw) -> ImagePart:
    """Return the picture that `draw` makes of the sources, drawn only if it does not exist.

    It is a JPEG if all sources are, else a PNG, with its recipe as a comment, so that a different
    source byte gives a different picture. If a source is missing from its benchmark, the result is
    that source, which the request then rejects by name. Raises as `open_picture` does, and
    OutputError if the picture cannot be written.
    """
    absent = next((source for source in sources if source.absent), None)
    if absent:
        return absent
    description = {"v": VERSION, **recipe.parameters, "of": [source.sha256 for source in sources]}
    text = json.dumps(description, sort_keys=True, separators=(",", ":"))
    name = hashlib.sha256(text.encode("ascii")).hexdigest()[:16]
    paths = _list_pictures(recipe.folder, fresh=not _DRAWING.get())
    if existing := _verify_picture(paths.get(name)):
        return existing
    if not _DRAWING.get():
        like = sources[0].path if len(sources) == 1 else str(recipe.folder / name)
        return ImagePart(sha256=hashlib.sha256(name.encode()).hexdigest(), path=like)
    opened = [open_picture(source) for source in sources]
    jpeg = all(picture.jpeg for picture in opened)
    data = encode_picture(draw([picture.image for picture in opened]), jpeg, text)
    sha256 = hashlib.sha256(data).hexdigest()
    stem = re.sub(r"[^A-Za-z0-9_-]+", "-", recipe.stem)[:80]
    path = recipe.folder / f"{stem}.{name}-{sha256[:16]}.{'jpg' if jpeg else 'png'}"
    try:
        write_atomically(path, data)
    except OSError as error:
        raise OutputError(f"{path}: cannot be written: {reason_of(error)}") from None
    paths[name] = path
    return ImagePart(sha256=sha256, path=str(path))


def made_sha256(name: str) -> str | None:
    """Return the first 16 digits of a generated picture's SHA-256 from its file name, or None."""
    match = _FILE_NAME.fullmatch(name)
    return match[2] if match else None


@contextmanager
def without_drawing() -> Iterator[None]:
    """Disable drawing and writing: a missing picture gets a placeholder hash.

    No response to it can be stored, so planning need not wait for it.
    """
    token = _DRAWING.set(False)
    try:
        yield
    finally:
        _DRAWING.reset(token)


def encode_picture(image: Image.Image, jpeg: bool, comment: str) -> bytes:
    """Return the bytes of a picture with a comment."""
    file = io.BytesIO()
    if jpeg:
        image.save(file, "JPEG", quality=JPEG_QUALITY, subsampling=0, comment=comment)
    else:
        note = PngInfo()
        note.add_text("omibench", comment)
        image.save(file, "PNG", compress_level=6, pnginfo=note)
    return file.getvalue()


_lists: dict[Path, tuple[int, dict[str, Path]]] = {}


def _list_pictures(folder: Path, *, fresh: bool) -> dict[str, Path]:
    """Return the pictures of a folder by recipe hash, as of the first call.

    A `fresh` list is read again after others have added to the folder. Drawing does not need that:
    the folder changes with each picture, and at worst one is drawn twice.
    """
    try:
        changed = folder.stat().st_mtime_ns
        before, paths = _lists.get(folder, (0, {}))
        if before and not (fresh and changed != before):
            return paths
        names = sorted(os.listdir(folder))  # noqa: PTH208 - a Path for each of many is slow
    except OSError:
        changed, names = 0, []
    paths = {match[1]: folder / name for name in names if (match := _FILE_NAME.fullmatch(name))}
    _lists[folder] = changed, paths
    return paths


_verified: dict[Path, tuple[tuple[int, int], ImagePart]] = {}


def _verify_picture(path: Path | None) -> ImagePart | None:
    """Return the picture in a file that was found, if it still exists and is intact."""
    if path is None:
        return None
    try:
        state = path.stat()
        stamp, (known_stamp, part) = (
            (state.st_mtime_ns, state.st_size),
            _verified.get(path, (None, None)),
        )
        if part is not None and known_stamp == stamp:
            return part
        sha256 = hash_file(path)
    except (OSError, OmibenchError):
        return None
    match = _FILE_NAME.fullmatch(path.name)
    if match is None or not sha256.startswith(match[2]):
        return None
    part = ImagePart(sha256=sha256, path=str(path))
    _verified[path] = (stamp, part)
    return part


# Composites, occluded and degraded pictures, which conditions derive from pictures.
#
# OMIBench's single-image control (section 5 and appendix L) concatenates pictures; labels are ours.

LONGEST = 4096
"""Maximum pixels of the canvas's long side."""
SHRINK = 0.95
GAP, MARGIN = 24, 16
INK, FRAME = (20, 20, 20), (160, 160, 160)

Size = tuple[int, int]


class CompositeLayout(NamedTuple):
    """Position and size of each picture on the canvas."""

    canvas: Size
    boxes: Sequence[tuple[int, int, int, int]]
    letters: int
    """Height of the labels' letters in pixels; 0 without labels."""


def compose(
    images: Sequence[Image.Image], labels: Sequence[str] = (), stem: int | None = None
) -> Image.Image:
    """Return one canvas with every picture, in rows, in order.

    Pictures are never enlarged. If the canvas would be longer than `LONGEST`, only the largest
    pictures are scaled down, to a common length of the long side.

    Args:
        images: The pictures, in RGB.
        labels: One per picture, above it, with a frame around it; default: no labels.
        stem: Number of pictures in the statement: those of choices begin a new row. None: one
            sequence.

    Returns:
        The canvas, with a white background.
    """
    plan = layout([image.size for image in images], stem, labelled=bool(labels))
    canvas = Image.new("RGB", plan.canvas, "white")
    if labels:
        _draw_labels(ImageDraw.Draw(canvas), plan, labels)
    for image, (x, y, wide, high) in zip(images, plan.boxes, strict=True):
        fitting = image if image.size == (wide, high) else _smaller(image, (wide, high))
        canvas.paste(fitting, (x, y))
    return canvas


def layout(
    sizes: Sequence[Size], stem: int | None = None, *, labelled: bool = True
) -> CompositeLayout:
    """Return the canvas with the shortest long side for pictures of these sizes in order.

    The long side matters because pictures are scaled down by it. Arguments as for `compose`; sizes
    are (width, height) in pixels.
    """
    stem = len(sizes) if stem is None else stem
    bound = max(max(size) for size in sizes)
    while True:
        fitted = [_within(size, bound) for size in sizes]
        counts = product(range(1, max(stem, 1) + 1), range(1, max(len(sizes) - stem, 1) + 1))
        plans = [
            _plan([*_split(fitted[:stem], a), *_split(fitted[stem:], b)], labelled)
            for a, b in counts
        ]
        best = min(plans, key=lambda plan: (max(plan.canvas), plan.canvas[0] * plan.canvas[1]))
        if max(best.canvas) <= LONGEST:
            return best
        bound = int(bound * SHRINK)


def _split(sizes: Sequence[Size], in_a_row: int) -> list[Sequence[Size]]:
    return [sizes[start : start + in_a_row] for start in range(0, len(sizes), in_a_row)]


def _draw_labels(draw: ImageDraw.ImageDraw, plan: CompositeLayout, labels: Sequence[str]) -> None:
    font = ImageFont.load_default(plan.letters)
    for label, (x, y, wide, high) in zip(labels, plan.boxes, strict=True):
        draw.text((x, y - plan.letters // 2), label, INK, font, anchor="ls")
        draw.rectangle((x - 2, y - 2, x + wide + 1, y + high + 1), outline=FRAME)


def _plan(rows: Sequence[Sequence[Size]], labelled: bool) -> CompositeLayout:
    longest = max(max(size) for row in rows for size in row)
    letters = min(48, max(20, longest // 24)) if labelled else 0
    boxes: list[tuple[int, int, int, int]] = []
    right, y = 0, MARGIN
    for row in rows:
        x, y = MARGIN, y + 2 * letters
        for wide, high in row:
            boxes.append((x, y, wide, high))
            x += max(wide, 5 * letters) + GAP
        right = max(right, x - GAP)
        y += max(high for _, high in row) + GAP
    return CompositeLayout((right + MARGIN, y - GAP + MARGIN), boxes, letters)


def _within(size: Size, bound: int) -> Size:
    scale = min(1.0, bound / max(size))
    wide, high = size
    return max(1, round(wide * scale)), max(1, round(high * scale))


def _smaller(image: Image.Image, size: Size) -> Image.Image:
    return image.resize(size, Image.Resampling.LANCZOS)


# Occludes part of a picture with a black patch, as in USNCO-V's saliency analysis.


def occlude(image: Image.Image, share: float, seed: int, sha256: str) -> Image.Image:
    """Cover `share` of a picture's area with a black patch of the same shape.

    The place depends only on the seed and the original's SHA-256. A share of 1 hides all of it.
    """
    rng = Random(json.dumps([seed, sha256, "occluded"]))  # noqa: S311
    across, down = rng.random(), rng.random()
    wide, high = (max(1, round(side * math.sqrt(share))) for side in image.size)
    x, y = round(across * (image.width - wide)), round(down * (image.height - high))
    hidden = image.copy()
    hidden.paste((0, 0, 0), (x, y, x + wide, y + high))
    return hidden


# Degrades pictures in the ways by which MathReal grades photographs (its appendix B).
#
# Each degradation takes a picture, a grade of 1 to 3 and a random generator for place and
# direction; grades of one seed share the place, so that a higher grade is a stronger version.

BLUR = (0.003, 0.007, 0.014)
"""Standard deviation relative to the picture's size, the square root of its area."""
QUARTERS = (270, 90, 180)
"""Degrees counter-clockwise: a quarter clockwise, one counter-clockwise, upside down."""
TILT = ((5.0, 12.0), (15.0, 25.0), (31.0, 40.0))
"""Degrees within the plane, in either direction: MathReal's highest grade begins at 30."""
SHADOW = ((0.2, 0.55), (0.4, 0.4), (0.7, 0.28))
"""Share of the area in shadow, and the remaining light: the highest grade begins at 60 %."""
GLARE = ((1, 0.2, 0.85), (2, 0.26, 0.95), (3, 0.32, 1.0))
"""Number of spots, their radius relative to the picture's size, and the loss at their centre."""
EXPOSURE = (0.55, 0.3, 0.1)
"""Remaining light (too dark) or remaining contrast to white (too bright)."""
_EDGE = 0.12
_COARSE = 96


def degrade(
    image: Image.Image, by: Sequence[Degradation], grade: int, seed: int, sha256: str
) -> Image.Image:
    """Return a picture with all of `by` at `grade`, in the order of `DEGRADATIONS`.

    The random values depend only on the seed, the original's SHA-256 and the degradation.
    """
    for kind in DEGRADATIONS:
        if kind in by and grade:
            rng = Random(json.dumps([seed, sha256, kind]))  # noqa: S311
            image = _WAYS[kind](image, grade - 1, rng)
    return image


def _rotation(image: Image.Image, level: int, _: Random) -> Image.Image:
    turns = {
        90: Image.Transpose.ROTATE_90,
        180: Image.Transpose.ROTATE_180,
        270: Image.Transpose.ROTATE_270,
    }
    return image.transpose(turns[QUARTERS[level]])


def _tilt(image: Image.Image, level: int, rng: Random) -> Image.Image:
    way, part = rng.choice((-1, 1)), rng.random()
    lowest, highest = TILT[level]
    angle = way * (lowest + part * (highest - lowest))
    return image.rotate(angle, Image.Resampling.BICUBIC, expand=True, fillcolor=_paper(image))


def _paper(image: Image.Image) -> tuple[int, ...]:
    """Return the median colour of a picture's border."""
    pixels = np.asarray(image)
    border = np.concatenate([pixels[0], pixels[-1], pixels[:, 0], pixels[:, -1]])
    return tuple(int(value) for value in np.median(border, axis=0))


def _shadow(image: Image.Image, level: int, rng: Random) -> Image.Image:
    share, light = SHADOW[level]
    angle = rng.uniform(0, 2 * math.pi)
    x, y = _grid(image)
    along = x * math.cos(angle) + y * math.sin(angle)
    edge = float(np.quantile(along, share))
    depth = (edge - along) / (_EDGE * float(np.ptp(along)) or 1.0) + 0.5
    return _overlay(image, image.point(lambda value: round(value * light)), depth)


def _glare(image: Image.Image, level: int, rng: Random) -> Image.Image:
    spots, radius, strength = GLARE[level]
    places = [(rng.uniform(0.2, 0.8), rng.uniform(0.2, 0.8), rng.uniform(0.6, 1)) for _ in range(3)]
    x, y = _grid(image)
    reach = radius * math.sqrt(x.size)
    depth = np.zeros_like(x)
    for across, down, flat in places[:spots]:
        far = ((x - across * x.max()) / reach) ** 2 + ((y - down * y.max()) / (reach * flat)) ** 2
        depth = np.maximum(depth, np.clip(1.6 * np.exp(-far), 0, 1) * strength)
    white = image.point(lambda _: 255)
    return _overlay(image, white, depth)


def _exposure(image: Image.Image, level: int, rng: Random) -> Image.Image:
    share, dark = EXPOSURE[level], rng.random() < 0.5
    if dark:
        return image.point(lambda value: round(value * share))
    return image.point(lambda value: round(255 - (255 - value) * share))


def _blur(image: Image.Image, level: int, _: Random) -> Image.Image:
    return image.filter(ImageFilter.GaussianBlur(BLUR[level] * math.sqrt(math.prod(image.size))))


def _grid(image: Image.Image) -> tuple[Any, Any]:
    """Return the coordinates of a coarse grid over a picture: its long side is `_COARSE` steps."""
    scale = _COARSE / max(image.size)
    wide, high = (max(2, round(side * scale)) for side in image.size)
    y, x = np.mgrid[0:high, 0:wide].astype(np.float64)
    return x, y


def _overlay(image: Image.Image, cover: Image.Image, depth: Any) -> Image.Image:
    """Overlay a picture with another; `depth` from 0 to 1 on the coarse grid is the strength."""
    coarse = Image.fromarray(np.round(np.clip(depth, 0, 1) * 255).astype(np.uint8))
    mask = coarse.resize(image.size, Image.Resampling.BICUBIC)
    return Image.composite(cover, image, mask)


_WAYS: dict[Degradation, Callable[[Image.Image, int, Random], Image.Image]] = {
    "rotation": _rotation,
    "tilt": _tilt,
    "shadow": _shadow,
    "glare": _glare,
    "exposure": _exposure,
    "blur": _blur,
}


# The pictures that a condition derives from a question's pictures, and their location.

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
