"""Which items a query selects, compared with verdicts counted one by one."""

from __future__ import annotations

from collections import defaultdict
from typing import Any
from urllib.parse import parse_qsl

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from omibench.errors import ParamsError
from omibench.explore.filters import READY_FILTERS, Grid, Scope
from omibench.explore.query import ItemQuery, parse_query
from omibench.explore.run import Run
from omibench.explore.selection import Study
from omibench.params.setting import Cell


def select(study: Study, **changes: Any) -> list[str]:
    return study.select(ItemQuery(**changes)).ids


def count_right(run: Run, rules: str) -> dict[str, dict[Cell, bool]]:
    """By item and cell, whether the mean verdict is right; row by row."""
    sums: dict[str, dict[Cell, list[float]]] = defaultdict(lambda: defaultdict(list))
    for row in run.verdicts.filter(rules=rules).iter_rows(named=True):
        sums[row["id"]][Cell(row["model"], row["setting"])].append(row["verdict"])
    return {i: {c: sum(v) / len(v) >= 0.5 for c, v in cells.items()} for i, cells in sums.items()}


def test_without_a_query_all_items_are_there_in_order(explored: Study) -> None:
    selection = explored.select(ItemQuery())
    assert selection.ids == explored.items.ids
    assert selection.grid is not None
    assert selection.grid.values.shape == (28, 9)


def test_ready_filters_give_what_counting_gives(explored: Study) -> None:
    run = explored.run
    assert run is not None
    rules = run.rules[0]
    right = count_right(run, rules)
    judge = count_right(run, "gptscore")
    expected = {
        "all-wrong": {i for i, cells in right.items() if not any(cells.values())},
        "all-right": {i for i, cells in right.items() if all(cells.values())},
        "only": {
            i for i, cells in right.items() if len({c.model for c, ok in cells.items() if ok}) == 1
        },
        "judge-differs": {
            i for i, cells in right.items() if any(ok != judge[i][c] for c, ok in cells.items())
        },
    }
    for outcome in ("refused", "truncated"):
        rows = run.responses.filter(outcome=outcome)
        expected[outcome] = set(rows["id"].to_list())
    failed = run.verdicts.filter(pl.col("rules") == rules, pl.col("outcome") != "scored")
    images = {name: answer.n_images for name, answer in explored.items.answers.items()}
    expected["few-images"] = {name for name, count in images.items() if count <= 2}
    expected["many-images"] = {name for name, count in images.items() if count >= 4}
    expected["unanswered"] = set(failed["id"].to_list())
    for name, ids in expected.items():
        assert set(select(explored, ready=(name,))) == ids, name
    alone = [set(select(explored, ready=("only",), model=f"sim-{m}")) for m in ("strong", "weak")]
    assert alone[0] | alone[1] <= expected["only"]
    assert not alone[0] & alone[1]
    assert select(explored, ready=("only",), model="nobody") == []
    both = set(select(explored, ready=("all-wrong", "many-images")))
    assert both == expected["all-wrong"] & expected["many-images"]


def test_cells_that_are_named_are_the_columns(explored: Study) -> None:
    grid = explored.select(ItemQuery(models=("sim-weak",), settings=("cot", "direct"))).grid
    assert grid is not None
    assert list(grid.cells) == [Cell("sim-weak", "cot"), Cell("sim-weak", "direct")]


def test_facets_join_with_and_their_values_with_or(explored: Study) -> None:
    subjects = {name: q.subject for name, q in explored.items.questions.items()}
    both = select(explored, facets={"subject": ("biology", "physics")})
    assert both == [i for i in explored.items.ids if subjects[i] in ("biology", "physics")]
    narrower = select(explored, facets={"subject": ("biology",), "answer_type": ("mcq",)})
    assert set(narrower) < set(both)


def test_a_search_reads_questions_responses_and_answers(explored: Study) -> None:
    assert select(explored, search="KLOTZ") == [
        i for i, q in explored.items.questions.items() if "Klotz" in q.question
    ]
    assert select(explored, search="klotz", fields=("response",)) != select(
        explored, search="klotz"
    )
    assert select(explored, search="zzz nowhere", fields=("response", "extracted")) == []
    assert select(explored, search="  ") == explored.items.ids
    assert select(explored, search="[IMAGE0] (.*", fields=("question", "rationale")) == []


def test_items_are_ordered_by_difficulty(explored: Study) -> None:
    grid = explored.select(ItemQuery()).grid
    assert grid is not None
    means = dict(zip(explored.items.ids, np.nanmean(grid.values, axis=1), strict=True))
    hardest = [means[i] for i in select(explored, order="hardest")]
    assert hardest == sorted(hardest)
    easiest = [means[i] for i in select(explored, order="easiest")]
    assert easiest == sorted(easiest, reverse=True)
    disputed = [abs(means[i] - 0.5) for i in select(explored, order="disputed")]
    assert disputed == pytest.approx(sorted(disputed))


def test_another_run_shows_what_changed(explored: Study) -> None:
    run = explored.run
    assert run is not None
    name = explored.items.ids[3]
    flipped = run.verdicts.with_columns(
        verdict=pl.when(pl.col("id") == name).then(1 - pl.col("verdict")).otherwise("verdict")
    )
    other = Run(run.files, "other", run.cells[1:], run.responses, flipped)
    assert select(Study(explored.items, run, other), ready=("changed",)) == [name]
    assert select(explored, ready=("changed",)) == []


