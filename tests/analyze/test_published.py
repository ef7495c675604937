"""Printed tables: both layouts, which dataset is meant, and which cells differ."""

from __future__ import annotations

from pathlib import Path

import pytest

from analyze.conftest import Folders
from omibench.analyze.intervals import clustered_wilson
from omibench.analyze.load import Results, load_results
from omibench.analyze.published import Printed, compare, printed_row, read_published
from omibench.analyze.tables import TOTAL, Score, scores
from omibench.errors import FileFormatError, MissingInputError
from omibench.study import Cell


@pytest.fixture(scope="module")
def results(made: Folders) -> Results:
    return load_results(made.freeze, made.infer, made.score, made.study)


def test_omibench_layout(root: Path) -> None:
    rows = {r.model: r for r in read_published(root / "published/omibench_main.csv", "any", 1322)}
    assert len(rows) == 31
    assert rows["GPT-5"].values["mathematics", "gptscore"] == 56.51
    assert rows["GPT-5"].values[TOTAL, "acc"] == 36.23
    assert rows["GPT-5"].group == "closed"


@pytest.mark.parametrize(("problems", "total"), [(400, 36.0), (405, 36.0), (2788, 32.71)])
def test_emma_layout_takes_the_dataset_of_that_size(
    root: Path, problems: int, total: float
) -> None:
    rows = read_published(root / "published/emma_main.csv", "emma", problems)
    row = next(r for r in rows if (r.model, r.strategy) == ("GPT-4o", "cot"))
    assert row.values[TOTAL, "acc"] == total
    assert set(row.values) == {(s, "acc") for s in row.sizes}
    expert = next(r for r in rows if r.model == "Human Expert")
    assert bool(expert.values) == (problems < 1000)  # people answered only the reduced set


def test_other_datasets_are_named_by_freeze_name(tmp_path: Path) -> None:
    file = tmp_path / "printed.csv"
    file.write_text("model,strategy,ours_physics,theirs_physics\nM,cot,1.5,2.5\n", "utf-8")
    assert read_published(file, "theirs", 3)[0].values == {("physics", "acc"): 2.5}
    with pytest.raises(FileFormatError, match=r"ours, theirs.*freeze\.name"):
        read_published(file, "third", 3)


@pytest.mark.parametrize(
    ("text", "message"),
    [("name,total_acc\nM,1\n", "lacks the column 'model'"), ("model,total_acc\nM,1x\n", "'1x'")],
)
def test_a_wrong_table_gets_one_line(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "printed.csv"
    file.write_text(text, "utf-8")
    with pytest.raises(FileFormatError, match=message):
        read_published(file, "any", 1)


def test_a_missing_table_gets_one_line(tmp_path: Path) -> None:
    with pytest.raises(MissingInputError, match=r"analyze\.published.*it does not exist"):
        read_published(tmp_path / "none.csv", "any", 1)


def printed(values: dict[tuple[str, str], float], sizes: dict[str, int] | None = None) -> Printed:
    return Printed("Strong", "cot", "", values, sizes or {})


def test_rows_match_by_label_and_strategy(results: Results) -> None:
    row = printed({})
    assert printed_row(results, Cell("sim-strong", "cot"), [row]) is row
    assert printed_row(results, Cell("sim-strong", "direct"), [row]) is None
    assert printed_row(results, Cell("sim-weak", "cot"), [row]) is None
    unnamed = row._replace(strategy="")
    assert printed_row(results, Cell("sim-strong", "cot"), [unnamed]) is unnamed


def test_only_a_cell_that_rounding_cannot_explain_differs(results: Results) -> None:
    third = Score(
        Cell("sim-strong", "cot"), "robust", TOTAL,
        clustered_wilson([1.0] + [0.0] * 2, range(3)), 3, None, False,
    )  # fmt: skip
    for value, differs in ((33.33, False), (33.34, True), (33.32, True)):
        found = compare(results, [third], [printed({(TOTAL, "acc"): value}, {TOTAL: 3})])
        assert [c.differs for c in found] == [differs]


def test_a_cell_without_all_responses_is_not_compared(results: Results) -> None:
    rows = scores(results)
    row = printed({("physics", "acc"): 12.0, (TOTAL, "acc"): 13.0})
    assert {c.subject for c in compare(results, rows, [row])} == {"physics", TOTAL}
    larger = row._replace(sizes={"physics": 424, TOTAL: 28})
    assert {c.subject for c in compare(results, rows, [larger])} == {TOTAL}


def test_gptscore_is_compared_with_the_judge(results: Results) -> None:
    found = compare(results, scores(results), [printed({(TOTAL, "gptscore"): 50.0})])
    assert [c.rules for c in found] == ["gptscore"]
