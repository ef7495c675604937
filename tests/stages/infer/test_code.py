"""Cells whose model runs code: the loop, the store, the explorer, the plan, and what is refused."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.models.code.sandboxes import needs_sandbox
from tests.stages.infer.test_tools import Make, at, frozen, make, rows, sound, store_of

from model_server.handle import ServerHandle
from omibench.errors import ParamsError
from omibench.models.code import provider
from omibench.params.study import Study, parse_study
from omibench.stages.analyze.explorer.requests import Trail
from omibench.store.store import Store
from omibench.study.plan.build import plan_study

__all__ = ["make"]
CODE = "box = (0, 0, 80, 60)\nshow(images['image_1'].crop(box))\nprint('area', 80 * 60)"
MORE = "print(box, images['result_1'].size)"
CALLS = [
    {"name": "python", "arguments": {"code": CODE}},
    {"name": "python", "arguments": {"code": MORE}},
    {"name": "crop", "arguments": {"image": "result_1", "box": [0, 0, 1, 0.5]}},
]


@pytest.fixture(scope="module")
def server_config() -> dict[str, Any]:
    return {"replies": {"plain": {"text": "\\boxed{2}", "calls": CALLS, "says": "Look."}}}


def add_sandbox(study: Study, **sandbox: Any) -> Study:
    """The study with the tool python in its setting."""
    values = study.model_dump(mode="json", exclude_defaults=True)
    own = values["models"]["m"] if study.models["m"].is_simulated else {"provider": "python"}
    values["models"]["sandbox"] = {**own, **sandbox}
    values["settings"]["s"] = {"tools": {"by": {"python": "sandbox"}, "offered": ["crop"]}}
    return parse_study(values, "test")


@needs_sandbox
def test_code_runs_once_and_is_replayed_from_the_store(
    tmp_path: Path, make: Make, server: ServerHandle, monkeypatch: pytest.MonkeyPatch
) -> None:
    questions = frozen(tmp_path, "plain")
    study = add_sandbox(make({}, **at(server, "chat")))
    found = rows(questions, study)
    assert found["text"].to_list() == ["\\boxed{2}"]
    (steps,) = found["steps"]
    assert len(steps) == 3
    sound(study)

    def never(*_: object) -> None:
        raise AssertionError("it ran again")

    monkeypatch.setattr(provider, "run_cells", never)
    monkeypatch.setattr(provider, "find_program", never)
    assert rows(questions, study).equals(found)
    row = plan_study(study, questions).list_rows("tool")[0]
    assert (row.model, row.requests, row.stored, row.money) == ("sandbox", 2, 2, "none")

    store = store_of(study)
    trail = Trail(store, tmp_path / "results/pictures", tmp_path / "results/freeze")
    link = partial(
        trail.link_picture, page=tmp_path / "explorer/q.html", copies=tmp_path / "explorer/images"
    )
    asked, first, second, last = trail.steps([*steps, found["key"][0]], [], link)
    assert asked["calls"][0] == f"python \n{CODE}"
    assert (first["who"], first["text"], len(first["drawn"])) == ("tool python", "area 4800", 1)
    assert first["drawn"][0]["src"] is not None
    assert second["text"] == "(0, 0, 80, 60) (80, 60)"
    assert last["told"] == [
        "area 4800\nresult_1 (80 x 60 pixels).", second["text"],
        "result_2 (80 x 30 pixels): crop of result_1.",
    ]  # fmt: skip
    with Store(store) as opened:
        assert opened.images.path(first["drawn"][0]["sha256"]).is_file()


def test_a_stand_in_rehearses_code_without_running_any(
    tmp_path: Path, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    study = add_sandbox(make({}))
    found = rows(frozen(tmp_path, "plain"), study)
    assert [len(steps) for steps in found["steps"]] == [2]
    assert found["simulated"].all()
    sound(study)


def test_a_block_that_carries_out_no_such_tool_is_refused(make: Make, server: ServerHandle) -> None:
    study = make({}, **at(server, "chat"))
    with pytest.raises(ParamsError, match=r"'sandbox' does not carry out python.*provider: pyth"):
        add_sandbox(study, provider="openai", id="x")
    values = add_sandbox(study).model_dump(mode="json", exclude_defaults=True)
    values["infer"]["models"].append("sandbox")
    with pytest.raises(ParamsError, match=r"infer.models: 'sandbox' carries out tools"):
        parse_study(values, "test")
    values["settings"]["s"]["tools"]["by"] = {"pyton": "sandbox"}
    with pytest.raises(ParamsError, match="pyton"):
        parse_study(values, "test")
