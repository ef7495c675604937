"""Content hash of a task: a decision becomes stale if the hash changes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from pydantic import JsonValue

if TYPE_CHECKING:
    from omibench.review.kinds.declaration import Kind
    from omibench.schemas.review import TaskPicture


def hash_content(
    kind: Kind, content: Mapping[str, JsonValue], pictures: Sequence[TaskPicture] = ()
) -> str:
    """Return the SHA-256 of the parts that decisions of a kind are about, and of the problem's
    pictures.

    Pages of the paper and parts that are not `hashed` are excluded. Line ends are normalized to
    `\\n` because browser forms change them.

    Args:
        kind: The kind of task; its parts state what is hashed.
        content: The parts by name.
        pictures: Pictures of the task; only those of the problem count, in order.
    """
    names = [part.name for part in kind.parts if part.hashed and part.name in content]
    parts: JsonValue = {name: content[name] for name in names}
    images = [picture.sha256 for picture in pictures if picture.part == "image"]
    document = {"kind": kind.name, "parts": normalise_lines(parts), "images": images}
    text = json.dumps(document, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def normalise_lines(value: JsonValue) -> JsonValue:
    """Return the value with line ends normalized to `\\n` in all texts."""
    if isinstance(value, str):
        return value.replace("\r\n", "\n").replace("\r", "\n")
    if isinstance(value, list):
        return [normalise_lines(item) for item in value]
    if isinstance(value, dict):
        return {name: normalise_lines(item) for name, item in value.items()}
    return value
