"""The block `study.limit`: a run over part of the frozen problems."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from os.path import normpath
from pathlib import Path
from typing import Annotated, Any, Protocol, Self, TypeVar

from pydantic import BeforeValidator, Field, StringConstraints, model_validator

from omibench.errors import ParamsError
from omibench.params.blocks import Block, Dollars, Name, PlainPath
from omibench.schemas.validation import suggest_name

T = TypeVar("T")
Count = Annotated[int, Field(ge=1)]


class Limit(Block):
    """The frozen problems to evaluate: the first `n`, those with `ids`, or a `sample`.

    A sample is drawn by the hash of seed and id, so a larger one contains a smaller one of the same
    seed, whatever the rest of the dataset.
    """

    n: Count | None = None
    ids: Annotated[list[str], Field(min_length=1)] | None = None
    sample: Count | None = None
    seed: Annotated[int, Field(ge=0)] = 0
    """Seed of `sample`."""

    @model_validator(mode="after")
    def _is_one_of_three(self) -> Self:
        keys = [name for name in ("n", "ids", "sample") if getattr(self, name) is not None]
        if len(keys) != 1:
            raise ValueError(f"set one of n, ids and sample, not {' and '.join(keys) or 'none'}")
        if self.seed and self.sample is None:
            raise ValueError("seed requires sample")
        return self

    def select(self, ids: Sequence[str]) -> set[str]:
        """Return the selected problems of a dataset. Raises ParamsError for an unknown id."""
        problems = dict.fromkeys(ids)
        if self.ids is not None:
            for problem in self.ids:
                if problem not in problems:
                    hint = suggest_name(problem, problems)
                    raise ParamsError(
                        f"study.limit or --ids: {problem!r} is not a problem of the dataset{hint}"
                    )
            return set(self.ids)
        if self.n is not None:
            return set(list(problems)[: self.n])
        return set(sorted(problems, key=self._rank)[: self.sample])

    def _rank(self, problem: str) -> str:
        return hashlib.sha256(f"{self.seed}\0{problem}".encode()).hexdigest()

    def __str__(self) -> str:
        if self.ids is not None:
            return "by id"
        if self.n is not None:
            return f"the first {self.n:,}"
        return f"a sample of {self.sample:,}, seed {self.seed}"


class HasId(Protocol):
    """An object with the id of a problem."""

    @property
    def id(self) -> str:
        """The problem's id."""


H = TypeVar("H", bound=HasId)


def apply_limit(rows: Iterable[H], limit: Limit | None, *, of_cell: bool = False) -> list[H]:
    """Return the rows selected by a limit, in order; all without a limit.

    Args:
        rows: The problems of the dataset, or rows of them.
        limit: The limit.
        of_cell: Whether they can lack `ids` of the limit: those that its setting does not ask.

    Raises:
        ParamsError: `ids` has a problem that no row has, and the rows are not `of_cell`.
    """
    if of_cell and limit is not None and limit.ids is not None:
        ids = {*limit.ids}
        return [row for row in rows if row.id in ids]
    return limit_rows(rows, limit, lambda row: row.id)


def limit_rows(rows: Iterable[T], limit: Limit | None, get_id: Callable[[T], str]) -> list[T]:
    """Return the rows selected by a limit; `get_id` returns the problem of a row."""
    rows = list(rows)
    if limit is None:
        return rows
    chosen = limit.select([get_id(row) for row in rows])
    return [row for row in rows if get_id(row) in chosen]


def part_words(chosen: Iterable[str], problems: Iterable[str], limit: Limit | None) -> str:
    """Return '5 of 28 problems (the first 5)'; empty if all are selected."""
    count, total = len(set(chosen)), len(set(problems))
    return "" if limit is None or count == total else f"{count:,} of {total:,} problems ({limit})"


def _from_number(value: Any) -> Any:
    if isinstance(value, str) and value.isdecimal():  # from Snakemake's --config
        value = int(value)
    return {"n": value} if isinstance(value, int) and not isinstance(value, bool) else value


Digits = Annotated[str, StringConstraints(pattern=r"^[1-9][0-9]*$")]
LimitOrNumber = Annotated[
    Limit | None,
    BeforeValidator(_from_number, json_schema_input_type=Limit | Count | Digits | None),
]


# The block `study`: name, location and budget of the study.


class StudyParams(Block):
    """Name of the study, and location of its results and its store of responses."""

    name: Name = "study"
    title: str = "omibench study"
    seed: int = 0
    results: PlainPath = "results"
    store: PlainPath = "store"
    limit: LimitOrNumber = None
    """Run only part of the frozen problems: a number (the first), or one of `n`, `ids`, `sample`
    with its `seed`. The dataset stays complete, and all outputs are marked as a partial run."""
    budget_usd: Dollars | None = None
    """Budget in US dollars of the study, over all models, judges and retries. Costs are counted
    from the first request sent while it is set."""

    @model_validator(mode="after")
    def _store_is_apart(self) -> Self:
        """Check that the store is outside the results, which can be deleted."""
        results, store = (Path(normpath(name)) for name in (self.results, self.store))
        if results == store or results in store.parents or store in results.parents:
            raise ValueError(
                f"results ({self.results!r}) and store ({self.store!r}) must not contain each "
                "other, since results can be deleted but stored responses must not; move one of "
                "them"
            )
        return self
