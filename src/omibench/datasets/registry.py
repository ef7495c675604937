"""Which adapter reads which benchmark."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from omibench.datasets import emma, folder, frozen, mathreal, omibench, synthetic, usnco_v
from omibench.datasets.dataset import Dataset
from omibench.errors import MissingInputError, ParamsError
from omibench.params.stages import BenchmarkParams

Load = Callable[[Path, Path], Dataset]
"""Reads the folder of a benchmark; pictures that have no file of their own go to the second."""


def load_benchmark(benchmark: BenchmarkParams, data: str | None, scratch: Path) -> Dataset:
    """The questions and answers of a benchmark, in one order, ids unique.

    Raises ParamsError when the name has no adapter (`papers` is built from exam papers instead)
    or `data` is not set, MissingInputError when its files are absent, FileFormatError naming the
    item when one is wrong. Pictures that are not there are absent figures, and no error.
    """
    if benchmark.name == "synthetic":
        return synthetic.load(benchmark.like, benchmark.seed, scratch)
    adapters = _adapters(benchmark)
    if benchmark.name not in adapters:
        known = ", ".join(sorted(adapters))
        raise ParamsError(
            f"benchmark.name: {benchmark.name!r} is not read from files; those are: {known}"
        )
    if benchmark.hub and benchmark.revision:
        from omibench.datasets.hub import fetch

        return adapters[benchmark.name](fetch(benchmark.hub, benchmark.revision, scratch), scratch)
    if not data:
        raise ParamsError(
            f"data: must name the folder with the files of the benchmark {benchmark.name!r} "
            "(or `benchmark.hub` a dataset to fetch)"
        )
    if not Path(data).is_dir():
        raise MissingInputError(
            f"{data}: there is no such folder (`data` of benchmark {benchmark.name!r})"
        )
    return adapters[benchmark.name](Path(data), scratch)


def _adapters(benchmark: BenchmarkParams) -> dict[str, Load]:
    return {
        "omibench": omibench.load,
        "emma": emma.load,
        "emma-mini": partial(emma.load_mini, seed=benchmark.seed),
        "usnco-v": usnco_v.load,
        "mathreal": partial(
            mathreal.load, language=benchmark.language, clean=benchmark.pictures == "clean"
        ),
        "frozen": frozen.load,
        "folder": folder.load,
    }
