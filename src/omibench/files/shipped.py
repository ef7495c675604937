"""Files shipped with omibench in addition to its code: rules, profiles, studies, printed tables."""

from __future__ import annotations

from pathlib import Path
from typing import Final

_PACKAGE: Final = Path(__file__).parents[1]
_INSTALLED: Final = _PACKAGE / "shipped"
"""Their location in a wheel; see `[tool.hatch.build.targets.wheel]` in pyproject.toml."""
_CHECKOUT: Final = _PACKAGE.parents[1]


def find_shipped(name: str) -> Path:
    """Return the path of a file or folder shipped with omibench, in a checkout or installed.

    Snakefiles written by `omibench init` import this function by name.

    Args:
        name: Path in the repository, e.g. `"rules/common.smk"` or `"studies"`.

    Returns:
        An absolute path; its existence is not checked.
    """
    return (_INSTALLED if _INSTALLED.is_dir() else _CHECKOUT) / name


def find_local_or_shipped(name: str) -> Path:
    """Return a file of the current folder, or otherwise the shipped file of the same path.

    Args:
        name: Relative path, e.g. `"published/emma_main.csv"`.
    """
    path = Path(name)
    return path if path.exists() else find_shipped(name)
