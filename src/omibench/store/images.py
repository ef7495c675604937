"""The pictures of all requests, each once, under the SHA-256 of its bytes."""

from __future__ import annotations

import hashlib
import logging
import os
import stat
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from omibench.errors import MissingInputError, ModelError
from omibench.files.atomic import write_private
from omibench.schemas.request import DrawnPart, ImagePart, Response
from omibench.store.files import set_aside

COPIERS = 4
log = logging.getLogger("omibench.store")


class ImageStore:
    """The folder of pictures: `<first two digits>/<sha256>`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._seen: set[tuple[str, str]] = set()

    def path(self, sha256: str) -> Path:
        """Where the picture with this content stands, if it was kept."""
        return self.folder / sha256[:2] / sha256

    def keep_all(self, images: Iterable[ImagePart]) -> None:
        """Keep each of many, several at a time. Raises as `keep` does for the first of them."""
        distinct = {(image.path, image.sha256): image for image in images}
        new = [image for identity, image in distinct.items() if identity not in self._seen]
        if not new:
            return
        # Hashing and copying leave the interpreter free, so threads use the other cores.
        with ThreadPoolExecutor(min(COPIERS, len(new))) as pool:
            try:
                for _ in pool.map(self.keep, new):
                    pass
            except BaseException:
                pool.shutdown(cancel_futures=True)
                raise

    def keep(self, image: ImagePart) -> None:
        """Check that an image's file holds the bytes it is known by, and keep a copy.

        Raises MissingInputError when there is no file, ModelError when its bytes are others.
        """
        identity = (image.path, image.sha256)
        if identity in self._seen:
            return
        size = _size(image.path)
        if size is None:
            raise MissingInputError(
                f"{image.path or 'image ' + image.sha256[:12]}: there is no such image; "
                "a request is never sent without its pictures"
            )
        self._copy(Path(image.path), image.sha256, size)
        self._seen.add(identity)

    def with_drawn(self, response: Response) -> Response:
        """A response whose drawn pictures are kept here, and which names them by their content."""
        if not response.drawn:
            return response
        for image in response.drawn:
            if isinstance(image, DrawnPart):
                self.add(image.sha256, image.data)
        plain = tuple(ImagePart(sha256=image.sha256) for image in response.drawn)
        return response.model_copy(update={"drawn": plain})

    def add(self, sha256: str, data: bytes, size: int | None = None) -> bool:
        """Keep a picture whose SHA-256 is known; one that was hurt is set aside and replaced.

        Whether something was written.
        """
        target = self.path(sha256)
        stored_size = _size(f"{self.folder}/{sha256[:2]}/{sha256}")
        if stored_size == (len(data) if size is None else size) and target.read_bytes() == data:
            return False
        if stored_size is not None:
            aside = set_aside(self.folder.parent, target)
            log.warning("%s: was damaged and is restored; the old one is %s", target, aside)
        write_private(target, data)
        return True

    def _copy(self, source: Path, sha256: str, size: int) -> None:
        data = source.read_bytes()
        actual = hashlib.sha256(data).hexdigest()
        if actual != sha256:
            raise ModelError(
                f"{source}: its content ({actual[:12]}) is not that of the dataset "
                f"({sha256[:12]}): restore the file or freeze the dataset again"
            )
        self.add(sha256, data, size)


def _size(path: str) -> int | None:
    """Size of a regular file in bytes, None where there is none."""
    # Tens of thousands of images are looked at for one cell: os.stat costs a fifth of Path.stat.
    try:
        status = os.stat(path)  # noqa: PTH116
    except OSError:
        return None
    return status.st_size if stat.S_ISREG(status.st_mode) else None
