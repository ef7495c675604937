"""One scorer over one file of responses, in a fresh process: `scoring_contestants.py NAME FILE`.

A line of FILE is {"response", "gold", "options" (null for open questions)}. Prints JSON: the CPU
seconds of this process and of every process that it started, from the first response to the last
verdict (imports before it are counted apart), and the verdicts.

Every scorer gets what its own documentation asks for: math-verify parses letters where options are
asked for, inspect-ai's `math` gets the model's output and the target in its own types.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

Row = dict[str, Any]
Scorer = Callable[[list[Row]], list[bool]]


def cpu_s() -> float:
    """CPU seconds of this process and of its children, those that still run included."""
    import os
    import resource

    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    ticks = sum(sum(map(int, fields[11:13])) for fields in _running_children())
    return time.process_time() + ended.ru_utime + ended.ru_stime + ticks / os.sysconf("SC_CLK_TCK")


def _running_children() -> Iterator[list[str]]:
    import os

    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            fields = path.read_text().rpartition(")")[2].split()
            if fields[1] == str(os.getpid()):
                yield fields


def omibench(rules: str) -> Scorer:
    """One of our scorers."""
    from omibench.answers.scorers.registry import score_item
    from omibench.schemas.problem import Choice
    from omibench.schemas.verdict import ScoredItem

    def item(row: Row) -> ScoredItem:
        texts = row["options"]
        choices = texts and [Choice(label=chr(65 + i), text=t) for i, t in enumerate(texts)]
        return ScoredItem(
            id="-", prediction=row["response"], gold=row["gold"], choices=choices,
            answer_type="mcq" if texts else "open",
        )  # fmt: skip

    return lambda rows: [score_item(item(row), rules).verdict == 1 for row in rows]


def math_verify() -> Scorer:
    """`parse` and `verify`, with the extraction of letters for multiple choice."""
    from math_verify import parse, verify
    from math_verify.parser import (
        ExprExtractionConfig,
        LatexExtractionConfig,
        StringExtractionConfig,
    )  # fmt: skip

    letters, formulas = (
        [StringExtractionConfig()],
        [LatexExtractionConfig(), ExprExtractionConfig()],
    )

    def score(row: Row) -> bool:
        gold = ", ".join(row["gold"])
        if row["options"]:
            told = parse(gold, letters), parse(row["response"], [*letters, *formulas])
        else:
            told = parse(f"${gold}$", formulas), parse(row["response"], formulas)
        return bool(verify(*told))

    return lambda rows: [score(row) for row in rows]


def inspect_math() -> Scorer:
    """inspect-ai's scorer `math`; what it cannot score is not right."""
    import anyio
    from inspect_ai.model import ModelOutput
    from inspect_ai.scorer import Target, math
    from inspect_ai.solver import TaskState

    scorer = math()

    async def all_of(rows: list[Row]) -> list[bool]:
        told = []
        for row in rows:
            output = ModelOutput.from_content("model", row["response"])
            state = TaskState("model", "-", 1, "", [], output=output)  # type: ignore[arg-type]
            try:
                score = await scorer(state, Target(", ".join(row["gold"])))
                told.append(score is not None and score.value == "C")
            except ValueError:
                told.append(False)
        return told

    return lambda rows: anyio.run(all_of, rows)


CONTESTANTS: dict[str, Callable[[], Scorer]] = {
    "omibench-robust": lambda: omibench("robust"),
    "omibench-emma": lambda: omibench("emma"),
    "math-verify": math_verify,
    "inspect-math": inspect_math,
}


def main(name: str, file: str) -> None:
    """Score every row once, with nothing known before."""
    rows = [json.loads(line) for line in Path(file).read_text("utf-8").splitlines()]
    began = cpu_s()
    scorer = CONTESTANTS[name]()
    ready = cpu_s()
    told = scorer(rows)
    done = cpu_s()
    print(json.dumps({"import_s": ready - began, "cpu_s": done - ready, "told": told}))


if __name__ == "__main__":
    main(*sys.argv[1:])
