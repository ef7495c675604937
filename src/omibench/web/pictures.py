"""Pictures on pages: their addresses, and the files that can be shown."""

from __future__ import annotations

import base64
import os
from pathlib import Path, PurePosixPath
from urllib.parse import quote

from omibench.files.pictures import SUFFIXES


def link_file(target: Path, page: Path) -> str:
    """Return the address of a file relative to a page.

    Args:
        target: The file.
        page: Page with the address.

    Returns:
        A relative URL, percent-encoded, never with a scheme.
    """
    path = os.path.relpath(target, page.parent).replace(os.sep, "/")
    return quote(path if path.startswith(".") else f"./{path}")


def find_picture(folder: Path, name: str) -> Path | None:
    """Return the path of a picture listed in an untrusted file.

    Args:
        folder: Folder of the pictures.
        name: Path below that folder, from the file.

    Returns:
        Its path; None if the name leads out of the folder or is not a picture.
    """
    path = PurePosixPath(name)
    is_within = not path.is_absolute() and ".." not in path.parts
    return folder / name if is_within and path.suffix.lstrip(".") in SUFFIXES.values() else None


def link_picture(folder: Path, name: str, page: Path) -> str:
    """Return the address of a picture listed in an untrusted file.

    Args:
        folder: Folder of the pictures.
        name: Path below that folder, from the file.
        page: Page that shows it.

    Returns:
        A relative URL; empty if the name leads out of the folder or is not a picture.
    """
    picture = find_picture(folder, name)
    return link_file(picture, page) if picture else ""


def embed_picture(data: bytes, media_type: str) -> str:
    """Return a picture as a data URL.

    Args:
        data: Bytes of the file.
        media_type: For example `image/jpeg`.
    """
    return f"data:{media_type};base64,{base64.b64encode(data).decode()}"
