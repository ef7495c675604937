"""Pictures of tasks, stored once in the review folder under the hash of their bytes."""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from pathlib import Path

from omibench.errors import FileFormatError, OutputError, reason_of
from omibench.files.atomic import write_atomically
from omibench.files.intake import read_bytes, read_picture
from omibench.files.intake.picture import PICTURE_BYTES
from omibench.review_tasks.drafts import TaskDraft
from omibench.schemas.review import ReviewTask, TaskPicture

FOLDER = "pictures"


class PictureKeeper:
    """Stores pictures in the folder of a review, each once."""

    def __init__(self, folder: Path) -> None:
        """Store pictures in `folder`/pictures/."""
        self._folder = folder
        self._kept: dict[str, str] = {}
        """SHA-256 -> suffix of existing, verified pictures."""

    def keep_pictures(self, draft: TaskDraft) -> ReviewTask:
        """Store a task's pictures.

        Args:
            draft: The task with its picture files.

        Returns:
            The task; picture suffixes match their content.

        Raises:
            MissingInputError: A file does not exist.
            FileFormatError: A file is not a picture, or not the one that was read.
            OutputError: The folder cannot be written.
        """
        task = draft.task
        pictures = [self._keep(task, picture, draft) for picture in task.pictures]
        return task.model_copy(update={"pictures": pictures})

    def _keep(self, task: ReviewTask, picture: TaskPicture, draft: TaskDraft) -> TaskPicture:
        if picture.sha256 not in self._kept:
            source = draft.files[picture.sha256]
            self._kept[picture.sha256] = self._store(task, picture, source)
        return picture.model_copy(update={"suffix": self._kept[picture.sha256]})

    def _store(self, task: ReviewTask, picture: TaskPicture, source: Path) -> str:
        content = read_bytes(source, PICTURE_BYTES)
        sha256 = hashlib.sha256(content).hexdigest()
        if sha256 != picture.sha256:
            raise FileFormatError(
                f"{task.id}: {source}: its content ({sha256[:12]}) has changed since it was read "
                f"({picture.sha256[:12]}); run the previous stage again"
            )
        suffix = read_picture(content, str(source), decode=False).suffix
        target = self._folder / FOLDER / f"{sha256}.{suffix}"
        if not target.exists():
            _link_or_write(source, target, content)
        return suffix


def _link_or_write(source: Path, target: Path, content: bytes) -> None:
    """Create a hard link, or copy the file if links are not possible."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with suppress(OSError, NotImplementedError):
            if not source.is_symlink():
                os.link(source, target)
                return
        write_atomically(target, content)
    except OSError as error:
        raise OutputError(f"{target}: cannot be written: {reason_of(error)}") from None
