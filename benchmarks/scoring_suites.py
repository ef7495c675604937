"""Measure the rules of other suites and ours on the same labelled pairs of a gold and an answer.

    python benchmarks/scoring_suites.py --checkout math=PATH --checkout olympiadbench=PATH \\
        --python PATH_OF_A_PYTHON_WITH_THEIR_REQUIREMENTS

Pairs are those of `tests/stages/score/unseen.jsonl` (or `--pairs FILE`) with one gold answer and
nothing but one box as the response, so that no rule depends on its extraction. Each set of rules
runs in a fresh process; `scoring_contestants.py` lists the names that take a checkout. Prints a
table: pairs judged rightly, and pairs that differ but are accepted.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from omibench.text.boxes import find_boxes

HERE = Path(__file__).parent
PAIRS = HERE.parent / "tests/stages/score/unseen.jsonl"
INSTALLED = ("omibench-robust", "math-verify")


def read_pairs(path: Path) -> Iterator[dict[str, Any]]:
    """The pairs whose response is one box, with what is in it."""
    for line in path.read_text("utf-8").splitlines():
        row = json.loads(line)
        response = row["response"].strip()
        boxes = find_boxes(response).closed
        alone = len(boxes) == 1 and response == rf"\boxed{{{boxes[0]}}}"
        if alone and len(row["gold"]) == 1 and not row.get("options"):
            yield {**row, "options": None, "answer": boxes[0]}


def judge(name: str, file: Path, python: str, checkout: str = "") -> list[bool]:
    """The verdicts of one contestant, in a process of its own."""
    command = [python, str(HERE / "scoring_contestants.py"), name, str(file)]
    run = subprocess.run(
        [*command, *([checkout] if checkout else [])], capture_output=True, text=True, check=False
    )
    if run.returncode:
        raise SystemExit(f"{name}: {run.stderr.strip().splitlines()[-1]}")
    told: list[bool] = json.loads(run.stdout.splitlines()[-1])["told"]
    return told


def describe(checkout: str) -> str:
    """The revision and date of a checkout; its path's version if it is an installed package."""
    git = ["git", "-C", checkout, "log", "-1", "--format=%h, %cs"]
    run = subprocess.run(git, capture_output=True, text=True, check=False)
    return run.stdout.strip() or "installed"


def write_row(name: str, revision: str, rows: Sequence[dict[str, Any]], told: list[bool]) -> str:
    """One line of the table."""
    right = sum(row["right"] == verdict for row, verdict in zip(rows, told, strict=True))
    wrongly = sum(verdict and not row["right"] for row, verdict in zip(rows, told, strict=True))
    share = f"{right:,} of {len(rows):,} ({right / len(rows):.1%})"
    return f"| {name} | {revision} | {share} | {wrongly} |"


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("--pairs", type=Path, default=PAIRS)
    parser.add_argument("--checkout", action="append", default=[], metavar="NAME=PATH")
    parser.add_argument("--python", default=sys.executable, help="for the rules of checkouts")
    options = parser.parse_args()
    rows = list(read_pairs(options.pairs))
    equal = sum(row["right"] for row in rows)
    print(f"{len(rows):,} pairs, {equal:,} of them equal\n")
    print("| rules | revision | right | accepted wrongly |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "pairs.jsonl"
        file.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
        for name in INSTALLED:
            print(write_row(name, "installed", rows, judge(name, file, sys.executable)))
        for name, _, path in (entry.partition("=") for entry in options.checkout):
            told = judge(name, file, options.python, path)
            print(write_row(name, describe(path), rows, told), flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
