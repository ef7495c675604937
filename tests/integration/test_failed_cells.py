"""A model that nobody answers for ends the run with a failure, and never leads a report."""

from __future__ import annotations

import json
import socket
from pathlib import Path

import pytest
from tests.integration.small_study import Copy, make

pytestmark = [pytest.mark.slow, pytest.mark.long]


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory, root: Path) -> Copy:
    """One simulated model, and one behind an address where nothing listens."""
    study = make(root, tmp_path_factory.mktemp("cells") / "study", models=1, settings=1)
    params = study.params()
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
    params["models"]["away"] = {
        "provider": "openai", "id": "away", "base_url": f"http://127.0.0.1:{port}/v1",
        "key_env": "TEST_KEY", "limits": {"attempts": 1, "timeout_s": 2, "outage_s": 2},
    }  # fmt: skip
    params["infer"]["models"] = ["away", "sim-a"]
    study.write_params(params)
    return study


@pytest.mark.timeout(600)
def test_a_cell_without_an_answer_is_a_failed_job_and_missing_in_a_report(study: Copy) -> None:
    build = ("snakemake", "--cores", "2", "--keep-going")
    said = study.run(*build, "--quiet", ok=False, TEST_KEY="sk-test")
    assert "infer away/cot: " in said
    assert "nothing listens there" in said
    assert "To retry failed jobs and continue:" in said
    assert "logs/infer/away/cot.log" in said
    assert not (study.folder / "results/infer/away/cot.parquet").exists()
    assert not (study.folder / "results/analyze/report.html").exists()
    assert (study.folder / "results/score/sim-a/cot.parquet").exists()
    status = json.loads(study.run("omibench", "status", "--json"))
    assert [failure["job"] for failure in status["failures"]] == ["infer away/cot"]
    assert status["run"]["state"] == "failed"
    states = {c["model"]: (c["infer"], c["score"]) for c in status["cells"]}
    assert states == {"away": ("failed", "waiting"), "sim-a": ("done", "done")}
    assert status["go_on"] == "snakemake --cores 2 --keep-going --quiet"
    headline = study.run("omibench", "analyze", "results", "--out", "report")
    first = headline.splitlines()[0]
    # The only cell that is left is no leader, and it is the one that the headline is about.
    assert first.startswith("[SIMULATED] Bravo (SIMULATED) · cot has ")
    assert "1 cell is missing, without responses or verdicts: away/cot." in first
    metrics = json.loads((study.folder / "report/metrics.json").read_text("utf-8"))
    assert metrics["away"] == {"cot": {"missing": True}}
    # Without the cell, a quiet run ends well and says nothing of its jobs.
    params = study.params()
    params["infer"]["models"] = ["sim-a"]
    study.write_params(params)
    for _ in range(2):
        said = study.run("snakemake", "--cores", "2", "--quiet")
        assert "To retry failed jobs" not in said
        assert "Finished jobid" not in said
    status = json.loads(study.run("omibench", "status", "--json"))
    assert {cell["infer"] for cell in status["cells"]} == {"done"}
