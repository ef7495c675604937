"""Opens pictures, checked and rotated, and keeps generated ones under `<results>/pictures`."""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import NamedTuple

from PIL import Image, ImageOps
from PIL.PngImagePlugin import PngInfo

from omibench.errors import ModelError, OmibenchError, OutputError, reason_of
from omibench.files.pictures import READERS
from omibench.files.reading import hash_file, open_regular, read_bytes
from omibench.files.writing import write_atomically
from omibench.models.drawn import as_rgb
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
