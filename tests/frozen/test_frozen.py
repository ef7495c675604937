"""What was written for version 0.1 runs unchanged: a package of plug-ins, a file, a script.

The folder holds them as users wrote them: they are not changed with the project.
"""

from __future__ import annotations

import importlib
import json
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from PIL import Image
from tests.conftest import Build
from tests.examples.test_plugin import install
from tests.integration.conftest import fill_checkout, runner

HERE = Path(__file__).parent
COLUMNS = {
    "columns": [
        "answer_type", "cost_usd", "counts", "credit", "extracted", "finish_reason", "gold",
        "group", "id", "index", "input_tokens", "judge", "judge_key", "key", "language",
        "latency_s", "literal", "method", "model", "n_images", "outcome", "output_tokens",
        "prompt_sha256", "ratio", "responded_simulated", "response_outcome", "rules", "setting",
        "simulated", "strict", "subject", "text", "verdict", "version",
    ],
    "main": [
        "model", "label", "group", "setting", "rules", "subject", "n", "acc", "lo", "hi", "n_eff",
        "responses", "failures", "acc_failures_wrong", "acc_failures_right", "credit", "corrected",
        "corrected_lo", "corrected_hi", "calibrated", "simulated", "judge_simulated", "ratio",
        "strict", "strict_lo", "strict_hi",
    ],
    "accuracy": [
        "result", "model", "setting", "rules", "dataset", "slice", "value", "metric", "estimate",
        "low", "high", "n", "clusters", "simulated", "n_eff",
    ],
    "slice": [
        "result", "model", "setting", "rules", "dataset", "slice", "value", "metric", "estimate",
        "low", "high", "n", "clusters", "simulated", "cells",
    ],
}  # fmt: skip
NAMES = {
    "omibench.errors": [
        "OmibenchError",
        "PluginError",
        "ParamsError",
        "MissingInputError",
        "FileFormatError",
        "ModelError",
    ],
    "omibench.schemas.problem": ["Question", "Answer", "Choice", "Figure"],
    "omibench.schemas.request": [
        "Request",
        "Response",
        "Usage",
        "Conversation",
        "Message",
        "TextPart",
        "ImagePart",
    ],
    "omibench.schemas.verdict": ["ScoredItem", "Verdict"],
    "omibench.scorers.registry": ["scorer"],
    "omibench.scorers.outcome": ["passes_through", "make_failed_verdict", "find_finish_reason"],
    "omibench.answers.extraction.failures": ["failure"],
    "omibench.text.boxes": ["find_boxes"],
    "omibench.text.visible": ["drop_hidden_text"],
    "omibench.settings.registry": ["prompt", "condition", "Pictures", "Shown"],
    "omibench.settings.templates": ["Prompt", "QUESTION", "CHOICES"],
    "omibench.settings.conditions": ["place_where_marked"],
    "omibench.models.registry": ["provider", "Folders"],
    "omibench.models.provider": ["BaseProvider", "Budget", "NO_BUDGET"],
    "omibench.models.sequential": ["SequentialProvider"],
    "omibench.params.models.base": ["Model", "ModelBlock", "ServedModel"],
    "omibench.params.roles": ["Runtime", "Display"],
    "omibench.params.benchmark": ["BenchmarkParams"],
    "omibench.datasets.registry": ["benchmark"],
    "omibench.datasets.generators.registry": ["generator", "Draft", "Drawing"],
    "omibench.datasets.dataset": ["Dataset"],
    "omibench.datasets.found": ["Found"],
    "omibench.datasets.rows": ["typed_rows", "the_file", "naming"],
    "omibench.judges.registry": ["judge"],
    "omibench.judges.instrument": ["Instrument", "make_instrument"],
    "omibench.judges.scales": ["NumberScale", "LabelScale"],
    "omibench.judges.case": [
        "JudgeCase",
        "question_section",
        "gold_section",
        "reference_section",
        "response_section",
    ],
    "omibench.params.panel": ["JudgePanel"],
    "omibench.stages.ocr.engines.registry": ["engine"],
    "omibench.stages.ocr.engines.engine": ["Pixels", "Reading"],
    "omibench.stages.filter.reasons.registry": ["reason"],
    "omibench.stages.filter.candidate": ["Case"],
    "omibench.stages.analyze.sections.section": [
        "section",
        "ReportSection",
        "ReportTable",
        "ReportFigure",
    ],
    "omibench.stages.analyze.analysis": ["Analysis"],
    "omibench.stages.analyze.results.result": ["result"],
    "omibench.stages.analyze.figures.figure": ["figure"],
    "omibench.results.grouped": ["average_samples", "estimate_groups", "compare_groups"],
}


