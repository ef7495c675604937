"""Exactly what changed reruns: a table of changes, the jobs that each may run, and what it buys.

Under `snakemake` and under `dvc repro` alike. The study has 2 models, 2 settings and 8 problems.
docs/reference/reruns.md has this table: `OMIBENCH_REWRITE_DOCS=1` writes it anew.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import polars as pl
import pytest
import yaml
from tests.conftest import Build
from tests.extras import require_extra
from tests.integration.small_study import MODELS, PROMPT, Copy, make

require_extra("workflow", "dvc")

PROBLEMS = 8
SETTINGS = ["first", "own"]
"""One shows only the first image; the other takes its prompt from a file."""
CELLS = len(MODELS) * len(SETTINGS)
PICTURE = (0, (400, 590, 404, 594))
"""Page and spot of a figure that two problems share; `first` shows neither of them this one."""
SHOWN_IN = 2 * len(MODELS) * (len(SETTINGS) - 1)


def asked(cells: int) -> dict[str, int]:
    """The jobs of so many cells that are asked again."""
    return {"infer": cells, "score": cells, "analyze": 1}


SCORED = {"score": CELLS, "analyze": 1}
ASKED = asked(CELLS)
READ = {"ocr": 1, "filter": 1, "rationale": 1, "freeze": 1}

Edit = Callable[[Copy], dict[str, str] | None]
"""Changes the study; may return environment variables for the commands that follow."""


class Case(NamedTuple):
    """A change, the jobs that run after it, and the requests that are bought.

    Where a rerun job writes what it wrote before, one run of Snakemake still makes what follows
    from it, while DVC's stages, each a run of its own, end there: `dvc` says so. Which jobs run is
    decided by Snakemake: DVC is asked about some changes, and in the long tests about all. `words`
    is the change in the table of the docs.
    """

    words: str
    edit: Edit
    jobs: dict[str, int]
    bought: int = 0
    dvc: dict[str, int] | None = None
    check: Callable[[Copy, tuple[str, ...]], None] | None = None


def decoding(study: Copy) -> None:
    params = study.params()
    params["settings"]["first"]["decoding"]["temperature"] = 0.7
    study.write_params(params)


def model(study: Copy) -> None:
    params = study.params()
    params["models"]["sim-new"] = {**params["models"]["sim-a"], "seed": 99}
    params["infer"]["models"].append("sim-new")
    study.write_params(params)


def prompt(study: Copy) -> None:
    study.replace(PROMPT, "Look at each figure.", "Look at every figure twice.")


def rules(study: Copy) -> None:
    params = study.params()
    params["score"]["scorers"] = ["robust", "emma"]
    study.write_params(params)


def label(study: Copy) -> None:
    params = study.params()
    params["models"]["sim-a"]["label"] = "The first"
    params["settings"]["first"]["label"] = "The first image"
    study.write_params(params)


def gold(study: Copy) -> None:
    decision = {
        "problem": "physics-2", "decision": "edit", "reviewer": "a reader", "date": "2026-11-21",
        "reason": "The key has a misprint.", "edit": {"answer": ["0.25 A"]},
    }  # fmt: skip
    file = study.folder / "sample/review.yaml"
    file.write_text(file.read_text("utf-8") + yaml.safe_dump([decision]))


def reading(study: Copy) -> None:
    correction = {
        "paper": "physics",
        "problem": "1",
        "choice": {"label": "A", "text": "$6.0$ cm"},
        "was": "6.0 cm",
        "by": "Ana",
    }
    file = study.folder / "sample/corrections.yaml"
    file.write_text(yaml.safe_dump({"corrections": [correction]}), "utf-8")


def image(study: Copy) -> None:
    import pymupdf

    paper = study.folder / "sample/papers/physics.pdf"
    page, spot = PICTURE
    with pymupdf.open(paper) as pdf:
        pdf[page].draw_rect(pymupdf.Rect(spot), color=(0, 0, 0), fill=(0, 0, 0))
        text = pdf.tobytes()
    paper.write_bytes(text)
    file = study.folder / "sample/sources.yaml"
    sources = yaml.safe_load(file.read_text("utf-8"))
    sources["sources"][0]["sha256"]["papers/physics.pdf"] = hashlib.sha256(text).hexdigest()
    file.write_text(yaml.safe_dump(sources))


def code_of_scoring(study: Copy) -> None:
    study.replace(
        "src/omibench/stages/score/stage.py", "version=entry.verdict.version", "version=99"
    )


def idle_code(stage: str) -> Edit:
    def edit(study: Copy) -> None:
        file = study.folder / f"src/omibench/stages/{stage}/stage.py"
        file.write_text(file.read_text("utf-8") + "\n\nADDED = 1\n")

    return edit


def comments(study: Copy) -> None:
    for file in (study.folder / "src/omibench").rglob("*.py"):
        text = file.read_text("utf-8")
        start = text.index("\n") + 1 if text.startswith('"""') else 0
        head = text[:start].replace("a", "o") if text[:start].count('"""') == 2 else text[:start]
        file.write_text(f"{head}{text[start:]}\n# One more comment.\n")


