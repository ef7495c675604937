"""The process that does symbolic work: one JSON line in, one out, until its input ends.

It limits its own memory, and the CPU time of each job by a timer whose signal ends the process
whatever it is doing, so a verdict does not depend on how busy the machine is. Only the LaTeX
parser of math-verify ever reads the text: nothing is evaluated as code.
"""

from __future__ import annotations

import json
import signal
import sys
from cmath import isfinite
from functools import lru_cache
from random import Random
from typing import Any

MEMORY_BYTES = 1 << 30
REL_TOLERANCE = 1e-6
SAMPLES = 3
SEED = 20


def equal(gold: str, pred: str) -> bool:
    """Whether two LaTeX texts are equal: by numeric samples, and by math-verify where these fail.

    Two expressions that agree at three random points to six digits are equal, two that differ at
    one are not; neither needs simplification. What cannot be sampled (sets, relations) goes to
    math-verify's `verify`, which is not symmetric: gold comes first.
    """
    from math_verify import verify

    a, b = _parsed(gold), _parsed(pred)
    sampled = _agree_at_samples(a, b)
    if sampled is not None:
        return sampled
    return bool(verify([a], [b], timeout_seconds=None, raise_on_error=True))


@lru_cache(maxsize=4096)
def _parsed(text: str) -> Any:
    from latex2sympy2_extended import latex2sympy
    from latex2sympy2_extended.latex2sympy2 import ConversionConfig

    return latex2sympy(text, conversion_config=ConversionConfig(lowercase_symbols=False))


def _agree_at_samples(a: Any, b: Any) -> bool | None:
    from sympy import Expr

    if not isinstance(a, Expr) or not isinstance(b, Expr):
        return None
    names = sorted(a.free_symbols | b.free_symbols, key=str)
    random = Random(SEED)  # noqa: S311 (sample points, no secret)
    for _ in range(SAMPLES if names else 1):
        # Positive, so that sqrt(gh) is sqrt(g) sqrt(h), as physicists mean it.
        point = {name: random.uniform(0.6, 2.4) for name in names}
        left, right = (complex(side.evalf(15, subs=point)) for side in (a, b))
        if not (isfinite(left) and isfinite(right)):
            return None
        if abs(left - right) > REL_TOLERANCE * max(abs(left), abs(right)):
            return False
    return True


def value(text: str) -> float | None:
    """The number that a LaTeX text evaluates to, or None (the numeric part of EMMA's equality)."""
    from latex2sympy2_extended import latex2sympy

    number = float(latex2sympy(text).evalf())
    return number if abs(number) < float("inf") else None


def main() -> None:
    """Answer {"job": "equal"|"value", "texts": [...], "cpu_s": ...} with {"result": ...}."""
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    sys.setrecursionlimit(2_000)
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    jobs: dict[str, Any] = {"equal": equal, "value": value}
    out = sys.stdout
    sys.stdout = sys.stderr
    for line in sys.stdin:
        request = json.loads(line)
        signal.setitimer(signal.ITIMER_PROF, request["cpu_s"])
        try:
            result = jobs[request["job"]](*request["texts"])
        except Exception:  # whatever a parser does with hostile text, the answer is "unknown"
            result = None
        signal.setitimer(signal.ITIMER_PROF, 0)
        out.write(json.dumps({"result": result}) + "\n")
        out.flush()


if __name__ == "__main__":
    main()
