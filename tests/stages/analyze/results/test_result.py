"""Results of a study: which there are, and what a plug-in's mistake says."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest
from tests.stages.analyze.conftest import Folders

from omibench.errors import PluginError
from omibench.plugins.registry import loading
from omibench.stages.analyze.analysis import Analysis
from omibench.stages.analyze.figures import FIGURES, figure
from omibench.stages.analyze.results import RESULTS, result

pytestmark = pytest.mark.usefixtures("undrawn")

MINE, MY_FIGURE = "of-a-test", "drawn-by-a-test"


def analyze(made: Folders, out: Path) -> None:
    """Analyze the small study without its explorer."""
    block = made.study.analyze.model_copy(update={"explorer": False})
    made.analyze(out, made.study.model_copy(update={"analyze": block}))


@pytest.fixture
def registered() -> Iterator[None]:
    """What a test registers under these names is forgotten again."""
    yield
    for registry, name in ((RESULTS, MINE), (FIGURES, MY_FIGURE)):
        registry._parts.pop(name, None)  # type: ignore[attr-defined]
        registry._origins.pop(name, None)  # type: ignore[attr-defined]


def test_every_built_in_result_has_a_title_and_says_in_its_docstring_what_it_is() -> None:
    for name in RESULTS.built_in_names:
        part = RESULTS.get(name)
        assert part.name == name
        assert part.title
        assert part.tabulate.__doc__
    for name in FIGURES.built_in_names:
        drawn = FIGURES.get(name)
        assert drawn.title
        assert drawn.table in RESULTS.names


def test_accuracy_is_that_of_the_main_table(made: Folders, tmp_path: Path) -> None:
    analyze(made, tmp_path)
    main = pl.read_csv(tmp_path / "main.csv").filter(subject="total")
    table = pl.read_parquet(tmp_path / "tables/accuracy.parquet")
    means = table.filter(pl.col("metric").is_in(["accuracy", "gptscore"]))
    joined = main.join(means, on=["model", "setting", "rules"], suffix="_result")
    assert joined.height == main.height == means.height
    for ours, other in (("acc", "estimate"), ("lo", "low"), ("hi", "high"), ("n", "n_result")):
        assert joined[ours].to_list() == pytest.approx(joined[other].to_list(), abs=2e-6)
    assert joined["simulated"].to_list() == joined["simulated_result"].to_list()


@pytest.mark.usefixtures("registered")
def test_a_mistake_of_a_plug_in_is_one_line(made: Folders, tmp_path: Path) -> None:
    with loading("mine.py"):

        @result(MINE, title="None works")
        def tabulate(analysis: Analysis) -> pl.DataFrame | None:
            return analysis.items.select("no_such_column")

    with pytest.raises(PluginError, match=rf"^result '{MINE}': mine.py: Column"):
        analyze(made, tmp_path)


@pytest.mark.usefixtures("registered")
def test_a_figure_of_a_table_that_is_not_there_is_one_line(made: Folders, tmp_path: Path) -> None:
    with loading("mine.py"):
        figure(MY_FIGURE, table="acuracy", title="Nothing")(lambda table: None)
    with pytest.raises(PluginError, match=r"unknown result 'acuracy'.*'accuracy'"):
        analyze(made, tmp_path)


def test_a_table_that_the_study_no_longer_has_is_removed(made: Folders, tmp_path: Path) -> None:
    left = tmp_path / "tables/earlier.csv"
    left.parent.mkdir(parents=True)
    left.write_text("result\n")
    analyze(made, tmp_path)
    assert not left.exists()
