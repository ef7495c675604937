"""Pool of killable worker processes for symbolic comparison.

A worker starts on first use and again after it died. It ends with this process, also if this
process is killed. It runs in a separate process group, so Ctrl-C reaches only this process. An
interrupted exchange kills the worker, so that a late reply is never read as the answer to
another request. A worker checks itself on one comparison at its start; if none can work at all,
that is an error.
"""

from __future__ import annotations

import atexit
import json
import os
import queue
import select
import signal
import subprocess
import threading
import time
from collections.abc import Sequence
from contextvars import ContextVar
from functools import lru_cache
from typing import Any, NamedTuple

from glyphtex import lazy_re as re
from omibench.answers.formulas.samples import same_at_samples, value_at_samples
from omibench.errors import OmibenchError
from omibench.files.programs import isolate_env, python_module

COMMAND = python_module("omibench.answers.formulas.worker")
_START_CPU_S = 60.0
_WALL_FACTOR = 60
"""The worker limits its CPU time itself; this limit only guards against a stuck worker."""
_END_S = 5.0
_WARM_UP = ("x+1", "1+x")
_FIRST_USES = {
    r"\sum": (r"\sum_{n=1}^{\infty} \frac{1}{n^{2}}", "2"),
    r"\int": (r"\int_{0}^{1} x dx", "2"),
    r"\lim": (r"\lim_{x \to 0} x", "2"),
}
_CANNOT = (
    "symbolic comparison does not work here: {why}; it needs a separate process with the "
    "packages of requirements.txt and 256 MiB of address space (ulimit -v)"
)
_OWN_LIMITS = (-signal.SIGPROF, -signal.SIGXCPU)


class WorkerReply(NamedTuple):
    """Result of a job (None if it failed), its CPU time, and whether a limit ended it."""

    result: object
    cpu_s: float
    ended: bool = False


