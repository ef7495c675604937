"""The regression of a study: its factors, baselines and numbers."""

from __future__ import annotations

from math import log
from pathlib import Path

import pytest
from tests.stages.analyze.results.comparisons.studies import (
    draw_verdicts,
    make_items,
    write_analysis,
)

ITEMS = make_items(60)
SHARES = {("a", "direct"): 0.4, ("a", "cot"): 0.6, ("b", "direct"): 0.3, ("b", "cot"): 0.5}


def test_it_is_made_on_request(tmp_path: Path) -> None:
    verdicts = draw_verdicts(SHARES, ITEMS)
    assert write_analysis(tmp_path, ITEMS, verdicts).table("regression") is None


def test_levels_are_held_against_the_first_and_the_reference(tmp_path: Path) -> None:
    analysis = write_analysis(
        tmp_path, ITEMS, draw_verdicts(SHARES, ITEMS, 2), 2,
        regression=True, reference_setting="cot",
    )  # fmt: skip
    table = analysis.table("regression")
    assert table is not None
    rows = {(row["slice"], row["value"]): row for row in table.to_dicts()}
    baselines = [key for key, row in rows.items() if row["note"] == "baseline"]
    assert baselines == [
        ("model", "a"), ("setting", "cot"), ("n_images", "2"), ("subject", "biology"),
    ]  # fmt: skip
    assert rows["setting", "direct"]["estimate"] < 0
    assert rows["setting", "direct"]["high"] < 0
    assert rows["setting", "direct"]["n"] == 240
    assert (rows["model", "b"]["clusters"], rows["(intercept)", ""]["n"]) == (30, 480)
    assert log(rows["model", "b"]["odds_ratio"]) == pytest.approx(
        rows["model", "b"]["estimate"], abs=1e-4
    )


def test_a_factor_of_one_level_is_left_out(tmp_path: Path) -> None:
    verdicts = draw_verdicts({("a", "cot"): 0.5}, ITEMS)
    table = write_analysis(tmp_path, ITEMS, verdicts, regression=True).table("regression")
    assert table is not None
    assert table["slice"].unique(maintain_order=True).to_list() == [
        "(intercept)", "n_images", "subject",
    ]  # fmt: skip