def make_answering(explored: Study, texts: dict[str, str], right: str) -> tuple[Study, str]:
    """A study whose models give texts to an open problem; a model is right about the others."""
    items, run = explored.items, explored.run
    assert run is not None
    name = next(i for i, a in items.answers.items() if a.answer_type == "open")
    rows = [
        {"model": model, "setting": "s", "id": item, "index": 0, "rules": "robust",
         "extracted": text if item == name else "x", "outcome": "scored", "simulated": False,
         "verdict": float(item != name and model in right)}
        for model, text in texts.items() for item in items.ids
    ]  # fmt: skip
    verdicts = pl.DataFrame(rows).with_columns(counts=pl.lit(value=True))
    cells = tuple(Cell(model, "s") for model in texts)
    return Study(items, Run(run.files, "r", cells, run.responses.clear(), verdicts)), name


def test_a_key_that_the_stronger_half_contradicts_together_is_suspected(explored: Study) -> None:
    halves = {"a": "0.5", "b": r"\frac{1}{2}", "c": "1/2", "d": "7", "e": "8"}
    study, name = make_answering(explored, halves, "abc")
    assert select(study, ready=("suspected-key",)) == [name]
    assert select(study, ready=("suspected-key",), models=("d",)) == [name]
    study, _ = make_answering(explored, halves | {"c": "0.6"}, "abc")
    assert select(study, ready=("suspected-key",)) == []
    few = {model: halves[model] for model in "abcd"}
    assert select(make_answering(explored, few, "abc")[0], ready=("suspected-key",)) == []


def test_an_inverted_item_is_right_for_weak_models_and_wrong_for_strong_ones(
    explored: Study,
) -> None:
    items, run = explored.items, explored.run
    assert run is not None
    values = np.tile(np.float32([0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1]), (len(items.ids), 1))
    values[3] = [1, 1, np.nan, 1, 0, 0, 0, 0, 0, 0, 0, 0]
    cells = [Cell(model, setting) for model in "abcdef" for setting in "st"]
    mask = READY_FILTERS["inverted"].mask
    assert np.flatnonzero(mask(Scope(items, run, "robust", Grid(cells, values, values)))) == [3]
    few = Grid(cells[2:], values[:, 2:], values[:, 2:])
    assert not mask(Scope(items, run, "robust", few)).any()


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"rules": "robst"}, "rules: no verdicts of 'robst'"),
        ({"models": ("sim-strog",)}, "did you mean 'sim-strong'"),
        ({"facets": {"subjct": ("x",)}}, "unknown attribute of items"),
        ({"search": "x" * 300}, "search: 300 characters"),
    ],
)
def test_what_the_study_has_not_is_one_line(
    explored: Study, changes: dict[str, Any], line: str
) -> None:
    with pytest.raises(ParamsError, match=line):
        select(explored, **changes)


def test_items_alone_are_searched_and_sliced(explored: Study) -> None:
    study = Study(explored.items)
    assert study.select(ItemQuery()).grid is None
    assert len(select(study, facets={"subject": ("biology",)})) == 7
    with pytest.raises(ParamsError, match="no verdicts"):
        select(study, ready=("all-wrong",))


queries = st.builds(
    ItemQuery,
    rules=st.none() | st.just("robust"),
    models=st.lists(st.text(max_size=8), max_size=2, unique=True).map(tuple),
    settings=st.lists(st.text(max_size=8), max_size=2, unique=True).map(tuple),
    facets=st.dictionaries(st.text(max_size=6), st.tuples(st.text(max_size=6))),
    ready=st.lists(st.sampled_from(sorted(READY_FILTERS)), max_size=3, unique=True).map(tuple),
    right=st.lists(st.text(max_size=8), max_size=2, unique=True).map(tuple),
    tags=st.lists(st.text(max_size=8), max_size=2, unique=True).map(tuple),
    model=st.none() | st.just("m"),
    search=st.text(max_size=10),
    fields=st.just(("question",)) | st.just(("response", "extracted")),
    order=st.sampled_from(["dataset", "hardest", "-tokens", "model/setting"]),
    offset=st.integers(0, 10**6),
    limit=st.integers(0, 500),
)  # fmt: skip


@settings(max_examples=60)
@given(queries)
def test_an_address_is_read_back(query: ItemQuery) -> None:
    pairs = parse_qsl(query.to_address(), keep_blank_values=True)
    assert parse_query(pairs) == query


@pytest.mark.parametrize(
    "pair", [("ready", "nope"), ("order", "x"), ("limit", "-1"), ("offset", "²"), ("wat", "1")]
)
def test_an_address_that_says_nothing_is_refused(pair: tuple[str, str]) -> None:
    with pytest.raises(ParamsError, match=pair[0]):
        parse_query([pair])


def test_a_page_is_bounded() -> None:
    assert parse_query([("limit", "99999")]).limit == 500


@pytest.mark.parametrize(
    ("limit", "columns", "rows"), [(None, 0, 100), (None, 640, 100), (None, 9_999, 25), (7, 640, 7)]
)
def test_a_page_has_fewer_rows_where_it_has_many_columns(
    limit: int | None, columns: int, rows: int
) -> None:
    assert ItemQuery(limit=limit).count_rows(columns) == rows


def test_all_columns_of_a_grid_are_the_grid_itself(explored: Study) -> None:
    grid = explored.select(ItemQuery()).grid
    assert grid is not None
    assert grid.select(range(9)) is grid
    assert grid.select([2, 1]).cells == [grid.cells[2], grid.cells[1]]
