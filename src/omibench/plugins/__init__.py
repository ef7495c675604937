"""Named parts: built in, or from plug-ins (docs/design.md, section 11).

`registry` contains the parts of one kind, `built_in` finds ours, `installed` reads the entry points
of packages, `files` runs a user's file, `sources` hashes the code of plug-ins.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection

from omibench.errors import PluginError
from omibench.plugins.built_in import KINDS
from omibench.plugins.registry import REGISTRIES, Registry, has_part
from omibench.plugins.sources import (
    SOURCES,
    PluginSource,
    installed_names,
    installed_parts,
    module_meaning,
)
from omibench.schemas.validation import suggest_name

__all__ = ["Registry", "part_meaning", "source_hash"]

ALWAYS_USED = frozenset({"sections", "results", "figures"})
"""Kinds whose installed parts are all in use, even if params do not list them."""
_COUNTED = ALWAYS_USED | {"benchmarks"}
"""Kinds whose parts all count: benchmarks are also named in the manifest of papers."""


def source_hash(kinds: Collection[str], used: Collection[str] | None = None) -> str:
    """Return the hash of the source of the plug-ins that register parts of these kinds.

    Args:
        kinds: Kinds such as `scorers`, as in the groups of entry points.
        used: Names of parts; others do not count. None counts every loaded part.

    Returns:
        16 hex digits, or "" if no loaded plug-in registers such a part. Comments, docstrings and
        layout do not change it.

    Raises:
        PluginError: A kind has no registry, or an installed part that is always in use does not
            load.
    """
    unknown = sorted(set(kinds) - KINDS.keys())
    if unknown:
        raise PluginError(f"{unknown[0]!r} is not a kind of part{suggest_name(unknown[0], KINDS)}")
    lines: set[str] = set()
    for kind in sorted(kinds):
        for name in installed_names(kind) if kind in ALWAYS_USED else ():
            has_part(kind, name)
        lines |= {
            _describe_source(kind, name, source)
            for name, source in loaded_parts(kind).items()
            if used is None or kind in _COUNTED or name in used
        }
    return hashlib.sha256("".join(sorted(lines)).encode()).hexdigest()[:16] if lines else ""


def loaded_parts(kind: str) -> dict[str, PluginSource]:
    """Return the loaded parts of a kind from plug-ins, each with its source."""
    registry = REGISTRIES.get(kind)
    origins = {name: registry.origin(name) for name in registry.loaded_names} if registry else {}
    return {name: SOURCES[origin] for name, origin in origins.items() if origin in SOURCES}


def uses_plugin(origin: str, kinds: Collection[str], used: Collection[str]) -> bool:
    """Return whether a plug-in registers a part of these kinds that is in use.

    Args:
        origin: The plug-in.
        kinds: Kinds such as `scorers`.
        used: Names of parts in use; of some kinds, every part is.
    """
    return any(
        source.origin == origin and (kind in _COUNTED or name in used)
        for kind in kinds
        for name, source in loaded_parts(kind).items()
    )


def _describe_source(kind: str, name: str, source: PluginSource) -> str:
    """Return a line that changes with the code of a part: its file, or its modules in a package."""
    if not source.is_installed:
        return f"{source.origin}\0{source.meaning}\n"
    installed = installed_parts().get(kind, {}).get(name)
    module = installed[0].entry_point.module if installed else None
    meaning = module_meaning(source.path, module) if module else source.meaning
    return f"{kind}\0{name}\0{meaning}\n"


def part_meaning(kind: str, name: str) -> str | None:
    """Return the meaning hash of the plug-in that provides a part, "" for a built-in part.

    Returns:
        None if the source is unknown, as for a part registered in a notebook.
    """
    registry = REGISTRIES.get(kind)
    if registry is None or registry.origin(name) == "omibench":
        return ""
    source = SOURCES.get(registry.origin(name))
    return source.meaning if source else None
