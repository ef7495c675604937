"""Where a study lies: no two share a log, and experiments share the project's store."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from omibench.graph.job_hash import slice_study
from omibench.params.roles import Role, field_roles
from omibench.params.runtime import (
    RUNTIME_ENV,
    dump_runtime,
    log_folder,
    merge_runtime,
    store_folder,
)
from omibench.params.setting import Cell
from omibench.params.study import Study, parse_study, parse_study_file


@pytest.mark.parametrize(
    ("results", "logs"),
    [
        ("results", "logs"),
        ("results/", "logs"),
        ("results/emma", "logs/emma"),
        ("out", "logs/out"),
        ("out/emma", "logs/out/emma"),
        ("../elsewhere/out", "logs/elsewhere/out"),
        ("/data/out", "logs/data/out"),
    ],
)
def test_each_study_has_logs_of_its_own_below_logs(results: str, logs: str) -> None:
    assert log_folder(results) == logs


def test_an_experiment_uses_the_store_of_the_project(tmp_path: Path) -> None:
    copy = tmp_path / ".dvc/tmp/exps/tmpab12"
    copy.mkdir(parents=True)
    assert store_folder("store", tmp_path) == "store"
    assert store_folder("store", copy) == str(tmp_path.resolve() / "store")
    assert store_folder("deep/store", copy) == str(tmp_path.resolve() / "deep/store")
    assert store_folder("/shared/store", copy) == "/shared/store"


def study_with(**own: Any) -> Study:
    values: dict[str, Any] = {
        "study": {"name": "test", "store": own.pop("store", "store")},
        "models": {
            "api": {"provider": "openai", "id": "x", **own},
            "local": {"provider": "transformers", "id": "y"},
        },
        "settings": {"cot": {}},
        "infer": {"models": ["api", "local"], "settings": ["cot"]},
    }
    return parse_study(values, "test")


@pytest.mark.parametrize(
    "own",
    [
        {"limits": {"concurrency": 4, "requests_per_minute": 10.0}},
        {"price": {"input": 1.0, "output": 2.0, "as_of": "2026-11-21"}},
        {"base_url": "http://127.0.0.1:1/v1", "key_env": "OTHER_KEY"},
        {"batch": True},
        {"label": "Other", "group": "Others"},
        {"can": {"images": 3, "image_mb": 5.0, "samples": True}},
        {"store": "elsewhere"},
    ],
)
def test_how_a_model_is_reached_triggers_no_job_and_reaches_every_job(
    own: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    plain, changed = study_with(), study_with(**own)
    cell = Cell("api", "cot")
    assert slice_study(plain, "infer", cell) == slice_study(changed, "infer", cell)
    values = changed.model_dump(mode="json", exclude_defaults=True)
    monkeypatch.setenv(RUNTIME_ENV, dump_runtime(values, Path("/work")))
    job = parse_study_file(json.dumps(slice_study(changed, "infer", cell)))
    assert job.study.store == changed.study.store
    for key, role in field_roles(type(job.models["api"])).items():
        if role is not Role.DISPLAY:
            assert getattr(job.models["api"], key) == getattr(changed.models["api"], key), key
    assert list(job.models) == ["api"]


@pytest.mark.parametrize("stage", ["filter", "rationale", "infer", "score", "judge", "saliency"])
def test_the_name_of_a_study_triggers_the_report_alone_and_reaches_every_job(
    stage: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    values = study_with().model_dump(mode="json", exclude_defaults=True)
    values |= {"rationale": {"writer": "api"}, "score": {"judge": "api"}}
    values |= {"judge": {"quality": "api"}}
    plain = parse_study(values, "test")
    renamed = parse_study({**values, "study": {"name": "renamed"}}, "test")
    cell = Cell("api", "cot")
    given = slice_study(renamed, stage, cell)
    assert given == slice_study(plain, stage, cell)
    own = renamed.model_dump(mode="json", exclude_defaults=True)
    monkeypatch.setenv(RUNTIME_ENV, dump_runtime(own, Path("/work")))
    assert parse_study_file(json.dumps(given)).study.name == "renamed"
    assert slice_study(plain, "analyze") != slice_study(renamed, "analyze")


def test_outside_of_snakemake_a_slice_is_all_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(RUNTIME_ENV, raising=False)
    assert merge_runtime({"models": {}}) == {"models": {}}
