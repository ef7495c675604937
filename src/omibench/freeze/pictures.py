"""The pictures of a dataset: each once, named by its content, its bytes unchanged."""

from __future__ import annotations

import hashlib
import re
import shutil
from collections.abc import Sequence
from pathlib import Path

from omibench.errors import FileFormatError, MissingInputError, reason_of
from omibench.images import HEAD_BYTES, form_of
from omibench.problem import Figure, Question

FOLDER = "images"
_NAME = re.compile(r"[0-9a-f]{64}\.[a-z0-9]+")
_SHORT = {"jpeg": "jpg"}


def freeze_pictures(questions: Sequence[Question], folder: Path, out: Path) -> list[Question]:
    """Copy the pictures of `questions` (paths relative to `folder`) to `out`/images/.

    Returns the questions with the new paths. Files are copied byte for byte: nothing is encoded
    again and no metadata is added. Pictures of an earlier freeze that are no longer named go.
    A figure that is absent from its benchmark stays so. Raises MissingInputError for a picture
    that is not there any more and FileFormatError for one whose bytes are not those of its SHA-256.
    """
    names: dict[str, str] = {}
    (out / FOLDER).mkdir(parents=True, exist_ok=True)
    frozen = [
        question.model_copy(
            update={
                "images": [_freeze(f, question.id, folder, out, names) for f in question.images]
            }
        )
        for question in questions
    ]
    for file in (out / FOLDER).iterdir():
        if _NAME.fullmatch(file.name) and file.name not in names.values():
            file.unlink()
    return frozen


def _freeze(figure: Figure, problem: str, folder: Path, out: Path, names: dict[str, str]) -> Figure:
    if not figure.sha256:
        return figure
    if figure.sha256 not in names:
        names[figure.sha256] = _copy(figure, problem, folder, out)
    return figure.model_copy(update={"file": f"{FOLDER}/{names[figure.sha256]}"})


def _copy(figure: Figure, problem: str, folder: Path, out: Path) -> str:
    source = folder / figure.file
    try:
        content = source.read_bytes()
    except OSError as error:
        raise MissingInputError(f"{problem}: {source}: {reason_of(error)}") from None
    actual = hashlib.sha256(content).hexdigest()
    if actual != figure.sha256:
        raise FileFormatError(
            f"{problem}: {source}: its content ({actual[:12]}) is not what was read "
            f"({figure.sha256[:12]}): run the stage before again"
        )
    name = f"{figure.sha256}.{_suffix(source, content)}"
    target = out / FOLDER / name
    if not target.is_file() or target.stat().st_size != len(content):
        partial = target.with_suffix(".part")
        shutil.copyfile(source, partial)
        partial.replace(target)
    return name


def _suffix(source: Path, content: bytes) -> str:
    form = form_of(content[:HEAD_BYTES])
    if form is None:
        return source.suffix.lower().lstrip(".") or "bin"
    return _SHORT.get(form, form)
