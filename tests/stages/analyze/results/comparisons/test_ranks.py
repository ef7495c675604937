"""Ranks and pairs of the models under the reference setting."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.stages.analyze.results.comparisons.studies import (
    draw_verdicts,
    make_items,
    write_analysis,
)

ITEMS = make_items(80)
SHARES = {
    (model, setting): share
    for model, share in (("weak", 0.1), ("middle", 0.5), ("second", 0.5), ("strong", 0.95))
    for setting in ("direct", "cot")
}


def test_the_ranges_are_those_of_the_tests(tmp_path: Path) -> None:
    analysis = write_analysis(
        tmp_path, ITEMS, draw_verdicts(SHARES, ITEMS), reference_setting="cot"
    )
    ranks, pairs = analysis.table("ranks"), analysis.table("pairs")
    assert ranks is not None
    assert pairs is not None
    assert ranks["setting"].unique().to_list() == ["cot"]
    rows = {row["model"]: row for row in ranks.to_dicts()}
    assert (rows["strong"]["low"], rows["strong"]["high"]) == (1, 1)
    assert (rows["weak"]["low"], rows["weak"]["high"]) == (4, 4)
    assert (rows["middle"]["low"], rows["middle"]["high"]) == (2, 3)
    assert ranks["estimate"].to_list() == [1, 2, 3, 4]
    assert ranks["score"].is_sorted(descending=True)
    assert (pairs.height, pairs["family"][0]) == (6, 6)
    assert set(ranks.select("n", "clusters").iter_rows()) == {(80, 40)}
    assert set(pairs.select("n", "clusters").iter_rows()) == {(80, 40)}


def test_pairs_that_are_not_significant_say_what_they_find(tmp_path: Path) -> None:
    analysis = write_analysis(tmp_path, ITEMS, draw_verdicts(SHARES, ITEMS))
    pairs = analysis.table("pairs")
    assert pairs is not None
    for row in pairs.to_dicts():
        test = analysis.results.family_tests.compare(
            *(
                cell
                for name in (row["model"], row["baseline_model"])
                for cell in analysis.results.family.cells
                if cell.model == name
            )
        )
        assert (row["p"], row["p_holm"]) == pytest.approx((test.p, test.adjusted), abs=1e-6)
        assert (row["detectable"] is None) == (row["p_holm"] < 0.05)


def test_each_model_stands_once_under_the_first_setting_that_it_has(tmp_path: Path) -> None:
    cells = {("a", "cot"): 0.5, ("b", "warm"): 0.4, ("b", "direct"): 0.2, ("c", "direct"): 0.3}
    analysis = write_analysis(
        tmp_path, ITEMS, draw_verdicts(cells, ITEMS), reference_setting=["cot", "warm"]
    )
    ranks = analysis.table("ranks")
    assert ranks is not None
    assert set(ranks.select("model", "setting").iter_rows()) == {("a", "cot"), ("b", "warm")}


def test_a_single_cell_has_no_rank(tmp_path: Path) -> None:
    analysis = write_analysis(tmp_path, ITEMS, draw_verdicts({("a", "cot"): 0.5}, ITEMS))
    assert analysis.table("ranks") is None
    assert analysis.table("pairs") is None
