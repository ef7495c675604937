"""`infer.adaptive` in the graph: who is behind is asked no more, and all looks can be replayed.

The study has 120 made-up problems and simulated models: one is good, one is near it, one is poor.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.conftest import Build
from tests.extras import require_extra
from tests.integration.small_study import MODELS, Copy, environment, make
from tests.integration.test_reruns import gold
from tests.workflows_support import until

from omibench import load_results
from omibench.explore.run import open_run
from omibench.params.setting import Cell
from omibench.plugins.allowance import allow_folder

require_extra("workflow", "dvc")

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]
LOOKED = Path("results/infer/adaptive")
LOOKS = [0.25, 0.5, 1]
PROBLEMS = 120
LAST_WORD = """
from omibench import scorer
from omibench.answers.scorers.outcome import passes_through
from omibench.schemas.verdict import Verdict


@scorer("last-word")
def score(item):
    \"\"\"Return whether the last word has the gold answer, without punctuation.\"\"\"
    if blocked := passes_through(item, "last-word", 1):
        return blocked
    word = (item.prediction.split() or [""])[-1].strip("$.{}()").replace("\\\\boxed{", "")
    verdict = float(word == "; ".join(item.gold))
    return Verdict(extracted=word, method="last", verdict=verdict, rules="last-word", version=1)
