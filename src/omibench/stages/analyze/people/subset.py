"""Draw the problems for people, and problems for familiarisation."""

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
    """Problem ids, in order of the draw."""

    scored: tuple[str, ...]
    familiarisation: tuple[str, ...]
    """Answered before the others, and never scored."""


def draw_items(items: pl.DataFrame, subset: PeopleSubset, seed: int) -> SubsetDraw:
    """Draw the problems for people from a table of items.

    Args:
        items: Output of `describe_items`: one row per item, one column per attribute.
        subset: Numbers of problems, and the attribute for stratification.
        seed: Seed of the study; `subset.seed` overrides it.

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

    OMIBench (appendix K): 52 problems, uniformly from four subjects, after 10 separate problems for
    familiarisation. A problem's position in the draw depends only on seed and id.

    Args:
        strata: Stratum of each problem, such as its subject, by id.
        subset: Numbers of problems, and their distribution over the strata.
        seed: Equal seeds draw equal problems.

    Returns:
        The problems; those for familiarisation are drawn after the scored ones.

    Raises:
        ParamsError: There are too few problems.
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
