"""A new stage is a folder, a rule file, and one edit in each of six files (CONTRIBUTING)."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

NEW = {
    "src/omibench/params/stages/toy.py": """
from __future__ import annotations

from omibench.params.blocks import Block


class ToyParams(Block):
    \"\"\"How answers are counted.\"\"\"

    least: int = 1
    \"\"\"Count answers of at least so many characters.\"\"\"
""",
    "src/omibench/graph/stages/toy.py": """
from __future__ import annotations

from omibench.graph.stage import ResultFile, Stage

TOY = Stage(
    "toy",
    target="analyze",
    params=("study", "toy"),
    inputs=("freeze",),
    outputs=(ResultFile("toy/count.json", None, "how many answers there are"),),
)
""",
    "src/omibench/stages/toy/__init__.py": """
from omibench.stages.toy.stage import count_answers

__all__ = ["count_answers"]
""",
    "src/omibench/stages/toy/stage.py": """
from __future__ import annotations

from pathlib import Path

from omibench.params.stage_params import ToyStageParams
from omibench.schemas.problem import Answer
from omibench.schemas.tables import read_jsonl, write_json


def count_answers(answers: Path, out: Path, study: ToyStageParams) -> int:
    rows = read_jsonl(answers, Answer)
    count = sum(len("".join(row.answer)) >= study.toy.least for row in rows)
    write_json(out / "count.json", {"answers": count})
    return count
""",
    "src/omibench/cli/toy.py": """
from __future__ import annotations

from pathlib import Path

from omibench.cli.options import Out, Params, read_study


def toy(answers: Path, out: Out, params: Params = "params.yaml") -> None:
    \"\"\"Count answers.\"\"\"
    from omibench.stages.toy import count_answers

    count_answers(answers, out, read_study(params, None))
""",
    "rules/toy.smk": """rule toy:
    input:
        answers=rules.freeze.output.answers,
    output:
        f"{RESULTS}/toy/count.json",
    log:
        f"{LOGS}/toy/toy.log",
    params:
        study=study_slice("toy"),
        source=source_hash("toy"),
        out=subpath(output[0], parent=True),
    shell:
        "omibench toy {input.answers:q} --params {params.study:q} --out {params.out:q} 2> {log:q}"
""",
}
EDITS = {
    "src/omibench/graph/stages/__init__.py": [
        ("from omibench.schemas.validation", "from omibench.graph.stages.toy import TOY\n"),
        ("    OCR, FILTER", "    "),
    ],
    "src/omibench/params/study.py": [
        ("from omibench.schemas.validation", "from omibench.params.stages.toy import ToyParams\n"),
        ("    reevaluate: ReevaluateParams", "    toy: ToyParams = ToyParams()\n"),
    ],
    "src/omibench/params/stage_params.py": [
        (
            "    from omibench.params.stages.filter",
            "    from omibench.params.stages.toy import ToyParams\n",
        ),
        (
            "class OcrStageParams",
            "class ToyStageParams(Protocol):\n"
            "    @property\n    def study(self) -> StudyParams: ...\n"
            "    @property\n    def toy(self) -> ToyParams: ...\n\n\n",
        ),
    ],
    "src/omibench/cli/main.py": [
        ("from omibench.errors", "from omibench.cli.toy import toy\n"),
    ],
    "dvc.yaml": [("metrics:", "      - ${study.results}/toy: {persist: true}\n")],
}
"""What is written before the first line that begins like this."""
REPLACED = {
    "src/omibench/graph/stages/__init__.py": ("CERTIFY, ANALYZE,", "CERTIFY, ANALYZE, TOY,"),
    "src/omibench/cli/main.py": ("saliency, analyze)", "saliency, analyze, toy)"),
    "dvc.yaml": ("aggregate certify analyze\n", "aggregate certify analyze toy\n"),
}


def add_stage(checkout: Path) -> set[str]:
    """Add the stage `toy`, and return the existing files that were edited."""
    for name, text in NEW.items():
        (checkout / name).parent.mkdir(exist_ok=True)
        assert not (checkout / name).exists()
        (checkout / name).write_text(text)
    for name, edits in EDITS.items():
        text = (checkout / name).read_text("utf-8")
        for before, new in edits:
            begin = re.search(rf"^{re.escape(before)}", text, re.M)
            assert begin, (name, before)
            text = text[: begin.start()] + new + text[begin.start() :]
        if name in REPLACED:
            assert text.count(REPLACED[name][0]) == 1, name
            text = text.replace(*REPLACED[name])
        (checkout / name).write_text(text)
    return {*EDITS}


@pytest.fixture
def checkout(root: Path, tmp_path: Path) -> Path:
    for folder in ("src", "rules", "schemas", "sample", "report", "envs", "profiles"):
        ignored = shutil.ignore_patterns("__pycache__", "*.egg-info")
        shutil.copytree(root / folder, tmp_path / folder, ignore=ignored)
    (tmp_path / "tests/graph").mkdir(parents=True)
    for file in ("Snakefile", "dvc.yaml", "params.yaml", "pyproject.toml"):
        shutil.copy(root / file, tmp_path / file)
    shutil.copy(root / "tests/graph/test_stages.py", tmp_path / "tests/graph")
    (tmp_path / "tests/conftest.py").write_text(
        "from pathlib import Path\n\nimport pytest\n\n\n@pytest.fixture\ndef root() -> Path:\n"
        "    return Path(__file__).parents[1]\n"
    )
    return tmp_path


def run(checkout: Path, *words: str) -> str:
    environment = {
        **os.environ, "PYTHONPATH": str(checkout / "src"), "PYTHONSAFEPATH": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
    }  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-m", *words], cwd=checkout, env=environment, capture_output=True,
        text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_a_stage_is_added_by_edits_of_six_files_at_most(checkout: Path) -> None:
    assert len(add_stage(checkout)) <= 6
    schema = run(checkout, "omibench", "schema")
    assert "ToyParams" in schema
    (checkout / "schemas/params.schema.json").write_text(schema)
    assert "`toy/count.json`" in run(checkout, "omibench", "files")
    told = run(checkout, "pytest", "-q", "-p", "no:cacheprovider", "tests/graph/test_stages.py")
    assert "passed" in told
    planned = run(checkout, "snakemake", "-n", "--cores", "1", "results/toy/count.json")
    assert re.search(r"^toy +1$", planned, re.M)


def test_contributing_names_the_files_that_a_new_stage_touches(root: Path) -> None:
    row = next(
        line
        for line in (root / "CONTRIBUTING.md").read_text("utf-8").splitlines()
        if line.startswith("| a **stage**")
    )
    assert set(re.findall(r"`([\w/.]+\.(?:py|yaml))`", row)) >= {*EDITS}
