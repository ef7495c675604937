"""Measure the cost of a large study's graph: planning, a run without work, one job.

Makes a study of simulated models under many settings on one small problem, so that nearly all that
is measured is the graph: Snakemake, DVC, and the start of each job. CPU seconds are user and
system time of a command with everything that it started.

    python benchmarks/graph_scale.py                        # 30 models x 20 settings, every job run
    python benchmarks/graph_scale.py --models 100 --settings 30 --laid
    python benchmarks/graph_scale.py --models 3 --settings 2        # a quick trial

With `--laid` the cells are not run but laid out as copies of one that was, and marked as done by
`snakemake --touch`: planning, a run with nothing to do and the report are measured all the same.
The exit code is 1 when a limit (set for 600 cells) is missed.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import yaml
from PIL import Image

from omibench.graph.job_hash import slice_study
from omibench.params.setting import Cell
from omibench.params.study import parse_study_file
from omibench.schemas.problem import Answer, Figure, Question
from omibench.schemas.tables import (
    FrozenManifest,
    ResponseRow,
    VerdictRow,
    content_hash,
    read_parquet,
    write_frame,
    write_json,
    write_jsonl,
)

ROOT = Path(__file__).resolve().parents[1]
PARTS = (
    "Snakefile", "dvc.yaml", "rules", "profiles", "schemas", "studies", "sample", "prompts",
    "published",
    "workflows", "envs", "src", "requirements.txt",
)  # fmt: skip
PROGRAMS = Path(sys.executable).parent
LIMITS = {"plan": 12.0, "no-op": 12.0, "dvc": 5.0, "job": 0.6}
"""CPU seconds, at 600 cells."""
LIMITS_HOLD_FOR = 600
TEXT = "How fast is the train of the figures? [IMAGE0] [IMAGE1]"


class Cost(NamedTuple):
    """What one command took: its own and all its children's CPU, wall time, largest process."""

    cpu_s: float
    wall_s: float
    memory_mb: float


class Measured(NamedTuple):
    """One row of the table; `limit` in CPU seconds."""

    what: str
    cost: Cost
    limit: float | None = None
    note: str = ""


def main() -> int:
    """Make the study, measure, print; 1 when a limit is missed."""
    options = _options()
    with tempfile.TemporaryDirectory(prefix="omibench-graph-", dir=options.folder) as name:
        folder = Path(name)
        make_study(folder, options.models, options.settings)
        cells = options.models * options.settings
        table = []
        for row in _measure(folder, cells, laid=options.laid):
            print(f"{row.what}: {row.cost.cpu_s:.3g} s", file=sys.stderr, flush=True)
            table.append(row)
    load = ", ".join(f"{x:.1f}" for x in os.getloadavg())
    print(f"{cells:,} cells, {2 * cells:,} jobs of infer and score; load average {load}\n")
    print(_markdown(table))
    held = cells <= LIMITS_HOLD_FOR
    missed = [row.what for row in table if held and row.limit and row.cost.cpu_s > row.limit]
    for what in missed:
        print(f"missed: {what}", file=sys.stderr)
    return 1 if missed else 0


def _measure(folder: Path, cells: int, *, laid: bool) -> Iterator[Measured]:
    def run(*command: str) -> Cost:
        return run_command(folder, *command)

    yield Measured("start of Snakemake (`--version`)", run("snakemake", "--version"))
    run("snakemake", "freeze_all", "--cores", "2")
    plan = run("snakemake", "-n")
    yield Measured("plan it, nothing done (`snakemake -n`)", plan, LIMITS["plan"])
    infer, score = _one_cell(folder)
    yield Measured("one `omibench infer` by itself", infer)
    yield Measured("one `omibench score` by itself", score)
    if laid:
        first = parse_study_file(folder / "params.yaml").cells[0]
        run("snakemake", f"results/score/{first.model}/{first.setting}.parquet", "--cores", "2")
        _lay(folder)
        touched = run("snakemake", "--touch", "--forceall", "--cores", "1")
        yield Measured("`snakemake --touch --forceall` over all files", touched)
    else:
        whole = run("snakemake", "score_all", "--cores", "2")
        own = whole.cpu_s - cells * (infer.cpu_s + score.cpu_s)
        yield Measured("run every cell on 2 cores", whole)
        yield Measured("a job of it", _a(whole, 2 * cells), LIMITS["job"], "its own work included")
        yield Measured("Snakemake's part of a job", _a(whole._replace(cpu_s=own), 2 * cells))
    yield Measured("analyze and report", run("snakemake", "--cores", "2"))
    yield Measured("all done: `snakemake -n`", run("snakemake", "-n"), LIMITS["no-op"])
    idle = run("snakemake", "--cores", "2")
    yield Measured("all done: `snakemake --cores 2`", idle, LIMITS["no-op"])
    _track(folder)
    first = run("dvc", "repro")
    yield Measured("first `dvc repro` over it", first, note="hashes every file")
    nothing = run("dvc", "repro")
    yield Measured("all done: `dvc repro`", nothing, LIMITS["dvc"])


