"""Registry of benchmarks: importer, scorer and published results by name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final, NamedTuple

from omibench.datasets.dataset import Dataset
from omibench.errors import MissingInputError, ParamsError, PluginError
from omibench.params.benchmark import BenchmarkParams
from omibench.plugins import Registry

Load = Callable[[Path, Path, BenchmarkParams], Dataset]
"""Reads the files in a folder; pictures without a separate file go to the second folder."""


class Benchmark(NamedTuple):
    """A benchmark: its importer, and the results published by its authors.

    `rules` is the authors' scorer; None for your own data. `published` lists the tables of
    printed results in the folder `published/`. `reads_files` is false for synthetic data.
    """

    name: str
    load: Load
    rules: str | None = None
    published: tuple[str, ...] = ()
    reads_files: bool = True


BENCHMARKS: Final[Registry[Benchmark]] = Registry("benchmarks", "benchmark")


def benchmark(
    name: str,
    *,
    rules: str | None = None,
    published: tuple[str, ...] = (),
    reads_files: bool = True,
) -> Callable[[Load], Load]:
    """Register a function as the importer of the benchmark `name`.

    Args:
        name: Value of `benchmark.name`.
        rules: Scorer used by its authors.
        published: Names of tables of printed results in the folder `published/`.
        reads_files: Whether it needs `data` or `benchmark.hub`.

    Returns:
        A decorator that returns the function unchanged.

    Raises:
        PluginError: If another benchmark has this name.
    """
    BENCHMARKS.check_name(name)

    def register(load: Load) -> Load:
        part = Benchmark(name, load, rules, published, reads_files)
        BENCHMARKS.add(name, part, load.__module__)
        return load

    return register


def load_benchmark(params: BenchmarkParams, data: str | None, scratch: Path) -> Dataset:
    """Read the questions and answers of a benchmark, in the same order, with unique ids.

    Missing pictures become absent figures, not errors.

    Args:
        params: Block `benchmark`.
        data: Folder with its files, unless `benchmark.hub` gives a dataset.
        scratch: Folder for embedded pictures and fetched files.

    Raises:
        ParamsError: If the name has no importer (`papers` is built from exam papers instead), or
            `data` is not set.
        MissingInputError: If its files are missing.
        FileFormatError: If an item is invalid; gives its id.
        PluginError: If the importer of a plug-in raised an error.
    """
    if params.name not in BENCHMARKS:
        names = ", ".join(sorted(BENCHMARKS))
        raise ParamsError(
            f"benchmark.name: {params.name!r} is not read from files; give one of: {names}"
        )
    chosen = BENCHMARKS.get(params.name)
    folder = _folder(params, data, scratch) if chosen.reads_files else scratch
    with BENCHMARKS.calling(params.name):
        dataset = chosen.load(folder, scratch, params)
        if params.name not in BENCHMARKS.built_in_names:
            _check_pairs(params.name, dataset)
    return dataset


def _folder(params: BenchmarkParams, data: str | None, scratch: Path) -> Path:
    if params.hub and params.revision:
        from omibench.datasets.hub import fetch

        return fetch(params.hub, params.revision, scratch)
    if not data:
        raise ParamsError(
            f"data: must be the folder with the files of the benchmark {params.name!r} "
            "(or give a dataset to fetch in `benchmark.hub`)"
        )
    if not Path(data).is_dir():
        raise MissingInputError(
            f"{data}: the folder does not exist (`data` of benchmark {params.name!r})"
        )
    return Path(data)


def _check_pairs(name: str, dataset: Dataset) -> None:
    """Raise PluginError unless questions and answers are of the same problems in the same order."""
    questions = [question.id for question in dataset.questions]
    if questions != [answer.id for answer in dataset.answers] or len({*questions}) < len(questions):
        raise PluginError(
            f"benchmark {name!r}: questions and answers must have the same ids in the same order, "
            "each once"
        )
