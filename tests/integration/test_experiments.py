"""What DVC's people expect: diffs, the graph, plots, and queued experiments that buy once."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from tests.conftest import Build
from tests.extras import require_extra
from tests.integration.small_study import Copy, built_by_dvc

require_extra("workflow", "dvc")

pytestmark = [pytest.mark.slow, pytest.mark.long]

PROBLEMS = 8
TEMPERATURE = "settings.direct.decoding.temperature"


@pytest.fixture(scope="module")
def study(build_once: Build, root: Path) -> Copy:
    """One model under two settings, built and committed."""
    folder = build_once("by-dvc", lambda folder: built_by_dvc(folder, root))
    return Copy(folder / "study")


@pytest.mark.timeout(900)
def test_a_queue_of_experiments_uses_the_store_of_the_project(study: Copy, tmp_path: Path) -> None:
    here = study.copy(tmp_path / "study")
    assert here.requests() == 2 * PROBLEMS
    here.run("dvc", "exp", "run", "--queue", "-S", f"{TEMPERATURE}=0.7,0.8")
    said = here.run("dvc", "exp", "run", "--run-all")
    # Two settings of which one changed, twice: what stays is neither made nor bought again.
    assert here.requests() == 4 * PROBLEMS, said
    shown = json.loads(here.run("dvc", "exp", "show", "--json"))
    (head,) = [row for row in shown if row["rev"] != "workspace"]
    values = {
        one["revs"][0]["data"]["params"]["params.yaml"]["data"]["settings"]["direct"]["decoding"][
            "temperature"
        ]
        for one in head["experiments"]
    }
    assert values == {0.7, 0.8}
    assert here.run("git", "status", "--short") == ""
    assert "Nothing to be done" in here.to_do()

    # An experiment that is taken over is believed, and runs nothing.
    name = head["experiments"][0]["name"]
    here.run("dvc", "exp", "apply", name)
    here.run("omibench", "trust")
    assert "Nothing to be done" in here.to_do()
    assert here.requests() == 4 * PROBLEMS


@pytest.mark.timeout(900)
def test_diffs_tell_what_a_parameter_did(study: Copy, tmp_path: Path) -> None:
    here = study.copy(tmp_path / "study")
    assert "infer" in here.run("dvc", "dag")
    params = here.params()
    params["settings"]["direct"]["decoding"]["temperature"] = 0.9
    params["models"]["sim-a"]["ability"] = 5.0
    here.write_params(params)
    found = json.loads(here.run("dvc", "params", "diff", "--json"))["params.yaml"]
    assert found[TEMPERATURE] == {"old": 0.0, "new": 0.9, "diff": 0.9}
    here.run("dvc", "repro")
    metrics = json.loads(here.run("dvc", "metrics", "diff", "--json"))
    ((_, moved),) = metrics.items()
    assert moved["sim-a.direct.acc"]["diff"] > 0
    here.run("dvc", "plots", "diff", "--out", "plots")
    page = (here.folder / "plots/index.html").read_text("utf-8")
    assert "sim-a" in page
    assert "Accuracy by setting" in page
    assert not re.search(r"<script[^>]+src=", page), "nothing is fetched"
