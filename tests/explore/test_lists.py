"""Counts of facets, pairs of models, orders, places of a searched text, and exported lists."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest

from omibench.errors import ParamsError
from omibench.explore.app.application import write_list
from omibench.explore.filters import READY_FILTERS
from omibench.explore.query import MEASURES, ItemQuery
from omibench.explore.run import Run
from omibench.explore.search import cut_around, cut_start
from omibench.explore.selection import Study
from omibench.params.setting import Cell

NARROW = ItemQuery(
    facets={"subject": ("physics", "biology"), "answer_type": ("mcq",)},
    ready=("many-images", "unanswered"),
    right=("sim-strong",),
)


def select(study: Study, **changes: Any) -> list[str]:
    return study.select(ItemQuery(**changes)).ids


def tag(study: Study, tags: dict[str, list[str]]) -> Study:
    return Study(study.items, study.run, read_tags=lambda: tags)


def test_each_facet_is_counted_under_all_other_filters(explored: Study) -> None:
    counts = explored.count(NARROW)
    others = {"ready": NARROW.ready, "right": NARROW.right}
    subjects = {name: q.subject for name, q in explored.items.questions.items()}
    left = select(explored, facets={"answer_type": ("mcq",)}, **others)
    expected = Counter(subjects[name] for name in left)
    assert {value: n for value, n in counts["is.subject"].items() if n} == expected
    types = {name: a.answer_type for name, a in explored.items.answers.items()}
    left = select(explored, facets={"subject": ("physics", "biology")}, **others)
    expected = Counter(types[name] for name in left)
    assert {value: n for value, n in counts["is.answer_type"].items() if n} == expected


def test_tags_of_problems_that_left_the_dataset_count_nowhere(explored: Study) -> None:
    study = tag(explored, {"gone": ["odd"], explored.items.ids[1]: ["new"]})
    assert study.count(ItemQuery())["tags"] == {"new": 1}
    nothing = replace(explored.items, questions={}, answers={})
    assert Study(nothing, read_tags=lambda: {"gone": ["odd"]}).count(ItemQuery())["tags"] == {}


def test_measures_can_be_read_while_another_page_adds_one(explored: Study) -> None:
    assert explored.run is not None
    study = Study(explored.items, replace(explored.run))  # its lengths are not read yet
    for name in study.read_measures():
        assert name in study.read_measures(with_slow=True)
    assert list(study.read_measures()) == list(MEASURES)


def test_a_table_without_matches_has_the_same_header(explored: Study) -> None:
    for study in (explored, Study(explored.items)):
        table, empty = (
            write_list(study, ItemQuery(search=words), "csv").splitlines()
            for words in ("", "zzz nowhere")
        )
        assert empty == table[:1]


def test_ready_filters_are_counted_beside_the_other_ones(explored: Study) -> None:
    counts = explored.count(NARROW)["ready"]
    assert list(counts) == list(READY_FILTERS)
    for name in ("all-wrong", "unanswered", "few-images"):
        ready = tuple(dict.fromkeys([*NARROW.ready, name]))
        left = select(explored, facets=NARROW.facets, right=NARROW.right, ready=ready)
        assert counts[name] == len(left)


def test_tags_select_and_are_counted(explored: Study) -> None:
    first, second, third = explored.items.ids[:3]
    study = tag(explored, {third: ["odd"], first: ["odd", "blurred"], second: ["blurred"]})
    assert select(study, tags=("odd",)) == [first, third]
    assert select(study, tags=("odd", "blurred")) == [first, second, third]
    assert study.count(ItemQuery(tags=("odd",)))["tags"] == {"odd": 2, "blurred": 2}
    subject = explored.items.questions[first].subject
    assert select(study, tags=("odd",), facets={"subject": ("nothing",)}) == []
    assert sum(study.count(ItemQuery(tags=("odd",)))["is.subject"].values()) == 2
    assert subject


def test_one_model_is_right_where_another_is_wrong(explored: Study) -> None:
    grid = explored.select(ItemQuery()).grid
    assert grid is not None
    models = [cell.model for cell in grid.cells]
    means = {
        model: np.nanmean(grid.values[:, [m == model for m in models]], axis=1)
        for model in set(models)
    }
    expected = (means["sim-strong"] >= 0.5) & (means["sim-weak"] < 0.5)
    assert 0 < expected.sum() < len(expected)
    found = select(explored, right=("sim-strong",), wrong=("sim-weak",))
    assert found == [i for i, ok in zip(explored.items.ids, expected, strict=True) if ok]
    cell = select(explored, right=("sim-strong/cot",), wrong=("sim-strong/direct",))
    under = select(explored, right=("sim-strong",), settings=("cot",))
    assert set(cell) <= set(under)
    assert select(explored, right=("cot",), models=("sim-strong",)) == under
    with pytest.raises(ParamsError, match=r"wrong: 'sim-wek' .*did you mean 'sim-weak'"):
        select(explored, wrong=("sim-wek",))


@pytest.mark.parametrize("name", MEASURES)
def test_items_are_ordered_by_what_their_responses_took(explored: Study, name: str) -> None:
    run = explored.run
    assert run is not None
    rows = run.responses.with_columns(
        latency_s=pl.col("output_tokens") % 7 / 2, cost_usd=pl.col("output_tokens") * 1e-6
    )
    study = Study(explored.items, Run(run.files, "r", run.cells, rows, run.verdicts))
    column = {"tokens": "output_tokens", "cost": "cost_usd", "time": "latency_s"}.get(name, name)
    frame = run.lengths if name == "length" else rows
    of_model = frame.filter(model="sim-weak").group_by("id").agg(pl.col(column).mean())
    values = dict(of_model.iter_rows())
    rising = [values[i] for i in select(study, order=name, models=("sim-weak",))]
    assert rising == pytest.approx(sorted(values.values()))
    falling = [values[i] for i in select(study, order=f"-{name}", models=("sim-weak",))]
    assert falling == pytest.approx(rising[::-1])
    assert len(set(rising)) > 1


def test_items_are_ordered_by_their_own_columns(explored: Study) -> None:
    answers = explored.items.answers
    images = [answers[i].n_images for i in select(explored, order="-images")]
    assert images == sorted(images, reverse=True)
    assert select(explored, order="-id") == select(explored, order="id")[::-1]
    subjects = [answers[i].subject for i in select(explored, order="subject")]
    assert subjects == sorted(subjects)


def test_a_cell_is_a_column_to_order_by(explored: Study) -> None:
    grid = explored.select(ItemQuery()).grid
    assert grid is not None
    column = dict(zip(explored.items.ids, grid.values[:, 1], strict=True))
    cell = "/".join(grid.cells[1])
    order = select(explored, order=f"-{cell}", models=("sim-weak",))
    verdicts = [float(column[i]) for i in order if not np.isnan(column[i])]
    assert verdicts == sorted(verdicts, reverse=True)
    with pytest.raises(ParamsError, match="order: 'nobody/cot' is not in the run"):
        select(explored, order="nobody/cot")


def test_items_without_a_run_have_no_measures(explored: Study) -> None:
    study = Study(explored.items)
    assert select(study, order="-id")[0] == select(explored, order="-id")[0]
    with pytest.raises(ParamsError, match="no verdicts to order by"):
        select(study, order="tokens")
    with pytest.raises(ParamsError, match="no verdicts to filter by"):
        select(study, right=("sim-weak",))


def test_a_hit_names_its_field_and_its_response(explored: Study) -> None:
    ids = explored.items.ids
    query = ItemQuery(search="KLOTZ")
    name = select(explored, search="klotz")[0]
    hit = explored.find_hits(query, [name])[name]
    assert (hit.field, hit.model) == ("question", None)
    assert "Klotz" in hit.text
    query = ItemQuery(search="figures matter", fields=("extracted", "response"))
    hits = explored.find_hits(query, ids)
    assert set(hits) == set(explored.select(query).ids) != set()
    for found, hit in hits.items():
        run = explored.run
        assert run is not None
        assert hit.field == "response"
        file = run.files.locate("infer", Cell(str(hit.model), str(hit.setting)))
        texts = pl.read_parquet(file).filter(id=found)["text"]
        assert any("figures matter" in text for text in texts)
        assert "figures matter" in hit.text


def test_an_excerpt_cuts_no_formula() -> None:
    formula = r"$\frac{a_1 + b_2}{c_3}$"
    text = f"{'x ' * 40}{formula} and the torque {'y ' * 200}"
    excerpt = cut_around(text, "TORQUE")
    assert "torque" in excerpt
    assert formula in excerpt
    assert excerpt.startswith("… ")
    assert excerpt.endswith(" …")
    assert len(excerpt) < 300
    assert cut_start(f"Let {formula} be", 8) == f"Let {formula} …"
    assert cut_start("short", 8) == "short"
    endless = "$" + "a" * 5_000
    assert len(cut_around(endless, "aaa")) < 1_000


def test_a_list_is_written_as_it_is_shown(explored: Study) -> None:
    study = tag(explored, {explored.items.ids[0]: ["=odd", "b"]})
    query = ItemQuery(order="-length", models=("sim-weak",), facets={"subject": ("biology",)})
    ids = study.select(query).ids
    rows = [json.loads(line) for line in write_list(study, query, "jsonl").splitlines()]
    assert [row["id"] for row in rows] == ids
    assert all(set(row["verdicts"]) == {f"sim-weak/{s}" for s in ("cot", "direct", "first-image")}
               for row in rows)  # fmt: skip
    assert all(row["simulated"] for row in rows)
    first = next(row for row in rows if row["id"] == explored.items.ids[0])
    assert first["tags"] == ["=odd", "b"]
    flat = list(csv.DictReader(io.StringIO(write_list(study, query, "csv"))))
    assert [row["id"] for row in flat] == ids
    for row, line in zip(rows, flat, strict=True):
        assert float(line["mean_characters"]) == row["mean_characters"]
        assert line["gold"] == "; ".join(row["gold"])
        for cell, verdict in row["verdicts"].items():
            assert (float(line[cell]) if line[cell] else None) == verdict
    assert next(x for x in flat if x["id"] == first["id"])["tags"] == "'=odd; b"


def test_an_empty_list_has_no_rows(explored: Study) -> None:
    query = ItemQuery(search="zzz nowhere")
    assert write_list(explored, query, "jsonl") == ""
    assert write_list(explored, query, "csv").count("\n") <= 1
    bare = write_list(Study(explored.items), ItemQuery(), "jsonl").splitlines()
    assert len(bare) == len(explored.items.ids)
