"""Pictures of a sample: each once, as a data address that messages refer to."""

from __future__ import annotations

import hashlib
from functools import cached_property
from pathlib import Path
from typing import Final

from omibench.errors import MissingInputError, ModelError
from omibench.eval_logs.cell_files import FrozenItems
from omibench.files.intake.containment import Container
from omibench.models.http.pictures import PictureCache
from omibench.schemas.request import ImagePart
from omibench.stages.analyze.explorer.steps import Trail
from omibench.store.images import ImageStore

REFERENCE: Final = "attachment://"
"""How Inspect marks a content that stands under `attachments` of its sample."""
_SHOWN_DIGITS: Final = 12


class PictureSource:
    """The pictures of a study by SHA-256: of its dataset, that settings made, that models drew."""

    def __init__(self, items: FrozenItems, trail: Trail, store: Path) -> None:
        """Prepare the look-up; nothing is opened before it is asked for.

        Args:
            items: The frozen dataset.
            trail: Knows the pictures that settings made.
            store: The store of responses, with the pictures that models drew.
        """
        self._items, self._trail = items, trail
        self._drawn = ImageStore(store / "images")
        self._cache = PictureCache()

    def encode(self, sha256: str, patch: tuple[int, int, int] | None = None) -> str | None:
        """A picture as a data address, under its patch where it was shown under one.

        Args:
            sha256: Of its bytes.
            patch: (x, y, side) in pixels of a black square; None for none.

        Returns:
            None where no file with these bytes is there.
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
        if sha256.isalnum():  # the hash may be another's text: it leads out of no folder
            places.append(self._drawn.path(sha256))
        return [path for path in places if path is not None]

    @cached_property
    def _of_dataset(self) -> dict[str, Path]:
        container = Container(self._items.folder)
        return {
            figure.sha256: container.path(figure.file)
            for question in self._items.questions.values()
            for figure in question.images
            if figure.sha256
        }


class Attachments:
    """The pictures of one sample."""

    def __init__(self, source: PictureSource) -> None:
        """Begin without any.

        Args:
            source: Where they come from.
        """
        self._source = source
        self.contents: dict[str, str] = {}
        """Data addresses by the name under which messages refer to them."""

    def show(self, sha256: str, patch: tuple[int, int, int] | None = None) -> dict[str, str]:
        """The part of a message that shows a picture, or says that there is no file of it.

        Args:
            sha256: Of its bytes.
            patch: As `PictureSource.encode` takes it.
        """
        key = ImagePart(sha256=sha256, patch=patch).content_key
        name = hashlib.sha256(key.encode()).hexdigest()
        if name not in self.contents:
            content = self._source.encode(sha256, patch)
            if content is None:
                shown = sha256[:_SHOWN_DIGITS]
                return {"type": "text", "text": f"[a picture whose file is not there: {shown}]"}
            self.contents[name] = content
        return {"type": "image", "image": f"{REFERENCE}{name}", "detail": "auto"}
