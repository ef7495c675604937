"""A study of one's own: a folder made by `omibench init`, away from the repository."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import yaml
from tests.integration.small_study import Copy

from omibench.models.synthetic.profiles import Made

PROBLEMS = 4
PEOPLE = "mine/people.csv"


class OwnStudy(Copy):
    """The study; programs run the source of this checkout."""

    def run(self, *command: str, ok: bool = True, **more: str) -> str:
        """What a program says in the folder of the study."""
        source = str(Path(__file__).parents[2] / "src")
        return super().run(*command, ok=ok, **{"PYTHONPATH": source, **more})

    def manifest(self) -> dict[str, Any]:
        """The frozen dataset's manifest."""
        text = (self.folder / "results/freeze/manifest.json").read_text("utf-8")
        found: dict[str, Any] = json.loads(text)
        return found

    def own(self, folder: Path) -> OwnStudy:
        """The same, elsewhere."""
        return OwnStudy(self.copy(folder).folder)


def make_own(folder: Path, seed: int = 0) -> OwnStudy:
    """Make a study by `omibench init` and give it simulated models and a file of its own."""
    study = OwnStudy(folder)
    folder.mkdir(parents=True, exist_ok=True)
    study.run("omibench", "init", "study", "--benchmark", "usnco-v")
    study = OwnStudy(folder / "study")
    params = study.params()
    params.pop("data")
    params["study"]["limit"] = {"n": PROBLEMS}
    params["benchmark"] = {"name": "synthetic", "like": "usnco-v"}
    oracle = str(Made("usnco-v", 0))
    params["models"] = {"sim": {"provider": "simulated", "oracle": oracle, "seed": seed}}
    params["infer"] = {"models": ["sim"], "settings": ["cot", "direct"]}
    params["score"] = {"scorers": ["robust"]}
    params["analyze"] = {"explorer": False}
    study.write_params(params)
    dvc = study.folder / "dvc.yaml"
    lines = dvc.read_text("utf-8").splitlines(keepends=True)
    dvc.write_text("".join(line for line in lines if "data/usnco-v" not in line))
    return study


def add_people(study: OwnStudy) -> None:
    """Name a file of people's answers in the parameters, as a user does later."""
    (study.folder / "mine").mkdir()
    (problem, *_) = study.questions()
    row = f"ana,expert,{problem['id']},A,60,true\n"
    (study.folder / PEOPLE).write_text(f"person,group,problem,answer,seconds,simulated\n{row}")
    params = study.params()
    params["analyze"]["people"] = PEOPLE
    study.write_params(params)


def init_dvc(study: OwnStudy) -> None:
    """Make the study a repository of git and DVC."""
    study.run("git", "init", "-q", "-b", "main")
    study.run("dvc", "init", "-q")
    study.commit("The study")


def read_params(study: OwnStudy) -> str:
    """The text of the parameters."""
    return yaml.safe_dump(study.params())