def name_and_client(study: Copy) -> None:
    params = study.params()
    params["study"]["name"] = "renamed"
    study.write_params(params)
    file = study.folder / "src/omibench/models/openai.py"
    file.write_text(file.read_text("utf-8") + "\n\nADDED = 1\n")


def code_of_no_stage(study: Copy) -> None:
    for name in ("cli/main.py", "graph/result_files.py"):
        file = study.folder / "src/omibench" / name
        file.write_text(file.read_text("utf-8") + "\n\nADDED = 1\n")


def docs(study: Copy) -> None:
    (study.folder / "docs").mkdir()
    (study.folder / "docs/notes.md").write_text("Words.")
    (study.folder / "README.md").write_text("More words.")


def upgrade(package: str) -> Edit:
    def edit(study: Copy) -> dict[str, str]:
        site = study.folder.parent / "site"
        folder = site / f"{package}-99.0.dist-info"
        folder.mkdir(parents=True)
        head = f"Metadata-Version: 2.1\nName: {package}\nVersion: 99.0\n"
        (folder / "METADATA").write_text(head)
        pins = study.folder / "requirements.txt"
        pins.write_text(pins.read_text("utf-8") + f"{package}==99.0\n")
        return {"PYTHONPATH": f"{study.folder / 'src'}:{site}"}

    return edit


def optional_packages(study: Copy) -> dict[str, str] | None:
    for package in ("huggingface_hub", "httpx", "platformdirs"):
        upgrade(package)(study)
    return upgrade("openpyxl")(study)


def version_of_dataset(study: Copy) -> None:
    params = study.params()
    params["freeze"]["version"] = "1.0.1"
    study.write_params(params)


def yaml_comments(study: Copy) -> None:
    for name in ("sources.yaml", "corrections.yaml"):
        file = study.folder / "sample" / name
        file.write_text("# One more comment.\n" + file.read_text("utf-8"))


PLUGIN = """
from omibench import scorer


@scorer("unused")
def score(item):
    raise NotImplementedError
"""


def unused_parts(study: Copy) -> None:
    study.replace("src/omibench/answers/scorers/emma.py", "VERSION = ", "VERSION = 10 + ")
    study.replace("src/omibench/settings/prompts_built_in.py", "Visualize the", "Picture the")
    (study.folder / "mine.py").write_text(PLUGIN)
    params = study.params()
    params["plugins"] = ["mine.py"]
    study.write_params(params)


def saliency_pixels(study: Copy) -> None:
    params = study.params()
    params["saliency"] = {"max_pixels": 10_000}
    study.write_params(params)


def has_new_version(study: Copy, engine: tuple[str, ...]) -> None:
    report = (study.folder / "results/analyze/report.html").read_text("utf-8")
    assert "small 1.0.1" in report
    assert "small 1.0.0" not in report