class Worker:
    """One worker process."""

    def __init__(self, command: Sequence[str] = COMMAND) -> None:
        self._command = command
        self._process: subprocess.Popen[bytes] | None = None
        self._asked = 0
        self._used = set[str]()

    def ask(self, job: str, texts: Sequence[str], cpu_s: float) -> WorkerReply:
        """Run one job that can take `cpu_s` seconds of CPU and return its reply.

        A job whose worker died for another reason, or ran out of memory, is retried once in a
        new worker. Raises OmibenchError if no worker can run on this machine, because a
        comparison that failed must never count as a wrong answer.
        """
        for _ in range(2):
            if self._process is None or self._process.poll() is not None:
                self._start()
            self._prepare(texts)
            reply = self._exchange(job, texts, cpu_s)
            if reply and not str(reply.get("error")).startswith("MemoryError"):
                return WorkerReply(reply["result"], float(reply.get("cpu_s", 0.0)))
            code = self._end()
            if reply is None and code in _OWN_LIMITS:
                break
        return WorkerReply(None, cpu_s, ended=True)

    def _prepare(self, texts: Sequence[str]) -> None:
        """Load what a sum or an integral needs on its first use: that is not the item's time."""
        for sign, pair in _FIRST_USES.items():
            if sign not in self._used and any(sign in text for text in texts):
                self._used.add(sign)
                self._exchange("equal", pair, _START_CPU_S)

    @property
    def pid(self) -> int | None:
        """Process id of the worker; None if it is not running."""
        return self._process.pid if self._process else None

    def stop(self) -> None:
        """Stop the process."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            for pipe in (self._process.stdin, self._process.stdout):
                if pipe:
                    pipe.close()
        self._process = None

    def _end(self) -> int | None:
        """Stop a worker that did not reply; return its exit code if it was already exiting."""
        code = None
        if self._process is not None and self._process.stdout is not None:
            dying = select.select([self._process.stdout], [], [], 0)[0]
            try:
                code = self._process.wait(_END_S) if dying else None
            except subprocess.TimeoutExpired:
                code = None
        self.stop()
        return code

    def _start(self) -> None:
        self.stop()
        self._used.clear()
        try:
            self._process = subprocess.Popen(
                self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL, process_group=0, env=isolate_env(os.environ),
            )  # fmt: skip
        except OSError as error:
            raise OmibenchError(_CANNOT.format(why=error)) from None
        # The parser loads its tables on first use: that is start-up time, not the item's.
        reply = self._exchange("equal", _WARM_UP, _START_CPU_S)
        if reply is None or reply["result"] is not True:
            reason = self._explain_start(reply)
            self.stop()
            raise OmibenchError(_CANNOT.format(why=reason))

    def _explain_start(self, reply: dict[str, Any] | None) -> str:
        """Return why the first comparison of a new worker did not give true."""
        if reply is not None:
            return str(reply.get("error") or "{} and {} compared as unequal".format(*_WARM_UP))
        try:
            code = self._process.wait(timeout=_END_S) if self._process else 0
        except subprocess.TimeoutExpired:
            return f"no answer after {_START_CPU_S * _WALL_FACTOR:.0f} s"
        return f"its process was ended by signal {-code}" if code < 0 else (
            f"its process ended with {code}"
        )  # fmt: skip

    def _exchange(self, job: str, texts: Sequence[str], cpu_s: float) -> dict[str, Any] | None:
        process = self._process
        if process is None or process.stdin is None or process.stdout is None:
            return None
        self._asked += 1
        question = {"id": self._asked, "job": job, "texts": list(texts), "cpu_s": cpu_s}
        try:
            process.stdin.write(json.dumps(question).encode() + b"\n")
            process.stdin.flush()
            line = _read_line(process.stdout.fileno(), cpu_s * _WALL_FACTOR)
        except OSError:
            return None
        except BaseException:
            self.stop()
            raise
        return _parse_reply(line, self._asked)


def _parse_reply(line: bytes | None, number: int) -> dict[str, Any] | None:
    """Parse a reply of the worker; None if missing or for another request."""
    try:
        reply = json.loads(line) if line else None
    except ValueError:
        return None
    if not isinstance(reply, dict) or reply.get("id", number) != number:
        return None
    return {"result": None, **reply}


def _read_line(descriptor: int, limit_s: float) -> bytes | None:
    until, buffer = time.monotonic() + limit_s, b""
    while not buffer.endswith(b"\n"):
        ready, _, _ = select.select([descriptor], [], [], max(0.0, until - time.monotonic()))
        chunk = os.read(descriptor, 65_536) if ready else b""
        if not chunk:
            return None
        buffer += chunk
    return buffer


class Pool:
    """Workers for any number of threads; a single thread never starts a second worker."""

    def __init__(self, size: int = 4, command: Sequence[str] = COMMAND) -> None:
        self._workers = [Worker(command) for _ in range(size)]
        self._idle: queue.LifoQueue[Worker] = queue.LifoQueue()
        self._stopping = threading.Lock()
        for worker in self._workers:
            self._idle.put(worker)

    def ask(self, job: str, texts: Sequence[str], cpu_s: float) -> WorkerReply:
        """Return the reply of an idle worker (`Worker.ask`); wait while all are busy."""
        worker = self._idle.get()
        try:
            return worker.ask(job, texts, cpu_s)
        finally:
            self._idle.put(worker)

    @property
    def pids(self) -> list[int]:
        """Return the process ids of the running workers."""
        return [worker.pid for worker in self._workers if worker.pid is not None]

    def stop(self) -> None:
        """Stop every worker; the next job starts another."""
        with self._stopping:
            for worker in self._workers:
                worker.stop()


# Symbolic comparison: numeric samples first, then a parser in a killable process.
#
# No input hangs or crashes the caller. Texts that the plain reader parses
# (`answers.formulas.reader`) are compared by value. The rest, if it passes a guard on size and
# shape, goes to a worker with 1 GiB of memory, 1 s of CPU per comparison and 1.5 s for all
# comparisons of one response. A comparison that exceeds a limit kills the worker and counts as
# unequal.

CPU_LIMIT_S = 1.0
ITEM_CPU_LIMIT_S = 1.5
_LEAST_CPU_S = 0.02
MAX_CHARS = 300
_DANGEROUS = re.compile(
    r"\\(?:int|iint|oint|sum|prod|lim|binom|input|include|def|newcommand|write|begin)(?![A-Za-z])"
    r"|\d{13,}|!\s*!|\d{3,}\s*!|\^\s*\{[^{}]*\^|\^\s*\{[^{}]*\d{4,}[^{}]*\}|\)\s*!|\}\s*!"
    r"|\^\s*\{?\s*\(?\s*-?\s*\d{3,}|\d\s+\d"
)
_OPENED = re.compile(r"\\(?:int|lim|sum)(?![A-Za-z])")
"""Commands that are safe where only values are compared, in a worker with its limits."""
_PLAIN = re.compile(r"(?:\\[a-z]+|(?<![A-Za-z])d?[a-hj-z](?![A-Za-z])|[^A-Za-z\\])+")
_DIFFERENTIAL = re.compile(r"\bd\s+([a-z])\b")
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


def same_calculus(gold: str, pred: str) -> bool:
    r"""Return whether two tidied texts with \int, \lim, d/dx or ∞ have the same value.

    Both may have symbols of one lower-case letter only, which a parser reads as they are.
    """
    gold, pred = (_DIFFERENTIAL.sub(r"d\1", text).replace("∞", r"\infty ") for text in (gold, pred))
    safe = all(is_safe(_OPENED.sub("", text)) and _PLAIN.fullmatch(text) for text in (gold, pred))
    return safe and _result("equal", gold, pred) is True


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
