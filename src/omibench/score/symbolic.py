"""Symbolic comparison in a process that can be killed, behind a guard on size and shape.

No input hangs or crashes the caller: a comparison that takes more than 2 s of CPU or 1 GiB costs
the worker its life and counts as unequal, as does one that the guard turns away. A worker proves
itself on one comparison when it starts; where it cannot work at all, that is an error.
"""

from __future__ import annotations

import atexit
import json
import os
import re
import select
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from omibench.errors import OmibenchError

CPU_LIMIT_S = 2.0
_START_CPU_S = 60.0
_WALL_FACTOR = 60
"""The worker's own timer counts CPU time; this one only guards against a worker that is stuck."""
_END_S = 5.0
_COMMAND = (sys.executable, "-m", "omibench.score.worker")
_WARM_UP = ("x+1", "1+x")
_CANNOT = (
    "symbolic comparison does not work here: {why}; it needs a process of its own with the packages"
    " of requirements.txt and 256 MiB of address space (ulimit -v)"
)
MAX_CHARS = 300
_DANGEROUS = re.compile(
    r"\\(?:int|iint|oint|sum|prod|lim|binom|input|include|def|newcommand|write|begin)(?![A-Za-z])"
    r"|\d{13,}|!\s*!|\d{3,}\s*!|\^\s*\{[^{}]*\^|\^\s*\{[^{}]*\d{4,}[^{}]*\}|\)\s*!|\}\s*!"
    r"|\^\s*\{?\s*\(?\s*-?\s*\d{3,}"
)
_MAX_DEPTH = 12
_MAX_RADICALS = 10
_WORD = re.compile(r"(?<!\\)\b[A-Za-z]{4,}\b")


class Worker:
    """One worker process, started when first asked and again after it had to be killed."""

    def __init__(self, cpu_limit_s: float = CPU_LIMIT_S, command: Sequence[str] = _COMMAND) -> None:
        self._cpu_limit_s = cpu_limit_s
        self._command = command
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()

    def ask(self, job: str, *texts: str) -> object:
        """The result of one job, or None when it failed, took too long or over 1 GiB.

        Raises OmibenchError where no worker can work on this machine: a comparison that could
        not be made must never look like a wrong answer.
        """
        with self._lock:
            if self._process is None or self._process.poll() is not None:
                self._start()
            reply = self._exchange(job, texts, self._cpu_limit_s)
            if reply is None:
                self.stop()
            return reply["result"] if reply else None

    @property
    def pid(self) -> int | None:
        """Process id of the worker, None while there is none."""
        return self._process.pid if self._process else None

    def stop(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            for pipe in (self._process.stdin, self._process.stdout):
                if pipe:
                    pipe.close()
        self._process = None

    def _start(self) -> None:
        self.stop()
        try:
            self._process = subprocess.Popen(
                self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )  # fmt: skip
        except OSError as error:
            raise OmibenchError(_CANNOT.format(why=error)) from None
        # The parser's tables load on its first use: that is start-up time, not the item's.
        reply = self._exchange("equal", _WARM_UP, _START_CPU_S)
        if reply is None or reply["result"] is not True:
            why = self._why(reply)
            self.stop()
            raise OmibenchError(_CANNOT.format(why=why))

    def _why(self, reply: dict[str, Any] | None) -> str:
        """Why the first comparison of a fresh worker did not come out as true."""
        if reply is not None:
            return str(reply.get("error") or "{} and {} came out as unequal".format(*_WARM_UP))
        try:
            code = self._process.wait(timeout=_END_S) if self._process else 0
        except subprocess.TimeoutExpired:
            return f"no answer after {_START_CPU_S * _WALL_FACTOR:.0f} s"
        return f"its process was ended by signal {-code}" if code < 0 else (
            f"its process ended with {code}"
        )  # fmt: skip

    def _exchange(self, job: str, texts: tuple[str, ...], cpu_s: float) -> dict[str, Any] | None:
        process = self._process
        if process is None or process.stdin is None or process.stdout is None:
            return None
        try:
            asked = {"job": job, "texts": texts, "cpu_s": cpu_s}
            process.stdin.write(json.dumps(asked).encode() + b"\n")
            process.stdin.flush()
            line = _read_line(process.stdout.fileno(), cpu_s * _WALL_FACTOR)
        except OSError:
            line = None
        return {"result": None, **json.loads(line)} if line else None


def _read_line(descriptor: int, limit_s: float) -> bytes | None:
    until, buffer = time.monotonic() + limit_s, b""
    while not buffer.endswith(b"\n"):
        ready, _, _ = select.select([descriptor], [], [], max(0.0, until - time.monotonic()))
        chunk = os.read(descriptor, 65_536) if ready else b""
        if not chunk:
            return None
        buffer += chunk
    return buffer


_worker = Worker()


@atexit.register
def stop() -> None:
    """End this process's worker; the next comparison starts another."""
    _worker.stop()


def worker_pid() -> int | None:
    """Process id of this process's worker while it runs, for those who measure it."""
    return _worker.pid


def _forget() -> None:
    """A forked child must not talk to its parent's worker."""
    global _worker  # noqa: PLW0603
    _worker = Worker()


os.register_at_fork(after_in_child=_forget)


def is_safe(text: str) -> bool:
    """Whether a text is small and tame enough to be parsed at all."""
    if not 0 < len(text) <= MAX_CHARS or _DANGEROUS.search(text) or _WORD.search(text):
        return False
    depth = deepest = 0
    for char in text:
        depth += (char in "{([") - (char in "})]")
        deepest = max(deepest, depth)
    return deepest <= _MAX_DEPTH and text.count(r"\sqrt") <= _MAX_RADICALS


@lru_cache(maxsize=65_536)
def symbolically_equal(gold: str, pred: str) -> bool:
    """Whether two LaTeX texts are equal as mathematics; False where that takes too long."""
    return is_safe(gold) and is_safe(pred) and _worker.ask("equal", gold, pred) is True


@lru_cache(maxsize=65_536)
def numeric_value(text: str) -> float | None:
    """The number that a LaTeX text evaluates to, or None when it is none or is not safe."""
    if not is_safe(text):
        return None
    result = _worker.ask("value", text)
    return result if isinstance(result, float) else None
