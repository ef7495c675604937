"""Which sample of a problem counts."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from omibench.errors import FileFormatError, MissingInputError
from omibench.params.setting import Cell
from omibench.results.study_files import (
    StudyFiles,
    find_results_folder,
    mark_counts,
)
from omibench.schemas.tables import AggregateRow, write_parquet
from omibench.study.explain import explain_id

CELL = {"model": "m", "setting": "vote"}


def make_verdicts(**cell: str) -> pl.DataFrame:
    """Three samples of one problem under a scorer and a judge of its panel."""
    return pl.DataFrame(
        {**CELL, **cell, "id": "a", "index": index, "rules": rules}
        for rules in ("robust", "robust/judge")
        for index in range(3)
    )


def make_aggregates(*rows: tuple[str, int, int | None, bool]) -> pl.DataFrame:
    names = ("metric", "k", "index", "counts")
    facts = {**CELL, "id": "a", "rules": "robust"}
    return pl.DataFrame({**facts, **dict(zip(names, row, strict=True))} for row in rows)


def test_the_chosen_sample_counts_also_for_the_judges_of_a_panel() -> None:
    aggregates = make_aggregates(
        ("pass", 3, None, False), ("majority", 1, 2, False), ("majority", 3, 1, True)
    )
    verdicts = pl.concat([make_verdicts(), make_verdicts(setting="once")])
    marked = mark_counts(verdicts, aggregates)
    assert marked["counts"].to_list() == [False, True, False] * 2 + [True] * 6
    assert marked.drop("counts").equals(verdicts)


def test_the_chosen_samples_of_all_runs_count() -> None:
    aggregates = make_aggregates(("majority", 1, 0, True), ("majority", 1, 2, True))
    marked = mark_counts(make_verdicts(), aggregates)
    assert marked["counts"].to_list() == [True, False, True] * 2


def test_shares_are_means_over_runs(tmp_path: Path) -> None:
    rows = [
        AggregateRow(id="a", rules="robust", metric="majority", k=2, value=value, index=index)
        for index, value in enumerate([1.0, 0.0, 0.5])
    ]
    rows += [AggregateRow(id="a", rules="robust", metric="pass", k=2, value=0.8)]
    write_parquet(tmp_path / "aggregate/m/vote.parquet", rows, AggregateRow)
    shares = StudyFiles(tmp_path).read_shares(Cell("m", "vote"))
    assert shares is not None
    assert shares.select("model", "metric", "k", "value").rows() == [
        ("m", "majority", 2, 0.5), ("m", "pass", 2, 0.8),
    ]  # fmt: skip


def test_every_sample_counts_if_none_was_chosen() -> None:
    aggregates = make_aggregates(("pass", 3, None, False))
    assert mark_counts(make_verdicts(), aggregates)["counts"].all()
    assert mark_counts(make_verdicts(), aggregates.clear())["counts"].all()


@pytest.mark.parametrize("change", [{"id": "b"}, {"rules": "emma"}, {"index": 7}])
def test_a_choice_of_other_verdicts_is_refused(change: dict[str, object]) -> None:
    aggregates = make_aggregates(("majority", 3, 1, True))
    marks = [pl.lit(value).alias(name) for name, value in change.items()]
    with pytest.raises(FileFormatError, match=r"aggregate/m/vote.*'a'.*'robust'; run `omibench"):
        mark_counts(make_verdicts(), aggregates.with_columns(marks))


def test_a_file_that_does_not_state_the_choice_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "aggregate/m/vote.parquet"
    rows = [AggregateRow(id="a", rules="robust", metric="pass", k=1, value=1.0, index=0)]
    write_parquet(file, rows, AggregateRow)
    pl.read_parquet(file).drop("counts").write_parquet(file)
    with pytest.raises(FileFormatError, match="counts"):
        StudyFiles(tmp_path).read_aggregates(Cell("m", "vote"))


# The folder of a study's results.


@pytest.fixture
def results(tmp_path: Path) -> Path:
    cell = tmp_path / "study" / "results" / "infer" / "m" / "cot.parquet"
    cell.parent.mkdir(parents=True)
    cell.write_bytes(b"")
    (tmp_path / "study" / "results" / "score" / "m").mkdir(parents=True)
    return tmp_path / "study" / "results"


@pytest.mark.parametrize("wrong", [".", "..", "score", "score/m", "infer", "infer/m"])
def test_a_wrong_folder_names_the_right_one(
    results: Path, wrong: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(results.parent.parent)
    if wrong == ".":
        assert find_results_folder(results) == results
        return
    with pytest.raises(MissingInputError, match=r"give study/results$"):
        explain_id([results / wrong], "q1")


def test_a_folder_of_other_things_says_what_is_wanted(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    with pytest.raises(MissingInputError, match="give the results folder of a study"):
        find_results_folder(tmp_path)
