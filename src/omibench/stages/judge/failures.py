"""Selection of failures to classify: all of a cell, or a draw."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256

from omibench.judges.taxonomies import Taxonomy
from omibench.params.stages.judge import ErrorDraw, ErrorPanel
from omibench.stages.judge.material import Material


def select_failures(
    material: Sequence[Material], taxonomy: Taxonomy, errors: ErrorPanel
) -> list[Material]:
    """Select the failures to classify: wrong answers, and responses without any.

    Args:
        material: The responses of a cell.
        taxonomy: The outcomes that determine a type.
        errors: Whether failures are drawn.

    Returns:
        The failures in the order of the responses; without a draw, those of the problems in
        `judge.problems`.
    """
    failures = [m for m in material if m.is_wrong or type_failure(m, taxonomy)]
    if errors.draw is None:
        return [m for m in failures if m.is_sampled]
    return draw_failures(failures, errors.draw)


def type_failure(material: Material, taxonomy: Taxonomy) -> str | None:
    """Return the error type of an outcome, or None if the response must be read."""
    return taxonomy.type_outcome(material.verdict.outcome) if material.verdict else None


def draw_failures(failures: Sequence[Material], draw: ErrorDraw) -> list[Material]:
    """Draw failures of one cell, each stratum in proportion to its failures.

    Args:
        failures: All of them.
        draw: The number and the seed. Ranks are hashes of seed, problem and sample, so that models
            with the same failures get the same draws as far as possible.

    Returns:
        At most `draw.per_model` failures, in the given order.
    """
    strata: dict[str, list[Material]] = {}
    for failure in sorted(failures, key=lambda m: _rank(m, draw.seed)):
        strata.setdefault(failure.stratum, []).append(failure)
    quotas = apportion(draw.per_model, {name: len(members) for name, members in strata.items()})
    drawn = {
        (m.row.id, m.row.index) for name, members in strata.items() for m in members[: quotas[name]]
    }
    return [m for m in failures if (m.row.id, m.row.index) in drawn]


def apportion(total: int, sizes: Mapping[str, int]) -> dict[str, int]:
    """Split a number in proportion to sizes, by largest remainders (Hamilton's method).

    Args:
        total: The number to split.
        sizes: The size of each stratum, an upper bound of its part.

    Returns:
        The part of each stratum; the sum is `total`, or the sum of the sizes if smaller.
    """
    every = sum(sizes.values())
    if total >= every:
        return dict(sizes)
    parts = {name: divmod(total * size, every) for name, size in sizes.items()}
    rest = total - sum(whole for whole, _ in parts.values())
    by_remainder = sorted(parts, key=lambda name: (-parts[name][1], name))
    return {name: parts[name][0] + (name in by_remainder[:rest]) for name in parts}


def _rank(material: Material, seed: int) -> bytes:
    text = f"{seed}\0{material.row.id}\0{material.row.index}"
    return sha256(text.encode()).digest()
