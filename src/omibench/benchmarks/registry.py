"""Which adapter reads which benchmark."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from omibench.benchmarks import emma
from omibench.errors import MissingInputError, ParamsError
from omibench.params import BenchmarkName
from omibench.problem import Answer, Question

Dataset = tuple[list[Question], list[Answer]]
ADAPTERS: dict[str, Callable[[Path], Dataset]] = {"emma": emma.load}


def load_benchmark(name: BenchmarkName, data: str | None) -> Dataset:
    """The questions and answers of a published benchmark, in one order, ids unique.

    Raises ParamsError when `name` has no adapter (`papers` is built from exam papers instead) or
    `data` is not set, MissingInputError when its files are absent, FileFormatError when one is
    wrong.
    """
    if name not in ADAPTERS:
        known = ", ".join(sorted(ADAPTERS))
        raise ParamsError(f"benchmark.name: {name!r} is not read from files; those are: {known}")
    if not data:
        raise ParamsError(f"data: must name the folder with the files of the benchmark {name!r}")
    folder = Path(data)
    if not folder.is_dir():
        raise MissingInputError(f"{folder}: there is no such folder (`data` of benchmark {name!r})")
    return ADAPTERS[name](folder)
