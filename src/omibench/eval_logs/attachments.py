"""Pictures of a sample, stored once as data URLs that messages refer to."""

from __future__ import annotations

import hashlib
from functools import cached_property
from pathlib import Path
from typing import Final

from omibench.errors import MissingInputError, ModelError
from omibench.files.intake.containment import Container
from omibench.models.http.pictures import PictureCache
from omibench.results.study_files import StudyFiles
from omibench.schemas.request import ImagePart
from omibench.stages.analyze.explorer.steps import Trail
from omibench.store.images import ImageStore

REFERENCE: Final = "attachment://"
"""Inspect's mark of content stored under `attachments` of its sample."""
_SHOWN_DIGITS: Final = 12


class PictureSource:
    """Pictures of a study by SHA-256: from the dataset, from settings, and drawn by models."""

    def __init__(self, files: StudyFiles, trail: Trail, store: Path) -> None:
        """Prepare the lookup; files are opened on first use.

        Args:
            files: The study, with its frozen dataset.
            trail: Source of the pictures made by settings.
            store: Store of responses, with the pictures drawn by models.
        """
        self._files, self._trail = files, trail
        self._drawn = ImageStore(store / "images")
        self._cache = PictureCache()

    def encode(self, sha256: str, patch: tuple[int, int, int] | None = None) -> str | None:
        """Encode a picture as a data URL, with its patch if it was shown with one.

        Args:
            sha256: Hash of its bytes.
            patch: (x, y, side) in pixels of a black square, or None.

        Returns:
            None if no file with these bytes exists.
        """
        for path in self._list_places(sha256):
            part = ImagePart(sha256=sha256, path=str(path), patch=patch)
            try:
                picture = self._cache.inline(part)
            except (MissingInputError, ModelError):
                continue
            return f"data:{picture.media_type};base64,{picture.data}"
        return None

    def _list_places(self, sha256: str) -> list[Path]:
        places = [self._of_dataset.get(sha256), self._trail.locate_picture(sha256)]
        if (
            sha256.isalnum()
        ):  # the hash can be any text from another source: it must not lead out of the folder
            places.append(self._drawn.path(sha256))
        return [path for path in places if path is not None]

    @cached_property
    def _of_dataset(self) -> dict[str, Path]:
        container = Container(self._files.locate("freeze"))
        return {
            figure.sha256: container.path(figure.file)
            for question in self._files.questions.values()
            for figure in question.images
            if figure.sha256
        }


class Attachments:
    """Pictures of one sample."""

    def __init__(self, source: PictureSource) -> None:
        """Start without pictures.

        Args:
            source: Source of the pictures.
        """
        self._source = source
        self.contents: dict[str, str] = {}
        """Data URLs by the name used in messages."""

    def show(self, sha256: str, patch: tuple[int, int, int] | None = None) -> dict[str, str]:
        """Return the message part that shows a picture, or that reports its file as missing.

        Args:
            sha256: Hash of its bytes.
            patch: See `PictureSource.encode`.
        """
        key = ImagePart(sha256=sha256, patch=patch).content_key
        name = hashlib.sha256(key.encode()).hexdigest()
        if name not in self.contents:
            content = self._source.encode(sha256, patch)
            if content is None:
                shown = sha256[:_SHOWN_DIGITS]
                return {"type": "text", "text": f"[missing picture file: {shown}]"}
            self.contents[name] = content
        return {"type": "image", "image": f"{REFERENCE}{name}", "detail": "auto"}
