"""Measure the cost of image conditions: making the pictures once, and finding them again.

The figures of a frozen dataset (default: that of `make study`), each as many times as it takes
for `--problems` of three pictures, every one with bytes of its own. For each condition: CPU and
wall time to present all of them in a process that makes the pictures, then in one that finds them
(which is what every further model pays), and the bytes that they take.

    python benchmarks/pictures.py [--freeze results/freeze] [--problems 132]
"""

from __future__ import annotations

import argparse
import hashlib
import json
import platform
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from PIL import Image, PngImagePlugin
from PIL import __version__ as pillow

from omibench.params.setting import DEGRADATIONS, Setting
from omibench.schemas.problem import Figure, Question
from omibench.schemas.tables import read_jsonl, write_jsonl
from omibench.settings.present import present

PER_PROBLEM = 3
CONDITIONS = {
    "all": "all",
    "composite": "composite",
    "labelled-composite": "labelled-composite",
    "occluded": "occluded",
    **{f"{kind} 2": {"show": "degraded", "by": [kind], "grade": 2} for kind in DEGRADATIONS},
    "all six, 3": {"show": "degraded", "by": list(DEGRADATIONS), "grade": 3},
}


def main() -> None:
    """Make the dataset, measure each condition in processes of its own, print a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--freeze", type=Path, default=Path("results/freeze"))
    parser.add_argument("--problems", type=int, default=132)
    parser.add_argument("--only", nargs="*", default=list(CONDITIONS))
    parser.add_argument("--present", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.present:
        print(json.dumps(measure(Path(given.present[0]), given.present[1])))
        return
    with tempfile.TemporaryDirectory(prefix="omibench-pictures-") as folder:
        freeze = Path(folder) / "results" / "freeze"
        size = make(given.freeze, freeze, given.problems)
        print(
            f"{given.problems:,} problems, {PER_PROBLEM * given.problems:,} pictures of "
            f"{size / 1e6:.2f} megapixels in the mean; Pillow {pillow}, "
            f"Python {platform.python_version()}\n"
        )
        print(
            "| condition | made: CPU s | wall s | ms a picture | again: CPU s | disk MB | peak MB |"
        )
        print("|---|---:|---:|---:|---:|---:|---:|")
        for name in given.only:
            first, again = (in_process(freeze, name) for _ in range(2))
            kept = sum(p.stat().st_size for p in (freeze.parent / "pictures").rglob("*.png"))
            each = first["cpu"] / PER_PROBLEM / given.problems * 1000
            print(
                f"| {name} | {first['cpu']:.1f} | {first['wall']:.1f} | {each:.1f} | "
                f"{again['cpu']:.2f} | {kept / 1e6:.1f} | {first['rss']:.0f} |",
                flush=True,
            )
            for path in (freeze.parent / "pictures").rglob("*.png"):
                path.unlink()


def make(source: Path, freeze: Path, problems: int) -> float:
    """Write the dataset; the mean size of its pictures in pixels."""
    figures = [f for q in read_jsonl(source / "questions.jsonl", Question) for f in q.images]
    (freeze / "images").mkdir(parents=True)
    rows, pixels = [], 0
    for n in range(problems):
        own = []
        for i in range(PER_PROBLEM):
            number = n * PER_PROBLEM + i
            note = PngImagePlugin.PngInfo()
            note.add_text("number", str(number))
            path = freeze / "images" / f"{number}.png"
            with Image.open(source / figures[number % len(figures)].file) as image:
                image.save(path, pnginfo=note)
                pixels += image.width * image.height
            digest = hashlib.sha256(path.read_bytes()).hexdigest()
            own.append(Figure(file=f"images/{path.name}", sha256=digest))
        rows.append(Question(id=f"q{n}", question="[IMAGE0] [IMAGE1] [IMAGE2]", images=own))
    write_jsonl(freeze / "questions.jsonl", rows)
    return pixels / (problems * PER_PROBLEM)


def in_process(freeze: Path, name: str) -> dict[str, float]:
    """Present everything under a condition in a process of its own."""
    command = [sys.executable, __file__, "--present", str(freeze), name]
    found: dict[str, float] = json.loads(subprocess.check_output(command, text=True))
    return found


def measure(freeze: Path, name: str) -> dict[str, float]:
    """CPU and wall seconds, and megabytes of memory, to present all problems."""
    questions = list(read_jsonl(freeze / "questions.jsonl", Question))
    setting = Setting.model_validate({"images": CONDITIONS[name]})
    wall, cpu = time.perf_counter(), time.process_time()
    for question in questions:
        present(question, setting, freeze)
    return {
        "cpu": time.process_time() - cpu,
        "wall": time.perf_counter() - wall,
        "rss": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


if __name__ == "__main__":
    main()
