"""A new model answers a sample; the earlier results of others estimate its accuracy over all."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from tests.extras import require_extra
from tests.integration.test_adaptive import fill, make_model

require_extra("workflow", "snakemake")

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]
ALL, SAMPLE = 400, 100


def test_a_sample_is_completed_by_what_others_answered_before(root: Path, tmp_path: Path) -> None:
    study = fill(root, tmp_path / "sampled")
    params = study.params()
    params["score"]["scorers"] = ["robust"]
    params["study"] |= {"results": "results-full", "limit": None}
    params["infer"] = {"models": ["good", "near", "poor"], "settings": ["cot"]}
    study.write_params(params)
    study.run("snakemake", "--cores", "2", "score_all")
    assert study.requests() == 3 * ALL
    params["study"] |= {"results": "results", "limit": {"sample": SAMPLE, "seed": 1}}
    params["models"]["new"] = make_model(5, 0.0)
    params["infer"]["models"] = ["near", "new"]
    params["analyze"] |= {"full_results": "results-full"}
    study.write_params(params)
    study.run("snakemake", "--cores", "2")
    assert study.requests() == 3 * ALL + SAMPLE, "an earlier model was asked again"
    analyze = study.folder / "results/analyze"
    rows = {row["model"]: row for row in pl.read_csv(analyze / "tables/sampled.csv").to_dicts()}
    assert {model: row["others"] for model, row in rows.items()} == {"near": 2, "new": 3}
    assert {(row["n"], row["of"]) for row in rows.values()} == {(SAMPLE, ALL)}
    truth = pl.read_parquet(study.folder / "results-full/score/near/cot.parquet")["verdict"].mean()
    near = rows["near"]
    assert near["low"] < truth < near["high"]
    assert near["estimate"] != near["plain"], "the other models said nothing"
    main = pl.read_csv(analyze / "main.csv").filter(model="near", subject="total")
    assert set(main["n"]) == {SAMPLE}, "the leaderboard is of the sample"
    assert "Estimates over all problems" in (analyze / "report.html").read_text("utf-8")
    assert "Nothing to be done" in study.to_do()
    (study.folder / "results-full/score/poor/cot.parquet").unlink()
    assert study.jobs("snakemake", "--cores", "2") == {"analyze": 1}
    rows = {row["model"]: row for row in pl.read_csv(analyze / "tables/sampled.csv").to_dicts()}
    assert {model: row["others"] for model, row in rows.items()} == {"near": 1, "new": 2}
