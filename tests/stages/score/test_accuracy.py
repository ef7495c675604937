"""The measuring command `benchmarks/scoring_accuracy.py`, on golds of our own and on real ones."""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

ROWS = [
    {"id": "a", "answer": ["12.5 cm"], "answer_type": "open", "choice_list": None},
    {"id": "b", "answer": ["a) TRUE b) FALSE"], "answer_type": "open", "choice_list": None},
    {"id": "c", "answer": ["20", "40", "30"], "answer_type": "open", "choice_list": None},
    {"id": "d", "answer": ["$x^2-4x$"], "answer_type": "open", "choice_list": None},
    {"id": "e", "answer": ["10⁻¹²"], "answer_type": "open", "choice_list": None},
    {"id": "f", "answer": ["B"], "answer_type": "mcq", "choice_list": ["1 N", "2 N", "3 N"]},
    {"id": "g", "answer": ["I-B", "II-A"], "answer_type": "open", "choice_list": None},
    {"id": "h", "answer": ["E=5 J \\tag{7}"], "answer_type": "open", "choice_list": None},
]


@pytest.fixture(scope="module")
def accuracy(module_at: Callable[[str], ModuleType]) -> ModuleType:
    """The benchmark's module."""
    return module_at("benchmarks/scoring_accuracy.py")


def test_every_position_gives_a_mutant(accuracy: ModuleType) -> None:
    golds = [accuracy.Gold(str(row["id"]), tuple(row["answer"])) for row in ROWS]  # type: ignore[arg-type]
    found = list(accuracy.mutants(golds, seed=1))
    digits = [m for m in found if m.kind == "digit"]
    assert len(digits) == 3 + 6 + 2 + 4 + 2
    assert [m.gold.problem for m in found if m.kind == "sign"] == ["d", "e"]
    assert [m.text for m in found if m.kind == "truth value"] == [
        "a) FALSE b) FALSE", "a) TRUE b) TRUE",
    ]  # fmt: skip
    assert {m.text for m in found if m.kind == "part dropped"} == {
        "40, 30", "20, 30", "20, 40", "I-B", "II-A",
    }  # fmt: skip
    assert {m.text for m in found if m.kind == "parts swapped"} == {"40, 20, 30", "20, 30, 40"}
    assert all(m.entries != m.gold.entries for m in found)


def test_mutants_are_left_out_by_listed_rules_alone(accuracy: ModuleType) -> None:
    gold = accuracy.Gold("h", ("E_1=5 J \\tag{7}",))
    reasons = {m.text: accuracy.excluded(m) for m in accuracy.mutants([gold], seed=1)}
    assert sorted(str(reason).partition(":")[0] for reason in reasons.values()) == [
        "None", "in a left-hand side", "still equivalent",
    ]  # fmt: skip


def test_the_command_measures_files_of_anyone(
    accuracy: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    golds, out = tmp_path / "golds.jsonl", tmp_path / "table.md"
    golds.write_text("\n".join(map(json.dumps, ROWS)), "utf-8")
    options = Namespace(
        data=None, golds=golds, cases=None, hostile=None, scorer=["robust", "omibench"], pairs=0,
        seed=3, show=True,
    )  # fmt: skip
    found = accuracy.measure(options)
    assert all(line.met for line in found if line.rules == "robust")
    blind = [x for x in found if x.rules == "omibench" and x.what.endswith("truth value")]
    assert [line.right for line in blind] == [0]
    assert "omibench accepts truth value: b" in capsys.readouterr().out
    out.write_text(accuracy.table(found), "utf-8")
    assert "| gold against gold, bare | robust | 8 of 8 (100.00%) | >= 8 | yes |" in out.read_text()


@pytest.mark.parametrize("pairs", [300, pytest.param(3_000, marks=pytest.mark.slow)])
@pytest.mark.timeout(900)
def test_mutated_golds_are_rejected(accuracy: ModuleType, shared_data: Path, pairs: int) -> None:
    rows = accuracy.lines_of(shared_data / "omibench" / "test.jsonl")
    lines = list(accuracy.mutated(rows, ["robust"], pairs, seed=5, show=True))
    assert [line for line in lines if not line.met] == []
