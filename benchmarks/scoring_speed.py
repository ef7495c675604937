"""Measure a scorer's responses per CPU second, and its accuracy.

The responses and verdicts are those published for EMMA-mini, after a manual audit
(`data/emma`); speed is measured on those under chain of thought. Every run is a new process with
empty caches, scores each response once, and counts the CPU seconds of its children too; imports
are counted apart. Scorers take turns, round by round, and the ratios are those within a round. A
run whose verdicts are less right than the target is not counted as fast. Then wrong answers made
of OMIBench's open golds go through `omibench score`, with an empty cache and again.

    python benchmarks/scoring_speed.py --data DATA

The peers are installed as released, each into an environment of its own; `--math-verify PYTHON` and
`--inspect PYTHON` take ones that have them. The exit code is 1 when a target is missed.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
import venv
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from gold_mutants import Gold, excluded, sample  # noqa: E402

PACKAGES = {
    "math-verify": ("math-verify==0.9.0", "antlr4-python3-runtime==4.13.2"),
    "inspect": (
        "inspect-ai==0.3.285", "sympy", "latex2sympy2_extended==1.11.0",
        "antlr4-python3-runtime==4.11.1",
    ),
}  # fmt: skip
CONTESTANTS = {
    "omibench-robust": "", "omibench-emma": "", "math-verify": "math-verify",
    "inspect-math": "inspect",
}  # fmt: skip
"""Each scorer and the environment that it runs in ("" for this one)."""
ACCURACY, CASES, FASTER, FIRST_S, AGAIN_S = 0.998, 0.98, 10.0, 90.0, 10.0
PAIRS, SEED = 3_100, 20
"""So many mutants are drawn; a few of them are no wrong answers and are left out."""
ONCE = ("inspect-math",)
"""Scorers that run in the first round only: a minute and more."""


class Run(NamedTuple):
    """One scorer through one file: CPU seconds of imports and of scoring, and its verdicts."""

    import_s: float
    cpu_s: float
    told: list[bool]


class Emma(NamedTuple):
    """The responses of one set of files, and which are right (None where nobody can say)."""

    rows: list[dict[str, Any]]
    truth: list[bool | None]

    def right(self, told: list[bool]) -> tuple[int, int]:
        """How many verdicts are right, and of how many."""
        known = [(t, v) for t, v in zip(told, self.truth, strict=True) if v is not None]
        return sum(t == v for t, v in known), len(known)


def main() -> int:
    """Measure, print the tables, and say what was missed."""
    options = _options()
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory(prefix="omibench-scoring-") as name:
        folder = Path(name)
        pythons = _pythons(options, folder)
        cot, everything = emma(options.data, "CoT"), emma(options.data, "")
        runs: dict[str, list[Run]] = {name: [] for name in CONTESTANTS}
        order = list(CONTESTANTS)
        for turn in range(options.repeats):
            for contestant in order[turn % len(order) :] + order[: turn % len(order)]:
                if turn and contestant in ONCE:
                    continue
                done = run(pythons[CONTESTANTS[contestant]], contestant, cot.rows, folder)
                runs[contestant].append(done)
                _say(f"{contestant}: {len(cot.rows) / done.cpu_s:.0f} responses per CPU-second")
        whole = run(sys.executable, "omibench-robust", everything.rows, folder)
        cases = scoring_cases(options.data)
        case_told = run(sys.executable, "omibench-robust", cases.rows, folder).told
        first_s, again_s, accepted, pairs = mutants(options.data, folder)
        versions = _versions(pythons)
    table, ratios = speed_table(cot, runs)
    right, known = everything.right(whole.told)
    case_right, case_known = cases.right(case_told)
    slowest = min(ratios)
    missed = [
        what
        for what, ok in {
            "accuracy": right / known >= ACCURACY, "cases": case_right / case_known >= CASES,
            "speed": slowest >= FASTER, "mutants": first_s <= FIRST_S, "again": again_s <= AGAIN_S,
        }.items()
        if not ok
    ]  # fmt: skip
    print(
        versions,
        f"Load average {load:.1f} at the start, {os.getloadavg()[0]:.1f} at the end.",
        "",
        table,
        "",
        "| what | target | reached |",
        "|---|---|---|",
        f"| `robust` over math-verify, CoT responses per CPU-second, by round | >= {FASTER:.0f} in"
        f" each | median {median(ratios):.1f}, {slowest:.1f} to {max(ratios):.1f} |",
        f"| `robust` right on all {len(everything.rows):,} responses, hand audit applied |"
        f" >= {ACCURACY:.1%} | {right:,} of {known:,} ({right / known:.2%}) |",
        f"| `robust` right on the scoring cases | >= {CASES:.0%} | {case_right} of {case_known} |",
        f"| {pairs:,} wrong answers to OMIBench's open problems, whole command, CPU seconds |"
        f" <= {FIRST_S:.0f} | {first_s:.1f} ({accepted} accepted) |",
        f"| the same again | <= {AGAIN_S:.0f} | {again_s:.1f} |",
        "",
        f"Missed: {', '.join(missed) or 'nothing'}.",
        sep="\n",
    )
    return 1 if missed else 0


def speed_table(cot: Emma, runs: dict[str, list[Run]]) -> tuple[str, list[float]]:
    """The table of all scorers, and the ratios of `robust` to math-verify round by round."""
    rates = {
        name: [len(cot.rows) / done.cpu_s for done in repeats] for name, repeats in runs.items()
    }
    lines = [
        f"| scorer | CoT responses ({len(cot.rows):,}) per CPU-second, median (range) | right"
        " | said to be correct | imports, CPU s |",
        "|---|---|---|---|---|",
    ]
    for name, repeats in runs.items():
        right, known = cot.right(repeats[0].told)
        rate = rates[name]
        lines.append(
            f"| {name} | {median(rate):,.0f} ({min(rate):,.0f}-{max(rate):,.0f})"
            f" | {right / known:.2%} | {sum(repeats[0].told) / len(cot.rows):.2%}"
            f" | {median(done.import_s for done in repeats):.2f} |"
        )
    pairs = zip(rates["omibench-robust"], rates["math-verify"], strict=True)
    return "\n".join(lines), [ours / theirs for ours, theirs in pairs]


def emma(data: Path, kind: str) -> Emma:
    """The published responses whose file's name has `kind` in it."""
    import polars as pl

    audit = {
        (row["file"], row["pid"]): row["hand_verdict"]
        for row in _jsonl(data / "emma" / "audit_dev.jsonl")
    }
    found = Emma([], [])
    paths = sorted((data / "emma" / "dev").glob("*.parquet"))
    for path in (path for path in paths if kind in path.stem):
        for row in pl.read_parquet(path).iter_rows(named=True):
            choice = row["type"].casefold() == "multiple choice"
            gold = row["answer"].upper() if choice else row["answer"]
            options = row["options"] if choice else None
            found.rows.append(
                {"response": row["response"] or "", "gold": [gold], "options": options}
            )
            found.truth.append(audit.get((path.stem, row["pid"]), row["published_true_false"]))
    return found


