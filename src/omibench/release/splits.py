"""Splits of a release: all items in `test`, or a part drawn in proportion to attributes."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from omibench.errors import ParamsError
from omibench.release.frozen_items import FrozenItem
from omibench.release.quotas import share_quotas
from omibench.schemas.attributes import join_labels

DEFAULT = "test"


class SplitPlan(NamedTuple):
    """A split to draw; the remaining items are the split `test`."""

    name: str
    items: int
    attributes: tuple[str, ...] = ()
    """The stratification: attributes of items, `subject`, `topic`, `language` or `answer_type`."""


def assign_splits(items: Sequence[FrozenItem], plan: SplitPlan | None, seed: int) -> list[str]:
    """Return the split of each item, in the order of the items.

    Each stratum, a combination of values, contributes its share rounded up or down, so that each
    single value also has its share (MathReal, section 3: 480 of 2,000 in strata that are
    proportional to the whole). Within a stratum, items are drawn by a hash of seed and id, so that
    the split does not depend on their order.

    Raises:
        ParamsError: The split has too many items, or no item has the attribute.
    """
    if plan is None:
        return [DEFAULT] * len(items)
    if not 0 < plan.items < len(items):
        raise ParamsError(
            f"--split {plan.name}={plan.items}: only {len(items)} items, and both splits need at "
            "least one"
        )
    strata = _group_items(items, plan.attributes)
    quotas = share_quotas({key: len(rows) for key, rows in strata.items()}, plan.items)
    members: set[str] = set()
    for key, rows in strata.items():
        ranked = sorted(rows, key=lambda item: rank_item(seed, item.question.id))
        members |= {item.question.id for item in ranked[: quotas[key]]}
    return [plan.name if item.question.id in members else DEFAULT for item in items]


def rank_item(seed: int, identity: str) -> str:
    """Return a rank that depends only on seed and id."""
    return hashlib.sha256(f"{seed}\0{identity}".encode()).hexdigest()


def _group_items(
    items: Sequence[FrozenItem], attributes: Sequence[str]
) -> dict[tuple[str, ...], list[FrozenItem]]:
    strata: dict[tuple[str, ...], list[FrozenItem]] = defaultdict(list)
    for item in items:
        strata[tuple(_find_value(item, name) for name in attributes)].append(item)
    for place, name in enumerate(attributes):
        if all(not key[place] for key in strata):
            raise ParamsError(f"--by {name}: no item has a value of this attribute")
    return dict(sorted(strata.items()))


def _find_value(item: FrozenItem, name: str) -> str:
    if name in ("subject", "language"):
        return str(getattr(item.question, name))
    if name in ("topic", "answer_type"):
        return getattr(item.answer, name) or ""
    return join_labels(item.answer.attributes.get(name))
