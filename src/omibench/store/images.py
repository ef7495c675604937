"""The pictures of all requests, each stored once, under the SHA-256 of its bytes."""

from __future__ import annotations

import hashlib
import logging
import os
import stat
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from omibench.errors import MissingInputError, ModelError
from omibench.files.writing import write_private
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
        """Return the path of the picture with this content, if it was kept."""
        return self.folder / sha256[:2] / sha256

    def keep_all(self, images: Iterable[ImagePart]) -> None:
        """Keep many images, several at a time. Raises as `keep` does for the first failure."""
        distinct = {(image.path, image.sha256): image for image in images}
        new = [image for identity, image in distinct.items() if identity not in self._seen]
        if not new:
            return
        # Hashing and copying release the interpreter lock, so threads use the other cores.
        with ThreadPoolExecutor(min(COPIERS, len(new))) as pool:
            try:
                for _ in pool.map(self.keep, new):
                    pass
            except BaseException:
                pool.shutdown(cancel_futures=True)
                raise

    def keep(self, image: ImagePart) -> None:
        """Check that an image's file has the expected bytes, and keep a copy.

        Raises MissingInputError if the file is missing, ModelError if its bytes differ.
        """
        identity = (image.path, image.sha256)
        if identity in self._seen:
            return
        size = _size(image.path)
        if size is None:
            raise MissingInputError(
                f"{image.path or 'image ' + image.sha256[:12]}: the image does not exist; a "
                "request is never sent without its pictures"
            )
        self._copy(Path(image.path), image.sha256, size)
        self._seen.add(identity)

    def with_drawn(self, response: Response) -> Response:
        """Store the drawn pictures of a response; returns it with references to them."""
        if not response.drawn:
            return response
        for image in response.drawn:
            if isinstance(image, DrawnPart):
                self.add(image.sha256, image.data)
        plain = tuple(ImagePart(sha256=image.sha256) for image in response.drawn)
        return response.model_copy(update={"drawn": plain})

    def locate_drawn(self, response: Response) -> Response:
        """Return a stored response with the paths of its pictures, to send them back."""
        if not response.drawn:
            return response
        located = tuple(
            ImagePart(sha256=image.sha256, path=str(self.path(image.sha256)))
            for image in response.drawn
        )
        return response.model_copy(update={"drawn": located})

    def add(self, sha256: str, data: bytes, size: int | None = None) -> bool:
        """Store a picture by its known SHA-256; a damaged one is set aside and replaced.

        Returns whether anything was written.
        """
        target = self.path(sha256)
        stored_size = _size(f"{self.folder}/{sha256[:2]}/{sha256}")
        if stored_size == (len(data) if size is None else size) and target.read_bytes() == data:
            return False
        if stored_size is not None:
            aside = set_aside(self.folder.parent, target)
            log.warning(
                "%s: was damaged and is restored; the damaged file is now %s", target, aside
            )
        write_private(target, data)
        return True

    def _copy(self, source: Path, sha256: str, size: int) -> None:
        data = source.read_bytes()
        actual = hashlib.sha256(data).hexdigest()
        if actual != sha256:
            raise ModelError(
                f"{source}: its content ({actual[:12]}) differs from the dataset ({sha256[:12]}); "
                "restore the file or freeze the dataset again"
            )
        self.add(sha256, data, size)


def _size(path: str) -> int | None:
    """Return the size of a regular file in bytes, or None."""
    # Tens of thousands of images are checked per cell: os.stat takes a fifth of Path.stat's time.
    try:
        status = os.stat(path)  # noqa: PTH116
    except OSError:
        return None
    return status.st_size if stat.S_ISREG(status.st_mode) else None
