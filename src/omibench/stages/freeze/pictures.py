"""Pictures of a dataset: each once, named by its content, without camera metadata."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from omibench.errors import FileFormatError, OmibenchError
from omibench.files.atomic import write_atomically
from omibench.files.intake import read_bytes, read_picture, strip_metadata
from omibench.files.intake.picture import PICTURE_BYTES, EncodedPicture
from omibench.schemas.problem import Figure, Question

FOLDER = "images"
_NAME = re.compile(r"[0-9a-f]{64}\.[a-z0-9]+")


class FrozenPictures(NamedTuple):
    """The questions with the paths of their frozen pictures, and counts."""

    questions: list[Question]
    stripped: int
    """Distinct pictures from which metadata was removed."""
    names: frozenset[str]
    """Their files in the picture folder."""
    added: frozenset[str]
    """New files among them."""


def freeze_pictures(
    questions: Sequence[Question], folder: Path, out: Path, strip: bool = True
) -> FrozenPictures:
    """Copy the pictures of `questions` (paths relative to `folder`) to `out`/images/.

    Pictures are never re-encoded. With `strip`, metadata of cameras and programs (EXIF, XMP, IPTC,
    comments) is removed; other pictures stay byte for byte. Pictures of an earlier freeze stay
    until `drop_others`. A figure that is absent from its benchmark stays absent.

    Raises:
        MissingInputError: A picture no longer exists.
        FileFormatError: A picture does not match its SHA-256, or is not a complete picture.
    """
    (out / FOLDER).mkdir(parents=True, exist_ok=True)
    before = {file.name for file in (out / FOLDER).iterdir()}
    copier = _Copier(folder, out / FOLDER, strip)
    frozen = []
    for question in questions:
        try:
            images = [copier.copy_figure(figure) for figure in question.images]
        except OmibenchError as error:
            raise type(error)(f"{question.id}: {error}") from None
        frozen.append(question.model_copy(update={"images": images}))
    names = frozenset(copier.names.values())
    stripped = sum(sha256 not in name for sha256, name in copier.names.items())
    return FrozenPictures(frozen, stripped, names, names - before)


def drop_others(out: Path, names: Collection[str]) -> None:
    """Delete the frozen pictures of `out` that are not in `names`; keep other files."""
    for file in (out / FOLDER).iterdir():
        if _NAME.fullmatch(file.name) and file.name not in names:
            file.unlink()


def take_back(out: Path, names: Iterable[str]) -> None:
    """Delete the pictures of `names`, and the folder if it is then empty."""
    for name in names:
        (out / FOLDER / name).unlink(missing_ok=True)
    with suppress(OSError):
        (out / FOLDER).rmdir()


class _Copier:
    """Copies each picture once, by content."""

    def __init__(self, source: Path, target: Path, strip: bool) -> None:
        self._source, self._target, self._strip = source, target, strip
        self.names: dict[str, str] = {}
        """SHA-256 of the source -> name of the copy."""

    def copy_figure(self, figure: Figure) -> Figure:
        """Return the figure with path and content of its copy; absent figures are unchanged."""
        if not figure.sha256:
            return figure
        if figure.sha256 not in self.names:
            self.names[figure.sha256] = self._copy(figure)
        name = self.names[figure.sha256]
        return figure.model_copy(
            update={"file": f"{FOLDER}/{name}", "sha256": name.partition(".")[0]}
        )

    def _copy(self, figure: Figure) -> str:
        source = self._source / figure.file
        content = read_bytes(source, PICTURE_BYTES)
        actual = hashlib.sha256(content).hexdigest()
        if actual != figure.sha256:
            raise FileFormatError(
                f"{source}: its content ({actual[:12]}) has changed since it was read "
                f"({figure.sha256[:12]}); run the previous stage again"
            )
        picture = read_picture(content, str(source))
        bare = _strip(picture, source) if self._strip else content
        name = f"{hashlib.sha256(bare).hexdigest()}.{picture.suffix}"
        if not _holds(self._target / name, bare):
            write_atomically(self._target / name, bare)
        return name


def _holds(target: Path, content: bytes) -> bool:
    try:
        return read_bytes(target, PICTURE_BYTES) == content
    except OmibenchError:
        return False


def _strip(picture: EncodedPicture, source: Path) -> bytes:
    try:
        return strip_metadata(picture.data, picture.form)
    except FileFormatError as error:
        raise FileFormatError(f"{source}: {error}") from None
