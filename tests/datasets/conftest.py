"""Reading a benchmark from a folder, as freeze does."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from omibench.datasets.dataset import Dataset
from omibench.datasets.registry import load_benchmark
from omibench.params.benchmark import BenchmarkParams

Read = Callable[..., Dataset]


@pytest.fixture
def read(tmp_path_factory: pytest.TempPathFactory) -> Read:
    scratch = tmp_path_factory.mktemp("scratch")

    def call(name: str, folder: Path | None, **options: str) -> Dataset:
        params = BenchmarkParams.model_validate({"name": name, **options})
        return load_benchmark(params, None if folder is None else str(folder), scratch)

    return call
