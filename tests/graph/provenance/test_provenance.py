"""What is kept beside results names every change to them, and goes when they are rebuilt."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from omibench.errors import FileFormatError, MissingInputError, ParamsError
from omibench.graph.provenance import (
    NAME,
    adopt,
    find_strangers,
    forget,
    list_differences,
    list_recorded_paths,
    read_provenance,
    read_record,
    record_stage,
    write_record,
)
from omibench.graph.trust import adopt_strangers, check_files

RESULTS = Path("results")
FOLDER = RESULTS / "score"
RECORD = {"rule": "score", "params": ["'{}'"]}


@pytest.fixture(autouse=True)
def made_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two files of a stage, of which Snakemake knows one; the other lies beside it."""
    monkeypatch.chdir(tmp_path)
    FOLDER.mkdir(parents=True)
    (FOLDER / "a.parquet").write_bytes(b"1")
    (FOLDER / "notes.csv").write_bytes(b"2")
    write_record("results/score/a.parquet", RECORD)


def move_away() -> None:
    """As after a clone: results without `.snakemake`."""
    shutil.rmtree(".snakemake")


def test_what_was_made_here_is_no_stranger_and_what_came_from_elsewhere_is() -> None:
    assert find_strangers(RESULTS, ["score", "infer"]) == []
    record_stage(RESULTS, "score")
    assert find_strangers(RESULTS, ["score"]) == []
    move_away()
    assert find_strangers(RESULTS, ["score"]) == ["score"]
    assert check_files(RESULTS, ["score"]) == []
    assert adopt_strangers(RESULTS, ["score"]) == ["score"]
    assert find_strangers(RESULTS, ["score"]) == []
    assert read_record("results/score/a.parquet") == RECORD


def test_results_without_any_record_are_strangers_that_cannot_be_adopted() -> None:
    move_away()
    assert find_strangers(RESULTS, ["score"]) == ["score"]
    (found,) = check_files(RESULTS, ["score"])
    assert NAME in found.description
    assert adopt_strangers(RESULTS, ["score"]) == []
    with pytest.raises(MissingInputError, match="the origin of its 2 files is unknown"):
        record_stage(RESULTS, "score")


@pytest.mark.parametrize("name", ["a.parquet", "notes.csv"])
@pytest.mark.parametrize("text", [b"3", None])
def test_every_changed_or_missing_file_is_named(name: str, text: bytes | None) -> None:
    known = record_stage(RESULTS, "score")
    assert list_differences(FOLDER, known) == []
    (FOLDER / name).unlink()
    if text:
        (FOLDER / name).write_bytes(text)
    found = list_differences(FOLDER, known)
    assert found[0] == (name, "has changed since it was made" if text else "is missing")


def test_another_revision_is_a_stranger_until_it_is_adopted() -> None:
    record_stage(RESULTS, "score")
    first = (FOLDER / NAME).read_bytes()
    (FOLDER / "a.parquet").write_bytes(b"newer")
    write_record("results/score/a.parquet", {"rule": "score", "params": ["'new'"]})
    record_stage(RESULTS, "score")
    (FOLDER / "a.parquet").write_bytes(b"1")
    (FOLDER / NAME).write_bytes(first)
    assert find_strangers(RESULTS, ["score"]) == ["score"]
    known = read_provenance(FOLDER)
    assert known is not None
    adopt(FOLDER, known)
    assert read_record("results/score/a.parquet") == RECORD
    assert find_strangers(RESULTS, ["score"]) == []


def test_a_run_forgets_the_stages_that_it_makes_anew_and_no_other() -> None:
    record_stage(RESULTS, "score")
    record_stage(RESULTS, "infer")
    forget(RESULTS, ["results/score/a.parquet", "elsewhere/x", "results/top.txt"])
    assert not (FOLDER / NAME).exists()
    assert (RESULTS / "infer" / NAME).exists()
    assert find_strangers(RESULTS, ["score", "infer"]) == []
    assert "results/score/a.parquet" in list_recorded_paths()


def test_a_stage_without_results_is_recorded_as_empty() -> None:
    assert record_stage(RESULTS, "judge").files == {}
    assert find_strangers(RESULTS, ["judge"]) == []


def test_what_is_no_stage_is_not_recorded() -> None:
    with pytest.raises(ParamsError, match="'scores' is not a stage; did you mean 'score'"):
        record_stage(RESULTS, "scores")
    assert not (RESULTS / "scores").exists()


def test_the_same_results_have_the_same_provenance() -> None:
    record_stage(RESULTS, "score")
    first = (FOLDER / NAME).read_bytes()
    write_record("results/score/a.parquet", RECORD)
    record_stage(RESULTS, "score")
    assert (FOLDER / NAME).read_bytes() == first


@pytest.mark.parametrize("text", ["{", "[]", '{"version": 1}'])
def test_a_damaged_provenance_is_one_clear_line(text: str) -> None:
    (FOLDER / NAME).write_text(text)
    with pytest.raises(FileFormatError, match="cannot be read"):
        read_provenance(FOLDER)
