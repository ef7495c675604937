"""A small study, read as the explorer reads it."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.explore.app.studies import copy_results
from tests.stages.analyze.conftest import Folders, make_study

from omibench.explore.run import open_run, read_items
from omibench.explore.selection import Study


@pytest.fixture(scope="session")
def made_results(tmp_path_factory: pytest.TempPathFactory) -> Folders:
    """The files of a study with three models under three settings, 28 problems."""
    return make_study(tmp_path_factory.mktemp("explore"))


@pytest.fixture(scope="session")
def results(made_results: Folders) -> Path:
    """The folder of its results."""
    return made_results.freeze.parent


@pytest.fixture(scope="session")
def explored(results: Path) -> Study:
    """The study in the explorer."""
    return Study(read_items(results / "freeze"), open_run(results))


@pytest.fixture
def folder(results: Path, tmp_path: Path) -> Path:
    """A copy of the results."""
    return copy_results(results, tmp_path / "results")
