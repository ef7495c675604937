"""The block `study.limit`: a run over a part of the frozen problems."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from typing import Annotated, Any, Protocol, Self, TypeVar

from pydantic import BeforeValidator, Field, StringConstraints, model_validator

from omibench.errors import ParamsError
from omibench.params.blocks import Block
from omibench.schemas.validation import suggest_name

T = TypeVar("T")
Count = Annotated[int, Field(ge=1)]


class Limit(Block):
    """Which of the frozen problems are asked: the first `n`, those with `ids`, or a `sample`.

    A sample is drawn by the hash of seed and id, so that a larger one holds a smaller one of the
    same seed, whatever else is in the dataset.
    """

    n: Count | None = None
    ids: Annotated[list[str], Field(min_length=1)] | None = None
    sample: Count | None = None
    seed: Annotated[int, Field(ge=0)] = 0
    """Of `sample`."""

    @model_validator(mode="after")
    def _is_one_of_three(self) -> Self:
        keys = [name for name in ("n", "ids", "sample") if getattr(self, name) is not None]
        if len(keys) != 1:
            raise ValueError(f"give one of n, ids and sample, not {' and '.join(keys) or 'none'}")
        if self.seed and self.sample is None:
            raise ValueError("seed goes with sample")
        return self

    def select(self, ids: Sequence[str]) -> set[str]:
        """Those of a dataset's problems that are asked. Raises ParamsError for an unknown id."""
        problems = dict.fromkeys(ids)
        if self.ids is not None:
            for problem in self.ids:
                if problem not in problems:
                    hint = suggest_name(problem, problems)
                    raise ParamsError(f"study.limit or --ids: no problem is {problem!r}{hint}")
            return set(self.ids)
        if self.n is not None:
            return set(list(problems)[: self.n])
        return set(sorted(problems, key=self._rank)[: self.sample])

    def _rank(self, problem: str) -> str:
        return hashlib.sha256(f"{self.seed}\0{problem}".encode()).hexdigest()

    def __str__(self) -> str:
        if self.ids is not None:
            return "named by id"
        if self.n is not None:
            return f"the first {self.n:,}"
        return f"a sample of {self.sample:,}, seed {self.seed}"


class HasId(Protocol):
    """What belongs to a problem."""

    @property
    def id(self) -> str:
        """The problem's."""


H = TypeVar("H", bound=HasId)


def apply_limit(rows: Iterable[H], limit: Limit | None) -> list[H]:
    """Those rows that a limit takes, in their order; all without a limit."""
    return limit_rows(rows, limit, lambda row: row.id)


def limit_rows(rows: Iterable[T], limit: Limit | None, get_id: Callable[[T], str]) -> list[T]:
    """As `limited`, for rows whose problem `get_id` tells."""
    rows = list(rows)
    if limit is None:
        return rows
    chosen = limit.select([get_id(row) for row in rows])
    return [row for row in rows if get_id(row) in chosen]


def part_words(chosen: Iterable[str], problems: Iterable[str], limit: Limit | None) -> str:
    """'5 of 28 problems (the first 5)'; empty where all are taken."""
    count, total = len(set(chosen)), len(set(problems))
    return "" if limit is None or count == total else f"{count:,} of {total:,} problems ({limit})"


def _from_number(value: Any) -> Any:
    if isinstance(value, str) and value.isdecimal():  # as Snakemake's --config hands it over
        value = int(value)
    return {"n": value} if isinstance(value, int) and not isinstance(value, bool) else value


Digits = Annotated[str, StringConstraints(pattern=r"^[1-9][0-9]*$")]
LimitOrNumber = Annotated[
    Limit | None,
    BeforeValidator(_from_number, json_schema_input_type=Limit | Count | Digits | None),
]
