"""Generated pictures: drawn once from a recipe, kept under `<results>/pictures` for all models.

A file's name contains the recipe's hash, by which a later process finds it, and that of its bytes,
which reveals damage. Concurrent processes are safe: each writes the same bytes atomically.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import NamedTuple

from PIL import Image
from PIL.PngImagePlugin import PngInfo

from omibench.errors import OmibenchError, OutputError, reason_of
from omibench.files.atomic import write_atomically
from omibench.files.hashes import hash_file
from omibench.schemas.request import ImagePart
from omibench.settings.pictures.opening import open_picture

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
