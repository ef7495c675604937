"""Stratified quotas: items per stratum, rounded so that every value gets its share."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Final, NamedTuple

from omibench.datasets.release.rows import FrozenItem
from omibench.errors import ParamsError
from omibench.params.stages.rationale import WORDS
from omibench.schemas.problem import join_labels

Stratum = tuple[str, ...]
"""One value for each attribute."""
_MOST_STEPS: Final = 5_000


def share_quotas(sizes: Mapping[Stratum, int], items: int) -> dict[Stratum, int]:
    """Distribute a number of items among strata in proportion to their sizes.

    Args:
        sizes: The number of items in each stratum.
        items: The number to draw, at most the total.

    Returns:
        The number of items per stratum: its share, rounded up or down, with the sum `items`. The
        largest remainders are rounded up; strata are then exchanged until each attribute value also
        has its share, rounded up or down. This is always possible for one or two attributes; for
        more, the best solution found is used.
    """
    total = sum(sizes.values())
    quotas = {key: size * items // total for key, size in sizes.items()}
    by_remainder = sorted(sizes, key=lambda key: (-(sizes[key] * items % total), key))
    raised = set(by_remainder[: items - sum(quotas.values())])
    raised = _Search(sizes, items, raised).run()
    return {key: quota + (key in raised) for key, quota in quotas.items()}


class _Search:
    """Exchanges rounded-up strata until attribute values have their shares.

    A random walk: a value with too many or too few items selects the stratum to remove or add, and
    its partner is the one that minimizes the remaining deviation.
    """

    def __init__(self, sizes: Mapping[Stratum, int], items: int, raised: set[Stratum]) -> None:
        total = sum(sizes.values())
        self._raised = set(raised)
        self._movable = sorted(key for key, size in sizes.items() if size * items % total)
        self._random = Random(0)  # noqa: S311 - no secret: the same walk each time
        shares: dict[tuple[int, str], int] = {}
        self._counts: dict[tuple[int, str], int] = {}
        for key, size in sizes.items():
            for value in enumerate(key):
                shares[value] = shares.get(value, 0) + size * items
                quota = size * items // total + (key in raised)
                self._counts[value] = self._counts.get(value, 0) + quota
        self._bounds = {value: (n // total, -(-n // total)) for value, n in shares.items()}

    def run(self) -> set[Stratum]:
        """Return the strata that are rounded up."""
        best, fewest = set(self._raised), self._cost()
        for _ in range(_MOST_STEPS):
            if not fewest:
                break
            self._step()
            cost = self._cost()
            if cost < fewest:
                best, fewest = set(self._raised), cost
        return best

    def _cost(self) -> int:
        return sum(map(self._excess, self._counts))

    def _excess(self, value: tuple[int, str]) -> int:
        """Return the items above a value's share rounded up, or below it rounded down."""
        low, high = self._bounds[value]
        return max(0, self._counts[value] - high, low - self._counts[value])

    def _step(self) -> None:
        amiss = [value for value in sorted(self._counts) if self._excess(value)]
        place, label = amiss[int(self._random.random() * len(amiss))]
        has_many = self._counts[place, label] > self._bounds[place, label][1]
        leaving = [key for key in self._movable if (key in self._raised) == has_many]
        joining = [key for key in self._movable if (key in self._raised) != has_many]
        first = self._draw(key for key in leaving if key[place] == label)
        if first is None:
            return
        self._flip(first)
        costs = {key: self._cost_of_flip(key) for key in joining}
        lowest = min(costs.values(), default=0)
        partner = self._draw(key for key in joining if costs[key] == lowest)
        self._flip(first if partner is None else partner)

    def _draw(self, keys: Iterator[Stratum]) -> Stratum | None:
        members = list(keys)
        return members[int(self._random.random() * len(members))] if members else None

    def _flip(self, key: Stratum) -> None:
        step = -1 if key in self._raised else 1
        self._raised ^= {key}
        for value in enumerate(key):
            self._counts[value] += step

    def _cost_of_flip(self, key: Stratum) -> int:
        """Return the cost of a flip."""
        step = -1 if key in self._raised else 1
        change = 0
        for value in enumerate(key):
            before = self._excess(value)
            self._counts[value] += step
            change += self._excess(value) - before
            self._counts[value] -= step
        return change


# Splits of a release: all items in `test`, or a part drawn in proportion to attributes.

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


# Options of a release.


class ReleaseOptions(NamedTuple):
    """Options of a release."""

    sources: Path | None = None
    """The sources.yaml with `redistribute` and `licence`."""
    version: str | None = None
    """Name of the dataset; by default that of the freeze."""
    draft: bool = False
    without_rationale: bool = False
    split: SplitPlan | None = None
    seed: int = 0
    printed: str | None = None
    """A paper whose published statistics are shown next to those of the release, or a CSV file of
    them.
    """
    tokenizer: str = WORDS
    """The tokenizer of the statistics: `words`, or the path of a model's `tokenizer.json`."""
    previous: Path | None = None
    """The folder of the previous release."""
    review: Path | None = None
    """A review folder, or a file of review decisions."""
    statements: Path | None = None
    """The authors' statements for the datasheet."""
