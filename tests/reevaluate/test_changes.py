"""The changelog of the board: who moved, from where to where."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omibench.errors import FileFormatError
from omibench.study.reevaluate.candidates import ModelCandidate
from omibench.study.reevaluate.changes import (
    Priced,
    Standings,
    add_entry,
    find_moves,
    format_entry,
    read_standings,
)

NEW = Priced(ModelCandidate("new-1", "Lab/new-1", "lab", {}), 1234, 1.0, 2.0)


def board(folder: Path, name: str, accuracies: dict[str, float], **more: Any) -> Standings:
    metrics = {
        model: {"cot": {"acc": acc, "lo": acc / 2, "hi": (1 + acc) / 2, "simulated": False} | more}
        for model, acc in accuracies.items()
    }
    path = folder / f"{name}.json"
    path.write_text(json.dumps(metrics))
    return read_standings(path)


def test_equal_accuracies_share_a_rank(tmp_path: Path) -> None:
    found = board(tmp_path, "m", {"a": 0.5, "b": 0.7, "c": 0.5, "d": 0.1})
    assert {model: s.rank for (_, model), s in found.items()} == {"b": 1, "a": 2, "c": 2, "d": 4}


@given(st.dictionaries(st.text("ab", max_size=4), st.floats(0, 1), max_size=6))
def test_a_rank_counts_those_before(accuracies: dict[str, float]) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        found = board(Path(folder), "m", accuracies)
    for (_, model), standing in found.items():
        better = [other for other, acc in accuracies.items() if acc > accuracies[model]]
        assert standing.rank == len(better) + 1


def test_moves_are_new_places_other_ranks_and_other_scores(tmp_path: Path) -> None:
    before = board(tmp_path, "before", {"a": 0.7, "b": 0.5, "c": 0.3})
    after = board(tmp_path, "after", {"a": 0.7, "b": 0.5, "c": 0.31, "new-1": 0.6})
    assert find_moves(before, before) == []
    moved = find_moves(before, after)
    assert [(m.model, m.before.rank if m.before else None, m.after.rank) for m in moved] == [
        ("new-1", None, 2), ("b", 2, 3), ("c", 3, 4),
    ]  # fmt: skip
    text = format_entry("2026-11-21 06:00 UTC", [NEW], 0.5, moved)
    assert "| cot | `new-1` | new → 2 | 60.0 % [30.0, 80.0] | new |" in text
    assert "| cot | `b` | 2 → 3 | 50.0 % [25.0, 75.0] | +0.0 points |" in text
    assert "| cot | `c` | 3 → 4 | 31.0 % [15.5, 65.5] | +1.0 points |" in text
    assert "`new-1` is `Lab/new-1`, found by the watch `lab`; 1,234 requests were to buy" in text
    assert "Spent: $0.5" in text
    assert "SIMULATED" not in text


def test_what_is_made_up_says_so(tmp_path: Path) -> None:
    after = board(tmp_path, "m", {"new-1": 0.6}, simulated=True)
    text = format_entry("now", [NEW], 0.0, find_moves({}, after))
    assert "`new-1` SIMULATED" in text
    assert "their scores are invented" in text


def test_a_changelog_grows_at_its_top(tmp_path: Path) -> None:
    changelog = tmp_path / "board" / "changes.md"
    for when in ("first", "second", "third"):
        add_entry(changelog, format_entry(when, [NEW], 0.0, []))
    text = changelog.read_text()
    assert text.startswith("# What changed on the board\n")
    headings = [line for line in text.splitlines() if line.startswith("## ")]
    assert headings == [f"## {when}: `new-1`" for when in ("third", "second", "first")]
    assert text.count("Nothing moved.") == 3


def test_no_board_has_no_standings_and_a_broken_one_is_an_error(tmp_path: Path) -> None:
    assert read_standings(tmp_path / "none.json") == {}
    for broken in ("{", "[1]", '{"a": {"cot": {"acc": "x"}}}'):
        (tmp_path / "m.json").write_text(broken)
        with pytest.raises(FileFormatError, match="not the metrics of a study"):
            read_standings(tmp_path / "m.json")