def what_no_job_depends_on(study: Copy) -> dict[str, str] | None:
    (study.folder / "params.yaml").touch()
    for edit in (comments, code_of_no_stage, docs):
        edit(study)
    return upgrade("prefect")(study)


def are_of_version_99(study: Copy, engine: tuple[str, ...]) -> None:
    """What older code has made is never blessed: the results are those of the new code."""
    for file in (study.folder / "results/score").glob("*/*.parquet"):
        assert set(pl.read_parquet(file)["version"]) == {99}
    if engine == DVC:
        assert study.run("dvc", "status") == "Data and pipelines are up to date.\n"


ONE_SETTING, ONE_MODEL = len(MODELS), len(SETTINGS)
"""Cells of one setting, and of one model."""


CASES = {
    "what no job depends on": Case(
        "comments, docstrings, docs, code that no stage imports, a package that no stage imports",
        what_no_job_depends_on,
        {},
    ),
    "one decoding parameter": Case(
        "the decoding of one setting", decoding, asked(ONE_SETTING), ONE_SETTING * PROBLEMS
    ),
    "one model more": Case("a new model", model, asked(ONE_MODEL), ONE_MODEL * PROBLEMS),
    "one prompt file": Case(
        "the prompt file of one setting", prompt, asked(ONE_SETTING), ONE_SETTING * PROBLEMS
    ),
    "how responses are scored": Case("`score.scorers`", rules, SCORED),
    "a label": Case("labels of models and settings", label, {"analyze": 1}),
    "one gold corrected": Case("a gold answer (a review decision)", gold, {"freeze": 1, **SCORED}),
    "one choice was misread": Case("a correction of a choice", reading, {**READ, **ASKED}, CELLS),
    "one image replaced": Case("one picture of a paper", image, {**READ, **ASKED}, SHOWN_IN),
    "the code of scoring": Case(
        "code of `score` that changes its verdicts",
        code_of_scoring,
        SCORED,
        check=are_of_version_99,
    ),
    "code of scoring without an effect": Case(
        "code of `score` that changes no verdict", idle_code("score"), SCORED, dvc={"score": CELLS}
    ),
    "code of asking without an effect": Case(
        "code of `infer` that changes no response", idle_code("infer"), ASKED, dvc={"infer": CELLS}
    ),
    "the study's name and the client of an API": Case(
        "`study.name`; code of an API client", name_and_client, {"analyze": 1}
    ),
    # The filter, too, asks scorers: whether models that try a problem are right; the report,
    # whether people are; and ocr, which choice a key with a formula names.
    "a package that scoring uses, upgraded": Case(
        "sympy upgraded, as other packages that a stage imports",
        upgrade("sympy"),
        {"ocr": 1, "filter": 1, "rationale": 1, "freeze": 1, **SCORED},
    ),
    "a package that the report uses, upgraded": Case(
        "altair upgraded", upgrade("altair"), {"analyze": 1}
    ),
    "a package behind sympy, upgraded": Case(
        "mpmath upgraded, which sympy loads",
        upgrade("mpmath"),
        {"ocr": 1, "filter": 1, "rationale": 1, "freeze": 1, **SCORED},
    ),
    "packages that results do not depend on": Case(
        "huggingface_hub, httpx, platformdirs, and openpyxl without Excel files installed or "
        "upgraded",
        optional_packages,
        {},
    ),
    "the version of the dataset": Case(
        "`freeze.version`", version_of_dataset, {"freeze": 1, "analyze": 1}, check=has_new_version
    ),
    "comments in YAML files": Case(
        "a comment in the manifest of papers or in `corrections.yaml`", yaml_comments, {}
    ),
    "parts that the study does not use": Case(
        "a built-in scorer or prompt, or a plug-in's scorer, that the study does not use",
        unused_parts,
        {},
    ),
    "saliency that is not measured": Case(
        "`saliency.max_pixels` without saliency", saliency_pixels, {}
    ),
}
SNAKEMAKE, DVC = ("snakemake", "--cores", "2"), ("dvc", "repro")
CHAINS = {
    "parameters": (
        "what no job depends on", "saliency that is not measured", "the version of the dataset",
        "a label", "one decoding parameter", "how responses are scored", "one model more",
    ),
    "files": (
        "comments in YAML files", "one prompt file", "one gold corrected",
        "one choice was misread", "one image replaced",
    ),
    "code": (
        "parts that the study does not use", "the code of scoring",
        "code of asking without an effect",
        "the study's name and the client of an API", "code of scoring without an effect",
    ),
    "packages": (
        "packages that results do not depend on", "a package that scoring uses, upgraded",
        "a package that the report uses, upgraded", "a package behind sympy, upgraded",
    ),
}  # fmt: skip
"""Changes that are made one after the other in one copy of the study, each to what is built."""


