"""The process that does symbolic work: one JSON line in, one out, until its input ends.

It limits its own memory, and the CPU time of each job by a timer and a resource limit whose signals
end the process whatever it is doing, so a verdict does not depend on how busy the machine is. Only
the LaTeX parser of math-verify ever reads the text: nothing is evaluated as code. It ends when its
input does, and when the process that started it is gone.
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
"""With less, ordinary comparisons run out of memory too, and would look like wrong answers."""
WATCH_S = 5.0
"""How often an idle worker looks whether its parent is still there."""
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

    a, b = _parse_latex(gold), _parse_latex(pred)
    sampled = _agree_at_samples(a, b)
    if sampled is not None:
        return sampled
    return bool(verify([a], [b], timeout_seconds=None, raise_on_error=True))


@lru_cache(maxsize=4096)
def _parse_latex(text: str) -> Any:
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


def limit_memory() -> None:
    """Take at most 1 GiB, or what a lower hard limit leaves.

    Where the system cannot limit it at all (macOS), the guard and the timer remain. Raises
    MemoryError where less than 256 MiB are left.
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
    """Let the process spend `cpu_s` more seconds: by a timer, and by a whole-second limit behind.

    Both end the process by a signal that no code of ours handles.
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

    A job that fails has the result null and an "error" that says why.
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
        except Exception as error:  # whatever a parser does with hostile text, it is "unknown"
            reply = {"result": None, "error": f"{type(error).__name__}: {error}"[:300]}
        signal.setitimer(signal.ITIMER_PROF, 0)
        spent = time.process_time() - began
        out.write(json.dumps({"id": request.get("id"), "cpu_s": spent, **reply}) + "\n")
        out.flush()


def _lines(parent: int) -> Iterator[bytes]:
    """The lines of standard input, until it ends or the parent is gone.

    A child that was forked beside us may hold the other end of our input open for ever.
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