def make_study(folder: Path, models: int, settings: int) -> None:
    """Put a checkout with a study of simulated models and one problem into an empty folder."""
    for name in PARTS:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, folder / name)
    _make_dataset(folder / "data")
    oracle = {
        "id": "one", "answer": ["18 m/s"], "answer_type": "open", "choices": [],
        "difficulty": 0.0, "n_images": 2, "subject": "physics", "topic": "waves",
        "captions": ["", ""], "translation": None, "rationale": "", "statement": TEXT,
    }  # fmt: skip
    (folder / "oracle.jsonl").write_text(json.dumps(oracle) + "\n", "utf-8")
    # DVC wants every block that dvc.yaml names; empty ones hold the defaults.
    blocks = yaml.safe_load((ROOT / "params.yaml").read_text("utf-8"))
    respondents = {
        f"m{n:03d}": {"provider": "simulated", "oracle": "oracle.jsonl", "seed": n}
        for n in range(models)
    }
    manners = {
        f"s{n:02d}": {"prompt": "cot", "decoding": {"max_tokens": 1000 + n}}
        for n in range(settings)
    }
    params = {
        **{name: {} for name in blocks},
        "study": blocks["study"], "benchmark": {"name": "frozen"}, "data": "data",
        "models": respondents,
        "settings": manners, "score": {"scorers": ["robust"]},
        "infer": {"models": list(respondents), "settings": list(manners)},
    }  # fmt: skip
    (folder / "params.yaml").write_text(yaml.safe_dump(params, sort_keys=False), "utf-8")


def _make_dataset(data: Path) -> None:
    (data / "images").mkdir(parents=True)
    figures = []
    for number in range(2):
        path = data / "images" / f"{number}.png"
        Image.new("RGB", (64, 64), (40 * number, 90, 120)).save(path)
        sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
        figures.append(Figure(file=f"images/{number}.png", sha256=sha256))
    questions = [Question(id="one", subject="physics", question=TEXT, images=figures)]
    answers = [Answer(id="one", answer_type="open", answer=["18 m/s"])]
    write_jsonl(data / "questions.jsonl", questions)
    write_jsonl(data / "answers.jsonl", answers)
    manifest = FrozenManifest(
        name="one", version="1.0.0", problems=1, images=2, subjects={"physics": 1},
        questions_sha256=content_hash(questions), answers_sha256=content_hash(answers),
    )  # fmt: skip
    write_json(data / "manifest.json", manifest)


def _one_cell(folder: Path) -> tuple[Cost, Cost]:
    frozen, study = folder / "results/freeze", parse_study_file(folder / "params.yaml")
    responses, verdicts = folder / "one.parquet", folder / "verdicts.parquet"

    def given(stage: str, cell: Cell | None) -> str:
        return json.dumps(slice_study(study, stage, cell))

    infer = run_command(
        folder, "omibench", "infer", str(frozen / "questions.jsonl"), "--model", "m000",
        "--setting", "s00", "--params", given("infer", Cell("m000", "s00")), "--out",
        str(responses),
    )  # fmt: skip
    score = run_command(
        folder, "omibench", "score", str(responses), "--answers", str(frozen / "answers.jsonl"),
        "--questions", str(frozen / "questions.jsonl"), "--params", given("score", None), "--out",
        str(verdicts),
    )  # fmt: skip
    return infer, score


def _lay(folder: Path) -> None:
    for cell in parse_study_file(folder / "params.yaml").cells:
        for stage, made, row in (
            ("infer", "one.parquet", ResponseRow), ("score", "verdicts.parquet", VerdictRow),
        ):  # fmt: skip
            place = folder / "results" / stage / cell.model / f"{cell.setting}.parquet"
            place.parent.mkdir(parents=True, exist_ok=True)
            if not place.exists():
                write_frame(place, read_parquet(folder / made, row), row)


def _track(folder: Path) -> None:
    for stage in ("ocr", "filter", "rationale"):  # a release has none; dvc.yaml names their folders
        (folder / "results" / stage).mkdir(exist_ok=True)
    for command in (["git", "init", "--quiet"], ["dvc", "init", "--quiet"]):
        run_command(folder, *command)


def run_command(folder: Path, *command: str) -> Cost:
    """Run a command in a folder with the source `src` in it; exits if it fails."""
    environment: Mapping[str, str] = {
        **os.environ, "PATH": f"{PROGRAMS}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(folder / "src"), "DVC_NO_ANALYTICS": "1",
    }  # fmt: skip
    started = time.monotonic()
    with (folder / "output.log").open("w+b") as output:
        child = subprocess.Popen(
            command, cwd=folder, env=environment, stdout=output, stderr=subprocess.STDOUT
        )
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        sys.exit(f"{command[0]} failed:\n{(folder / 'output.log').read_text('utf-8')[-4000:]}")
    return _cost(used, time.monotonic() - started)


def _cost(used: resource.struct_rusage, wall_s: float) -> Cost:
    return Cost(used.ru_utime + used.ru_stime, wall_s, used.ru_maxrss / 1000)


def _a(cost: Cost, jobs: int) -> Cost:
    return Cost(cost.cpu_s / jobs, cost.wall_s / jobs, cost.memory_mb)


def _markdown(table: list[Measured]) -> str:
    lines = ["| what | CPU s | limit | wall s | peak MB | |", "|---|---:|---:|---:|---:|---|"]
    for what, cost, limit, note in table:
        lines.append(
            f"| {what} | {cost.cpu_s:.3g} | {limit or ''} | {cost.wall_s:.3g} | "
            f"{cost.memory_mb:.0f} | {note} |"
        )
    return "\n".join(lines)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--models", type=int, default=30)
    parser.add_argument("--settings", type=int, default=20)
    parser.add_argument("--laid", action="store_true", help="copy one cell instead of running all")
    parser.add_argument("--folder", help="where to make the temporary folder")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
