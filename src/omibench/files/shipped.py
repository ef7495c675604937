"""Files that ship with omibench beside its code: rules, profiles, studies, printed tables."""

from __future__ import annotations

from pathlib import Path
from typing import Final

_PACKAGE: Final = Path(__file__).parents[1]
_INSTALLED: Final = _PACKAGE / "shipped"
"""Where a wheel has them; see `[tool.hatch.build.targets.wheel]` in pyproject.toml."""
_CHECKOUT: Final = _PACKAGE.parents[1]


def find_shipped(name: str) -> Path:
    """The path of a file or folder that ships with omibench, in a checkout or installed.

    Snakefiles that `omibench init` wrote import it by this name.

    Args:
        name: Its path in the repository, e.g. `"rules/common.smk"` or `"studies"`.

    Returns:
        An absolute path. Whether something is there is not checked.
    """
    return (_INSTALLED if _INSTALLED.is_dir() else _CHECKOUT) / name


def find_local_or_shipped(name: str) -> Path:
    """A file of the current folder, or where it has none the one of that path that ships.

    Args:
        name: A relative path, e.g. `"published/emma_main.csv"`.
    """
    path = Path(name)
    return path if path.exists() else find_shipped(name)
