"""Pool of killable worker processes for symbolic comparison.

A worker starts on first use and again after it died. It ends with this process, also if this
process is killed. It runs in a separate process group, so Ctrl-C reaches only this process. An
interrupted exchange kills the worker, so that a late reply is never read as the answer to
another request. A worker checks itself on one comparison at its start; if none can work at all,
that is an error.
"""

from __future__ import annotations

import json
import os
import queue
import select
import signal
import subprocess
import threading
import time
from collections.abc import Sequence
from typing import Any, NamedTuple

from omibench.errors import OmibenchError
from omibench.files.isolated import isolate_env, python_module

COMMAND = python_module("omibench.answers.formulas.worker")
_START_CPU_S = 60.0
_WALL_FACTOR = 60
"""The worker limits its CPU time itself; this limit only guards against a stuck worker."""
_END_S = 5.0
_WARM_UP = ("x+1", "1+x")
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

    def ask(self, job: str, texts: Sequence[str], cpu_s: float) -> WorkerReply:
        """Run one job that can take `cpu_s` seconds of CPU and return its reply.

        A job whose worker died for another reason, or ran out of memory, is retried once in a
        new worker. Raises OmibenchError if no worker can run on this machine, because a
        comparison that failed must never count as a wrong answer.
        """
        for _ in range(2):
            if self._process is None or self._process.poll() is not None:
                self._start()
            reply = self._exchange(job, texts, cpu_s)
            if reply and not str(reply.get("error")).startswith("MemoryError"):
                return WorkerReply(reply["result"], float(reply.get("cpu_s", 0.0)))
            code = self._end()
            if reply is None and code in _OWN_LIMITS:
                break
        return WorkerReply(None, cpu_s, ended=True)

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
