"""Problems of each generator."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from omibench.datasets.generators.make import MadeProblem, make_problems
from omibench.datasets.generators.registry import GENERATORS

Make = Callable[..., list[MadeProblem]]


@pytest.fixture
def make() -> Make:
    """Make problems of one template: `make("circuit", "lamps", 10)`."""

    def make_some(
        name: str, template: str, count: int, *, seed: int = 1, difficulty: int = 3
    ) -> list[MadeProblem]:
        counts = {template: count}
        part = GENERATORS.get(name)
        return list(make_problems(part, seed=seed, counts=counts, difficulty=difficulty))

    return make_some
