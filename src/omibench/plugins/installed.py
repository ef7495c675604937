"""Parts of installed packages, from entry points of the groups `omibench.<kind>`.

    [project.entry-points."omibench.scorers"] halves = "my_package.rules"

The entry point's name is that of the part; importing the module registers it. Listing the names
imports nothing.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.metadata import EntryPoint, distributions
from pathlib import Path
from typing import NamedTuple

from omibench.errors import PluginError
from omibench.plugins.built_in import built_in_parts
from omibench.plugins.sources import SOURCES, PluginSource, package_meaning

PREFIX = "omibench."


class InstalledPart(NamedTuple):
    """A part in an installed package; `origin` is the package with its version."""

    entry_point: EntryPoint
    origin: str

    @property
    def package(self) -> str:
        """The package, or single module, to import."""
        return self.entry_point.module.partition(".")[0]


@cache
def installed_parts() -> Mapping[str, Mapping[str, tuple[InstalledPart, ...]]]:
    """Return all parts of installed packages: kind -> name -> origin.

    The current folder, which Python would also search, is excluded: a package in a folder of papers
    or results is not a plug-in.
    """
    parts: dict[str, dict[str, tuple[InstalledPart, ...]]] = {}
    for kind, part in _entry_points():
        names = parts.setdefault(kind, {})
        names[part.entry_point.name] = (*names.get(part.entry_point.name, ()), part)
    return parts


def installed_names(kind: str) -> list[str]:
    """Return the names of a kind from installed packages, in alphabetical order."""
    return sorted(installed_parts().get(kind, {}))


def find_installed(kind: str, name: str) -> InstalledPart:
    """Return the installed part of that name.

    Raises:
        PluginError: Several packages provide it, or a built-in part has this name.
    """
    first, *duplicates = installed_parts()[kind][name]
    if duplicates or name in built_in_parts(kind):
        other_origin = duplicates[0].origin if duplicates else "omibench"
        raise PluginError(
            f"{name!r} in the entry points omibench.{kind} is defined by {other_origin} and by "
            f"{first.origin}; uninstall one of the packages, or ask its author to rename the part"
        )
    return first


def check_installed() -> None:
    """Reject packages with conflicting part names before any part is used.

    Raises:
        PluginError: See `find_installed`, for any part of any kind.
    """
    for kind, names in installed_parts().items():
        for name in names:
            find_installed(kind, name)


def note_source(part: InstalledPart) -> None:
    """Store the meaning hash of a part's package before its code runs."""
    if part.origin in SOURCES:
        return
    from importlib.util import find_spec

    spec = find_spec(part.package)
    if spec is None or spec.origin is None:
        return
    file = Path(spec.origin)
    path = file.parent if spec.submodule_search_locations else file
    SOURCES[part.origin] = PluginSource(part.origin, path, package_meaning(path), is_installed=True)


def _entry_points() -> Iterator[tuple[str, InstalledPart]]:
    current_folder = Path.cwd().resolve()
    folders = [entry for entry in sys.path if entry and Path(entry).resolve() != current_folder]
    seen_names: set[str] = set()
    for distribution in distributions(path=folders):
        parts = [e for e in distribution.entry_points if e.group.startswith(PREFIX)]
        # Reading the name of every package takes a quarter of a second and is rarely needed.
        if not parts or distribution.name in seen_names:
            continue
        seen_names.add(distribution.name)
        origin = f"{distribution.name} {distribution.version}"
        for entry_point in parts:
            yield entry_point.group.removeprefix(PREFIX), InstalledPart(entry_point, origin)
