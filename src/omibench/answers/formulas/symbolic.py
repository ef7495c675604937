"""Symbolic comparison: numeric samples first, then a parser in a killable process.

No input hangs or crashes the caller. Texts that the plain reader parses
(`answers.formulas.reader`) are compared by value. The rest, if it passes a guard on size and
shape, goes to a worker with 1 GiB of memory, 1 s of CPU per comparison and 1.5 s for all
comparisons of one response. A comparison that exceeds a limit kills the worker and counts as
unequal.
"""

from __future__ import annotations

import atexit
import os
import re
from contextvars import ContextVar
from functools import lru_cache

from omibench.answers.formulas.samples import same_at_samples, value_at_samples
from omibench.answers.formulas.workers import Pool

CPU_LIMIT_S = 1.0
ITEM_CPU_LIMIT_S = 1.5
_LEAST_CPU_S = 0.02
MAX_CHARS = 300
_DANGEROUS = re.compile(
    r"\\(?:int|iint|oint|sum|prod|lim|binom|input|include|def|newcommand|write|begin)(?![A-Za-z])"
    r"|\d{13,}|!\s*!|\d{3,}\s*!|\^\s*\{[^{}]*\^|\^\s*\{[^{}]*\d{4,}[^{}]*\}|\)\s*!|\}\s*!"
    r"|\^\s*\{?\s*\(?\s*-?\s*\d{3,}|\d\s+\d"
)
_MAX_DEPTH = 12
_MAX_RADICALS = 10
_WORD = re.compile(r"(?<!\\)\b[A-Za-z]{4,}\b")

_pool = Pool()
_cpu_left_s: ContextVar[float] = ContextVar("_left", default=float("inf"))


class _Undecided(Exception):
    """The response has used up its time; these texts can still be compared for another one."""


class item_time:  # noqa: N801 - used as a function
    """Scope of one response: its comparisons share `ITEM_CPU_LIMIT_S` of CPU."""

    def __enter__(self) -> None:
        self._before = _cpu_left_s.set(ITEM_CPU_LIMIT_S)

    def __exit__(self, *error: object) -> None:
        _cpu_left_s.reset(self._before)


def symbolically_equal(gold: str, pred: str) -> bool:
    """Return whether two LaTeX texts are mathematically equal; False if that takes too long."""
    equal = same_at_samples(gold, pred)
    if equal is not None:
        return equal
    return is_safe(gold) and is_safe(pred) and _result("equal", gold, pred) is True


def numeric_value(text: str) -> float | None:
    """Return the numeric value of a LaTeX text; None if it has none or is unsafe."""
    value = value_at_samples(text)
    if value is not None or not is_safe(text):
        return value
    result = _result("value", text)
    return result if isinstance(result, float) else None


def is_safe(text: str) -> bool:
    """Return whether a text is small and simple enough to parse."""
    if not 0 < len(text) <= MAX_CHARS or _DANGEROUS.search(text) or _WORD.search(text):
        return False
    if not any(char.isalnum() for char in text):
        return False
    depth = deepest = 0
    for char in text:
        depth += (char in "{([") - (char in "})]")
        deepest = max(deepest, depth)
        if depth < 0:
            return False
    return depth == 0 and deepest <= _MAX_DEPTH and text.count(r"\sqrt") <= _MAX_RADICALS


def _result(job: str, *texts: str) -> object:
    try:
        return _ask_worker(job, *texts)
    except _Undecided:
        return None


@lru_cache(maxsize=16_384)
def _ask_worker(job: str, *texts: str) -> object:
    left_s = _cpu_left_s.get()
    if left_s < _LEAST_CPU_S:
        raise _Undecided
    reply = _pool.ask(job, texts, min(CPU_LIMIT_S, left_s))
    _cpu_left_s.set(left_s - reply.cpu_s)
    if reply.ended and left_s < CPU_LIMIT_S:
        raise _Undecided
    return reply.result


@atexit.register
def stop() -> None:
    """Stop the workers of this process; the next comparison starts another."""
    _pool.stop()


def worker_pids() -> list[int]:
    """Return the process ids of the running workers, for measurements."""
    return _pool.pids


def _forget() -> None:
    """Drop the workers in a forked child, which must not use those of its parent."""
    global _pool  # noqa: PLW0603
    _pool = Pool()


os.register_at_fork(after_in_child=_forget)
