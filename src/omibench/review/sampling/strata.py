"""Draws in proportion to strata."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Final

from omibench.review.kinds import KINDS
from omibench.review.state import TaskState

STRATA: Final = ("type", "difficulty")
"""The attributes by which samples are stratified, in addition to new or revised (OMIBench, A.4.3).
"""
Stratum = tuple[str, ...]


def find_stratum(state: TaskState) -> Stratum:
    """Return the stratum of a settled task: problem type, difficulty, `new` or `revised`.

    A task is revised if its content changed after a decision, or if its result edits it.
    """
    fields, kind = state.fields or {}, KINDS[state.task.kind]
    is_edited = any(field.edits and fields.get(field.name) is not None for field in kind.fields)
    source = "revised" if state.stale or is_edited else "new"
    return (*(state.task.strata.get(name, "") for name in STRATA), source)


def draw_stratified(
    strata: Mapping[str, Stratum], size: int, seed: int, earlier: Sequence[str] = ()
) -> list[str]:
    """Draw in proportion to strata by largest remainders; ties go to the first stratum.

    Args:
        strata: The stratum of each member.
        size: The total number to draw.
        seed: Seed of the draw.
        earlier: Members drawn before, which count.

    Returns:
        The additional members, in the order of `strata`.
    """
    members: dict[Stratum, list[str]] = defaultdict(list)
    for name, stratum in strata.items():
        members[stratum].append(name)
    quotas = share_out(min(size, len(strata)), {key: len(members[key]) for key in sorted(members)})
    drawn: set[str] = set()
    for stratum, names in members.items():
        missing = quotas[stratum] - sum(strata.get(name) == stratum for name in earlier)
        fresh = sorted(set(names) - set(earlier), key=lambda name: rank_name(seed, name))
        drawn |= set(fresh[: max(0, missing)])
    return [name for name in strata if name in drawn]


def share_out(total: int, sizes: Mapping[Stratum, int]) -> dict[Stratum, int]:
    """Split a number in proportion to sizes, by largest remainders (Hamilton's method)."""
    every = sum(sizes.values())
    parts = {key: divmod(total * size, every) for key, size in sizes.items()}
    rest = total - sum(whole for whole, _ in parts.values())
    by_remainder = sorted(parts, key=lambda key: -parts[key][1])
    return {key: parts[key][0] + (key in by_remainder[:rest]) for key in parts}


def rank_name(seed: int, name: str) -> str:
    """Return a rank that depends only on seed and name."""
    return hashlib.sha256(f"{seed}\0{name}".encode()).hexdigest()
