"""Accuracy against the length of responses."""

from __future__ import annotations

from pathlib import Path

import pytest
from scipy.stats import pointbiserialr, spearmanr
from tests.stages.analyze.results.curves.made import Draw, make_analysis, make_answers

STUDY = {"settings": {"cot": {}}, "infer": {"models": ["m"], "settings": ["cot"]}}
PROBLEMS = 20


def draw_longer_wrong(problems: int = PROBLEMS) -> list[Draw]:
    """The longest responses are wrong."""
    return [
        Draw("m", "cot", f"p{i}", float(i % 7 < 3 or i < 8), text="x" * (10 + i), tokens=3 * i)
        for i in range(problems)
    ]


def test_bins_hold_equally_many_responses_of_a_cell_from_short_to_long(tmp_path: Path) -> None:
    draws = draw_longer_wrong()
    table = make_analysis(tmp_path, STUDY, make_answers(PROBLEMS), draws).table(
        "accuracy-by-length"
    )
    assert table is not None
    assert set(table["slice"]) == {"characters", "output_tokens"}
    bins = table.filter(slice="characters")
    assert bins["bin"].to_list() == [1, 2, 3, 4, 5]
    assert bins["responses"].to_list() == [4] * 5
    assert bins["shortest"].to_list() == [10, 14, 18, 22, 26]
    assert bins["longest"].to_list() == [13, 17, 21, 25, 29]
    verdicts = [d.verdict for d in draws]
    expected = [sum(verdicts[k : k + 4]) / 4 for k in range(0, PROBLEMS, 4)]
    assert bins["estimate"].to_list() == expected
    assert table["metric"].unique().to_list() == ["accuracy"]


def test_equal_lengths_share_a_bin(tmp_path: Path) -> None:
    draws = [Draw("m", "cot", f"p{i}", 1.0, text="x" * (1 + (i >= 15))) for i in range(PROBLEMS)]
    table = make_analysis(tmp_path, STUDY, make_answers(PROBLEMS), draws).table(
        "accuracy-by-length"
    )
    assert table is not None
    assert sorted(table["responses"].to_list()) == [5, 15]
    assert table.filter(table["shortest"] != table["longest"]).is_empty()


def test_correlations_are_those_of_scipy(tmp_path: Path) -> None:
    draws = draw_longer_wrong()
    table = make_analysis(tmp_path, STUDY, make_answers(PROBLEMS), draws).table(
        "length-correlations"
    )
    assert table is not None
    lengths, verdicts = [len(d.text) for d in draws], [d.verdict for d in draws]
    rows = {r["metric"]: r for r in table.filter(slice="characters").iter_rows(named=True)}
    spearman, biserial = spearmanr(lengths, verdicts), pointbiserialr(verdicts, lengths)
    assert rows["spearman"]["estimate"] == pytest.approx(spearman.statistic, abs=1e-6)
    assert rows["point-biserial"]["estimate"] == pytest.approx(biserial.statistic, abs=1e-6)
    assert rows["spearman"]["low"] < spearman.statistic < rows["spearman"]["high"] < 0
    assert rows["spearman"]["p"] < 0.05
    assert (rows["point-biserial"]["low"], rows["point-biserial"]["high"]) == (None, None)
    assert rows["point-biserial"]["p"] < 0.05
    assert (rows["spearman"]["n"], rows["spearman"]["responses"]) == (PROBLEMS, PROBLEMS)


def test_cells_are_never_pooled(tmp_path: Path) -> None:
    infer = {"models": ["m", "n"], "settings": ["cot"]}
    long = [Draw("n", "cot", f"p{i}", 1.0, text="x" * (900 + i)) for i in range(PROBLEMS)]
    draws = draw_longer_wrong() + long
    analysis = make_analysis(tmp_path, STUDY | {"infer": infer}, make_answers(PROBLEMS), draws)
    table = analysis.table("accuracy-by-length")
    assert table is not None
    assert table.filter(slice="characters", model="n")["shortest"].min() == 900
    correlations = analysis.table("length-correlations")
    assert correlations is not None
    assert set(correlations["model"]) == {"m"}  # the verdicts of the other do not vary


def test_few_responses_make_no_bins_and_equal_ones_no_correlation(tmp_path: Path) -> None:
    draws = [Draw("m", "cot", f"p{i}", 1.0) for i in range(4)]
    analysis = make_analysis(tmp_path, STUDY, make_answers(4), draws)
    assert analysis.table("accuracy-by-length") is None
    assert analysis.table("length-correlations") is None
