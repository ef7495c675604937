"""Records of Snakemake are found under the names that Snakemake gives them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from omibench.graph.provenance import list_recorded_paths, read_record, write_record

LONG = "results/infer/" + "m" * 200 + "/setting.parquet"


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("path", ["results/infer/a/b.parquet", "results/é.txt", LONG])
def test_a_record_is_found_again_under_its_path(path: str) -> None:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).touch()
    assert read_record(path) is None
    write_record(path, {"rule": "infer", "params": ["'x'"], "record_format_version": 6})
    assert list_recorded_paths() == {path}
    found = read_record(path)
    assert found == {"rule": "infer", "params": ["'x'"], "record_format_version": 6}


@pytest.mark.parametrize("path", ["results/infer/a/b.parquet", LONG])
def test_snakemake_reads_what_is_written(path: str, tmp_path: Path) -> None:
    persistence = pytest.importorskip("snakemake.persistence.file")
    Path(path).parent.mkdir(parents=True)
    Path(path).touch()
    write_record(path, {"rule": "infer", "params": ["'x'"], "record_format_version": 6})
    theirs = persistence.FilePersistence(nolock=True)
    record = theirs._read_record(path)
    assert record is not None
    assert (record.rule, record.params, record.record_format_version) == ("infer", ["'x'"], 6)


def test_what_concerns_one_run_stays_at_home_and_damage_is_no_record() -> None:
    Path("results").mkdir()
    Path("results/a").touch()
    write_record("results/a", {"rule": "x"})
    (file,) = Path(".snakemake/metadata").iterdir()
    assert json.loads(file.read_text())["endtime"] > 0
    assert read_record("results/a") == {"rule": "x"}
    file.write_text("{")
    assert read_record("results/a") is None


def test_a_job_that_was_begun_counts_as_known() -> None:
    Path("results").mkdir()
    Path("results/a").touch()
    write_record("results/a", {"rule": "x"})
    Path(".snakemake/metadata").rename(".snakemake/incomplete")
    assert list_recorded_paths() == {"results/a"}