@pytest.mark.parametrize("module", NAMES)
def test_plug_ins_can_import_what_they_imported(module: str) -> None:
    found = importlib.import_module(module)
    assert [name for name in NAMES[module] if not hasattr(found, name)] == []


@pytest.mark.slow
def test_a_study_with_one_plug_in_of_each_kind_runs(tmp_path: Path) -> None:
    site, study = tmp_path / "site", tmp_path / "study"
    install(HERE / "plugin", site)
    path = os.pathsep.join([str(site), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = {**os.environ, "PYTHONPATH": path}

    def run(*words: str, folder: Path) -> str:
        command = [sys.executable, "-P", "-m", "omibench", *words]
        done = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout + done.stderr

    run("init", str(study), "--benchmark", "folder", folder=tmp_path)
    for file in ("params.yaml", "single_file.py"):
        shutil.copy(HERE / "plugin" / file, study)
    (study / "data").mkdir(exist_ok=True)
    (study / "data/moons.csv").write_text(
        "planet,moons,picture\nMars,2,mars.png\nVenus,0,venus.png\n"
    )
    for planet in ("mars", "venus"):
        Image.new("RGB", (8, 8)).save(study / f"data/{planet}.png")
    run("run", "--cores", "1", folder=study)
    analyze = study / "results/analyze"
    hardest = pl.read_parquet(analyze / "tables/hardest-items.parquet")
    assert hardest.height == 2
    assert (analyze / "figures/hardest-items-bars.svg").is_file()
    assert pl.read_csv(analyze / "settings-per-model.csv").rows() == [("polly", 2)]
    main = pl.read_csv(analyze / "main.csv")
    assert set(main["rules"]) == {"within-a-percent", "first-letter"}
    judged = pl.read_parquet(study / "results/judge/polly/letter.parquet")
    assert set(judged["instrument"]) == {"units"}


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_script_of_the_guide_runs(build_once: Build, root: Path, tmp_path: Path) -> None:
    study = build_once(
        "sample", lambda folder: runner(fill_checkout(root, folder))("snakemake", "--cores", "2")
    )
    earlier = shutil.copytree(study / "results", tmp_path / "earlier")
    run = runner(study)
    words = (str(study / "results"), str(earlier), "params.yaml")
    values: dict[str, Any] = json.loads(run(sys.executable, str(HERE / "script.py"), *words).stdout)
    for name, columns in COLUMNS.items():
        assert set(columns) <= set(values[name]), name
    assert values["frames"] == {
        "problems": 38, "responses": 342, "judgements": 283, "aggregates": 0, "saliency": 0,
    }  # fmt: skip
    assert values["estimate"][:1] == [pytest.approx(0.6052631578947368)]
    assert values["estimate"][3] == values["pair"][3] == values["many"][3] == 38
    assert values["pair"][0] == pytest.approx(0.07894736842105263)
    assert values["many"][0] == pytest.approx(-0.05263157894736842)
    assert [values[key] for key in ("cells", "score", "scores", "own", "parts", "changes")] == [
        9, 1.0, [1.0, 0.0], 1.0, [False, "part 1: missing", 0.5, 2], 0,
    ]  # fmt: skip
    assert values["names"] == [True, True]
    assert values["picture"]
    assert values["text"]
    assert values["plan"].startswith("Plan of the study 'mine'")
    pairs = run(sys.executable, str(HERE / "compare_models.py"), "results").stdout.splitlines()
    assert len(pairs) == 3
    assert pairs[0].startswith("sim-apex - sim-bravo: ")


def test_the_frozen_package_brings_one_part_of_each_kind() -> None:
    project = tomllib.loads((HERE / "plugin/pyproject.toml").read_text("utf-8"))["project"]
    assert len(project["entry-points"]) == 11
