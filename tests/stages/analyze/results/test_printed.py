"""Printed values as tables: what papers print, and ours beside it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import polars as pl
import pytest
from tests.stages.analyze.conftest import make_study, table_of

from omibench.stages.analyze.analysis import Analysis
from omibench.stages.analyze.sections.printed import PublishedSection

LAYOUT = """\
main.csv:
  source: a paper, table 1
  row: [model, strategy]
  columns:
    - dataset: sample
      names: "{part}"
      metrics: {accuracy: count}
      slice: subject
      parts: {maths: 7, physics: 7}
      values: {maths: mathematics}
      interval: ["{part}_low", "{part}_high"]
      average: average
runs.csv:
  source: a paper, table 2
  row: [judge]
  model: Strong
  setting: "by {judge}"
  asked_as: {by people: [cot]}
  columns:
    - {dataset: sample, names: mean, metrics: {gptscore: mean}, parts: {total: 28}, deviation: sd}
reading.csv:
  source: a paper, table 4
  row: [model]
  columns:
    - {dataset: sample, names: ocr, metrics: {accocr: mean}, parts: {total: 28}}
types.csv:
  source: a paper, table 3
  row: [model]
  chance: [Guessing]
  columns:
    - dataset: sample
      names: "{part}"
      metrics: {acc: count}
      slice: answer_type
      within: {subject: physics}
      parts: {open: null, mcq: null}
      total: all
