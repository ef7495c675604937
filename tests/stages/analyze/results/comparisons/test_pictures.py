"""Real and clean pictures of one problem: paired by cluster, by condition and by grade."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.stages.analyze.results.comparisons.studies import (
    draw_verdicts,
    make_items,
    write_analysis,
)

from omibench.results.statistics.paired import paired_difference

COUNT = 40
ITEMS = make_items(
    COUNT,
    pair=["real", "clean"] * (COUNT // 2),
    noise=[["blur", "rotation"] if i % 4 == 0 else ["rotation"] for i in range(COUNT)],
    blur=["2" if i % 4 == 0 else "0" for i in range(COUNT)],
)
SHARES = {("a", "direct"): 0.5, ("sim-b", "direct"): 0.7}


def test_a_problem_is_compared_with_itself(tmp_path: Path) -> None:
    verdicts = draw_verdicts(SHARES, ITEMS)
    table = write_analysis(tmp_path, ITEMS, verdicts).table("real-clean")
    assert table is not None
    stems = range(0, COUNT, 2)
    for name, value, part in (
        ("", "", list(stems)),
        ("noise: blur", "present", [i for i in stems if i % 4 == 0]),
        ("noise: blur", "absent", [i for i in stems if i % 4]),
        ("blur", "2", [i for i in stems if i % 4 == 0]),
        ("noise: rotation", "present", list(stems)),
    ):
        (row,) = table.filter(slice=name, value=value, model="a", measure="accuracy").to_dicts()
        by_item = verdicts["a", "direct"]
        clean, real = ([by_item[f"p{i + side}"][0] for i in part] for side in (1, 0))
        expected = paired_difference(clean, real, range(len(part)))
        assert (row["estimate"], row["low"], row["high"], row["n"]) == pytest.approx(
            tuple(expected), abs=2e-6
        )
        assert (row["baseline"], row["kind"]) == ("real", "picture")
    assert set(table["measure"]) == {"accuracy", "strict"}
    assert dict(table.select("model", "simulated").iter_rows()) == {"a": False, "sim-b": True}


def test_pictures_without_their_pair_are_left_out(tmp_path: Path) -> None:
    alone = [*ITEMS[:6], ITEMS[6].model_copy(update={"group": ""}), *ITEMS[8:]]
    table = write_analysis(tmp_path, alone, draw_verdicts(SHARES, alone)).table("real-clean")
    assert table is not None
    assert table.filter(slice="", model="a", measure="accuracy")["n"].item() == COUNT // 2 - 1


@pytest.mark.parametrize("pair", [None, "real"])
def test_a_study_without_pairs_has_no_table(tmp_path: Path, pair: str | None) -> None:
    items = make_items(8, pair=[pair] * 8)
    assert write_analysis(tmp_path, items, draw_verdicts(SHARES, items)).table("real-clean") is None
