"""The benchmarks by name: what reads one, by which rule it is scored, what was printed of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final, NamedTuple

from omibench.datasets.dataset import Dataset
from omibench.errors import MissingInputError, ParamsError, PluginError
from omibench.params.benchmark import BenchmarkParams
from omibench.plugins import Registry

Load = Callable[[Path, Path, BenchmarkParams], Dataset]
"""Reads the files in a folder; pictures that have no file of their own go to the second folder."""


class Benchmark(NamedTuple):
    """A benchmark: what reads its files, and what its authors published beside them.

    `rules` is the rule book by which its authors score it; None where it is anybody's. `published`
    are the tables of printed results in the folder `published/`. `reads_files` is off for one that
    is made up.
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
    """A decorator that makes a function the importer of the benchmark `name`.

    Args:
        name: What `benchmark.name` calls it.
        rules: The rule book by which its authors score it.
        published: Tables of printed results, by their names in the folder `published/`.
        reads_files: Whether it needs `data` or `benchmark.hub`.

    Returns:
        A decorator that returns the function as it is.

    Raises:
        PluginError: Another benchmark has this name.
    """
    BENCHMARKS.check_name(name)

    def register(load: Load) -> Load:
        part = Benchmark(name, load, rules, published, reads_files)
        BENCHMARKS.add(name, part, load.__module__)
        return load

    return register


def load_benchmark(params: BenchmarkParams, data: str | None, scratch: Path) -> Dataset:
    """The questions and answers of a benchmark, in one order, ids unique.

    Pictures that are not there are absent figures, and no error.

    Args:
        params: The block `benchmark`.
        data: The folder with its files, where `benchmark.hub` names no dataset.
        scratch: Folder for pictures that have no file of their own, and for what is fetched.

    Raises:
        ParamsError: The name has no importer (`papers` is built from exam papers instead), or
            `data` is not set.
        MissingInputError: Its files are absent.
        FileFormatError: An item is wrong; it is named.
        PluginError: The importer of a plug-in raised.
    """
    if params.name not in BENCHMARKS:
        names = ", ".join(sorted(BENCHMARKS))
        raise ParamsError(
            f"benchmark.name: {params.name!r} is not read from files; those are: {names}"
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
            f"data: must name the folder with the files of the benchmark {params.name!r} "
            "(or `benchmark.hub` a dataset to fetch)"
        )
    if not Path(data).is_dir():
        raise MissingInputError(
            f"{data}: the folder does not exist (`data` of benchmark {params.name!r})"
        )
    return Path(data)


def _check_pairs(name: str, dataset: Dataset) -> None:
    """Raise PluginError where questions and answers are not of the same problems, in one order."""
    questions = [question.id for question in dataset.questions]
    if questions != [answer.id for answer in dataset.answers] or len({*questions}) < len(questions):
        raise PluginError(
            f"benchmark {name!r}: questions and answers must have the same ids in one order, "
            "each once"
        )
