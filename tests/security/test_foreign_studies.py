"""A stranger's study with plug-ins: commands that show, check or move its files run none."""

from __future__ import annotations

import shutil
from pathlib import Path

import polars as pl
import pytest
import yaml
from tests.command_line import Ended, call_main
from tests.conftest import Build
from tests.integration.conftest import runner

from omibench.plugins.allowance import allow_folder

PLUGIN = '''\
"""One part of each kind, and a trace that this file ran."""
from pathlib import Path
from typing import ClassVar, Literal

import omibench
from omibench.models.registry import Folders, provider
from omibench.models.sequential import SequentialProvider
from omibench.params.models.base import ModelBlock
from omibench.schemas.request import Request, Response
from omibench.schemas.verdict import ScoredItem, Verdict
from omibench.answers.scorers.registry import scorer
from omibench.settings.registry import prompt
from omibench.settings.templates import CHOICES, QUESTION, Prompt
from omibench.answers.judges.instrument import make_instrument
from omibench.answers.judges.registry import judge
from omibench.answers.judges.scales import LabelScale

Path("ran").touch()


class MineModel(ModelBlock):
    is_free: ClassVar[bool] = True
    provider: Literal["mine"]
    loud: bool = False


@provider("mine", block=MineModel)
class MineProvider(SequentialProvider[MineModel]):
    def __init__(self, name: str, model: MineModel, folders: Folders) -> None:
        super().__init__(name, model)

    def respond(self, request: Request) -> Response:
        text = "LABEL: kept" if "LABEL" in request.conversation.text else "C"
        return Response(text=text, finish_reason="stop")


@scorer("my-letter", version=1)
def score(item: ScoredItem) -> Verdict:
    right = [item.prediction] == item.gold
    return Verdict(extracted="C", method="all", verdict=float(right), rules="my-letter", version=1)


@prompt("my-prompt")
def my_prompt() -> Prompt:
    return Prompt(f"{QUESTION}\\n{CHOICES}\\nOne letter.", f"{QUESTION}\\nOne letter.")


@judge("my-units")
def build(panel):
    scale = LabelScale({"kept": "units are right", "lost": "units are lost"})
    return make_instrument("my-units", "You look at units.", scale)
'''
PARAMS = {
    "plugins": ["mine.py"],
    "prompts": "prompts",
    "data": "data",
    "benchmark": {"name": "emma"},
    "models": {"m": {"provider": "mine", "loud": True, "label": "Mine"}},
    "settings": {"s": {"prompt": "my-prompt"}},
    "infer": {"models": ["m"], "settings": ["s"]},
    "score": {"scorers": ["my-letter"]},
    "judge": {"others": {"my-units": "m"}},
    "review": {"folder": "review"},
    "analyze": {"main_scorer": "my-letter"},
}
GPTSCORE = "{question}\n{official_answer}\n{response}\n{pictures}\n"
CELL = "m/s.parquet"
FROZEN = ("results/freeze/questions.jsonl", "results/freeze/answers.jsonl")
SHOWING = (
    ("status",),
    ("status", "--json"),
    ("status", "--html", "status.html"),
    ("explore", "results", "--export", "math_1", "--out", "pages"),
    ("explore", "--export", "math_1", "--out", "pages-too"),
    ("store", "inspect"),
    ("store", "verify"),
    ("store", "merge", "other"),
    ("store", "compact"),
    ("store", "export", "--out", "store.jsonl"),
    ("trust", "--verify"),
    ("budget", "show"),
    ("prompts", "list"),
    ("prompts", "show", "gptscore"),
    ("prompts", "check", "prompts/gptscore.txt"),
    ("results", "slice"),
    ("results", "publish", "--out", "site"),
)
REFUSING = (
    ("trust",),
    ("trust", "--outdated"),
    ("record", "score"),
    ("review", "user", "list"),
    ("review", "import", "decisions.jsonl"),
    ("review", "assign", "item"),
    ("review", "status"),
    ("review", "agree"),
    ("review", "export", "--out", "exported"),
    ("review", "sample"),
)
"""What ends with a message here: these results were made without a graph and have no review."""


