"""A small study with all stages, 2 simulated models under 4 settings, in a copy of the project.

The source lies in the copy, too, so that tests may edit it.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import yaml

PARTS = (
    "Snakefile", "dvc.yaml", ".dvcignore", "rules", "profiles", "schemas", "sample", "envs",
    "requirements.txt", "src/omibench", "src/glyphtex",
)  # fmt: skip
MODELS = ["sim-a", "sim-b"]
SETTINGS = ["cot", "direct", "first", "own"]
PROMPT = "prompts/own.txt"
THRESHOLDS = ("min_images", "near_duplicate")
"""What stays of the filter: no model judges problems here."""
_DONE = re.compile(r"Finished jobid: \d+ \(Rule: (\w+)\)")


class Copy:
    """A copy of the project with a study in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def run(self, *command: str, ok: bool = True, **more: str) -> str:
        """What a program of the environment says in the copy; fails with it unless `ok` is off."""
        done = subprocess.run(
            command, cwd=self.folder, env={**environment(self.folder), **more},
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
        )  # fmt: skip
        assert not ok or done.returncode == 0, done.stdout
        assert ok or done.returncode != 0, done.stdout
        return done.stdout

    def jobs(self, *command: str, **more: str) -> dict[str, int]:
        """How many jobs of each rule a command has executed, targets left out."""
        done = Counter(_DONE.findall(self.run(*command, **more)))
        return {
            rule: count
            for rule, count in done.items()
            if rule != "all" and not rule.endswith("_all")
        }

    def to_do(self) -> str:
        """What `snakemake -n` says."""
        return self.run("snakemake", "-n")

    def requests(self) -> int:
        """How many responses the store holds."""
        files = (self.folder / "store").glob("*/*.jsonl")
        return sum(len(file.read_bytes().splitlines()) for file in files)

    def params(self) -> dict[str, Any]:
        """The parameters."""
        found: dict[str, Any] = yaml.safe_load((self.folder / "params.yaml").read_text("utf-8"))
        return found

    def write_params(self, params: dict[str, Any]) -> None:
        """Replace the parameters."""
        text = yaml.safe_dump(params, sort_keys=False, allow_unicode=True)
        (self.folder / "params.yaml").write_text(text)

    def questions(self) -> list[dict[str, Any]]:
        """The frozen questions."""
        lines = (self.folder / "results/freeze/questions.jsonl").read_text("utf-8").splitlines()
        return [json.loads(line) for line in lines]

    def copy(self, folder: Path) -> Copy:
        """The same, elsewhere: with results, records, store and time stamps."""
        shutil.copytree(self.folder, folder, symlinks=True)
        return Copy(folder)

    def commit(self, message: str) -> None:
        """Commit everything that git does not ignore."""
        self.run("git", "add", "-A")
        self.run("git", "commit", "-q", "--allow-empty", "-m", message)

    def replace(self, file: str, old: str, new: str) -> None:
        """Edit a text file."""
        path = self.folder / file
        text = path.read_text("utf-8")
        assert old in text, f"{file}: {old}"
        path.write_text(text.replace(old, new, 1))


def environment(folder: Path) -> dict[str, str]:
    """Programs of this environment on the source in `folder`; nothing of the user's DVC or git."""
    own = {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "PYTHONPATH": str(folder / "src"),
        "DVC_GLOBAL_CONFIG_DIR": str(folder.parent / "dvc-config"),
        "DVC_SYSTEM_CONFIG_DIR": str(folder.parent / "dvc-config"),
        "DVC_SITE_CACHE_DIR": str(folder.parent / "dvc-site"),
        "DVC_NO_ANALYTICS": "1",
        "GIT_CONFIG_GLOBAL": "/dev/null",
    }
    for who in ("AUTHOR", "COMMITTER"):
        own |= {f"GIT_{who}_NAME": "A Tester", f"GIT_{who}_EMAIL": "tester@example.org"}
    return {**os.environ, **own}


def make(root: Path, folder: Path, models: int = 2, settings: int = 4) -> Copy:
    """Copy the project from `root` and shrink its sample study; nothing is built yet."""
    folder.mkdir(parents=True)
    for name in PARTS:
        source, target = root / name, folder / name
        if source.is_dir():
            # Compiled code comes along, except what another process is about to write.
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("*.pyc.*"))
        else:
            shutil.copy(source, target)
    (folder / ".dvc").mkdir()
    shutil.copy(root / ".dvc/config", folder / ".dvc/config")
    shutil.copy(root / ".dvc/plots.html", folder / ".dvc/plots.html")
    shutil.copy(root / ".dvc/.gitignore", folder / ".dvc/.gitignore")
    shutil.copy(root / ".gitignore", folder / ".gitignore")
    study = Copy(folder)
    _one_booklet(folder / "sample")
    (folder / PROMPT).parent.mkdir()
    (folder / PROMPT).write_text("Look at each figure.\n\n{question}\n\n{choices}\n")
    params = _params(yaml.safe_load((root / "params.yaml").read_text("utf-8")))
    params["infer"]["models"] = params["infer"]["models"][:models]
    params["infer"]["settings"] = params["infer"]["settings"][:settings]
    study.write_params(params)
    study.run("git", "init", "-q", "-b", "main")
    study.commit("The study")
    return study


def built_by_dvc(folder: Path, root: Path) -> Path:
    """One model under two settings, built by `dvc repro` and committed."""
    study = make(root, folder / "study", models=1, settings=2)
    study.run("dvc", "repro")
    study.commit("Built")
    return study.folder


def _params(sample: dict[str, Any]) -> dict[str, Any]:
    sim = {**sample["models"]["sim-bravo"], "setting_effects": {}}
    cot = {"prompt": "cot", "decoding": {"temperature": 0.0, "max_tokens": 4096}}
    params: dict[str, Any] = {
        "study": {"name": "small", "seed": 1, "results": "results", "store": "store"},
        "benchmark": {"name": "papers"},
        "ocr": sample["ocr"],
        "filter": {k: v for k, v in sample["filter"].items() if k in THRESHOLDS},
        "review": {"decisions": "sample/review.yaml"},
        "freeze": {"name": "small", "version": "1.0.0"},
        "models": {name: {**sim, "seed": seed} for seed, name in enumerate(MODELS)},
        "settings": {
            "cot": cot,
            "direct": {**cot, "prompt": "direct"},
            "first": {**cot, "images": "first"},
            "own": {**cot, "prompt": PROMPT},
        },
        "infer": {"models": MODELS, "settings": SETTINGS},
        "score": {"scorers": ["robust"]},
        "analyze": {"explorer": False},
    }
    # Written and read, so that no two blocks are one object and YAML needs no anchors.
    copied: dict[str, Any] = json.loads(json.dumps(params))
    return copied


def _one_booklet(sample: Path) -> None:
    sources = yaml.safe_load((sample / "sources.yaml").read_text("utf-8"))
    sources["sources"] = [s for s in sources["sources"] if s["name"] == "physics"]
    (sample / "sources.yaml").write_text(yaml.safe_dump(sources))
    review = yaml.safe_load((sample / "review.yaml").read_text("utf-8"))
    kept = [entry for entry in review if entry["problem"].startswith("physics")]
    (sample / "review.yaml").write_text(yaml.safe_dump(kept, allow_unicode=True))