"""


def make_model(seed: int, ability: float) -> dict[str, Any]:
    oracle = "synthetic:emma-mini"
    return {"provider": "simulated", "oracle": oracle, "seed": seed, "ability": ability}


def fill(root: Path, folder: Path) -> Copy:
    study = make(root, folder / "study")
    params = {
        "study": {"name": "looked", "results": "results", "store": "store", "limit": PROBLEMS},
        "benchmark": {"name": "synthetic", "like": "emma-mini"},
        "models": {
            "good": make_model(1, 2.0), "near": make_model(2, 1.8), "poor": make_model(3, -3.0)
        },
        "settings": {"cot": {"prompt": "cot"}},
        "score": {"scorers": ["robust", "emma"]},
        "infer": {
            "models": ["good", "near", "poor"], "settings": ["cot"], "adaptive": {"looks": LOOKS}
        },
        "analyze": {"explorer": False},
    }  # fmt: skip
    study.write_params(params)
    study.commit("Looks")
    return study


@pytest.fixture
def built(build_once: Build, root: Path, tmp_path: Path) -> Copy:
    def build(folder: Path) -> None:
        fill(root, folder).run("dvc", "repro")

    return Copy(build_once("adaptive", build) / "study").copy(tmp_path / "study")


def read_looks(study: Copy) -> list[dict[str, Any]]:
    text = (study.folder / LOOKED / "looks.jsonl").read_text("utf-8")
    return [json.loads(line) for line in text.splitlines()]


def count_rows(study: Copy, model: str) -> int:
    return pl.read_parquet(study.folder / f"results/infer/{model}/cot.parquet").height


def change(study: Copy, **adaptive: object) -> None:
    params = study.params()
    params["infer"]["adaptive"] |= adaptive
    study.write_params(params)


def test_who_is_behind_is_asked_no_more_and_is_reported_apart(built: Copy) -> None:
    first, *_ = looks = read_looks(built)
    assert [look["problems"] for look in looks] == [30, 60, PROBLEMS]
    (stop,) = first["stopped"]
    assert stop["cell"] == ["poor", "cot"]
    assert stop["behind"] == first["leader"]
    rows = {model: count_rows(built, model) for model in ("good", "near", "poor")}
    assert rows == {"good": PROBLEMS, "near": PROBLEMS, "poor": 30}
    assert built.requests() == sum(rows.values())
    order = json.loads((built.folder / LOOKED / "order.json").read_text())
    assert {look["order"] for look in looks} == {order["sha256"]}
    asked = pl.read_parquet(built.folder / "results/infer/poor/cot.parquet")["id"]
    assert set(asked) == set(order["ids"][:30])
    analyze = built.folder / "results/analyze"
    (stopped,) = pl.read_csv(analyze / "tables/stopped.csv").to_dicts()
    assert (stopped["model"], stopped["n"], stopped["of"], stopped["rank"]) == (
        "poor", 30, PROBLEMS, "not first"
    )  # fmt: skip
    assert stopped["saved_requests"] == PROBLEMS - 30
    assert stopped["difference"] == pytest.approx(stop["difference"], abs=1e-6)
    assert set(pl.read_csv(analyze / "main.csv")["model"]) == {"good", "near"}
    metrics = json.loads((analyze / "metrics.json").read_text("utf-8"))
    assert metrics["poor"] == {"cot": {"stopped": {"problems": 30, "of": PROBLEMS}}}
    assert metrics["good"]["cot"]["n"] == PROBLEMS
    assert load_results(built.folder / "results").responses.filter(model="poor").height == 30
    assert Cell("poor", "cot") in open_run(built.folder / "results").cells
    accuracy = pl.read_csv(analyze / "tables/accuracy.csv", infer_schema_length=None)
    assert "poor" not in set(accuracy["model"])
    page = (analyze / "report.html").read_text("utf-8")
    assert re.search(r"stopped at 25.%, behind (good|near), cot", page)
    assert "PARTIAL" in page, "a limit of the study is still said"


def test_looks_are_replayed_from_what_is_stored(built: Copy) -> None:
    """After their loss the same, byte by byte; another scorer decides anew from the responses."""
    before, requests = (built.folder / LOOKED / "looks.jsonl").read_bytes(), built.requests()
    assert "Nothing to be done" in built.to_do()
    shutil.rmtree(built.folder / LOOKED)
    done = built.jobs("snakemake", "--cores", "2", "--forcerun", "order", "--", "infer_all")
    assert done["look"] == len(LOOKS)
    assert (built.folder / LOOKED / "looks.jsonl").read_bytes() == before
    assert built.requests() == requests
    change(built, scorer="emma")
    done = built.jobs("snakemake", "--cores", "2", "infer_all")
    assert done["look"] == len(LOOKS)
    assert {look["scorer"] for look in read_looks(built)} == {"emma"}


@pytest.mark.long
def test_a_changed_alpha_opens_cells_again_and_a_new_model_starts_at_the_first_look(
    built: Copy,
) -> None:
    requests = built.requests()
    change(built, alpha=1e-12)
    built.run("dvc", "repro")
    looks = read_looks(built)
    assert not looks[0]["stopped"], "the first look still stops at a smaller alpha"
    sizes = {stop["cell"][0]: look["problems"] for look in looks for stop in look["stopped"]}
    rows = count_rows(built, "poor")
    assert rows == sizes.get("poor", PROBLEMS) > 30
    assert built.requests() - requests == rows - 30, "a stored response was requested again"
    change(built, alpha=0.05)
    params = built.params()
    params["models"]["late"] = make_model(4, -3.0)
    params["infer"]["models"].append("late")
    built.write_params(params)
    requests = built.requests()
    built.run("snakemake", "--cores", "2", "infer_all")
    sizes = {
        stop["cell"][0]: look["problems"] for look in read_looks(built) for stop in look["stopped"]
    }
    assert count_rows(built, "late") == sizes["late"]
    assert pl.read_parquet(built.folder / LOOKED / "1/infer/late/cot.parquet").height == 30
    assert built.requests() - requests == sizes["late"], "what others had answered was asked again"


def test_a_kill_in_the_middle_of_a_look_changes_nothing(
    built: Copy, root: Path, tmp_path: Path
) -> None:
    study = fill(root, tmp_path / "killed")
    log = (tmp_path / "said.txt").open("w")
    with subprocess.Popen(
        ["snakemake", "--cores", "1", "infer_all"], cwd=study.folder,
        env=environment(study.folder), stdout=log, stderr=log, start_new_session=True,
    ) as snakemake:  # fmt: skip
        second = study.folder / LOOKED / "2" / "infer"
        until(lambda: any(second.glob("*/*.parquet")), 120, (tmp_path / "said.txt").read_text)
        os.killpg(snakemake.pid, signal.SIGKILL)
    assert not (study.folder / LOOKED / "looks-2.jsonl").exists(), "the look was over"
    study.run("snakemake", "--unlock")
    study.run("snakemake", "--cores", "2", "--rerun-incomplete", "infer_all")
    assert read_looks(study) == read_looks(built)
    assert study.requests() == built.requests()


@pytest.mark.long
def test_a_changed_gold_answer_replays_all_looks_and_asks_nothing(
    root: Path, tmp_path: Path
) -> None:
    study = make(root, tmp_path / "papers", settings=1)
    params = study.params()
    params["infer"]["adaptive"] = {"looks": [0.5, 1]}
    study.write_params(params)
    study.run("snakemake", "--cores", "2", "infer_all")
    requests = study.requests()
    gold(study)
    done = study.jobs("snakemake", "--cores", "2", "infer_all")
    assert done["look"] == 2
    assert done["score_part"] == 2 * len(MODELS)
    assert "ask" not in done, "the questions are the same"
    assert study.requests() == requests


@pytest.mark.long
def test_prompts_compete_with_several_samples_by_a_scorer_of_the_user(
    root: Path, tmp_path: Path
) -> None:
    """Cells are the candidates: one model stops under one of its settings, and goes on under
    another."""
    study = fill(root, tmp_path / "own")
    (study.folder / "mine.py").write_text(LAST_WORD)
    params = study.params()
    good, poor = params["models"]["good"], params["models"]["poor"]
    params |= {
        "plugins": ["mine.py"],
        "models": {"good": {**good, "setting_effects": {"terse": -5.0}}, "poor": poor},
        "settings": {
            "cot": {"prompt": "cot", "decoding": {"samples": 2, "temperature": 0.7}},
            "terse": {"prompt": "direct"},
        },
        "score": {"scorers": ["last-word", "robust"]},
        "infer": {
            "models": ["good", "poor"], "settings": ["cot", "terse"],
            "adaptive": {"looks": LOOKS, "scorer": "last-word"},
        },
    }  # fmt: skip
    study.write_params(params)
    allow_folder(study.folder)
    study.run("snakemake", "--cores", "2")
    looks = read_looks(study)
    assert {look["scorer"] for look in looks} == {"last-word"}
    sizes = {tuple(stop["cell"]): look["problems"] for look in looks for stop in look["stopped"]}
    assert set(sizes) == {("good", "terse"), ("poor", "cot"), ("poor", "terse")}
    for (model, setting), problems in sizes.items():
        rows = pl.read_parquet(study.folder / f"results/infer/{model}/{setting}.parquet")
        assert rows.height == problems * (2 if setting == "cot" else 1)
    leader = pl.read_parquet(study.folder / "results/score/good/cot.parquet")
    assert leader.filter(rules="last-word").height == 2 * PROBLEMS
    verdicts = pl.read_parquet(study.folder / LOOKED / "1/score/poor/cot.parquet")
    assert verdicts.height == 2 * looks[0]["problems"]
    table = pl.read_csv(study.folder / "results/analyze/tables/stopped.csv").to_dicts()
    assert {(row["model"], row["setting"]): row["n"] for row in table} == sizes
    saved = {(row["model"], row["setting"]): row["saved_requests"] for row in table}
    at = sizes["poor", "cot"]
    assert saved["poor", "cot"] == 2 * (PROBLEMS - at), "each sample is a request"
