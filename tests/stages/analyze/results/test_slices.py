"""Results by attributes of a study: slices, averages of parts, what was studied."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from tests.stages.analyze.conftest import Folders

from omibench.errors import ParamsError
from omibench.results.load import load_results
from omibench.results.statistics.intervals import Estimate
from omibench.results.statistics.paired import independent_difference
from omibench.schemas.problem import Answer
from omibench.schemas.tables import AggregateRow, read_jsonl, write_jsonl, write_parquet
from omibench.stages.analyze.analysis import Analysis
from omibench.stages.analyze.results.result import COLUMNS

pytestmark = pytest.mark.usefixtures("undrawn")


def open_analysis(made: Folders, *slices: str, freeze: Path | None = None) -> Analysis:
    block = made.study.analyze.model_copy(update={"slices": list(slices) or None})
    study = made.study.model_copy(update={"analyze": block})
    results = load_results(freeze or made.freeze, made.infer, made.score, study)
    return Analysis(study, results, made.freeze.parent, made.out / "report.html")


def table(analysis: Analysis, name: str) -> pl.DataFrame:
    frame = analysis.table(name)
    assert frame is not None
    assert frame.columns[: len(COLUMNS)] == [*COLUMNS]
    return frame


def freeze_exams(made: Folders, folder: Path) -> Path:
    """The frozen dataset with an exam and skills for each item."""
    folder.mkdir()
    for name in ("questions.jsonl", "manifest.json"):
        (folder / name).write_bytes((made.freeze / name).read_bytes())
    answers = [
        answer.model_copy(
            update={
                "attributes": {"exam": "local" if n % 3 else "national"}
                | ({"skills": ["a", "b"][: n % 3]} if n % 3 else {})
            }
        )
        for n, answer in enumerate(read_jsonl(made.freeze / "answers.jsonl", Answer))
    ]
    write_jsonl(folder / "answers.jsonl", answers)
    return folder


def test_subjects_images_and_types_are_the_slices_of_a_study_that_names_none(made: Folders) -> None:
    frame = table(open_analysis(made), "slices")
    assert frame["slice"].unique(maintain_order=True).to_list() == [
        "subject", "n_images", "answer_type",
    ]  # fmt: skip
    analysis = open_analysis(made)
    physics = frame.filter(
        slice="subject", value="physics", model="sim-weak", setting="cot", rules="emma",
        metric="accuracy",
    ).row(0, named=True)  # fmt: skip
    (score,) = analysis.scores.filter(
        model="sim-weak", setting="cot", rules="emma", subject="physics"
    ).to_dicts()
    stated = (physics["estimate"], physics["low"], physics["high"], physics["n"])
    assert stated == pytest.approx(
        (score["estimate"], score["low"], score["high"], score["n"]), abs=1e-6
    )
    assert physics["clusters"] < physics["n"]
    assert physics["simulated"]


def test_two_attributes_and_lists_of_labels(made: Folders, tmp_path: Path) -> None:
    analysis = open_analysis(
        made, "exam,skills", "images", freeze=freeze_exams(made, tmp_path / "frozen")
    )
    frame = table(analysis, "slices").filter(rules="robust")
    cell = frame.filter(model="sim-weak", setting="direct")
    items = len(analysis.results.answers)
    assert dict(cell.select("value", "n").iter_rows()) == {
        "local × a": sum(n % 3 > 0 for n in range(items)),
        "local × b": sum(n % 3 == 2 for n in range(items)),
        "national × not stated": sum(n % 3 == 0 for n in range(items)),
    }
    pooled = frame.filter(slice="images", model="sim-weak")
    assert pooled.select("setting", "value", "cells").rows() == [("", "all", 2), ("", "first", 1)]


def test_a_slice_by_what_is_not_there_is_a_line_before_anything_is_written(
    made: Folders, tmp_path: Path
) -> None:
    block = made.study.analyze.model_copy(update={"slices": ["subjekt"]})
    study = made.study.model_copy(update={"analyze": block})
    message = r"analyze\.slices: slice 'subjekt': no .*; available: subject, "
    with pytest.raises(ParamsError, match=message):
        made.analyze(tmp_path / "out", study)
    assert not (tmp_path / "out").exists()


def test_the_parts_of_a_slice_have_an_average_and_a_difference(
    made: Folders, tmp_path: Path
) -> None:
    analysis = open_analysis(made, "exam", freeze=freeze_exams(made, tmp_path / "frozen"))
    where = {"model": "sim-weak", "setting": "cot", "rules": "robust"}
    local, national = (
        Estimate(row["estimate"], row["low"], row["high"], row["n"], 0.0)
        for row in table(analysis, "slices").filter(**where).iter_rows(named=True)
    )
    macro, difference = table(analysis, "macro").filter(**where).iter_rows(named=True)
    assert (macro["metric"], macro["of"], macro["value"]) == (
        "macro", "accuracy", "local, national",
    )  # fmt: skip
    assert macro["estimate"] == pytest.approx((local.mean + national.mean) / 2, abs=1e-6)
    assert macro["low"] < macro["estimate"] < macro["high"]
    expected = independent_difference(local, national)
    stated = difference["estimate"], difference["low"], difference["high"]
    assert stated == pytest.approx(tuple(expected)[:3], abs=2e-6)
    assert difference["value"] == "local - national"


def test_slices_that_share_items_have_no_average(made: Folders, tmp_path: Path) -> None:
    freeze = freeze_exams(made, tmp_path / "frozen")
    assert open_analysis(made, "skills", "exam,skills", freeze=freeze).table("macro") is None


def test_outcomes_and_lengths_have_tables(made: Folders) -> None:
    analysis = open_analysis(made, "subject")
    outcomes = table(analysis, "slice-outcomes")
    assert set(outcomes["metric"]) >= {"outcome-refused", "outcome-truncated"}
    lengths = table(analysis, "slice-lengths")
    assert set(lengths["metric"]) == {"characters", "output_tokens"}
    assert lengths["rules"].unique().to_list() == [""]
    assert analysis.table("slice-samples") is None


def test_samples_are_read_from_the_stage_that_aggregates(made: Folders, tmp_path: Path) -> None:
    study = made.study
    setting = study.settings["cot"]
    decoding = setting.decoding.model_copy(update={"samples": 2})
    settings = {**study.settings, "cot": setting.model_copy(update={"decoding": decoding})}
    study = study.model_copy(update={"settings": settings})
    results = made.load(study)
    rows = [
        AggregateRow(id=name, rules="robust", metric="pass", k=2, value=1.0)
        for name in results.answers
    ]
    write_parquet(tmp_path / "aggregate/sim-weak/cot.parquet", rows, AggregateRow)
    analysis = Analysis(study, results, tmp_path, made.out / "report.html")
    frame = table(analysis, "slice-samples").filter(slice="subject")
    assert frame.select("model", "metric", "estimate").unique().rows() == [
        ("sim-weak", "pass@2", 1.0)
    ]


def test_models_and_settings_are_tables(made: Folders) -> None:
    analysis = open_analysis(made)
    assert table(analysis, "models").select("model", "group", "provider").rows()[0] == (
        "sim-strong", "High ability", "simulated",
    )  # fmt: skip
    settings = table(analysis, "settings")
    assert settings["simulated"].all()
    assert settings.select("setting", "images", "full").rows() == [
        ("cot", "all", True), ("direct", "all", True), ("first-image", "first", False),
    ]  # fmt: skip
