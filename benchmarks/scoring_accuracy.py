"""Measure the scorers' accuracy: gold answers, mutants, labelled cases, verdicts, attacks.

`python benchmarks/scoring_accuracy.py --data FOLDER` measures those that the folder contains:

* `omibench/test.jsonl` (or `--golds FILE`): rows of `id`, `answer` (list), `answer_type` and
  `choice_list`. Every gold as an answer, bare and in a box, and mutants of every open gold.
* `scoring_cases.jsonl` (or `--cases FILE`): `prediction`, `gold`, `type`, `options`, `expected`.
* `emma/dev/*.parquet` and `emma/audit_dev.jsonl`: responses with audited verdicts.
* `nasty_answers.jsonl` (or `--hostile FILE`): `response` or `response_gen`, `gold`, `expected`; run
  in a separate process that has 1 GiB.

Prints a table of results and targets; `--out` writes it. `--show` lists what a scorer wrongly
accepts.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import resource
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parent))

from gold_mutants import KINDS, Gold, excluded, mutants, sample

from omibench.answers.scorers.registry import score_item
from omibench.schemas.problem import Choice
from omibench.schemas.verdict import ScoredItem

RULES = ("robust", "omibench", "omibench-release", "emma")
MUTANTS_AT_LEAST = 3_000
EXCLUDED_AT_MOST = 0.03
REJECTED_AT_LEAST = {"digit": 0.98, "sign": 0.97}
LABELS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
NUMBER_WORDS = 7
"""Published verdicts of EMMA that were stored before its code could read "Three"."""


class Line(NamedTuple):
    """One measured figure: right ones of all, the least that is asked for (None: only reported)."""

    what: str
    rules: str
    right: int
    total: int
    target: float | None = None

    @property
    def met(self) -> bool:
        """Whether the figure reaches its target; true where there is none."""
        return self.target is None or self.right >= self.target


def item(prediction: str, gold: Sequence[str], options: Sequence[str] | None) -> ScoredItem:
    """A response to score; with options it is multiple choice."""
    choices = [Choice(label=x, text=t) for x, t in zip(LABELS, options or [], strict=False)]
    return ScoredItem(
        id="x", prediction=prediction, gold=list(gold), choices=choices or None,
        answer_type="mcq" if options else "open",
    )  # fmt: skip


def right(scored: ScoredItem, rules: str) -> bool:
    """Whether a scorer finds a response right as a whole."""
    return score_item(scored, rules).verdict == 1


def lines_of(path: Path) -> list[dict[str, Any]]:
    """The rows of a JSONL file."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]


def golds(rows: Sequence[dict[str, Any]], rules: Iterable[str]) -> Iterator[Line]:
    """Every gold as an answer to its own problem."""
    forms = {
        "bare": "{}",
        "in a box in a sentence": "Taken together, this is \\boxed{{{}}} at last.",
    }
    least = {"robust": len(rows), "omibench": round(len(rows) * 1_320 / 1_322)}
    for form, pattern in forms.items():
        for rule in rules:
            hits = sum(right(_itself(row, pattern), rule) for row in rows)
            yield Line(f"gold against gold, {form}", rule, hits, len(rows), least.get(rule))


def _itself(row: dict[str, Any], pattern: str) -> ScoredItem:
    options = row["choice_list"] if row["answer_type"] == "mcq" else None
    return item(pattern.format(", ".join(row["answer"])), row["answer"], options)


def mutated(
    rows: Sequence[dict[str, Any]], rules: Iterable[str], pairs: int, seed: int, show: bool
) -> Iterator[Line]:
    """Mutants drawn uniformly from all positions of all open golds, and how many are rejected."""
    sources = [Gold(r["id"], tuple(r["answer"])) for r in rows if r["answer_type"] == "open"]
    drawn = sample(sources, pairs, seed) if pairs else list(mutants(sources, seed))
    reasons = Counter(reason for mutant in drawn if (reason := excluded(mutant)))
    for reason, count in reasons.items():
        print(f"excluded, {reason}: {count}")
    kept = [mutant for mutant in drawn if not excluded(mutant)]
    most = round(EXCLUDED_AT_MOST * len(drawn))
    yield Line("mutants kept (at most 3 % excluded)", "", len(kept), len(drawn), len(drawn) - most)
    for rule in rules:
        for kind in KINDS:
            of_kind = [mutant for mutant in kept if mutant.kind == kind]
            taken = [m for m in of_kind if right(_answer(m.text, m.gold.entries), rule)]
            if show:
                for mutant in taken:
                    print(f"{rule} accepts {kind}: {mutant.gold.problem} {mutant.text!r}")
            share = REJECTED_AT_LEAST.get(kind, 1.0) if rule == "robust" else None
            least = None if share is None else share * len(of_kind)
            rejected = len(of_kind) - len(taken)
            yield Line(f"mutants rejected: {kind}", rule, rejected, len(of_kind), least)


def _answer(text: str, gold: Sequence[str]) -> ScoredItem:
    return item(f"So \\boxed{{{text}}}.", gold, None)


def cases(rows: Sequence[dict[str, Any]], rules: Iterable[str], show: bool) -> Iterator[Line]:
    """Labelled pairs of a prediction and a gold."""
    for rule in rules:
        wrong = [
            row
            for row in rows
            if right(
                item(
                    row["prediction"], row["gold"], row["options"] if row["type"] == "mcq" else None
                ),
                rule,
            )
            != (row["expected"] == "correct")
        ]
        if show:
            print(*(f"{rule} misjudges {row['id']}" for row in wrong), sep="\n")
        least = 0.98 * len(rows) if rule == "robust" else None
        yield Line("labelled cases", rule, len(rows) - len(wrong), len(rows), least)


