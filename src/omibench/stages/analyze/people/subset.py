"""The part of the problems that people are given, and those on which they get used to the form."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from omibench.errors import ParamsError
from omibench.params.stages.analyze import PeopleSubset
from omibench.results.attributes import list_attributes, list_values
from omibench.schemas.validation import suggest_name
from omibench.synthetic.shares import equal, proportional

if TYPE_CHECKING:
    import polars as pl


class SubsetDraw(NamedTuple):
    """Problems by their ids, in the order in which they were drawn."""

    scored: tuple[str, ...]
    familiarisation: tuple[str, ...]
    """Answered before the others and never scored."""


def draw_items(items: pl.DataFrame, subset: PeopleSubset, seed: int) -> SubsetDraw:
    """Draw the problems for people from a table of items.

    Args:
        items: As `describe_items` gives it: one row an item, a column an attribute.
        subset: How many, and by which attribute they spread.
        seed: That of the study; `subset.seed` counts before it.

    Raises:
        ParamsError: No item has the attribute, or there are too few items.
    """
    names = list_attributes(items)
    if subset.by not in names:
        raise ParamsError(
            f"analyze.people_subset.by: problems have no attribute {subset.by!r}"
            f"{suggest_name(subset.by, names)}"
        )
    values = list_values(items, "id", subset.by).unique("id", keep="first")
    return draw_subset(
        dict(values.iter_rows()), subset, seed if subset.seed is None else subset.seed
    )


def draw_subset(strata: Mapping[str, str], subset: PeopleSubset, seed: int) -> SubsetDraw:
    """Draw the problems for people, with equal numbers of each stratum.

    OMIBench (appendix K): 52 problems, uniformly from four subjects, after 10 problems to get used
    to the form that are not among them. A problem's place in the draw depends on seed and id alone.

    Args:
        strata: The stratum of each problem by its id, such as its subject.
        subset: How many of each kind, and how they spread over the strata.
        seed: Equal seeds draw equal problems.

    Returns:
        The problems. The familiarisation problems are drawn after the scored ones.

    Raises:
        ParamsError: There are fewer problems than are to be drawn.
    """
    total = subset.size + subset.familiarisation
    if total > len(strata):
        raise ParamsError(
            f"analyze.people_subset: draws {subset.size:,} problems and {subset.familiarisation:,} "
            f"for familiarisation, but the dataset has {len(strata):,}; give smaller numbers"
        )
    ranked: dict[str, list[str]] = {}
    for id in sorted(strata, key=lambda id: (_rank(seed, id), id)):
        ranked.setdefault(strata[id], []).append(id)
    scored = _take(ranked, subset.size, subset)
    rest = {name: [id for id in ids if id not in set(scored)] for name, ids in ranked.items()}
    return SubsetDraw(scored, _take(rest, subset.familiarisation, subset))


def _take(ranked: Mapping[str, list[str]], count: int, subset: PeopleSubset) -> tuple[str, ...]:
    sizes = {name: len(ids) for name, ids in sorted(ranked.items())}
    shares = (equal if subset.shares == "equal" else proportional)(sizes, count)
    return tuple(id for name in sorted(ranked) for id in ranked[name][: shares[name]])


def _rank(seed: int, id: str) -> str:
    return hashlib.sha256(f"people\0{seed}\0{id}".encode()).hexdigest()
