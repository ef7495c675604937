"""A new stage is a folder, a rule file, and edits of the files that CONTRIBUTING names."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROW = """TOY = Stage(
    "toy",
    target="analyze",
    params=("study", "toy"),
    inputs=("infer",),
    cells=lambda study: study.cells,
    outputs=(ResultFile("toy/{model}/{setting}.parquet", ToyRow, "how long responses are"),),
)


"""
NEW = {
    "src/omibench/params/stages/toy.py": """
from __future__ import annotations

from omibench.params.blocks import Block


class ToyParams(Block):
    \"\"\"How answers are counted.\"\"\"

    least: int = 1
    \"\"\"Count answers of at least so many characters.\"\"\"
""",
    "src/omibench/schemas/toy_row.py": """
from __future__ import annotations

from omibench.schemas.problem import FrozenModel


class ToyRow(FrozenModel):
    id: str
    characters: int
""",
    "src/omibench/stages/toy/__init__.py": """
from omibench.stages.toy.stage import count_characters

__all__ = ["count_characters"]
""",
    "src/omibench/stages/toy/stage.py": """
from __future__ import annotations

from pathlib import Path

from omibench.params.study import Study
from omibench.schemas.cells import describe_origin
from omibench.schemas.tables import ResponseRow, read_parquet, write_parquet
from omibench.schemas.toy_row import ToyRow


def count_characters(responses: Path, out: Path, study: Study, job: str = "") -> int:
    frame = read_parquet(responses, ResponseRow)
    rows = [
        ToyRow(id=id, characters=len(text))
        for id, text in frame.select("id", "text").iter_rows()
        if len(text) >= study.toy.least
    ]
    write_parquet(out, rows, ToyRow, describe_origin(out, job))
    return len(rows)
""",
    "src/omibench/cli/toy.py": """
from __future__ import annotations

from pathlib import Path

from omibench.cli.options import OutFile, Params, read_study


def toy(responses: Path, out: OutFile, params: Params = "params.yaml") -> None:
    \"\"\"Count characters.\"\"\"
    from omibench.graph.job_hash import job_hash
    from omibench.stages.toy import count_characters

    study = read_study(params, None)
    count_characters(responses, out, study, job_hash(study, "toy"))
""",
    "rules/toy.smk": """rule toy:
    input:
        responses=rules.infer.output,
    output:
        f"{RESULTS}/toy/{{model}}/{{setting}}.parquet",
    log:
        f"{LOGS}/toy/{{model}}/{{setting}}.log",
    params:
        study=study_slice("toy"),
        source=source_hash("toy"),
    shell:
        "omibench toy {input.responses:q} --params {params.study:q} --out {output:q} 2> {log:q}"
""",
}
EDITS = {
    "src/omibench/graph/stages.py": [
        ("from omibench.schemas.tuning", "from omibench.schemas.toy_row import ToyRow\n"),
        ("STAGES = ", ROW),
        ("    OCR, FILTER", "    "),
    ],
    "src/omibench/params/study.py": [
        ("from omibench.schemas.validation", "from omibench.params.stages.toy import ToyParams\n"),
        ("    reevaluate: ReevaluateParams", "    toy: ToyParams = ToyParams()\n"),
    ],
    "src/omibench/cli/main.py": [],
    "dvc.yaml": [
        ("      - ${study.results}/analyze: ", "      - ${study.results}/toy: {persist: true}\n")
    ],
    "src/omibench/schemas/cells.py": [],
}
"""What is written before the first line that begins like this."""
HELD = ("tests/graph/test_stages.py", "tests/init/test_contents.py", "tests/test_floors.py")
"""Tests that hold a new stage to the rest."""
REPLACED = {
    "src/omibench/graph/stages.py": (
        ("CERTIFY, ANALYZE,", "CERTIFY, TOY, ANALYZE,"),
        ('"aggregate", "certify")', '"aggregate", "certify", "toy")'),
    ),
    "src/omibench/cli/main.py": (('"judge.certify"', '"judge.certify", "toy.toy"'),),
    "dvc.yaml": (("certify analyze\n", "certify toy analyze\n"),),
    "src/omibench/schemas/cells.py": (('"saliency")', '"saliency", "toy")'),),
}


EARLY_ROW = """EARLY = Stage(
    "early",
    target="infer",
    params=("study",),
    inputs=("freeze",),
    outputs=(ResultFile("early/early.txt", None, "made before any request"),),
)


