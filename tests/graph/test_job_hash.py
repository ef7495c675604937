"""Slices of many jobs of one study: dumped once, and each of its own."""

from __future__ import annotations

from typing import Any

import pytest

from omibench.graph.job_hash import slice_study
from omibench.params.setting import Cell
from omibench.params.study import Study, parse_study

VALUES: dict[str, Any] = {
    "models": {f"m{n}": {"provider": "simulated", "oracle": "o", "seed": n} for n in range(3)},
    "settings": {"cot": {}, "direct": {"prompt": "direct"}},
    "infer": {"models": ["m0", "m1", "m2"], "settings": ["cot", "direct"]},
}


def test_a_study_is_dumped_once_for_all_its_jobs(monkeypatch: pytest.MonkeyPatch) -> None:
    study, dumps = parse_study(VALUES, "test"), []
    dump = Study.model_dump

    def count_dump(self: Study, **options: Any) -> dict[str, Any]:
        dumps.append(self)
        return dump(self, **options)

    monkeypatch.setattr(Study, "model_dump", count_dump)
    slices = [slice_study(study, stage, cell) for cell in study.cells for stage in ("infer",)]
    assert len(dumps) == 1
    assert [[*part["models"]] for part in slices] == [[cell.model] for cell in study.cells]


def test_a_changed_slice_changes_no_other_and_another_study_has_its_own() -> None:
    study, cell = parse_study(VALUES, "test"), Cell("m1", "direct")
    first = slice_study(study, "infer", cell)
    whole = slice_study(study, "infer", cell)
    first["models"]["m1"]["seed"] = 99
    first["settings"]["direct"]["prompt"] = "other"
    assert slice_study(study, "infer", cell) == whole
    models = VALUES["models"] | {"m1": VALUES["models"]["m1"] | {"seed": 7}}
    other = parse_study(VALUES | {"models": models}, "test")
    assert slice_study(other, "infer", cell)["models"]["m1"]["seed"] == 7
    assert slice_study(study, "infer", cell) == whole
