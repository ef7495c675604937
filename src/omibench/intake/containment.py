"""Paths that a file names, kept within the folder that they are relative to."""

from __future__ import annotations

from pathlib import Path, PurePosixPath, PureWindowsPath

from omibench.errors import FileFormatError


def contained(folder: str | Path, name: str) -> Path:
    """The path of `name` in `folder`, which need not exist.

    Raises FileFormatError for a name that is absolute, has `..` in it or is no path at all, and
    where a link leads out of the folder. The folder itself may be reached by a link.
    """
    path = PurePosixPath(name)
    parts = {*path.parts, *PureWindowsPath(name).parts}
    if not path.parts or "\0" in name:
        raise FileFormatError(f"{folder}: {name!r} is no path of a file")
    if path.is_absolute() or PureWindowsPath(name).drive or ".." in parts:
        raise _leads_out(folder, name)
    target = Path(folder, name)
    try:
        inside = target.resolve().is_relative_to(Path(folder).resolve())
    except (OSError, RuntimeError):  # a link that leads to itself
        inside = False
    if not inside:
        raise _leads_out(folder, name, " by a link")
    return target


def _leads_out(folder: str | Path, name: str, how: str = "") -> FileFormatError:
    return FileFormatError(
        f"{folder}: {name!r} leads out of this folder{how}: copy the file into the folder and name "
        "it by its path there"
    )
