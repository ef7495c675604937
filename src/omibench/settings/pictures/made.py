"""Made pictures: drawn once from a recipe, kept under `<results>/pictures` for all models.

A file's name holds the recipe's hash, by which a later process finds it, and that of its bytes,
by which damage is seen. Processes may race: each writes the same bytes at once.
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
from typing import TYPE_CHECKING, NamedTuple

from omibench.errors import OmibenchError, OutputError, reason_of
from omibench.files.atomic import write_atomically
from omibench.files.hashes import hash_file
from omibench.schemas.request import ImagePart
from omibench.settings.pictures.opening import open_picture

if TYPE_CHECKING:
    from PIL import Image

VERSION = 1
"""Of everything that draws: a change of what is drawn raises it, and all is drawn again."""
JPEG_QUALITY = 92
_FILE_NAME = re.compile(r".+\.([0-9a-f]{16})-([0-9a-f]{16})\.(?:png|jpg)")

Draw = Callable[[Sequence["Image.Image"]], "Image.Image"]
_DRAWING: ContextVar[bool] = ContextVar("drawing", default=True)


class Recipe(NamedTuple):
    """How a picture is made: `parameters` says it all, together with the sources' bytes.

    It lies in `folder`, under a name that begins with `stem`.
    """

    folder: Path
    stem: str
    parameters: Mapping[str, object]


def make(recipe: Recipe, sources: Sequence[ImagePart], draw: Draw) -> ImagePart:
    """The picture that `draw` makes of the sources, drawn only when it is not there yet.

    It is a JPEG where all sources are, else a PNG, and holds its recipe as a comment, so that
    another byte in a source is another picture. Where a source is absent from its benchmark, the
    result is that source: asking refuses it by name. Raises as `open_picture` does, and
    OutputError when the picture cannot be kept.
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
    """The first 16 digits of a made picture's SHA-256, by its file's name; None for other files."""
    match = _FILE_NAME.fullmatch(name)
    return match[2] if match else None


@contextmanager
def without_drawing() -> Iterator[None]:
    """Inside, nothing is drawn or written: a picture that is not there yet has a hash of its own.

    No response can be known to what shows it. Whoever only looks ahead need not wait for it.
    """
    token = _DRAWING.set(False)
    try:
        yield
    finally:
        _DRAWING.reset(token)


def encode_picture(image: Image.Image, jpeg: bool, comment: str) -> bytes:
    """The bytes of a picture that holds a comment."""
    from PIL.PngImagePlugin import PngInfo

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
    """The pictures of a folder by the hash of their recipe, as they were when first asked for.

    A `fresh` list is read again when others have added to the folder. Whoever draws does without:
    the folder changes with each picture, and at worst one is drawn that another has just drawn.
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
    """The picture in a file that was found, if it is still there and whole."""
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