@pytest.fixture(scope="module")
def built(build_once: Build) -> Path:
    """The study as its author left it, with results and a store; its plug-in ran to make them."""
    return build_once("foreign-study", _build)


def _build(folder: Path) -> None:
    allow_folder(folder)
    (folder / "mine.py").write_text(PLUGIN)
    (folder / "params.yaml").write_text(yaml.safe_dump(PARAMS))
    (folder / "prompts").mkdir()
    (folder / "prompts/my-prompt.txt").write_text("{question}\n{choices}\nJust the letter.\n")
    (folder / "data").mkdir()
    row = {"subject": "Math", "type": "Multiple Choice", "options": ["1", "2", "3", "4"]}
    rows = [row | {"pid": f"math_{n}", "question": f"{n} + 1?", "answer": "C"} for n in range(3)]
    pl.DataFrame(rows).write_parquet(folder / "data/items.parquet")
    questions, answers = FROZEN
    gold = ("--answers", answers, "--questions", questions)
    infer, score = f"results/infer/{CELL}", f"results/score/{CELL}"
    for words in (
        ("freeze", "--out", "results/freeze"),
        ("infer", questions, "--model", "m", "--setting", "s", "--out", infer),
        ("score", infer, *gold, "--out", score, "--params", "params.yaml"),
        ("judge", infer, *gold, "--verdicts", score, "--out", f"results/judge/{CELL}"),
        ("analyze", "--out", "results/analyze"),
    ):
        _succeed(call_main(*words, cwd=folder))
    assert (folder / "ran").exists()
    (folder / "ran").unlink()
    shutil.copytree(folder / "store", folder / "other")
    (folder / "decisions.jsonl").touch()
    (folder / "review").mkdir()
    (folder / "prompts/gptscore.txt").write_text(GPTSCORE)


def _succeed(done: Ended) -> None:
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("words", [*SHOWING, *REFUSING], ids=" ".join)
def test_such_a_command_runs_no_plug_in_and_names_it(
    built: Path, tmp_path: Path, words: tuple[str, ...]
) -> None:
    folder = shutil.copytree(built, tmp_path / "study")
    done = call_main(*words, cwd=folder)
    assert not (folder / "ran").exists(), "the plug-in was run"
    if words in SHOWING:
        _succeed(done)
    assert "Traceback" not in done.stderr
    assert done.stderr.count("left out, since this command runs no plug-in: mine.py") == 1


@pytest.mark.slow
def test_trust_runs_neither_snakefile_nor_profile_nor_plug_in_of_the_folder(tmp_path: Path) -> None:
    folder = tmp_path / "study"
    run = runner(tmp_path)
    run("omibench", "init", "study", "--benchmark", "emma")
    run = runner(folder)
    params = {
        "benchmark": {"name": "synthetic", "like": "emma-mini", "seed": 0},
        "models": {"m": {"provider": "simulated", "oracle": "synthetic:emma-mini"}},
        "settings": {"s": {"prompt": "emma-cot"}},
        "infer": {"models": ["m"], "settings": ["s"]},
        "study": {"limit": 5},
        "analyze": {"explorer": False},
    }
    (folder / "params.yaml").write_text(yaml.safe_dump(params))
    run("omibench", "run", "--cores", "1")
    run("omibench", "record", "freeze", "infer", "score", "analyze")
    shutil.rmtree(folder / ".snakemake")
    (folder / "Snakefile").write_text('from pathlib import Path\nPath("ran").touch()\n')
    (folder / "profiles/default/config.yaml").write_text("jobs: not-a-number\n")

    assert "Snakemake has nothing to rebuild" in run("omibench", "trust").stdout
    shutil.rmtree(folder / ".snakemake")
    (folder / "mine.py").write_text('from pathlib import Path\nPath("ran").touch()\n')
    (folder / "params.yaml").write_text(yaml.safe_dump({"plugins": ["mine.py"], **params}))
    done = run("omibench", "trust")
    assert done.stdout.startswith("trusted: ")
    assert "not checked: whether the plug-ins make the same" in done.stdout
    assert "left out, since this command runs no plug-in: mine.py" in done.stderr
    assert not (folder / "ran").exists()
