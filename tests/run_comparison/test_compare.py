"""What was changed between two runs gets its share of their difference."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.run_comparison.runs import MadeJudge, MadeRun, make_run

from omibench.errors import ArgumentError, FileFormatError, MissingInputError, UnfinishedError
from omibench.run_comparison import compare as compare_module
from omibench.run_comparison.compare import compare_run_folders
from omibench.run_comparison.report import LISTED, Contrast, RunComparison

JUDGED = ("gptscore", "gptscore")


def compare(
    tmp_path: Path, a: MadeRun, b: MadeRun, rules: tuple[str | None, str | None] = (None, None)
) -> RunComparison:
    """Compare two runs, whose shares must sum to their differences."""
    comparison = compare_run_folders(a.write(tmp_path / "a"), b.write(tmp_path / "b"), rules)
    for contrast in (comparison.total, *comparison.cells):
        assert sum(share.share for share in contrast.shares) == pytest.approx(contrast.difference)
        assert contrast.difference == contrast.accuracy_b - contrast.accuracy_a
        assert contrast.low <= contrast.common_difference <= contrast.high
    return comparison


def shares(contrast: Contrast) -> dict[str, float]:
    """Components -> share."""
    return {share.name: round(share.share, 9) for share in contrast.shares}


def test_equal_runs_differ_in_nothing(tmp_path: Path) -> None:
    comparison = compare(tmp_path, make_run("ABCDABCA"), make_run("ABCDABCA"))
    assert (comparison.total.difference, comparison.total.shares) == (0, [])
    assert (comparison.moved, comparison.changes, comparison.notes) == (0, [], [])


def test_a_corrected_gold_gets_the_difference(tmp_path: Path) -> None:
    comparison = compare(tmp_path, make_run(golds="ABCDABCA"), make_run())
    (share,) = comparison.total.shares
    assert (share.name, share.share, share.items, share.manner) == ("gold", 0.125, 1, "replayed")
    assert comparison.composition.other_gold_ids == ["p7"]
    (moved,) = comparison.moved_items
    assert (moved.id, moved.verdict_a, moved.verdict_b, moved.moved_by) == ("p7", 0, 1, "gold")


def test_other_responses_get_the_difference(tmp_path: Path) -> None:
    a, b = make_run("ABCDDDDD"), make_run("ABCDABDD").change(revision="2")
    (share,) = compare(tmp_path, a, b).total.shares
    assert (share.name, share.share, share.items, share.manner) == (
        "responses", 0.25, 2, "asked anew",
    )  # fmt: skip


def test_shares_are_averaged_over_orders(tmp_path: Path) -> None:
    # p0 is right with both alone; p1 loses by its gold, and wins nothing by its response.
    a, b = make_run("ABCD", "CBCD"), make_run("DACD", "DCCD").change(revision="2")
    comparison = compare(tmp_path, a, b)
    assert shares(comparison.total) == {"gold": 0.125 - 0.125, "responses": 0.125 - 0.125}
    moved = {item.id: item.shares for item in comparison.moved_items}
    assert moved == {
        "p0": "gold +0.500, responses +0.500",
        "p1": "gold -0.500, responses -0.500",
    }


def test_what_is_read_is_told_from_how_it_is_compared(tmp_path: Path) -> None:
    a = make_run().change_texts(p0="The answer is A because B is wrong")
    a = a.change(rules=("usnco-v", "usnco-v-last-letter"))
    comparison = compare(tmp_path, a, a, ("usnco-v", "usnco-v-last-letter"))
    assert shares(comparison.total) == {"extraction": -0.125, "rules": 0}
    (change,) = comparison.changes
    assert (change.component, change.a, change.b) == (
        "rules", "usnco-v 2", "usnco-v-last-letter 1",
    )  # fmt: skip


def test_how_an_equal_reading_is_compared_is_the_rules(tmp_path: Path) -> None:
    a = make_run().change_texts(p0=r"\boxed{50 cm}")
    a = a.change(golds={**a.golds, "p0": "0.5 m"}, rules=("robust", "emma"))
    assert shares(compare(tmp_path, a, a, ("robust", "emma")).total) == {"rules": -0.125}


def test_rules_responses_and_gold_are_told_apart_by_replay(tmp_path: Path) -> None:
    # Each run has its own scorer alone: what the other one would say is replayed.
    a = make_run().change_texts(p0=r"\boxed{50 cm}")
    a = a.change(golds={**a.golds, "p0": "0.5 m"})
    b = a.change(rules=("emma",), revision="2", golds={**a.golds, "p0": "50 cm"})
    b = b.change_texts(p1="So A.", p2=r"\boxed{A}")
    comparison = compare(tmp_path, a, b)
    assert shares(comparison.total)["responses"] == pytest.approx(-0.25)
    # p0 under the gold "0.5 m": right by robust alone; under "50 cm": by both.
    moved = {item.id: item.moved_by for item in comparison.moved_items}
    assert moved == {"p1": "responses", "p2": "responses"}
    assert shares(comparison.total)["gold"] == -shares(comparison.total)["rules"] == 1 / 16


def test_a_version_that_is_not_installed_is_joined(tmp_path: Path) -> None:
    a = make_run("ABCDABCD").change(old_verdicts={"p0": 0.0, "p4": 0.0})
    b = make_run("ABCDDBCD").change(revision="2")
    comparison = compare(tmp_path, a, b)
    # p0 differs by the version alone; p4 also has another response, wrong by both.
    assert shares(comparison.total) == {"rules": 0.125, "rules+responses": 0}
    assert comparison.total.shares[1].manner == "joined"
    assert any("robust 5 is not installed" in note for note in comparison.notes)


def test_another_verdict_of_the_same_version_is_the_rules(tmp_path: Path) -> None:
    a, b = make_run().write(tmp_path / "x"), make_run()
    comparison = compare(tmp_path, make_run(), b)
    assert comparison.total.difference == 0
    import polars as pl

    path = a / "score/m/cot.parquet"
    frame = pl.read_parquet(path)
    frame = frame.with_columns(verdict=pl.when(id="p0").then(0.0).otherwise("verdict"))
    frame.write_parquet(path)
    (a / "infer/m/cot.parquet").write_bytes(_without_origin(a / "infer/m/cot.parquet"))
    comparison = compare_run_folders(a, tmp_path / "b")
    assert shares(comparison.total) == {"rules": 0.125}
    assert comparison.changes[0].field == "code or packages"


def _without_origin(path: Path) -> bytes:
    from io import BytesIO

    import polars as pl

    content = BytesIO()
    pl.read_parquet(path).write_parquet(content)
    return content.getvalue()


def test_another_judge_gets_the_difference(tmp_path: Path) -> None:
    strict = MadeJudge(judge=lambda text, gold: 0.0, revision="2")
    a = make_run().change(judge=MadeJudge())
    comparison = compare(tmp_path, a, a.change(judge=strict), JUDGED)
    assert shares(comparison.total) == {"judge": -1}
    assert (comparison.total.shares[0].manner, comparison.scoring_a.judges) == (
        "replayed",
        ["judge"],
    )
    assert comparison.changes[0].b == "gave other judgements"


def test_a_judge_on_other_responses_cannot_be_told_apart(tmp_path: Path) -> None:
    a = make_run().change(judge=MadeJudge())
    b = make_run("ABCDAAAA").change(judge=MadeJudge(name="other"))
    comparison = compare(tmp_path, a, b, JUDGED)
    # Where the responses are equal the judge alone differs; where not, both are one block.
    assert shares(comparison.total) == {"judge": 0, "judge+responses": -0.375}
    assert [share.manner for share in comparison.total.shares] == ["replayed", "joined"]
    assert any("joined by +" in note for note in comparison.notes)


@pytest.mark.parametrize(("name", "share"), [("judge", "extraction"), ("x", "extraction+judge")])
def test_another_model_that_extracts(tmp_path: Path, name: str, share: str) -> None:
    grader = MadeJudge(rules="mathreal", extractor="old")
    other = MadeJudge(rules="mathreal", extractor="new", name=name, judge=lambda text, gold: 0.0)
    a = make_run().change(judge=grader)
    comparison = compare(tmp_path, a, a.change(judge=other), ("mathreal", "mathreal"))
    assert shares(comparison.total) == {share: -1}


def test_another_kind_of_answer_is_data(tmp_path: Path) -> None:
    # p0 was a choice and is an open problem: its kind is data, its answer is gold. The response is
    # right by the new gold alone, of whatever kind the problem is.
    a = make_run().change_texts(p0=r"\boxed{0.5 m}")
    comparison = compare(tmp_path, a, a.change(golds={**a.golds, "p0": "0.5 m"}))
    assert comparison.total.difference == 0.125
    assert set(shares(comparison.total)) == {"data", "gold"}
    assert (comparison.composition.edited_ids, comparison.composition.other_gold_ids) == (
        ["p0"], ["p0"],
    )  # fmt: skip


def test_a_judge_in_place_of_rules(tmp_path: Path) -> None:
    kind = MadeJudge(judge=lambda text, gold: 1.0)
    a = make_run("ABCDAAAA").change(judge=kind)
    comparison = compare(tmp_path, a, a.change(revision="2"), ("robust", "gptscore"))
    assert shares(comparison.total) == {"rules": 0.375}


def test_added_and_removed_problems_are_data(tmp_path: Path) -> None:
    comparison = compare(tmp_path, make_run("ABCDAB", "ABCDBB"), make_run("ABCD", "ABCD"))
    total = comparison.total
    assert (total.n_a, total.n_b, total.n_common, total.common_difference) == (6, 4, 4, 0)
    assert shares(total) == {"data": round(1 / 6, 9)}
    assert comparison.composition.only_a_ids == ["p4", "p5"]
    assert comparison.composition.subjects[0].common == 4


def test_an_edited_problem_that_is_asked_anew_is_data(tmp_path: Path) -> None:
    a, b = make_run("ABCA"), make_run("ABCD").change(statements={"p3": "Which, after all?"})
    comparison = compare(tmp_path, a, b)
    assert shares(comparison.total) == {"data": 0.25}
    assert comparison.composition.edited_ids == ["p3"]


def test_an_edited_problem_of_another_model_is_a_response(tmp_path: Path) -> None:
    a, b = make_run("ABCA"), make_run("ABCD").change(statements={"p3": "Which, after all?"})
    assert shares(compare(tmp_path, a, b.change(revision="2")).total) == {
        "data": 0,
        "responses": 0.25,
    }


def test_several_samples_count_as_their_mean(tmp_path: Path) -> None:
    run = make_run("AB", "AB")
    samples = {"p0": [r"\boxed{A}", r"\boxed{B}"], "p1": [r"So \boxed{B}.", r"\boxed{B}"]}
    comparison = compare(tmp_path, run, run.change(cells={"m/cot": samples}))
    assert shares(comparison.total) == {"responses": -0.25}
    assert comparison.moved_items[0].verdict_b == 0.5
    (change,) = (c for c in comparison.changes if c.field == "samples of a problem")
    assert (change.a, change.b) == ("1", "2")


def test_the_sample_that_a_vote_chose_counts(tmp_path: Path) -> None:
    samples = {"p0": [r"\boxed{A}", r"\boxed{B}"], "p1": [r"\boxed{B}", r"\boxed{A}"]}
    a = make_run("AB", "AB").change(cells={"m/cot": samples}, picks={"p0": 0, "p1": 0})
    comparison = compare(tmp_path, a, a.change(picks={"p0": 1, "p1": 0}))
    assert (comparison.total.accuracy_a, comparison.total.accuracy_b) == (1, 0.5)
    assert shares(comparison.total) == {"responses": -0.5}


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


def test_a_problem_that_a_cell_lacks_is_data(tmp_path: Path) -> None:
    a = make_run("ABCA", "ABCD")
    same = a.cells["m/cot"]
    fewer = {name: texts for name, texts in same.items() if name != "p0"}
    a = a.change(cells={"m/cot": same, "m/direct": same})
    comparison = compare(tmp_path, a, a.change(cells={"m/cot": same, "m/direct": fewer}))
    assert shares(comparison.cells[1]) == {"data": round(2 / 3 - 3 / 4, 9)}


def test_lists_are_bounded_and_the_table_of_items_is_whole(tmp_path: Path) -> None:
    names = [f"p{number}" for number in range(LISTED + 20)]
    a = MadeRun(dict.fromkeys(names, "A"), {"m/cot": {name: ["A"] for name in names}})
    comparison = compare(tmp_path, a, a.change(golds=dict.fromkeys(names, "B")))
    assert (comparison.moved, comparison.items.height) == (len(names), len(names))
    assert len(comparison.moved_items) == LISTED
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
    read = compare_module.pair_cell

    def write_meanwhile(*args: object) -> object:
        make_run("BBBB").write(b)
        return read(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(compare_module, "pair_cell", write_meanwhile)
    with pytest.raises(UnfinishedError, match="changed during reading; wait until the run"):
        compare_run_folders(a, b)
