"""Pictures on pages: their addresses, and which files may be shown at all."""

from __future__ import annotations

import base64
import os
from pathlib import Path, PurePosixPath
from urllib.parse import quote

from omibench.files.intake.picture import SUFFIXES


def link_file(target: Path, page: Path) -> str:
    """The address of a file as seen from a page.

    Args:
        target: The file.
        page: The page that names it.

    Returns:
        A relative URL, percent-encoded, never with a scheme.
    """
    path = os.path.relpath(target, page.parent).replace(os.sep, "/")
    return quote(path if path.startswith(".") else f"./{path}")


def find_picture(folder: Path, name: str) -> Path | None:
    """The picture that a file of others names.

    Args:
        folder: Where such pictures lie.
        name: Its path below that folder, as the file has it.

    Returns:
        Its path; None where the name leads out of the folder or is that of no picture.
    """
    path = PurePosixPath(name)
    is_within = not path.is_absolute() and ".." not in path.parts
    return folder / name if is_within and path.suffix.lstrip(".") in SUFFIXES.values() else None


def link_picture(folder: Path, name: str, page: Path) -> str:
    """The address of a picture that a file of others names.

    Args:
        folder: Where such pictures lie.
        name: Its path below that folder, as the file has it.
        page: The page that shows it.

    Returns:
        A relative URL; empty where the name leads out of the folder or is that of no picture.
    """
    picture = find_picture(folder, name)
    return link_file(picture, page) if picture else ""


def embed_picture(data: bytes, media_type: str) -> str:
    """A picture as an address that holds it.

    Args:
        data: The bytes of the file.
        media_type: Such as `image/jpeg`.
    """
    return f"data:{media_type};base64,{base64.b64encode(data).decode()}"
