"""Types of errors by judges and by people, wrong steps, and marks of rationales."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.stages.analyze.results.curves.made import Draw, make_analysis, make_answers

from omibench.errors import FileFormatError
from omibench.schemas.tables import JudgementRow, write_parquet
from omibench.stages.analyze.analysis import Analysis

TYPES = ["logical", "logical", "logical", "visual_perception", "no_error", None]


def make_study(**more: Any) -> dict[str, Any]:
    infer = {"models": ["m", "judge"], "settings": ["cot"], "only": {"judge": []}}
    return {"settings": {"cot": {}}, "infer": infer, **more}


def make_judgement(instrument: str, problem: int, **values: Any) -> JudgementRow:
    fields = {
        "id": f"p{problem}", "index": 0, "key": "k", "instrument": instrument, "version": 1,
        "judge": "judge", "outcome": "scored", "simulated": True,
    }  # fmt: skip
    return JudgementRow.model_validate(fields | values)


def judge(folder: Path, labels: str = "") -> Analysis:
    """A cell of six wrong answers to two subjects' problems, judged, and labelled by people."""
    rows = [
        make_judgement(
            "error_type", i, error_type=kind, taxonomy="omibench",
            outcome="scored" if kind else "judge_failed",
        )
        for i, kind in enumerate(TYPES)
    ]  # fmt: skip
    rows += [make_judgement("alignment", i, alignment=float(1 + i % 3)) for i in range(6)]
    write_parquet(folder / "judge" / "m" / "cot.parquet", rows, JudgementRow)
    params: dict[str, Any] = {"errors": {"models": ["judge"]}, "alignment": "judge"}
    if labels:
        (folder / "labels.csv").write_text(labels, "utf-8")
        params["errors"]["labels"] = str(folder / "labels.csv")
    answers = [
        answer.model_copy(update={"subject": "biology" if i < 3 else "physics"})
        for i, answer in enumerate(make_answers(6))
    ]
    draws = [Draw("m", "cot", f"p{i}", 0.0) for i in range(6)]
    return make_analysis(folder, make_study(judge=params), answers, draws)


def test_shares_of_types_are_over_problems_whose_failure_was_classified(tmp_path: Path) -> None:
    table = judge(tmp_path).table("error-types")
    assert table is not None
    rows = {(r["slice"], r["value"]): r for r in table.iter_rows(named=True)}
    logical = rows["error_type", "logical"]
    assert (logical["estimate"], logical["n"], logical["count"]) == (0.75, 4, 3)
    assert (logical["by"], logical["taxonomy"]) == ("judge", "omibench")
    assert rows["error_type", "visual_perception"]["estimate"] == 0.25
    assert rows["subject × error_type", "biology × logical"]["estimate"] == 1
    assert rows["subject × error_type", "biology × visual_perception"]["estimate"] == 0
    assert ("error_type", "no_error") not in rows
    assert table["simulated"].all()


def test_people_s_labels_are_a_distribution_of_their_own(tmp_path: Path) -> None:
    table = judge(tmp_path, "id,error_type\np0,cross_image\np1,logical\n").table("error-types")
    assert table is not None
    people = table.filter(by="people", slice="error_type")
    assert dict(people.select("value", "estimate").iter_rows()) == {
        "cross_image": 0.5,
        "logical": 0.5,
    }
    assert table.filter(by="judge", value="cross_image").is_empty()


def test_wrong_steps_are_summed_by_cell_and_over_models(tmp_path: Path) -> None:
    labels = "id,steps,wrong_steps\np0,5,2\np1,4,3\np2,4,1\n"
    table = judge(tmp_path, labels).table("wrong-steps")
    assert table is not None
    assert table["model"].to_list() == ["m", ""]
    for row in table.iter_rows(named=True):
        assert row["estimate"] == pytest.approx(6 / 13, abs=1e-6)
        assert row["low"] < row["estimate"] < row["high"]
        assert (row["n"], row["steps"], row["rationales"]) == (3, 13, 3)
    assert table["label"].to_list() == ["m", None]


def test_more_wrong_steps_than_steps_are_one_clear_line(tmp_path: Path) -> None:
    analysis = judge(tmp_path, "id,steps,wrong_steps\np0,5,6\n")
    with pytest.raises(FileFormatError, match=r"labels\.csv, row 1: wrong_steps is 6"):
        analysis.table("wrong-steps")


def test_marks_of_rationales_are_from_1_to_5(tmp_path: Path) -> None:
    table = judge(tmp_path).table("rationale-marks")
    assert table is not None
    (row,) = table.to_dicts()
    assert (row["metric"], row["estimate"], row["n"], row["clusters"]) == ("alignment", 2.0, 6, 6)
    assert (row["instrument"], row["judge"], row["calibrated"]) == ("alignment", "judge", False)
    assert 1 <= row["low"] < 2 < row["high"] <= 5


def test_where_nobody_judged_there_are_no_such_tables(tmp_path: Path) -> None:
    study = {"settings": {"cot": {}}, "infer": {"models": ["m"], "settings": ["cot"]}}
    analysis = make_analysis(tmp_path, study, make_answers(1), [Draw("m", "cot", "p0", 0.0)])
    for name in ("error-types", "wrong-steps", "rationale-marks"):
        assert analysis.table(name) is None
