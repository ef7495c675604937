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
from omibench.plugins.sources import SOURCES, installed_names
from omibench.schemas.validation import suggest_name

__all__ = ["Registry", "part_meaning", "source_hash"]

ALWAYS_USED = frozenset({"sections", "results", "figures"})
"""Kinds whose installed parts are all in use, even if params do not list them."""


def source_hash(kinds: Collection[str]) -> str:
    """Return the hash of the source of the plug-ins that register parts of these kinds.

    Args:
        kinds: Kinds such as `scorers`, as in the groups of entry points.

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
        registry = REGISTRIES.get(kind)
        if registry is None:
            continue
        sources = [SOURCES[origin] for origin in registry.origins if origin in SOURCES]
        lines |= {f"{source.origin}\0{source.meaning}\n" for source in sources}
    return hashlib.sha256("".join(sorted(lines)).encode()).hexdigest()[:16] if lines else ""


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
