"""Another picture makes another request, and of no other problem's."""

from __future__ import annotations

from pathlib import Path
from shutil import rmtree

from tests.settings.problems import png

from omibench.params.setting import Setting
from omibench.params.study import parse_study
from omibench.settings.steps import Task, requests_next
from omibench.settings.tasks import load_questions
from omibench.stages.freeze import freeze_dataset
from omibench.store.key import request_key


def freeze(folder: Path) -> None:
    """Two problems with a picture each, from the files in `folder`."""
    rows = ["id,question,answer,images", "one,See [IMAGE0],a,one.png", "two,See [IMAGE0],b,two.png"]
    (folder / "problems.csv").write_text("\n".join(rows), "utf-8")
    rmtree(folder / "freeze", ignore_errors=True)  # no content takes another's place by itself
    study = parse_study({"benchmark": {"name": "folder"}, "data": str(folder)}, "test")
    freeze_dataset(None, folder / "freeze", study)


def keys(folder: Path, setting: Setting) -> list[str]:
    """The keys of what is asked first about each problem."""
    freeze(folder)
    tasks = [
        Task(question, setting, folder / "freeze")
        for question in load_questions(folder / "freeze" / "questions.jsonl")
    ]
    asked = [requests_next(task, [], "s", "") for task in tasks]
    return [request_key({"provider": "any"}, r) for first in asked for _, r in first]


def test_a_changed_picture_is_another_request(tmp_path: Path) -> None:
    settings = [Setting(), Setting.model_validate({"images": "occluded"})]
    (tmp_path / "two.png").write_bytes(png("two"))
    found = []
    for name in ("one", "another"):
        (tmp_path / "one.png").write_bytes(png(name))
        found.append([keys(tmp_path, setting) for setting in settings])
    before, after = found
    assert before[0][0] != after[0][0]
    assert [pair[1] for pair in before] == [pair[1] for pair in after]
