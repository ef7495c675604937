"""Measured on real responses and golds. The bounds are what the rules reach: never lower them."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.items import make_item

from omibench.answers.scorers.registry import score_item
from omibench.schemas.verdict import ScoredItem

NUMBER_WORDS = {
    ("gemini-2.0-flash-thinking-exp-1219_Math_CoT", "Math_589"),
    ("gemini-2.0-flash-thinking-exp-1219_Math_CoT", "Math_690"),
    ("gemini-2.0-flash-thinking-exp-1219_Math_CoT", "Math_698"),
    ("gemini_Direct", "Math_676"),
    ("gemini_Direct", "Math_683"),
    ("gemini_Direct", "Math_728"),
    ("gemini_Direct", "Math_772"),
}
"""Answers such as "Three": stored as wrong before EMMA's code learned to read number words."""
JUDGED_BY_GPT = {"Llava_CoT"}


def read_lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def emma_items(folder: Path) -> Iterator[tuple[str, ScoredItem, bool]]:
    """File, item and published verdict of every response."""
    for path in sorted((folder / "emma" / "dev").glob("*.parquet")):
        for row in pl.read_parquet(path).iter_rows(named=True):
            choice = row["type"].casefold() == "multiple choice"
            gold = row["answer"].upper() if choice else row["answer"]
            item = make_item(row["response"] or "", gold, row["options"] if choice else None)
            item = item.model_copy(update={"id": row["pid"]})
            yield path.stem, item, row["published_true_false"]


def test_published_verdicts_sum_to_the_published_counts(shared_data: Path) -> None:
    expected = json.loads((shared_data / "emma" / "expected_dev.json").read_text("utf-8"))
    correct = dict.fromkeys(expected, 0)
    for file, item, published in emma_items(shared_data):
        stored = item.model_copy(update={"published_verdict": float(published)})
        correct[file] += int(score_item(stored, "published").verdict)
    assert correct == {file: cell["correct"] for file, cell in expected.items()}


def test_emma_rules_replay_every_stored_verdict_but_the_number_words(shared_data: Path) -> None:
    differ = {
        (file, item.id)
        for file, item, published in emma_items(shared_data)
        if file not in JUDGED_BY_GPT and (score_item(item, "emma").verdict == 1) != published
    }
    assert differ == NUMBER_WORDS


def test_robust_is_right_on_emma_with_the_hand_audit_applied(shared_data: Path) -> None:
    audit = {
        (row["file"], row["pid"]): row["hand_verdict"]
        for row in read_lines(shared_data / "emma" / "audit_dev.jsonl")
    }
    right, wrong = 0, set()
    for file, item, published in emma_items(shared_data):
        truth = audit.get((file, item.id), published)
        if truth is None:
            continue
        if (score_item(item, "robust").verdict == 1) == truth:
            right += 1
        else:
            wrong.add((file, item.id))
    assert right >= 3797
    assert wrong <= {("InternVL2_5_CoT", "coding_457")}


def test_robust_on_the_scoring_cases(shared_data: Path) -> None:
    wrong = set()
    for row in read_lines(shared_data / "scoring_cases.jsonl"):
        options = row["options"] if row["type"] == "mcq" else None
        verdict = score_item(make_item(row["prediction"], row["gold"], options), "robust")
        if (verdict.verdict == 1) != (row["expected"] == "correct"):
            wrong.add(row["id"])
    assert wrong <= {"case-011"}


@pytest.mark.timeout(300)
def test_hostile_answers_cost_little_and_are_judged_as_expected(
    shared_data: Path, root: Path
) -> None:
    run = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("hostile.py")),
         str(shared_data / "nasty_answers.jsonl")],
        cwd=root, capture_output=True, text=True, check=True,
    )  # fmt: skip
    rows = [json.loads(line) for line in run.stdout.splitlines()]
    assert len(rows) == 63
    assert {row[0] for row in rows if row[3] > 2.0} == set()
    wrong = {
        name
        for name, expected, verdict, _ in rows
        if expected != "either" and (verdict == 1) != (expected == "correct")
    }
    assert wrong == set()


@pytest.mark.parametrize(
    ("rules", "form", "reached"),
    [("omibench", "bare", 1322), ("omibench", "boxed", 1322), ("robust", "bare", 1322),
     ("robust", "boxed", 1322), ("omibench-release", "bare", 1306),
     ("omibench-release", "boxed", 1175)],
)  # fmt: skip
def test_gold_against_gold(shared_data: Path, rules: str, form: str, reached: int) -> None:
    right = 0
    for row in read_lines(shared_data / "omibench" / "test.jsonl"):
        gold = ", ".join(row["answer"])
        text = gold if form == "bare" else f"Taken together this gives \\boxed{{{gold}}} at last."
        options = row["choice_list"] if row["answer_type"] == "mcq" else None
        right += int(score_item(make_item(text, row["answer"], options), rules).verdict)
    assert right >= reached
