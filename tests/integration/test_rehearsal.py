"""A ready-made study rehearsed by one command: whole graph, no key, no data, all of it marked."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from tests.conftest import Build
from tests.integration.conftest import fill_checkout, runner

from omibench.schemas.tables import FrozenManifest, ResponseRow, read_parquet, read_typed_json

pytestmark = [pytest.mark.slow, pytest.mark.long, pytest.mark.timeout(900)]

NARROWED = """\
infer: {models: [gpt-4o, o1], settings: [cot, best-of-8]}
settings:
  best-of-8: {decoding: {samples: 2}, aggregate: {k: []}}
analyze: {explorer: false}
"""


@pytest.fixture(scope="module")
def results(build_once: Build, root: Path) -> Path:
    def fill(folder: Path) -> None:
        (fill_checkout(root, folder) / "narrowed.yaml").write_text(NARROWED)
        files = ["--configfile", "studies/emma_mini.yaml", "narrowed.yaml"]
        runner(folder)("snakemake", "--cores", "2", *files, "--config", "simulated=true")

    return build_once("rehearsal", fill) / "results/emma-mini-simulated"


def test_it_is_of_full_size_and_made_up(results: Path) -> None:
    manifest = read_typed_json(results / "freeze/manifest.json", FrozenManifest)
    assert (manifest.problems, manifest.synthetic) == (400, "synthetic:emma-mini")
    rows = read_parquet(results / "infer/gpt-4o/best-of-8.parquet", ResponseRow)
    assert rows.height == 800
    assert rows["simulated"].all()


def test_stand_ins_come_near_the_printed_accuracies(results: Path) -> None:
    table = pl.read_csv(results / "analyze/main.csv").filter(
        pl.col("subject") == "total", pl.col("rules") == "emma", pl.col("setting") == "cot"
    )
    found = dict(table.select("label", "acc").iter_rows())
    assert found["GPT-4o"] == pytest.approx(0.36, abs=0.08)
    assert found["o1"] == pytest.approx(0.4575, abs=0.08)


def test_the_headline_says_both_and_the_real_store_stays_empty(results: Path) -> None:
    headline = (results / "analyze/headline.txt").read_text("utf-8")
    assert headline.startswith("[SIMULATED] On made-up problems (synthetic:emma-mini)")
    assert not (results.parents[1] / "store").exists()
    assert (results.parents[1] / "store-simulated").is_dir()