def published(folder: Path) -> Iterator[Line]:
    """Responses with published verdicts: `emma` replays them, `robust` is held to the audit."""
    import polars as pl

    audit = {(r["file"], r["pid"]): r["hand_verdict"] for r in lines_of(folder / "audit_dev.jsonl")}
    replayed = ruled = agreed = audited = 0
    for path in sorted((folder / "dev").glob("*.parquet")):
        for row in pl.read_parquet(path).iter_rows(named=True):
            choice = row["type"].casefold() == "multiple choice"
            gold = row["answer"].upper() if choice else row["answer"]
            scored = item(row["response"] or "", [gold], row["options"] if choice else None)
            stored = row["published_true_false"]
            if path.stem != "Llava_CoT":  # judged by GPT, not by rules
                ruled += 1
                replayed += right(scored, "emma") == stored
            truth = audit.get((path.stem, row["pid"]), stored)
            if truth is not None:
                audited += 1
                agreed += right(scored, "robust") == truth
    yield Line("published verdicts replayed", "emma", replayed, ruled, ruled - NUMBER_WORDS)
    yield Line("the same, hand audit applied", "robust", agreed, audited, 0.998 * audited)


def hostile(path: Path) -> Iterator[Line]:
    """Attacks, in a process of 1 GiB: verdicts as expected, and none above 2 s of CPU."""
    command = [sys.executable, __file__, "--hostile-child", str(path)]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    rows = [json.loads(line) for line in run.stdout.splitlines()]
    good = sum(expected in ("either", verdict) for expected, verdict, _ in rows)
    fast = sum(cpu_s <= 2.0 for *_, cpu_s in rows)
    yield Line("hostile answers as expected", "robust", good, len(rows), 0.97 * len(rows))
    yield Line("hostile answers within 2 s of CPU and 1 GiB", "robust", fast, len(rows), len(rows))


def hostile_child(path: Path) -> None:
    """Score hostile answers under 1 GiB and print expected, verdict and CPU seconds of each."""
    from omibench.answers.formulas import symbolic

    resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
    symbolic.symbolically_equal("x<1", "1>x")
    for row in lines_of(path):
        build = row["response_gen"]
        text = row["response"]
        if text is None:
            text = build["template"].replace("<R>", build["repeat"] * build["times"])
        scored = item(text, row["gold"], row["options"] if row["type"] == "mcq" else None)
        workers = list(symbolic.worker_pids())
        began = time.process_time() + sum(map(_cpu_s, workers))
        verdict = "correct" if right(scored, "robust") else "incorrect"
        spent = time.process_time() + sum(map(_cpu_s, workers)) - began
        print(json.dumps([row["expected"], verdict, spent]))


def _cpu_s(pid: int) -> float:
    """CPU seconds of a process, 0 when it has ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def table(found: Sequence[Line]) -> str:
    """The measured figures as a Markdown table."""
    head = ["| what | rules | reached | target | met |", "|---|---|---|---|---|"]
    return "\n".join([*head, *map(_row, found)])


def _row(line: Line) -> str:
    target = "" if line.target is None else f">= {math.ceil(line.target):,}"
    met = "" if line.target is None else "yes" if line.met else "**no**"
    reached = f"{line.right:,} of {line.total:,} ({line.right / max(1, line.total):.2%})"
    return f"| {line.what} | {line.rules} | {reached} | {target} | {met} |"


def measure(options: argparse.Namespace) -> list[Line]:
    """Everything that the given folder and files allow."""
    data: Path | None = options.data

    def given(file: Path | None, name: str) -> Path | None:
        path = file or (data / name if data else None)
        return path if path and path.exists() else None

    found = list[Line]()
    if source := given(options.golds, "omibench/test.jsonl"):
        rows = lines_of(source)
        found += golds(rows, options.scorer)
        found += mutated(rows, options.scorer, options.pairs, options.seed, options.show)
    if source := given(options.cases, "scoring_cases.jsonl"):
        found += cases(lines_of(source), options.scorer, options.show)
    if source := given(None, "emma"):
        found += published(source)
    if source := given(options.hostile, "nasty_answers.jsonl"):
        found += hostile(source)
    return found


def main() -> int:
    """Measure, print the table, and end with 1 where a target is missed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="folder with any of the files named above")
    for name in ("golds", "cases", "hostile", "hostile-child", "out"):
        parser.add_argument(f"--{name}", type=Path)
    parser.add_argument("--scorer", nargs="+", default=list(RULES))
    parser.add_argument("--pairs", type=int, default=MUTANTS_AT_LEAST, help="0 for every mutant")
    parser.add_argument("--seed", type=int, default=5)
    parser.add_argument("--show", action="store_true", help="list what is judged wrongly")
    options = parser.parse_args()
    if options.hostile_child:
        hostile_child(options.hostile_child)
        return 0
    began = time.process_time()
    found = measure(options)
    if not found:
        parser.error("nothing to measure: give --data, --golds, --cases or --hostile")
    report = f"{table(found)}\n\n{time.process_time() - began:.0f} s of CPU in this process."
    print(report)
    if options.out:
        options.out.write_text(f"{report}\n", encoding="utf-8")
    return int(not all(line.met for line in found))


if __name__ == "__main__":
    sys.exit(main())
