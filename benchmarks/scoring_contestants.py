"""One scorer over one file of responses, in a fresh process: `scoring_contestants.py NAME FILE`.

Rules that are published as a script take its checkout as a third argument (`FROM_CHECKOUT`) and
compare the row's "answer", already extracted, with its gold answer.

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


PAIR_LIMIT_S = 10
"""Time for one pair under rules without a limit of their own; after it, they decide "different"."""


def compare_pairs(is_same: Callable[[str, str], object]) -> Scorer:
    """Rules that compare two texts; an exception or a pair that takes too long is not right."""
    import signal

    def stop(*_: object) -> None:
        raise TimeoutError

    def score(row: Row) -> bool:
        signal.signal(signal.SIGALRM, stop)
        signal.alarm(PAIR_LIMIT_S)
        try:
            return bool(is_same(row["gold"][0], row["answer"]))
        except Exception:
            return False
        finally:
            signal.alarm(0)

    return lambda rows: [score(row) for row in rows]


def load(checkout: Path, file: str) -> Any:
    """A module of a checkout, by its path."""
    import importlib.util

    spec = importlib.util.spec_from_file_location("contestant", checkout / file)
    if spec is None or spec.loader is None or not (checkout / file).is_file():
        raise SystemExit(f"{checkout}: has no {file}; give the checkout of the contestant")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def math_dataset(checkout: Path) -> Scorer:
    """The rules published with MATH, on which lm-eval's task hendrycks_math is built."""
    rules = load(checkout, "modeling/math_equivalence.py")
    return compare_pairs(lambda gold, answer: rules.is_equiv(answer, gold))


def minerva_math(checkout: Path) -> Scorer:
    """lm-eval's task minerva_math: normal forms, then sympy."""
    rules = load(checkout, "lm_eval/tasks/minerva_math/utils.py")
    plain = rules.normalize_final_answer
    return compare_pairs(lambda gold, answer: rules.is_equiv(plain(answer), plain(gold)))


def olympiadbench(checkout: Path) -> Scorer:
    """OlympiadBench's judge."""
    judge = load(checkout, "eval/auto_scoring_judge.py").AutoScoringJudge()
    return compare_pairs(judge.judge)


def lighteval(_: Path) -> Scorer:
    """lighteval's extraction and comparison of LaTeX, from the installed package."""
    from lighteval.metrics.utils import extractive_match_utils as extraction
    from lighteval.metrics.utils.math_comparison import compare_gold_target
    from lighteval.tasks.requests import Doc
    from lighteval.utils.language import Language

    targets = (extraction.LatexExtractionConfig(), extraction.ExprExtractionConfig())
    doc = Doc(query="", choices=[], gold_index=0)
    patterns = extraction.get_extraction_regexes(doc, targets, Language.ENGLISH)

    def read(text: str) -> Any:
        return extraction.extract_target_from_pred(text, patterns, "first_match", "any_match", 5)

    return compare_pairs(
        lambda gold, answer: compare_gold_target(
            read(f"${gold}$"), read(rf"\boxed{{{answer}}}"), precision=6, timeout_seconds=5
        )
    )


FROM_CHECKOUT: dict[str, Callable[[Path], Scorer]] = {
    "math": math_dataset,
    "minerva_math": minerva_math,
    "olympiadbench": olympiadbench,
    "lighteval": lighteval,
}


def main(name: str, file: str, checkout: str = "") -> None:
    """Score every row once, with nothing known before."""
    rows = [json.loads(line) for line in Path(file).read_text("utf-8").splitlines()]
    began = cpu_s()
    scorer = FROM_CHECKOUT[name](Path(checkout)) if checkout else CONTESTANTS[name]()
    ready = cpu_s()
    told = scorer(rows)
    done = cpu_s()
    print(json.dumps({"import_s": ready - began, "cpu_s": done - ready, "told": told}))


if __name__ == "__main__":
    main(*sys.argv[1:])
