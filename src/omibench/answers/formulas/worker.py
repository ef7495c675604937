"""Worker process of symbolic comparison: one JSON line in, one out, until its input ends.

It limits its own memory. A timer and a resource limit bound the CPU time of each job; their
signals end the process at any point, so verdicts do not depend on the load of the machine. Only
the LaTeX parser of math-verify reads the text; nothing is evaluated as code. The process ends
with its input and with its parent process.
"""

from __future__ import annotations

import json
import math
import os
import select
import signal
import sys
import time
from cmath import isfinite
from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache
from random import Random
from typing import Any

MEMORY_BYTES = 1 << 30
LEAST_MEMORY_BYTES = 1 << 28
"""With less, ordinary comparisons run out of memory and would count as wrong answers."""
WATCH_S = 5.0
"""Interval in which an idle worker checks that its parent is alive."""
REL_TOLERANCE = 1e-6
SAMPLES = 3
SEED = 20


def equal(gold: str, pred: str) -> bool:
    """Compare two LaTeX texts by numeric samples, and by math-verify if these fail.

    Two expressions that agree at three random points to six digits are equal; two that differ at
    one are not. Neither needs simplification. Expressions that cannot be sampled (sets,
    relations) go to math-verify's `verify`, which is not symmetric: gold comes first.
    """
    from math_verify import verify

    a, b = (_carry_out(_parse_latex(text)) for text in (gold, pred))
    sampled = _agree_at_samples(a, b)
    if sampled is not None:
        return sampled
    return bool(verify([a], [b], timeout_seconds=None, raise_on_error=True))


@lru_cache(maxsize=4096)
def _parse_latex(text: str) -> Any:
    from latex2sympy2_extended import latex2sympy
    from latex2sympy2_extended.latex2sympy2 import ConversionConfig

    return latex2sympy(text, conversion_config=ConversionConfig(lowercase_symbols=False))


def _carry_out(expression: Any) -> Any:
    """Carry out derivatives and limits, which have no value at a point otherwise."""
    from sympy import Derivative, Expr, Limit

    if isinstance(expression, Expr) and expression.has(Derivative, Limit):
        return expression.doit()
    return expression


def _agree_at_samples(a: Any, b: Any) -> bool | None:
    from sympy import Expr

    if not isinstance(a, Expr) or not isinstance(b, Expr):
        return None
    names = sorted(a.free_symbols | b.free_symbols, key=str)
    random = Random(SEED)  # noqa: S311 (sample points, not a secret)
    for _ in range(SAMPLES if names else 1):
        # Positive, so that sqrt(gh) equals sqrt(g) sqrt(h), as intended in physics.
        point = {name: random.uniform(0.6, 2.4) for name in names}
        left, right = (complex(side.evalf(15, subs=point)) for side in (a, b))
        if not (isfinite(left) and isfinite(right)):
            return None
        if abs(left - right) > REL_TOLERANCE * max(abs(left), abs(right)):
            return False
    return True


def value(text: str) -> float | None:
    """Return the numeric value of a LaTeX text, or None (the numeric part of EMMA's equality)."""
    from latex2sympy2_extended import latex2sympy

    number = float(latex2sympy(text).evalf())
    return number if abs(number) < float("inf") else None


def limit_memory() -> None:
    """Limit the memory of this process to 1 GiB, or to a lower hard limit.

    If the system does not support a limit (macOS), the guard and the timer remain. Raises
    MemoryError if less than 256 MiB are available.
    """
    import resource

    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    limit = MEMORY_BYTES if hard == resource.RLIM_INFINITY else min(MEMORY_BYTES, hard)
    if limit < LEAST_MEMORY_BYTES:
        raise MemoryError(f"the limit on address space is {limit >> 20} MiB, less than 256")
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def limit_cpu(cpu_s: float) -> None:
    """Allow the process `cpu_s` more seconds: by a timer, backed by a whole-second limit.

    Both end the process by a signal that no code here handles.
    """
    import resource

    signal.setitimer(signal.ITIMER_PROF, cpu_s)
    hard_limit = resource.getrlimit(resource.RLIMIT_CPU)[1]
    until = math.ceil(time.process_time() + cpu_s) + 1
    if hard_limit == resource.RLIM_INFINITY or until < hard_limit:
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_CPU, (until, hard_limit))


def main() -> None:
    """Answer {"id", "job": "equal"|"value", "texts", "cpu_s"} with {"id", "result", "cpu_s"}.

    For a failed job, the result is null and "error" contains the reason.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = os.getppid()
    try:
        limit_memory()
    except MemoryError as error:
        print(json.dumps({"result": None, "error": str(error)}), flush=True)
        return
    sys.setrecursionlimit(2_000)
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    jobs: dict[str, Any] = {"equal": equal, "value": value}
    out = sys.stdout
    sys.stdout = sys.stderr
    for line in _lines(parent):
        request = json.loads(line)
        limit_cpu(request["cpu_s"])
        began = time.process_time()
        reply: dict[str, Any]
        try:
            reply = {"result": jobs[request["job"]](*request["texts"])}
        except Exception as error:  # any parser failure on hostile text counts as unknown
            reply = {"result": None, "error": f"{type(error).__name__}: {error}"[:300]}
        signal.setitimer(signal.ITIMER_PROF, 0)
        spent = time.process_time() - began
        out.write(json.dumps({"id": request.get("id"), "cpu_s": spent, **reply}) + "\n")
        out.flush()


def _lines(parent: int) -> Iterator[bytes]:
    """Yield the lines of standard input until it ends or the parent exits.

    A child forked at the same time can keep the other end of our input open forever.
    """
    while True:
        ready, _, _ = select.select([sys.stdin], [], [], WATCH_S)
        line = sys.stdin.buffer.readline() if ready else None
        if line == b"" or os.getppid() != parent:
            return
        if line:
            yield line


if __name__ == "__main__":
    main()
