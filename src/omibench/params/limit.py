"""The block `study.limit`: a run over a part of the frozen problems."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import Annotated, Any, Self, TypeVar

from pydantic import BeforeValidator, Field, StringConstraints, model_validator

from omibench.errors import ParamsError
from omibench.explain import did_you_mean
from omibench.params.blocks import Block

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
        given = [name for name in ("n", "ids", "sample") if getattr(self, name) is not None]
        if len(given) != 1:
            raise ValueError(f"give one of n, ids and sample, not {' and '.join(given) or 'none'}")
        if self.seed and self.sample is None:
            raise ValueError("seed goes with sample")
        return self

    def select(self, ids: Sequence[str]) -> set[str]:
        """Those of a dataset's problems that are asked. Raises ParamsError for an unknown id."""
        known = dict.fromkeys(ids)
        if self.ids is not None:
            for one in self.ids:
                if one not in known:
                    hint = did_you_mean(one, known)
                    raise ParamsError(f"study.limit: no problem of the dataset is {one!r}{hint}")
            return set(self.ids)
        if self.n is not None:
            return set(list(known)[: self.n])
        return set(sorted(known, key=self._rank)[: self.sample])

    def _rank(self, problem: str) -> str:
        return hashlib.sha256(f"{self.seed}\0{problem}".encode()).hexdigest()

    def __str__(self) -> str:
        if self.ids is not None:
            return "named by id"
        if self.n is not None:
            return f"the first {self.n:,}"
        return f"a sample of {self.sample:,}, seed {self.seed}"


def limited(rows: Iterable[T], limit: Limit | None) -> list[T]:
    """Those rows, each with an `id`, that a limit takes, in their order; all without a limit."""
    rows = list(rows)
    if limit is None:
        return rows
    taken = limit.select([str(row.id) for row in rows])  # type: ignore[attr-defined]
    return [row for row in rows if row.id in taken]  # type: ignore[attr-defined]


def _from_number(given: Any) -> Any:
    if isinstance(given, str) and given.isdecimal():  # as Snakemake's --config hands it over
        given = int(given)
    return {"n": given} if isinstance(given, int) and not isinstance(given, bool) else given


Digits = Annotated[str, StringConstraints(pattern=r"^[1-9][0-9]*$")]
LimitOrNumber = Annotated[
    Limit | None,
    BeforeValidator(_from_number, json_schema_input_type=Limit | Count | Digits | None),
]
