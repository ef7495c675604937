"""Each changed verdict has the first thing that differs between two runs."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from tests.run_comparison.runs import MadeJudge, MadeRun, make_run, make_texts

from omibench.errors import ArgumentError, FileFormatError, MissingInputError, UnfinishedError
from omibench.params.setting import Cell
from omibench.results.comparison.compare import Run, compare_run_folders
from omibench.results.comparison.report import LISTED, RunComparison
from omibench.results.comparison.text import describe_comparison

JUDGED = ("gptscore", "gptscore")


def compare(
    tmp_path: Path, a: MadeRun, b: MadeRun, rules: tuple[str | None, str | None] = (None, None)
) -> RunComparison:
    """Compare two runs; the changes by cause must sum to their differences."""
    comparison = compare_run_folders(a.write(tmp_path / "a"), b.write(tmp_path / "b"), rules)
    for contrast in (comparison.total, *comparison.cells):
        changes = sum(total.change for total in contrast.causes)
        assert changes == pytest.approx(contrast.common_difference)
        assert contrast.difference == contrast.accuracy_b - contrast.accuracy_a
        assert contrast.low <= contrast.common_difference <= contrast.high
    verdicts = sum(total.verdicts for cell in comparison.cells for total in cell.causes)
    assert verdicts == comparison.changed
    return comparison


def causes(comparison: RunComparison) -> dict[str, tuple[int, float]]:
    """Cause -> number of changed verdicts and their part of the difference."""
    return {c.cause: (c.verdicts, round(c.change, 9)) for c in comparison.total.causes}


def differences(comparison: RunComparison) -> dict[str, tuple[str, str]]:
    """Problem -> cause and everything that differs."""
    return {item.id: (item.cause, item.differs) for item in comparison.verdicts}


def test_equal_runs_differ_in_nothing(tmp_path: Path) -> None:
    comparison = compare(tmp_path, make_run("ABCDABCA"), make_run("ABCDABCA"))
    assert (comparison.total.difference, comparison.total.causes) == (0, [])
    assert (comparison.changed, comparison.changes, comparison.notes) == (0, [], [])


def test_a_corrected_gold(tmp_path: Path) -> None:
    comparison = compare(tmp_path, make_run(golds="ABCDABCA"), make_run())
    assert causes(comparison) == {"gold": (1, 0.125)}
    assert comparison.composition.other_gold_ids == ["p7"]
    (item,) = comparison.verdicts
    assert (item.id, item.verdict_a, item.verdict_b, item.differs) == ("p7", 0, 1, "gold")


def test_the_ranking_by_corrected_golds_alone(tmp_path: Path) -> None:
    """x leads y by p7 whose gold was wrong; in B, y also answers others and falls behind again."""
    a = make_run(golds="ABCDABCA").change(
        cells={"x/cot": make_texts("ABCDABBA"), "y/cot": make_texts("ABCDABBD")}
    )
    b = make_run().change(
        cells={"x/cot": make_texts("ABCDABBA"), "y/cot": make_texts("DDDDDDBD")}, revision="2"
    )
    comparison = compare(tmp_path, a, b)
    ranks = {c.model: (c.rank_a, c.rank_gold, c.rank_b) for c in comparison.cells}
    assert ranks == {"x": (1, 2, 1), "y": (2, 1, 2)}
    assert "changes in 2 of 2 cells: x/cot 1 to 2, y/cot 2 to 1" in describe_comparison(comparison)


def test_the_first_thing_that_differs_is_the_cause(tmp_path: Path) -> None:
    a, b = make_run("ABCA", "ABDD"), make_run("ACDD", "ABCD").change(revision="2")
    b = b.change(statements={"p3": "Which, after all?"}, golds={**b.golds, "p2": "D"})
    comparison = compare(tmp_path, a, b)
    assert differences(comparison) == {
        "p1": ("response", "response"),
        "p2": ("response", "response"),
        "p3": ("problem", "problem, response"),
    }
    assert causes(comparison) == {"problem": (1, 0.25), "response": (2, 0)}
    assert comparison.composition.edited_ids == ["p3"]


def test_a_gold_comes_before_a_response(tmp_path: Path) -> None:
    a, b = make_run("ABCD", "CBCD"), make_run("DACD", "DCCD").change(revision="2")
    both = ("gold", "gold, response")
    assert differences(compare(tmp_path, a, b)) == {"p0": both, "p1": both}


def test_another_scorer(tmp_path: Path) -> None:
    a = make_run().change_texts(p0=r"\boxed{50 cm}")
    a = a.change(golds={**a.golds, "p0": "0.5 m"}, rules=("robust", "emma"))
    comparison = compare(tmp_path, a, a, ("robust", "emma"))
    assert causes(comparison) == {"scorer": (1, -0.125)}
    assert comparison.changes[0].a.startswith("robust ")
    assert comparison.verdicts[0].rules == "robust > emma"


def test_another_version_of_a_scorer(tmp_path: Path) -> None:
    a = make_run("ABCDABCD").change(old_verdicts={"p0": 0.0, "p4": 0.0})
    comparison = compare(tmp_path, a, make_run("ABCDDBCD").change(revision="2"))
    assert differences(comparison) == {"p0": ("scorer", "scorer")}
    assert len(comparison.scoring_a.versions) == 1
    assert comparison.scoring_a.versions != comparison.scoring_b.versions


def test_another_verdict_of_the_same_version_is_the_scorer(tmp_path: Path) -> None:
    a, b = (make_run().write(tmp_path / name) for name in "ab")
    path = a / "score/m/cot.parquet"
    frame = pl.read_parquet(path)
    frame.with_columns(verdict=pl.when(id="p0").then(0.0).otherwise("verdict")).write_parquet(path)
    responses = a / "infer/m/cot.parquet"
    pl.read_parquet(responses).write_parquet(responses)  # without its origin
    comparison = compare_run_folders(a, b)
    assert differences(comparison) == {"p0": ("scorer", "")}
    assert comparison.changes[0].field == "code or packages"


def test_another_judge(tmp_path: Path) -> None:
    strict = MadeJudge(judge=lambda text, gold: 0.0, revision="2")
    a = make_run().change(judge=MadeJudge())
    comparison = compare(tmp_path, a, a.change(judge=strict), JUDGED)
    assert causes(comparison) == {"scorer": (8, -1)}
    assert comparison.scoring_a.judges == ["judge"]
    assert comparison.changes[0].b == "gave other judgements"
    comparison = compare(tmp_path, a, a.change(judge=MadeJudge(name="other")), JUDGED)
    assert (comparison.changed, comparison.changes[0].field) == (0, "scored by")


def test_another_type_of_answer_is_the_problem(tmp_path: Path) -> None:
    a = make_run().change_texts(p0=r"\boxed{0.5 m}")
    comparison = compare(tmp_path, a, a.change(golds={**a.golds, "p0": "0.5 m"}))
    assert differences(comparison) == {"p0": ("problem", "problem, gold")}


def test_problems_of_one_run_change_the_accuracy_alone(tmp_path: Path) -> None:
    a, b = make_run("ABCA", "ABCD"), make_run("ABC", "ABC")
    comparison = compare(tmp_path, a, b)
    assert (comparison.total.difference, comparison.total.common_difference) == (0.25, 0)
    assert comparison.composition.only_a_ids == ["p3"]


def test_several_samples_count_as_their_mean(tmp_path: Path) -> None:
    run = make_run("AB", "AB")
    samples = {"p0": [r"\boxed{A}", r"\boxed{B}"], "p1": [r"So \boxed{B}.", r"\boxed{B}"]}
    comparison = compare(tmp_path, run, run.change(cells={"m/cot": samples}))
    assert causes(comparison) == {"sample": (1, -0.25)}
    assert comparison.verdicts[0].verdict_b == 0.5
    (change,) = (c for c in comparison.changes if c.field == "samples of a problem")
    assert (change.a, change.b) == ("1", "2")


def test_the_sample_that_a_vote_chose_counts(tmp_path: Path) -> None:
    samples = {"p0": [r"\boxed{A}", r"\boxed{B}"], "p1": [r"\boxed{B}", r"\boxed{A}"]}
    a = make_run("AB", "AB").change(cells={"m/cot": samples}, picks={"p0": 0, "p1": 0})
    comparison = compare(tmp_path, a, a.change(picks={"p0": 1, "p1": 0}))
    assert (comparison.total.accuracy_a, comparison.total.accuracy_b) == (1, 0.5)
    assert causes(comparison) == {"sample": (1, -0.5)}


def test_the_total_is_over_common_cells_and_counts_a_problem_once(tmp_path: Path) -> None:
    a, b = make_run("ABCD", "ABCD"), make_run("ABCA", "ABCD").change(revision="2")
    same = a.cells["m/cot"]
    comparison = compare(
        tmp_path,
        a.change(cells={**a.cells, "m/direct": same, "old/cot": same}),
        b.change(cells={**b.cells, "m/direct": same, "new/cot": same}),
    )
    assert [cell.setting for cell in comparison.cells] == ["cot", "direct"]
    assert (comparison.total.n_common, comparison.total.difference) == (4, -0.125)
    assert (comparison.cells_only_a, comparison.cells_only_b) == (["old/cot"], ["new/cot"])


def test_lists_are_bounded_and_the_table_of_items_is_whole(tmp_path: Path) -> None:
    names = [f"p{number}" for number in range(LISTED + 20)]
    a = MadeRun(dict.fromkeys(names, "A"), {"m/cot": {name: ["A"] for name in names}})
    comparison = compare(tmp_path, a, a.change(golds=dict.fromkeys(names, "B")))
    assert (comparison.changed, comparison.items.height) == (len(names), len(names))
    assert len(comparison.verdicts) == LISTED
    composition = comparison.composition
    assert (composition.other_gold, len(composition.other_gold_ids)) == (len(names), LISTED)


def test_runs_that_cannot_be_compared(tmp_path: Path) -> None:
    a = make_run().write(tmp_path / "a")
    with pytest.raises(ArgumentError, match="the same folder; pass two runs"):
        compare_run_folders(a, a)
    with pytest.raises(MissingInputError, match="contains no cell of responses"):
        compare_run_folders(a, tmp_path / "none")
    stranger = MadeRun({"p100": "A"}, {"m/cot": {"p100": ["A"]}}, name="other")
    with pytest.raises(ArgumentError, match="different datasets, 'made' and 'other'"):
        compare_run_folders(a, stranger.write(tmp_path / "stranger"))
    cells = make_run(cell="n/cot").write(tmp_path / "cells")
    with pytest.raises(ArgumentError, match=r"share no scored cell; .* has m/cot, .*n/cot"):
        compare_run_folders(a, cells)
    b = make_run().write(tmp_path / "b")
    with pytest.raises(ArgumentError, match="has no verdict of 'robus'; did you mean 'robust'"):
        compare_run_folders(a, b, ("robus", "robust"))
    lines = (b / "freeze/answers.jsonl").read_text("utf-8").splitlines()
    (b / "freeze/answers.jsonl").write_text("\n".join(lines[1:]), "utf-8")
    with pytest.raises(FileFormatError, match="'p0', sample 0, has no problem in freeze/answers"):
        compare_run_folders(a, b)
    (b / "freeze/answers.jsonl").write_text("{", "utf-8")
    with pytest.raises(FileFormatError, match=r"answers\.jsonl, line 1"):
        compare_run_folders(a, b)


def test_a_folder_that_is_written_to_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    a, b = (make_run().write(tmp_path / name) for name in "ab")
    read = Run.read_responses

    def write_meanwhile(run: Run, cell: Cell) -> pl.DataFrame:
        responses = read(run, cell)
        (b / "freeze/later.json").write_text("{}", "utf-8")
        return responses

    monkeypatch.setattr(Run, "read_responses", write_meanwhile)
    with pytest.raises(UnfinishedError, match="changed during reading; wait until the run"):
        compare_run_folders(a, b)
