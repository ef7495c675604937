"""The process that does symbolic work: one JSON line in, one out, until its input ends.

It limits its own memory; its parent limits its time by killing it. Only the LaTeX parser of
math-verify ever reads the text: nothing is evaluated as code.
"""

from __future__ import annotations

import json
import sys
from typing import Any

MEMORY_BYTES = 1 << 30


def equal(gold: str, pred: str) -> bool:
    """Whether math-verify finds two LaTeX texts equal (it is not symmetric: gold comes first)."""
    from math_verify import LatexExtractionConfig, parse, verify

    config = [LatexExtractionConfig()]
    sides: list[list[Any]] = [
        parse(f"${text}$", config, parsing_timeout=None, raise_on_error=True)
        for text in (gold, pred)
    ]
    return bool(sides[0] and sides[1] and verify(*sides, timeout_seconds=None, raise_on_error=True))


def value(text: str) -> float | None:
    """The number that a LaTeX text evaluates to, or None (the numeric part of EMMA's equality)."""
    from latex2sympy2_extended import latex2sympy

    number = float(latex2sympy(text).evalf())
    return number if abs(number) < float("inf") else None


def main() -> None:
    """Answer requests {"job": "equal"|"value"|"ready", "texts": [...]} with {"result": ...}."""
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    sys.setrecursionlimit(2_000)
    jobs: dict[str, Any] = {"equal": equal, "value": value, "ready": lambda: True}
    out = sys.stdout
    sys.stdout = sys.stderr
    for line in sys.stdin:
        request = json.loads(line)
        try:
            result = jobs[request["job"]](*request["texts"])
        except Exception:  # whatever a parser does with hostile text, the answer is "unknown"
            result = None
        out.write(json.dumps({"result": result}) + "\n")
        out.flush()


if __name__ == "__main__":
    main()