def scoring_cases(data: Path) -> Emma:
    """The cases whose verdict is known by construction or by hand."""
    rows = _jsonl(data / "scoring_cases.jsonl")
    return Emma(
        [
            {"response": row["prediction"], "gold": row["gold"],
             "options": row["options"] if row["type"] == "mcq" else None}
            for row in rows
        ],
        [row["expected"] == "correct" for row in rows],
    )  # fmt: skip


def mutants(data: Path, folder: Path) -> tuple[float, float, int, int]:
    """CPU seconds of `omibench score` on wrong answers, first and again; accepted ones of all."""
    import polars as pl

    rows = [r for r in _jsonl(data / "omibench" / "test.jsonl") if r["answer_type"] == "open"]
    golds = [Gold(row["id"], tuple(row["answer"])) for row in rows]
    drawn = [mutant for mutant in sample(golds, PAIRS, SEED) if not excluded(mutant)]
    with (folder / "mutants.jsonl").open("w", encoding="utf-8") as out:
        for mutant in drawn:
            row = {
                "id": mutant.gold.problem, "prediction": f"So \\boxed{{{mutant.text}}}.",
                "gold": list(mutant.gold.entries), "answer_type": "open", "choices": None,
            }  # fmt: skip
            out.write(json.dumps(row) + "\n")
    command = [
        sys.executable, "-m", "omibench", "score", "mutants.jsonl", "--scorer", "robust",
        "--out", "verdicts.parquet",
    ]  # fmt: skip
    # Known verdicts lie in the user's cache folder: here in one that is empty.
    spent, own = [], os.environ | {"XDG_CACHE_HOME": str(folder / "cache")}
    for _ in range(2):
        before = _children_s()
        subprocess.run(command, cwd=folder, env=own, check=True, capture_output=True)
        spent.append(_children_s() - before)
    accepted = int(pl.read_parquet(folder / "verdicts.parquet")["verdict"].sum())
    return spent[0], spent[1], accepted, len(drawn)


def run(python: str, contestant: str, rows: list[dict[str, Any]], folder: Path) -> Run:
    """One scorer in a fresh process over all rows."""
    file = folder / "rows.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    command = [python, str(HERE / "scoring_contestants.py"), contestant, str(file)]
    done = subprocess.run(command, cwd=folder, check=True, stdout=subprocess.PIPE, text=True)
    return Run(**json.loads(done.stdout.splitlines()[-1]))


def _children_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _jsonl(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def _pythons(options: argparse.Namespace, folder: Path) -> dict[str, str]:
    given = {"math-verify": options.math_verify, "inspect": options.inspect}
    return {"": sys.executable} | {
        name: python or _install(folder / name, PACKAGES[name]) for name, python in given.items()
    }


def _install(folder: Path, packages: tuple[str, ...]) -> str:
    _say(f"installing {' '.join(packages)}")
    venv.create(folder, with_pip=True)
    python = str(folder / "bin" / "python")
    subprocess.run([python, "-m", "pip", "install", "-qq", *packages], check=True)
    return python


def _versions(pythons: dict[str, str]) -> str:
    code = (
        "from importlib.metadata import version\n"
        "print(', '.join(f'{n} {version(n)}' for n in (%r, 'antlr4-python3-runtime')))"
    )
    shown = [
        subprocess.run(
            [pythons[key], "-c", code % name], capture_output=True, text=True, check=True
        )
        for key, name in (("math-verify", "math-verify"), ("inspect", "inspect-ai"))
    ]
    peers = "; ".join(done.stdout.strip() for done in shown)
    cores = f"Python {platform.python_version()}, {os.cpu_count()} cores"
    return f"{cores}. {peers}; omibench {version('omibench')}."


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    default = os.environ.get("OMIBENCH_SHARED_DATA", str(HERE.parent.parent / "shared" / "data"))
    parser.add_argument("--data", type=Path, default=Path(default))
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--math-verify", help="a Python that has it: else it is installed again")
    parser.add_argument("--inspect", help="a Python that has inspect-ai and what `math` needs")
    options = parser.parse_args()
    options.data = options.data.resolve()
    return options


if __name__ == "__main__":
    sys.exit(main())
