"""Measure the time from a new model's appearance at an endpoint to the published board.

A study of 20 settings x 1,322 synthetic problems of OMIBench's shape (574 multiple choice, 748
open, 2 to 6 small pictures each) with three simulated models is built first. Then a local endpoint
lists one more model, which is a simulated one, and the flow `reevaluate` is run as a
schedule would run it, without a server. Everything is synthetic, and marked as such.

Run `python benchmarks/reevaluation.py` for the full size; `--quick` takes 60 problems.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from hashlib import sha256
from itertools import product
from pathlib import Path

from PIL import Image

from omibench.models.simulated.answers import OracleRow
from omibench.schemas.problem import Answer, Choice, Figure, Question
from omibench.schemas.tables import FrozenManifest, content_hash, write_json, write_jsonl

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))
from model_server.handle import running_server  # noqa: E402

PROBLEMS, MCQ = 1322, 574
IMAGES = {2: 0.45, 3: 0.25, 4: 0.15, 5: 0.08, 6: 0.07}
SUBJECTS = ("biology", "chemistry", "mathematics", "physics")
LABELS = "ABCDE"
PARTS = ("Snakefile", "rules", "profiles", "schemas", "workflows", "envs")
KEY_ENV = "REEVALUATION_KEY"


def main() -> None:
    """Build the study, add a model, and print what its evaluation took."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="60 problems instead of 1,322")
    parser.add_argument("--keep", type=Path, help="work in this folder and keep it")
    parser.add_argument("--others", type=int, default=3, help="models that are there before")
    parser.add_argument("--cores", type=int, default=2)
    options = parser.parse_args()
    problems = 60 if options.quick else PROBLEMS
    folder = options.keep or Path(tempfile.mkdtemp(prefix="reevaluation-"))
    with running_server(models=["old"], api_keys=["sk-none"]) as endpoint:
        make_study(folder, problems, endpoint.openai_url, options.others)
        built, _ = timed("evaluate", folder, options.cores)
        said = f"{options.others} models x 20 settings x {problems:,} problems"
        print(f"{said}, built: {built:.0f} s", flush=True)
        endpoint.add_model("sim-new")
        wall, cpu = timed("reevaluate", folder, options.cores)
        board = json.loads((folder / "board/analyze/metrics.json").read_text("utf-8"))
        cells = board["sim-new"]
        assert len(cells) == 20, "the new model is not on the board under every setting"
        assert all(cell["n"] == problems and cell["simulated"] for cell in cells.values())
        line = f"1 new model, from its appearance to the board: {wall:.0f} s, {cpu:.0f} CPU s"
        print(line, flush=True)
        again, _ = timed("reevaluate", folder, options.cores)
        print(f"another look, with nothing new: {again:.0f} s")
        print(f"load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    if not options.keep:
        shutil.rmtree(folder)


def timed(flow: str, folder: Path, cores: int) -> tuple[float, float]:
    """Run a flow; its wall seconds and the CPU seconds of all its processes."""
    environment = os.environ | {
        KEY_ENV: "sk-none",
        "PREFECT_HOME": str(folder / ".prefect"),
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    }
    environment.pop("PREFECT_API_URL", None)
    command = [sys.executable, "-m", f"workflows.{flow}", "--cores", str(cores)]
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.exit(done.stdout[-5000:] + done.stderr[-5000:])
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return time.monotonic() - begun, cpu


def make_study(folder: Path, problems: int, url: str, others: int) -> None:
    """A checkout with a frozen release, known answers, and params that watch an endpoint."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in PARTS:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, dirs_exist_ok=True)
        else:
            shutil.copy(source, folder / name)
    make_release(folder, problems)
    models = {
        f"sim-{n}": {"provider": "simulated", "oracle": "oracle.jsonl", "seed": n, "ability": n - 1}
        for n in range(others)
    }
    stand_in = {"provider": "simulated", "oracle": "oracle.jsonl", "seed": 9, "ability": 0.7}
    settings = {
        f"{prompt}-{images}-{tokens}": {
            "prompt": prompt, "images": images, "decoding": {"max_tokens": tokens},
        }
        for prompt, images, tokens in product(
            ("cot", "direct"), ("all", "none"), (512, 1024, 2048, 4096, 8192)
        )
    }  # fmt: skip
    watch = {"kind": "endpoint", "base_url": url, "key_env": KEY_ENV, "match": ["sim-*"]}
    params = {
        "study": {"name": "reevaluation", "title": "Synthetic rehearsal"},
        "benchmark": {"name": "frozen"},
        "data": "release",
        "models": models,
        "settings": settings,
        "infer": {"models": list(models), "settings": list(settings)},
        "score": {"scorers": ["robust", "omibench"]},
        "reevaluate": {"watch": {"local": watch | {"model": stand_in}}},
    }
    write_json(folder / "params.yaml", params)  # JSON is YAML


def make_release(folder: Path, problems: int) -> None:
    """A frozen release of `problems` items, and the answers that simulated models use."""
    rng, release = random.Random(20261121), folder / "release"  # noqa: S311 (a drawing, no secret)
    (release / "images").mkdir(parents=True, exist_ok=True)
    questions, answers, oracle = [], [], []
    for n in range(problems):
        mcq = n % PROBLEMS < MCQ if problems == PROBLEMS else n % 2 == 0
        count = rng.choices(list(IMAGES), list(IMAGES.values()))[0]
        figures = [picture(release, f"{n}-{i}", rng) for i in range(count)]
        shown = " ".join(f"[IMAGE{i}]" for i in range(count))
        choices = [Choice(label=c, text=f"{rng.randint(1, 99)} m/s") for c in LABELS]
        gold = rng.choice(LABELS) if mcq else f"{rng.uniform(1, 500):.2f}"
        subject = SUBJECTS[n % len(SUBJECTS)]
        kind = "mcq" if mcq else "open"
        text = f"Problem {n}: from {shown}, how large is the quantity that they share?"
        questions.append(
            Question(id=f"p{n:04}", question=text, images=figures, choices=choices if mcq else None)
        )
        answers.append(
            Answer(
                id=f"p{n:04}", answer=[gold], answer_type=kind, subject=subject, n_images=count,
                choices=choices if mcq else None,
            )
        )  # fmt: skip
        oracle.append(
            OracleRow(
                id=f"p{n:04}", answer=[gold], answer_type=kind, n_images=count, subject=subject,
                choices=list(LABELS) if mcq else None, difficulty=rng.gauss(0, 1),
            )
        )  # fmt: skip
    write_jsonl(release / "questions.jsonl", questions)
    write_jsonl(release / "answers.jsonl", answers)
    write_jsonl(folder / "oracle.jsonl", oracle)
    manifest = FrozenManifest(
        name="synthetic", version="1.0.0", problems=problems,
        images=sum(len(q.images) for q in questions),
        questions_sha256=content_hash(questions), answers_sha256=content_hash(answers),
        subjects={s: sum(a.subject == s for a in answers) for s in SUBJECTS},
    )  # fmt: skip
    write_json(release / "manifest.json", manifest.model_dump(mode="json"))


def picture(release: Path, name: str, rng: random.Random) -> Figure:
    """A small picture whose bytes no other has."""
    path = release / "images" / f"{name}.png"
    Image.frombytes("RGB", (8, 8), rng.randbytes(192)).resize((64, 48)).save(path)
    return Figure(file=f"images/{name}.png", sha256=sha256(path.read_bytes()).hexdigest())


if __name__ == "__main__":
    main()