@pytest.fixture(scope="module")
def built(build_once: Build, root: Path) -> Copy:
    """The study, built once by DVC: as many jobs as it has, and as many requests."""

    def fill(folder: Path) -> None:
        study = make(root, folder / "study")
        params = study.params()
        params["infer"]["settings"] = SETTINGS
        study.write_params(params)
        assert study.jobs("dvc", "repro") == {**READ, **ASKED}
        assert study.requests() == CELLS * PROBLEMS
        study.commit("Built")

    return Copy(build_once("reruns", fill) / "study")


def test_every_change_is_in_one_chain() -> None:
    assert sorted(name for chain in CHAINS.values() for name in chain) == sorted(CASES)


def _list_jobs(jobs: dict[str, int]) -> str:
    return ", ".join(f"{n} {rule}" if n > 1 else rule for rule, n in jobs.items()) or "none"


def _table() -> str:
    rows = [
        (case.words, _list_jobs(case.jobs), case.bought or "none",
         "the same" if case.dvc is None else _list_jobs(case.dvc))
        for case in CASES.values()
    ]  # fmt: skip
    head = [("change", "jobs of `snakemake`", "requests", "jobs of `dvc repro`"), ("---",) * 4]
    return "".join("| " + " | ".join(map(str, row)) + " |\n" for row in [*head, *rows])


def test_the_docs_have_this_table(root: Path) -> None:
    page = root / "docs/reference/reruns.md"
    before, start, rest = page.read_text("utf-8").partition("<!-- changes -->\n")
    _, end, after = rest.partition("<!-- end of changes -->\n")
    text = f"{before}{start}{_table()}{end}{after}"
    assert start
    assert end
    if os.environ.get("OMIBENCH_REWRITE_DOCS"):
        page.write_text(text, "utf-8")
    assert page.read_text("utf-8") == text


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("engine", [SNAKEMAKE, DVC], ids=["snakemake", "dvc"])
@pytest.mark.parametrize("chain", CHAINS)
def test_exactly_what_changed_reruns(
    built: Copy, tmp_path: Path, chain: str, engine: tuple[str, ...]
) -> None:
    study = built.copy(tmp_path / "study")
    variables: dict[str, str] = {}
    requests = study.requests()
    for name in CHAINS[chain]:
        case = CASES[name]
        variables |= case.edit(study) or {}
        expected = case.dvc if engine == DVC and case.dvc is not None else case.jobs
        assert study.jobs(*engine, **variables) == expected, name
        requests += case.bought
        assert study.requests() == requests, name
        if case.check is not None:
            case.check(study, engine)
    assert "Nothing to be done" in study.run("snakemake", "-n", **variables)


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_bigger_budget_and_other_limits_run_nothing(built: Copy, tmp_path: Path) -> None:
    study = built.copy(tmp_path / "study")
    params = study.params()
    params["study"]["budget_usd"] = 5.0
    study.write_params(params)
    assert set(study.jobs("snakemake", "--cores", "2")) <= {"analyze"}
