"""Measure the cost of comparing two runs of a large study.

Writes two results folders of synthetic responses to choice problems, scored by the letter that each
ends on. In the second run, every response is drawn again and 1 % of the golds are corrected; with
`--rules` it is also scored by another scorer. Measures the
comparison alone, in a separate process.

    python benchmarks/run_comparison.py                     # 31 models x 20 settings x 1,322 items
    python benchmarks/run_comparison.py --models 2 --settings 2     # a quick trial
    python benchmarks/run_comparison.py --models 4 --settings 4 --rules
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl

from omibench.answers.scorers.registry import SCORERS
from omibench.schemas.problem import Answer, Choice, Question
from omibench.schemas.tables import (
    FrozenManifest,
    ResponseRow,
    VerdictRow,
    write_frame,
    write_json,
    write_jsonl,
)

LETTERS = np.array(list("ABCD"))
CHOICES = [Choice(label=label, text=f"option {label}") for label in LETTERS]
CORRECTED = 0.01
"""The share of the golds that the second run corrects."""
# Responses differ from each other, so that no verdict on one is that on another.
WORDS = "The force on the rod follows from the torque about the hinge, so the current is set. " * 10

COMMAND = """
import sys
from pathlib import Path
from omibench.results.comparison.compare import compare_run_folders
comparison = compare_run_folders(Path(sys.argv[1]), Path(sys.argv[2]))
for total in comparison.total.causes:
    print(f"  {total.cause}: {100 * total.change:+.3f} points, {total.verdicts:,} verdicts")
print(f"  {comparison.changed:,} verdicts changed")
"""


def write_run(folder: Path, cells: list[tuple[str, str]], golds: np.ndarray, run: int) -> None:
    """Write one run: seeds follow from the run and the number of the cell."""
    ids = [f"p{number:05}" for number in range(len(golds))]
    answers = [
        Answer(id=name, answer=[str(gold)], answer_type="mcq", choices=CHOICES, subject="physics")
        for name, gold in zip(ids, golds, strict=True)
    ]
    write_jsonl(folder / "freeze/answers.jsonl", answers)
    questions = [Question(id=name, question=f"Which, {name}?", choices=CHOICES) for name in ids]
    write_jsonl(folder / "freeze/questions.jsonl", questions)
    manifest = FrozenManifest(
        name="large", version="1", problems=len(ids), images=0, questions_sha256="0",
        answers_sha256="0", subjects={"physics": len(ids)},
    )  # fmt: skip
    write_json(folder / "freeze/manifest.json", manifest)
    for number, (model, setting) in enumerate(cells):
        draw = np.random.default_rng([run, number])
        letters = LETTERS[draw.integers(0, 4, len(ids))]
        keys = [f"{run}-{number}-{name}" for name in ids]
        sample = {"id": ids, "index": 0, "key": keys, "simulated": True}
        texts = [
            rf"{WORDS}For {key}: \boxed{{{letter}}}."
            for key, letter in zip(keys, letters, strict=True)
        ]
        responses = pl.DataFrame(
            {**sample, "outcome": "answered", "text": texts, "finish_reason": "stop"}
        )
        verdicts = pl.DataFrame(
            {
                **sample, "rules": args.rules[run], "extracted": letters,
                "version": SCORERS.get(args.rules[run]).version, "method": "box",
                "verdict": (letters == golds).astype(float), "outcome": "scored",
            }
        )  # fmt: skip
        name = f"{model}/{setting}.parquet"
        write_frame(folder / "infer" / name, fill(responses, ResponseRow), ResponseRow)
        write_frame(folder / "score" / name, fill(verdicts, VerdictRow), VerdictRow)


def fill(frame: pl.DataFrame, row: type[ResponseRow] | type[VerdictRow]) -> pl.DataFrame:
    """The frame with all columns of its rows, empty ones where it has none."""
    from omibench.schemas.tables import polars_schema

    schema = polars_schema(row)
    columns = [
        pl.col(name).cast(kind) if name in frame.columns else pl.lit(None, kind).alias(name)
        for name, kind in schema.items()
    ]
    lists = [name for name, kind in schema.items() if isinstance(kind, pl.List)]
    return frame.select(columns).with_columns(pl.col(name).fill_null([]) for name in lists)


def main() -> int:
    """Write two runs, compare them, and say what that cost."""
    cells = [
        (f"m{model:02}", f"s{setting:02}")
        for model in range(args.models)
        for setting in range(args.settings)
    ]
    draw = np.random.default_rng(0)
    golds = LETTERS[draw.integers(0, 4, args.items)]
    corrected = np.where(draw.random(args.items) < CORRECTED, "A", golds)
    with tempfile.TemporaryDirectory() as folder:
        folders = [Path(folder, name) for name in "ab"]
        for run, (path, run_golds) in enumerate(zip(folders, (golds, corrected), strict=True)):
            write_run(path, cells, run_golds, run)
        started = time.perf_counter()
        subprocess.run([sys.executable, "-c", COMMAND, *map(str, folders)], check=True)
        seconds = time.perf_counter() - started
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(
        f"{len(cells) * args.items:,} verdicts a run: {seconds:.1f} s, "
        f"{used.ru_utime + used.ru_stime:.1f} CPU s, {used.ru_maxrss / 2**20:.2f} GiB"
    )
    return 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", type=int, default=31)
    parser.add_argument("--settings", type=int, default=20)
    parser.add_argument("--items", type=int, default=1322)
    parser.add_argument(
        "--rules", action="store_const", const=("robust", "emma"), default=("robust", "robust"),
        help="score the second run by another scorer",
    )  # fmt: skip
    args = parser.parse_args()
    sys.exit(main())
