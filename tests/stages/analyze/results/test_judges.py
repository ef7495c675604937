"""Judges against people one by one, and sources of disagreement (OMIBench, C.3 and J)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from scipy import stats
from tests.stages.analyze.conftest import (
    Folders,
    forget_origins,
    make_params,
    make_study,
    rewrite_verdicts,
    table_of,
)

from omibench.errors import FileFormatError
from omibench.results.judgements import RESPONSE, count_quadrants, side_by_side
from omibench.stages.analyze.analysis import Analysis
from omibench.stages.analyze.figures.figure import FIGURES
from omibench.stages.analyze.figures.theme import render

SOURCES = ("No effective reasoning", "reasoning_error", "rule_match_error", "Others")


def add_votes(frame: pl.DataFrame) -> pl.DataFrame:
    """Two judges behind the vote: one that says the same, one that never agrees."""
    votes = frame.filter(rules="gptscore")
    first = votes.with_columns(rules=pl.lit("gptscore/yes"), judge=pl.lit("yes"))
    second = votes.with_columns(
        rules=pl.lit("gptscore/no"), judge=pl.lit("no"), verdict=1 - pl.col("verdict")
    )
    panel = frame.with_columns(
        judge=pl.when(pl.col("rules") == "gptscore").then(pl.lit("yes+no")).otherwise("judge")
    )
    return pl.concat([panel, first, second])


def open_certified(folders: Folders, **certify: Any) -> Analysis:
    return folders.open(make_params({"certify": certify}))


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Folders:
    folders = make_study(tmp_path_factory.mktemp("judged"))
    rewrite_verdicts(folders, add_votes)
    forget_origins(folders.freeze.parent)
    return folders


@pytest.fixture(scope="module")
def labels(judged: Folders) -> Path:
    """People repeat the scorer `robust`, but for every fifth response."""
    results = judged.load()
    rows = results.select_verdicts("robust").select(*RESPONSE, "verdict").rows(named=True)
    path = judged.freeze.parent / "labels.jsonl"
    lines = [
        {k: row[k] for k in RESPONSE} | {"label": row["verdict"] if n % 5 else 1 - row["verdict"]}
        for n, row in enumerate(rows)
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_each_judge_is_held_against_people_by_itself(judged: Folders, labels: Path) -> None:
    analysis = open_certified(judged, labels=str(labels))
    table = table_of(analysis, "judges")
    people = pl.read_ndjson(labels)
    for rules, judge in (("gptscore", "yes+no"), ("gptscore/yes", "yes"), ("gptscore/no", "no")):
        verdicts = analysis.results.verdicts.filter(rules=rules, outcome="scored")
        pairs = verdicts.join(people, on=list(RESPONSE))
        rows = {row["metric"]: row for row in table.filter(rules=rules, model="").to_dicts()}
        rank = stats.spearmanr(pairs["label"].to_numpy(), pairs["verdict"].to_numpy())
        assert rows["spearman"]["estimate"] == pytest.approx(rank.statistic, abs=1e-6)
        assert rows["spearman"]["n"] == pairs.height
        assert 0 <= rows["spearman"]["p"] <= 1
        agreement = float((pairs["label"] == pairs["verdict"]).mean())
        assert rows["agreement"]["estimate"] == pytest.approx(agreement, abs=1e-6)
        assert rows["tpr"]["n"] + rows["fpr"]["n"] == pairs.height
        assert {row["judge"] for row in rows.values()} == {judge}
    yes, no = (
        table.filter(rules=f"gptscore/{name}", model="", metric="spearman")["estimate"][0]
        for name in ("yes", "no")
    )
    assert yes == pytest.approx(-no)
    assert set(table["model"]) == {"", "sim-strong", "sim-middle", "sim-weak"}
    assert {"robust", "emma"} <= set(table["rules"]), "scorers stand beside the judges"


def test_the_four_ways_are_shares_of_what_the_judge_scored(judged: Folders) -> None:
    analysis = judged.open()
    table = table_of(analysis, "disagreements")
    assert set(table["slice"]) == {"quadrant"}
    (_, *_, every) = count_quadrants(side_by_side(analysis.results, "robust"))
    counts = dict(table.filter(model="").select("value", "count").iter_rows())
    assert counts == {
        name: getattr(every, name) for name in ("both_right", "both_wrong", "judge_only",
                                                "rules_only")
    }  # fmt: skip
    total = sum(counts.values())
    (row,) = table.filter(model="", value="both_right").rows(named=True)
    assert row["estimate"] == pytest.approx(counts["both_right"] / total, abs=1e-6)
    assert row["n"] == total
    assert row["low"] < row["estimate"] < row["high"]
    assert row["rules"] == "robust"
    assert row["simulated"]
    assert FIGURES.get("disagreements").draw(table) is None


def test_sources_that_people_filled_in_are_read_back(judged: Folders, tmp_path: Path) -> None:
    sides = side_by_side(judged.open().results, "robust")
    drawn = sides.filter(pl.col("quadrant").is_in(["judge_only", "rules_only"]))
    lines = [
        {k: row[k] for k in RESPONSE}
        | {"disagreement": row["quadrant"], "label": None,
           "source": SOURCES[n % 4] if n % 3 else None}
        for n, row in enumerate(drawn.rows(named=True))
    ]  # fmt: skip
    path = tmp_path / "disagreements.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    table = table_of(open_certified(judged, sources=str(path)), "disagreements")
    read = table.filter(slice="source", model="", disagreement="")
    filled = [line["source"] for line in lines if line["source"]]
    assert read["n"].unique().to_list() == [len(filled)]
    assert dict(read.select("value", "count").iter_rows()) == {
        "no_effective_reasoning": filled.count(SOURCES[0]),
        "reasoning_error": filled.count(SOURCES[1]),
        "rule_match_error": filled.count(SOURCES[2]),
        "other": filled.count(SOURCES[3]),
    }
    assert read["estimate"].sum() == pytest.approx(1, abs=1e-5)
    ways = table.filter(slice="source", model="")["disagreement"].unique().sort().to_list()
    assert ways == ["", "judge_only", "rules_only"]
    chart = FIGURES.get("disagreements").draw(table)
    assert chart is not None
    assert "rule match error" in render(chart)


def test_a_source_that_is_none_is_named(judged: Folders, tmp_path: Path) -> None:
    path = tmp_path / "sources.csv"
    path.write_text("id,source\nbiology_00,weather\n")
    with pytest.raises(FileFormatError, match=r"sources.csv, row 1: column 'source'"):
        open_certified(judged, sources=str(path)).table("disagreements")