"""
EARLY = {
    "rules/early.smk": """rule early:
    output:
        f"{RESULTS}/early/early.txt",
    shell:
        "touch {output:q}"
""",
}
EARLY_EDITS = (
    ("STAGES = (", f"{EARLY_ROW}STAGES = ("),
    ("TUNE, INFER,", "TUNE, EARLY, INFER,"),
    (
        'params=("study", "data", "models", "settings", "infer"),\n    inputs=("freeze",)',
        'params=("study", "data", "models", "settings", "infer"),\n    inputs=("freeze", "early")',
    ),
)


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
        for old, changed in REPLACED.get(name, ()):
            assert text.count(old) == 1, (name, old)
            text = text.replace(old, changed)
        (checkout / name).write_text(text)
    return {*EDITS}


@pytest.fixture
def checkout(root: Path, tmp_path: Path) -> Path:
    for folder in (
        "src", "rules", "schemas", "sample", "report", "envs", "profiles", "studies", "published",
        "prompts",
    ):  # fmt: skip
        ignored = shutil.ignore_patterns("__pycache__", "*.egg-info")
        shutil.copytree(root / folder, tmp_path / folder, ignore=ignored)
    for file in ("Snakefile", "dvc.yaml", "params.yaml", "pyproject.toml"):
        shutil.copy(root / file, tmp_path / file)
    for test in HELD:
        (tmp_path / test).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(root / test, tmp_path / test)
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


def test_a_stage_of_cells_that_the_report_reads_is_added_by_few_edits(checkout: Path) -> None:
    assert len(add_stage(checkout)) == len(EDITS) == 5
    schema = run(checkout, "omibench", "schema")
    assert "ToyParams" in schema
    (checkout / "schemas/params.schema.json").write_text(schema)
    assert "`toy/{model}/{setting}.parquet`" in run(checkout, "omibench", "files")
    outcome = run(
        checkout, "pytest", "-q", "-p", "no:cacheprovider", "-n", "0", *HELD,
        "-k", "test_stages or dvc or test_floors",
    )  # fmt: skip
    assert "passed" in outcome
    planned = run(checkout, "snakemake", "-n", "--cores", "1")
    assert re.search(r"^toy +[1-9]\d*$", planned, re.M)


@pytest.mark.long
@pytest.mark.parametrize("file", ["filled.txt", "helped.txt", "direct.parquet"])
def test_a_stage_before_infer_precedes_each_rule_that_sends_requests(
    checkout: Path, file: str
) -> None:
    for name, text in EARLY.items():
        (checkout / name).write_text(text)
    table = checkout / "src/omibench/graph/stages.py"
    text = table.read_text("utf-8")
    for old, new in EARLY_EDITS:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    table.write_text(text)
    params = checkout / "params.yaml"
    block = "  local: {provider: transformers, id: x}\n"
    params.write_text(params.read_text("utf-8").replace("models:\n", f"models:\n{block}", 1))
    wanted = f"results/infer/local/{file}"
    planned = run(checkout, "snakemake", "-n", "--cores", "1", wanted)
    assert re.search(r"^early +1$", planned, re.M)


def test_contributing_names_the_files_that_a_new_stage_touches(root: Path) -> None:
    row = next(
        line
        for line in (root / "CONTRIBUTING.md").read_text("utf-8").splitlines()
        if line.startswith("| a **stage**")
    )
    assert set(re.findall(r"`([\w/.]+\.(?:py|yaml|smk))`", row)) >= {*EDITS}
