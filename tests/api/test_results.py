from __future__ import annotations

import shutil
from pathlib import Path

import polars as pl
import pytest
from tests.stages.analyze.conftest import Folders

import omibench
from omibench.errors import ArgumentError, FileFormatError, MissingInputError, UntrustedError
from omibench.files.outputs import write_csv
from omibench.results.load import load_results as load_study_results
from omibench.review.tags import TagEvent, append_tags


@pytest.fixture
def results(made: Folders) -> omibench.ResultTables:
    return omibench.load_results(made.freeze.parent)


def test_each_kind_of_file_is_one_frame(made: Folders, results: omibench.ResultTables) -> None:
    cells = {(cell.model, cell.setting) for cell in made.study.cells}
    for frame in (results.responses, results.verdicts):
        assert set(frame.select("model", "setting").iter_rows()) == cells
        assert {"subject", "group", "n_images", "answer_type", "gold"} <= set(frame.columns)
        assert not frame["gold"].null_count()
    assert results.problems["id"].is_unique().all()
    assert results.manifest.name in repr(results)


def test_verdicts_are_those_that_the_report_is_made_from(
    made: Folders, results: omibench.ResultTables
) -> None:
    joined = load_study_results(made.freeze, made.infer, made.score, made.study).verdicts
    place = ["model", "setting", "id", "index", "rules"]
    columns = [*place, "verdict", "outcome", "subject", "n_images", "responded_simulated"]
    ours, theirs = (frame.select(columns).sort(place) for frame in (results.verdicts, joined))
    assert ours.equals(theirs)
    assert results.verdicts["text"].null_count() == 0


def test_what_was_not_made_is_an_empty_table(results: omibench.ResultTables) -> None:
    for frame in (results.saliency, results.aggregates):
        assert frame.is_empty()
        assert frame.columns[:2] == ["model", "setting"]
    with pytest.raises(MissingInputError, match="has no tables; run `omibench analyze` first"):
        results.report_table("main")


def test_frames_go_to_pandas(results: omibench.ResultTables) -> None:
    pytest.importorskip("pandas")
    frame = results.verdicts.to_pandas()
    assert len(frame) == results.verdicts.height
    assert frame["verdict"].mean() == pytest.approx(results.verdicts["verdict"].mean())


def test_tables_of_the_report_have_their_types(made: Folders, tmp_path: Path) -> None:
    folder = shutil.copytree(made.freeze.parent, tmp_path / "results")
    rows = [
        {"model": "=m", "n": 3, "accuracy": 0.5, "simulated": True, "note": None},
        {"model": "x", "n": 4, "accuracy": None, "simulated": False, "note": None},
    ]
    write_csv(folder / "analyze" / "main.csv", rows)
    results = omibench.load_results(folder)
    assert results.report_tables == ["main"]
    table = results.report_table("main")
    assert table.rows(named=True) == rows
    assert table.schema["n"] == pl.Int64
    with pytest.raises(MissingInputError, match="has no table 'mian'; did you mean 'main'"):
        results.report_table("mian")


def test_two_models_are_compared_on_the_same_problems(results: omibench.ResultTables) -> None:
    models = results.verdicts["model"].unique(maintain_order=True).to_list()
    difference = results.compare_models(models[0], models[1])
    assert difference.lo <= difference.value <= difference.hi
    assert difference.n > 0
    turned = results.compare_models(models[1], models[0])
    assert turned.value == pytest.approx(-difference.value)
    wide = results.compare_models(models[0], models[1], comparisons=10)
    assert wide.hi - wide.lo > difference.hi - difference.lo
    assert results.compare_models(models[0], models[0]).value == 0


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"first": "none"}, "model: no verdict has 'none'"),
        ({"scorer": "robst"}, "scorer: no verdict has 'robst'"),
        ({"setting": "none"}, "setting: no verdict has 'none'"),
        ({"comparisons": 0}, "comparisons: is 0; give a number of at least 1"),
        ({"confidence": "0.95"}, "confidence: is '0.95'; give a level between 0 and 1"),
        ({"confidence": 95}, "confidence: is 95; give a level between 0 and 1"),
    ],
)
def test_what_cannot_be_compared_is_one_line(
    results: omibench.ResultTables, keywords: dict[str, object], message: str
) -> None:
    model = results.verdicts["model"][0]
    with pytest.raises(ArgumentError, match=message):
        results.compare_models(**{"first": model, "second": model, **keywords})  # type: ignore[arg-type]


def test_two_settings_are_compared_on_the_same_problems(results: omibench.ResultTables) -> None:
    settings = results.verdicts["setting"].unique(maintain_order=True).to_list()
    model = results.verdicts["model"][0]
    difference = results.compare_settings(settings[0], settings[1], model=model)
    first, second = (results.estimate_accuracy(model, setting) for setting in settings[:2])
    assert first.lo < first.mean < first.hi
    assert difference.value == pytest.approx(first.mean - second.mean)
    with pytest.raises(ArgumentError, match="setting: no verdict has 'none'"):
        results.compare_settings("none", settings[0])
    with pytest.raises(ArgumentError, match="model: no verdict has 'none'"):
        results.estimate_accuracy("none", settings[0])


def test_exchanged_files_are_refused(made: Folders, tmp_path: Path) -> None:
    folder = shutil.copytree(made.freeze.parent, tmp_path / "results")
    first, second = sorted((folder / "score").glob("*/*.parquet"))[:2]
    first.write_bytes(second.read_bytes())
    with pytest.raises(UntrustedError, match="moved to the place of another"):
        omibench.load_results(folder).verdicts  # noqa: B018


def test_a_verdict_without_its_response_is_named(made: Folders, tmp_path: Path) -> None:
    """Files of older versions do not say what they are made from."""
    folder = shutil.copytree(made.freeze.parent, tmp_path / "results")
    for stage, first in (("infer", 1), ("score", 0)):
        file = min((folder / stage).glob("*/*.parquet"))
        pl.read_parquet(file).slice(first).write_parquet(file)
    with pytest.raises(FileFormatError, match="has no response; score this cell again"):
        omibench.load_results(folder).verdicts  # noqa: B018


def test_another_folder_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(MissingInputError, match="give the results folder of a study"):
        omibench.load_results(tmp_path)
    with pytest.raises(ArgumentError, match="folder: is 1; give the path"):
        omibench.load_results(1)  # type: ignore[arg-type]


def test_tags_of_the_explorer_are_a_frame(results: omibench.ResultTables, tmp_path: Path) -> None:
    assert results.tags(tmp_path).height == 0
    on_response = TagEvent(person="ann", tag="odd", problem="p", model="m", setting="s", index=1)
    append_tags(tmp_path, [on_response, TagEvent(person="ben", tag="even", problem="q")])
    tags = results.tags(tmp_path)
    assert tags.select("id", "model", "setting", "index", "tag", "person").rows() == [
        ("p", "m", "s", 1, "odd", "ann"),
        ("q", None, None, None, "even", "ben"),
    ]
    (tmp_path / "tags.jsonl").write_text("{")
    with pytest.raises(FileFormatError, match=r"tags.jsonl, line 1"):
        results.tags(tmp_path)
