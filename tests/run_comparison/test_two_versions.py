"""The verdicts that moved between two versions of a scorer, from a cache that holds both."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.command_line import call_main
from tests.run_comparison.runs import MadeRun

from omibench.answers.scorers.registry import score_item
from omibench.answers.scorers.robust import VERSION
from omibench.files.reading import read_csv
from omibench.schemas.tables import ResponseRow, VerdictRow, read_parquet, write_parquet
from omibench.schemas.verdict import ScoredItem, Verdict
from omibench.stages.score import cache

GOLDS = {"p0": "PV = nRT", "p1": r"\frac{1}{2}", "p2": "AB = 5", "p3": r"\frac{\pi}{8}"}
TEXTS = {"p0": "nRT", "p1": "0.5", "p2": "4", "p3": "22°30'"}
ACCEPTED_BEFORE = {"p0": 1.0, "p3": 0.0}
"""The verdicts of version 8 that version 9 changed."""


def score_before(item: ScoredItem, rules: str) -> Verdict:
    """Score by the version before the installed one."""
    verdict = score_item(item, rules)
    value = ACCEPTED_BEFORE.get(item.id, verdict.verdict)
    return verdict.model_copy(update={"verdict": value, "version": VERSION - 1})


def score_cell(folder: Path, file: Path) -> None:
    """Score the responses of a results folder through a cache of verdicts."""
    rows = read_parquet(folder / "infer/m/cot.parquet", ResponseRow).to_dicts()
    items = [
        ScoredItem(id=r["id"], prediction=r["text"], gold=[GOLDS[r["id"]]], answer_type="open")
        for r in rows
    ]
    verdicts = zip(rows, cache.score_items(items, "robust", file), strict=True)
    write_parquet(
        folder / "score/m/cot.parquet",
        [
            VerdictRow(id=r["id"], index=0, key=r["key"], **verdict.model_dump())
            for r, verdict in verdicts
        ],
        VerdictRow,
    )


def test_the_verdicts_that_moved_are_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = MadeRun(GOLDS, {"m/cot": {name: [rf"\boxed{{{t}}}"] for name, t in TEXTS.items()}})
    before, after = run.write(tmp_path / "before"), run.write(tmp_path / "after")
    file, scored = tmp_path / "verdicts.sqlite", list[str]()

    def install(sources: str, score: Callable[[ScoredItem, str], Verdict]) -> None:
        def count(item: ScoredItem, rules: str) -> Verdict:
            scored.append(item.id)
            return score(item, rules)

        monkeypatch.setattr(cache, "hash_scorer_sources", lambda: sources)
        monkeypatch.setattr(cache, "score_item", count)

    install("sources of before", score_before)
    score_cell(before, file)
    install("sources of now", score_item)
    score_cell(after, file)
    assert len(scored) == 2 * len(GOLDS)
    install("sources of before", score_before)
    score_cell(before, file)
    assert len(scored) == 2 * len(GOLDS)  # the cache holds the verdicts of both versions

    done = call_main("results", "compare", "before", "after", "--items", "moved.csv", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert f"robust {VERSION - 1}" in done.stdout
    assert f"robust {VERSION}" in done.stdout
    moved = {row["id"]: row for row in read_csv(tmp_path / "moved.csv")}
    assert {name: (row["verdict_a"], row["verdict_b"]) for name, row in moved.items()} == {
        "p0": ("1.0", "0.0"), "p3": ("0.0", "1.0"),
    }  # fmt: skip
    assert {(row["cause"], row["differs"]) for row in moved.values()} == {("scorer", "scorer")}
