"""What a study no longer has is not counted, and its files are listed and removed on request."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from tests.eval_logs.conftest import open_writer
from tests.results.test_same_numbers import make_sampled_study
from tests.stages.analyze.conftest import Folders, study_values
from typer.testing import CliRunner

import omibench
from command_line import app
from omibench.errors import FileFormatError, MissingInputError
from omibench.explore.run import open_run
from omibench.graph.provenance import Provenance, find_strangers, list_files, read_provenance
from omibench.params.setting import Cell
from omibench.params.study import Study, parse_study
from omibench.results.comparison.compare import compare_run_folders
from omibench.results.study_files import RECORD, StudyFiles, read_record
from omibench.results.study_record import describe_study, list_leftovers, record_study
from omibench.schemas.cells import CELL_STAGES
from omibench.schemas.tables import write_json
from omibench.study.status.reader import look

HOW = {"cot": "first", "direct": "majority", "first-image": "mean"}
CURRENT = {"cot", "first-image"}


def make_smaller() -> Study:
    """The study without the setting `direct`."""
    values: dict[str, Any] = study_values()
    for name, rule in HOW.items():
        values["settings"][name] |= {"decoding": {"samples": 4}, "aggregate": rule}
    values["infer"]["settings"] = sorted(CURRENT)
    return parse_study(values, "test")


def test_a_record_has_the_cells_of_every_stage_with_a_file_per_cell() -> None:
    assert describe_study(make_smaller()).cells.keys() == {*CELL_STAGES}


@pytest.fixture(scope="module")
def made_once(tmp_path_factory: pytest.TempPathFactory) -> Folders:
    return make_sampled_study(tmp_path_factory.mktemp("record"), HOW)


@pytest.fixture
def results(made_once: Folders, tmp_path: Path) -> Path:
    """Results of three settings, of which the parameters have two."""
    folder = shutil.copytree(made_once.freeze.parent, tmp_path / "results")
    for cell in made_once.study.cells:
        judged = folder / "judge" / cell.model / f"{cell.setting}.parquet"
        judged.parent.mkdir(parents=True, exist_ok=True)
        judged.write_bytes(b"of a block that was removed")
    record_study(make_smaller(), folder)
    return folder


def test_samples_that_are_no_longer_drawn_choose_nothing(made_once: Folders) -> None:
    """The aggregates of a setting that draws one sample now are left over."""
    values: dict[str, Any] = study_values()
    for name, rule in HOW.items():
        values["settings"][name] |= {"decoding": {"samples": 4}, "aggregate": rule}
    del values["settings"]["direct"]["decoding"], values["settings"]["direct"]["aggregate"]
    study = parse_study(values, "test")
    loaded = made_once.load(study)
    assert loaded.verdicts.filter(setting="direct")["counts"].all()
    assert not loaded.verdicts.filter(setting="cot")["counts"].all()


@pytest.mark.slow
def test_a_report_elsewhere_does_not_change_what_the_study_has(
    made_once: Folders, results: Path, tmp_path: Path
) -> None:
    before = (results / RECORD).read_bytes()
    params = made_once.study.model_dump_json(exclude_defaults=True)
    words = ["analyze", str(results), "--params", params, "--out"]
    CliRunner().invoke(app, [*words, str(tmp_path / "elsewhere")])
    assert (tmp_path / "elsewhere/report.html").is_file()
    assert (results / RECORD).read_bytes() == before


@pytest.mark.slow
def test_every_surface_has_the_current_cells_alone(
    results: Path, made_once: Folders, tmp_path: Path
) -> None:
    tables = omibench.load_results(results)
    for frame in (tables.responses, tables.verdicts, tables.aggregates):
        assert set(frame["setting"]) == CURRENT
    assert tables.judgements.is_empty()
    assert set(tables.slice("subject")["setting"]) == CURRENT
    run = open_run(results)
    assert {cell.setting for cell in run.cells} == set(run.verdicts["setting"]) == CURRENT
    assert (run.label("cot"), run.main_rules) == ("Chain of thought", "robust")
    logs = open_writer(results, tmp_path / "store").write_all(tmp_path / "logs")
    assert {log.path.stem for log in logs} == CURRENT
    comparison = compare_run_folders(made_once.freeze.parent, results)
    assert {cell.setting for cell in comparison.cells} == CURRENT
    assert {name.partition("/")[2] for name in comparison.cells_only_a} == {"direct"}
    with pytest.raises(MissingInputError, match=r"sim-weak/direct: .* it has sim-m"):
        open_writer(results, tmp_path / "store").write(Cell("sim-weak", "direct"), tmp_path / "x")


def test_a_folder_without_a_record_is_read_as_before(made_once: Folders) -> None:
    files = StudyFiles(made_once.freeze.parent)
    assert files.record is None
    assert {cell.setting for cell in files.list_cells()} == set(HOW)


def test_verdicts_are_not_counted_before_the_choice_is_known(results: Path, tmp_path: Path) -> None:
    shutil.rmtree(results / "aggregate")
    with pytest.raises(MissingInputError, match="run `omibench aggregate` for sim-middle"):
        omibench.load_results(results).verdicts  # noqa: B018
    assert set(open_run(results).verdicts["setting"]) == {"first-image"}
    (log, *_) = open_writer(results, tmp_path / "store").write_all(tmp_path / "logs")
    assert log.samples


def test_leftovers_are_listed_and_removed_on_request(results: Path) -> None:
    maps = results / "saliency" / "sim-weak" / "direct"
    maps.mkdir(parents=True)
    names = [f"sim-weak/{name}.parquet" for name in HOW]
    provenance = Provenance(files=dict.fromkeys(names, "0"), records={})
    write_json(results / "infer" / "provenance.json", provenance)
    record = read_record(results)
    assert record == describe_study(make_smaller())
    found = list_leftovers(results, record)
    expected = {f"{s}/{m}/direct.parquet" for s in ("infer", "score", "aggregate")
                for m in ("sim-strong", "sim-middle", "sim-weak")}  # fmt: skip
    expected |= {path.relative_to(results).as_posix() for path in results.glob("judge/*/*")}
    expected.add("saliency/sim-weak/direct")
    assert {path.relative_to(results).as_posix() for path in found} == expected
    shown = CliRunner().invoke(app, ["results", "leftovers", str(results)])
    assert shown.stdout.splitlines()[-1] == f"left over: {len(expected)}"
    assert maps.is_dir()
    shown = CliRunner().invoke(app, ["results", "leftovers", str(results), "--remove"])
    assert shown.stdout.splitlines()[-1] == f"removed: {len(expected)}"
    assert list_leftovers(results, record) == []
    noted = read_provenance(results / "infer")
    assert noted is not None
    assert {Path(name).stem for name in noted.files} == CURRENT
    assert not (results / "judge" / "sim-weak").exists()
    assert {cell.setting for cell in StudyFiles(results).list_cells("score")} == CURRENT


def test_a_record_of_others_names_no_folder_outside_and_hides_nothing(
    results: Path, tmp_path: Path
) -> None:
    mine = tmp_path / "mine" / "a"
    mine.mkdir(parents=True)
    (mine / "mine.parquet").write_bytes(b"")
    left = results / "judge" / "gone" / "cot.parquet"
    left.parent.mkdir(parents=True, exist_ok=True)
    left.write_bytes(b"")
    (results / "judge" / "link").symlink_to(mine, target_is_directory=True)
    up = os.path.relpath(mine.parent, results)
    record = read_record(results)
    assert record
    record = record.model_copy(update={"cells": {str(mine.parent): [], up: [], "infer": []}})
    found = list_leftovers(results, record)
    assert left in found
    assert not [path for path in found if path.name == "mine.parquet"]
    assert {path.parents[1] for path in found} <= {results / stage for stage in CELL_STAGES}


def test_the_status_names_leftovers_in_a_line(results: Path) -> None:
    study = make_smaller()
    place = study.study.model_copy(update={"results": str(results)})
    notes = look(study.model_copy(update={"study": place})).notes
    assert notes == [
        "18 files of cells that the study no longer has (`omibench results leftovers`)"
    ]


def test_a_record_is_written_once_and_repaired(results: Path) -> None:
    path = results / RECORD
    before = path.stat().st_ino
    record_study(make_smaller(), results)
    assert path.stat().st_ino == before
    path.write_text("{", "utf-8")
    with pytest.raises(FileFormatError, match=r"infer/study\.json"):
        open_run(results)
    record_study(make_smaller(), results)
    assert read_record(results) is not None


def test_a_folder_without_a_record_has_no_known_leftovers(made_once: Folders) -> None:
    shown = CliRunner().invoke(app, ["results", "leftovers", str(made_once.freeze.parent)])
    assert shown.exit_code
    assert "run the study with `omibench run` first" in str(shown.exception)


def test_the_record_is_no_result_of_a_job(tmp_path: Path) -> None:
    record_study(make_smaller(), tmp_path)
    assert find_strangers(tmp_path, ["infer"]) == []
    assert list(list_files(tmp_path / "infer")) == []