"""
FILES = {
    "tables.yaml": LAYOUT,
    "main.csv": (
        "model,strategy,maths,maths_low,maths_high,physics,physics_low,physics_high,average\n"
        "Strong,cot,57.1,25.0,84.2,0.0,0.0,35.4,28.6\nStrongest,cot,1,0,9,,,,\n"
    ),
    "runs.csv": "judge,mean,sd\npeople,50.00,1.25\n",
    "types.csv": "model,open,mcq,all\nStrong,10,20,14.3\nWEAK,10,20,30\nGuessing,,,12.5\n",
    "reading.csv": "model,ocr\nstrong,81.8\nWeak,50.0\n",
    "odd.csv": "model,score\nStrong,1\n",
}


@pytest.fixture(scope="module")
def analysis(tmp_path_factory: pytest.TempPathFactory) -> Analysis:
    folder = tmp_path_factory.mktemp("print")
    for name, text in FILES.items():
        (folder / name).write_text(text, "utf-8")
    tables = [str(folder / name) for name in FILES if name.endswith(".csv")]
    made = make_study(folder / "made", simulated=False, published=tables, explorer=False)
    return made.open()


def select(analysis: Analysis, name: str, **where: object) -> list[dict[str, Any]]:
    table = table_of(analysis, name)
    return table.filter(**where).to_dicts()


def test_every_printed_value_is_a_row_with_its_interval(analysis: Analysis) -> None:
    (row,) = select(analysis, "printed", model="Strong", value="mathematics")
    assert (row["estimate"], row["low"], row["high"], row["n"]) == (0.571, 0.25, 0.842, 7)
    assert (row["slice"], row["metric"], row["setting"]) == ("subject", "accuracy", "cot")
    assert (row["source"], row["file"], row["decimals"]) == ("a paper, table 1", "main.csv", 1)
    (spread,) = select(analysis, "printed", metric="gptscore")
    assert (spread["estimate"], spread["sd"], spread["setting"]) == (0.5, 0.0125, "by people")
    assert len(select(analysis, "printed", file="types.csv")) == 7


def test_ours_stand_beside_print_with_our_interval(analysis: Analysis) -> None:
    beside = "printed-beside-measured"
    accuracy = table_of(analysis, "slices")
    (ours,) = accuracy.filter(
        model="sim-strong", setting="cot", rules="robust", slice="subject", value="physics",
        metric="accuracy",
    ).to_dicts()  # fmt: skip
    (row,) = select(analysis, beside, file="main.csv", value="physics")
    assert [row[name] for name in ("estimate", "low", "high", "n", "clusters")] == [
        ours[name] for name in ("estimate", "low", "high", "n", "clusters")
    ]
    assert row["printed"] == 0.0
    assert (row["printed_low"], row["printed_high"]) == (0.0, 0.354)
    assert row["difference"] == row["estimate"]
    assert row["inside"] is (ours["low"] <= 0)
    assert row["differs"] is True
    assert row["source"] == "a paper, table 1"
    (judged,) = select(analysis, beside, file="runs.csv")
    assert (judged["rules"], judged["metric"]) == ("gptscore", "gptscore")


def test_parts_by_two_attributes_stand_beside_print(analysis: Analysis) -> None:
    rows = select(analysis, "printed-beside-measured", file="types.csv", model="sim-strong")
    assert [(row["slice"], row["value"]) for row in rows] == [
        ("subject × answer_type", "physics × open"), ("subject × answer_type", "physics × mcq"),
        ("subject", "physics"),
    ]  # fmt: skip
    whole, parts = rows[-1], rows[:-1]
    assert sum(row["n"] for row in parts) == whole["n"] == 7
    right = sum(row["n"] * row["estimate"] for row in parts)
    assert right == pytest.approx(7 * whole["estimate"], abs=1e-4)


def test_how_well_a_model_reads_stands_beside_print(analysis: Analysis) -> None:
    readings = pl.DataFrame(
        {
            "model": ["sim-strong", "sim-weak"], "metric": ["accocr"] * 2, "estimate": [0.8, 0.5],
            "low": [0.7, 0.4], "high": [0.81, 0.6], "n": [28, 27], "clusters": [20, 20],
            "simulated": [False, False],
        }
    )  # fmt: skip
    read = replace(analysis)
    read._tables["ocr"] = readings
    (row,) = select(read, "printed-beside-measured", metric="accocr")
    assert (row["model"], row["setting"], row["printed"]) == ("sim-strong", "", 0.818)
    assert (row["difference"], row["inside"], row["differs"]) == (-0.018, False, True)


def test_guessing_stands_beside_its_distribution(analysis: Analysis) -> None:
    (expected,) = select(analysis, "chance", metric="chance", slice="subject", value="physics")
    (row,) = select(analysis, "printed-beside-measured", metric="chance")
    assert (row["model"], row["value"], row["printed"], row["n"]) == ("", "physics", 0.125, 7)
    assert [row[name] for name in ("estimate", "low", "high")] == [
        expected[name] for name in ("estimate", "low", "high")
    ]
    assert row["inside"] is (expected["low"] <= 0.125 <= expected["high"])


def test_simulated_values_are_marked_and_held_against_nothing(analysis: Analysis) -> None:
    responses = analysis.results.responses.with_columns(simulated=pl.lit(value=True))
    rehearsed = replace(analysis, results=replace(analysis.results, responses=responses))
    table = table_of(rehearsed, "printed-beside-measured")
    assert table.filter(pl.col("model") != "")["simulated"].all()
    assert table["differs"].is_null().all()
    printed = table_of(rehearsed, "printed")
    assert not printed["simulated"].any()


def test_the_report_lays_out_every_kind_of_table_and_what_is_not_compared(
    analysis: Analysis, caplog: pytest.LogCaptureFixture
) -> None:
    view = PublishedSection(replace(analysis)).view()
    assert view is not None
    tables = {table["file"]: table for table in view["tables"]}
    assert set(tables) == {"main.csv", "runs.csv", "reading.csv", "types.csv"}
    assert tables["main.csv"]["source"] == "a paper, table 1"
    assert tables["main.csv"]["rows"][0]["printed_values"] == [
        "57.1 [25.0, 84.2]", "0.0 [0.0, 35.4]", "28.6",
    ]  # fmt: skip
    assert tables["runs.csv"]["rows"][0]["printed_values"] == ["50.00 ± 1.25"]
    assert tables["types.csv"]["columns"] == ["Physics × open", "Physics × mcq", "Physics"]
    (error,) = view["errors"]
    assert "odd.csv: its columns match no known layout ('score')" in error
    assert error in caplog.text
    assert "main.csv: 1 of 2 models match nothing in this study: 'Strongest' (nearest" in " ".join(
        view["unmatched"]
    )
