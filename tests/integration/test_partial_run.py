"""A study over a part of its problems, and then over all: nothing is bought twice."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.integration.small_study import make

pytestmark = [pytest.mark.slow, pytest.mark.long]

PART, ALL = 3, 8


@pytest.mark.timeout(600)
def test_from_a_partial_run_to_the_whole_study(tmp_path: Path, root: Path) -> None:
    study = make(root, tmp_path / "study", models=1, settings=1)
    params = study.params()
    params["study"]["limit"] = {"sample": PART, "seed": 4}
    study.write_params(params)
    study.run("snakemake", "--cores", "2")
    metrics = study.folder / "results/analyze/metrics.json"
    assert study.requests() == PART
    assert len(study.questions()) == ALL, "the frozen dataset stays whole"
    entry = json.loads(metrics.read_text("utf-8"))["sim-a"]["cot"]
    assert (entry["n"], entry["partial"]) == (PART, {"of": ALL, "problems": PART})
    headline = (study.folder / "results/analyze/headline.txt").read_text("utf-8")
    assert headline.startswith("[PARTIAL RUN] [SIMULATED] On a part of the dataset, 3 of 8")
    del params["study"]["limit"]
    study.write_params(params)
    again = study.jobs("snakemake", "--cores", "2")
    assert again == {"infer": 1, "score": 1, "analyze": 1}
    assert study.requests() == ALL
    assert "partial" not in json.loads(metrics.read_text("utf-8"))["sim-a"]["cot"]
    said = study.run("snakemake", "-n", "--config", "study={limit: 2}")
    assert "infer" in said
