"""Containment of paths given in a file within their base folder."""

from __future__ import annotations

import os
from pathlib import Path

from omibench.errors import FileFormatError


def resolve_within(folder: str | Path, name: str) -> Path:
    """Return the path of `name` in `folder`; it need not exist.

    Raises FileFormatError for a name that is absolute, contains `..` or is not a path, and if a
    link leads out of the folder. The folder itself can be reached by a link.
    """
    return Container(folder).path(name)


class Container:
    """A base folder that contains all paths; efficient for many names."""

    def __init__(self, folder: str | Path) -> None:
        self._folder = folder
        self._root = os.path.realpath(folder)
        self._inside: dict[str, bool] = {}

    def path(self, name: str) -> Path:
        """Return the path of a name. Raises as `contained` does."""
        parts = name.replace("\\", "/").split("/")
        if not name.strip("./") or "\0" in name:
            raise FileFormatError(f"{self._folder}: {name!r} is not a path of a file")
        if not parts[0] or parts[0][1:2] == ":" or ".." in parts:
            raise self._leads_out(name)
        target = os.path.join(self._folder, name)  # noqa: PTH118
        if not self._contains(target):
            raise self._leads_out(name, " by a link")
        return Path(target)

    def _contains(self, target: str) -> bool:
        if os.path.islink(target):  # noqa: PTH114
            return self._is_in_root(os.path.realpath(target))
        above = os.path.dirname(target)  # noqa: PTH120
        if above not in self._inside:
            self._inside[above] = self._is_in_root(os.path.realpath(above))
        return self._inside[above]

    def _is_in_root(self, real: str) -> bool:
        return real == self._root or real.startswith(self._root.rstrip("/") + "/")

    def _leads_out(self, name: str, manner: str = "") -> FileFormatError:
        return FileFormatError(
            f"{self._folder}: {name!r} leads out of this folder{manner}; copy the file into the "
            "folder and use its path there"
        )
