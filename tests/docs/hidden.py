"""Packages that the extras of a page do not install, hidden from the programs that it starts."""

from __future__ import annotations

from contextlib import suppress
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

_SITE = """
import sys
from importlib.machinery import PathFinder

HIDDEN = {names!r}

class Visible(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        if name.partition(".")[0] in HIDDEN:
            return None
        return PathFinder.find_spec(name, path, target)

sys.meta_path[sys.meta_path.index(PathFinder)] = Visible
"""


def hide_others(folder: Path, extras: str) -> Path:
    """Write a `sitecustomize` that hides all packages but omibench's with these extras.

    Args:
        folder: Where; programs with it in PYTHONPATH see no other package.
        extras: In brackets; empty for the base.
    """
    kept = list_packages(extras) | {"pip", "setuptools"}
    names = {
        module
        for module, owners in metadata.packages_distributions().items()
        if not kept & {canonicalize_name(owner) for owner in owners}
    }
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(_SITE.format(names=names), "utf-8")
    return folder


def list_packages(extras: str) -> set[str]:
    """The packages that pip installs for omibench with these extras."""
    found: dict[str, set[str]] = {}
    pending = [Requirement(f"omibench{extras}")]
    while pending:
        wanted = pending.pop()
        name = canonicalize_name(wanted.name)
        asked = found.setdefault(name, set())
        if asked >= {"", *wanted.extras}:
            continue
        asked |= {"", *wanted.extras}
        with suppress(metadata.PackageNotFoundError):  # one of another system
            for one in map(Requirement, metadata.requires(name) or []):
                if one.marker is None or any(one.marker.evaluate({"extra": e}) for e in asked):
                    pending.append(one)
    return set(found)
