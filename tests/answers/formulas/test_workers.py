from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from omibench.answers.formulas.symbolic import Pool, Worker
from omibench.errors import OmibenchError

DEADLINE_S = 60.0


@pytest.fixture
def worker() -> Iterator[Worker]:
    fresh = Worker()
    yield fresh
    fresh.stop()


def scripted(body: str) -> Worker:
    """A worker whose process answers line after line by `reply(request)`."""
    program = (
        "import json, os, sys, time\n"
        "def say(**told): print(json.dumps(told), flush=True)\n"
        "for number, line in enumerate(sys.stdin):\n"
        "    request = json.loads(line)\n"
        "    if not number: say(id=request['id'], result=True); continue\n"
    ) + "".join(f"    {line}\n" for line in body.splitlines())
    return Worker((sys.executable, "-c", program))


def eventually(holds: Callable[[], bool]) -> bool:
    until = time.monotonic() + DEADLINE_S
    while not holds():
        if time.monotonic() > until:
            return False
        time.sleep(0.05)
    return True


def runs(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def test_a_job_that_takes_too_long_costs_the_worker_its_life_and_nothing_else(
    worker: Worker,
) -> None:
    assert worker.ask("equal", ["2x", "x+x"], 5.0).result is True
    slow = worker.ask("value", ["9" + "!" * 12], 0.5)
    assert (slow.result, slow.ended, slow.cpu_s) == (None, True, 0.5)
    assert worker.pid is None
    again = worker.ask("equal", ["2x", "x+x"], 5.0)
    assert again.result is True
    assert 0 < again.cpu_s < 5


def test_nonsense_is_unknown_not_an_error(worker: Worker) -> None:
    assert worker.ask("equal", ["}{", "\\frac"], 5.0).result in (None, False)
    assert worker.ask("no such job", [], 5.0).result is None
    assert worker.ask("value", ["3"], 5.0).result == 3.0


def test_a_worker_killed_from_outside_is_asked_once_more(worker: Worker) -> None:
    assert worker.ask("value", ["3"], 5.0).result == 3.0
    first = worker.pid
    assert first is not None
    os.kill(first, signal.SIGKILL)
    assert worker.ask("value", ["4"], 5.0).result == 4.0
    assert worker.pid != first


@pytest.mark.parametrize(
    "body",
    [
        "os.kill(os.getpid(), 11)",
        "raise SystemExit(1)",
        "say(id=request['id'], result=None, error='MemoryError: ')",
        "print('no JSON', flush=True)",
        "print('[]', flush=True)",
        "say(id=request['id'] - 1, result=True)",
    ],
)
def test_whatever_a_worker_does_there_is_a_reply(body: str) -> None:
    worker = scripted(body)
    try:
        reply = worker.ask("equal", ["1", "1"], 0.5)
        assert (reply.result, reply.ended) == (None, True)
    finally:
        worker.stop()


def test_an_interrupted_exchange_leaves_no_late_reply_behind(
    worker: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert worker.ask("value", ["3"], 5.0).result == 3.0

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("omibench.answers.formulas.symbolic._read_line", interrupted)
        with pytest.raises(KeyboardInterrupt):
            worker.ask("value", ["4"], 5.0)
    assert worker.pid is None
    assert worker.ask("value", ["5"], 5.0).result == 5.0


def test_one_thread_starts_one_worker_and_several_share_the_pool() -> None:
    pool = Pool(size=2)
    try:
        assert pool.pids == []
        assert [pool.ask("value", [str(n)], 5.0).result for n in range(3)] == [0.0, 1.0, 2.0]
        assert len(pool.pids) == 1
        told: dict[int, object] = {}
        threads = [
            threading.Thread(target=lambda n=n: told.update({n: pool.ask("value", [str(n)], 5.0)}))
            for n in range(8)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert {n: getattr(reply, "result", None) for n, reply in told.items()} == {
            n: float(n) for n in range(8)
        }
        assert 1 <= len(pool.pids) <= 2
    finally:
        pool.stop()
    assert pool.pids == []


CHILD = """
import sys, time
from omibench.answers.formulas import symbolic
from omibench.answers.formulas.symbolic import Pool
pool = Pool()
pool.ask("value", ["3"], 5.0)
print(pool.pids[0], flush=True)
sys.stdin.read()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_worker_does_not_outlive_a_killed_parent() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", CHILD], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        assert runs(pid)
        parent.kill()
        parent.wait()
        assert eventually(lambda: not runs(pid))


FORKED = """
import os, signal, sys
from omibench.answers.formulas.symbolic import Pool
pool = Pool()
pool.ask("value", ["3"], 5.0)
child = os.fork()
if not child:
    signal.pause()
print(pool.pids[0], child, flush=True)
sys.stdin.read()
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_nor_where_a_forked_child_still_holds_its_pipe() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", FORKED], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdout is not None
        pid, child = map(int, parent.stdout.readline().split())
        try:
            parent.kill()
            parent.wait()
            assert eventually(lambda: not runs(pid))
        finally:
            os.kill(child, signal.SIGKILL)


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_ctrl_c_for_the_whole_group_leaves_the_worker_to_its_parent() -> None:
    start, told = CHILD.split("print(")
    body = start + "\n".join((
        "try:",
        *(f"    {line}" for line in f"print({told}".splitlines()),
        "except KeyboardInterrupt:",
        "    print(pool.ask('value', ['4'], 5.0).result, pool.pids[0], flush=True)",
    ))  # fmt: skip
    with subprocess.Popen(
        [sys.executable, "-c", body], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        start_new_session=True,
    ) as parent:  # fmt: skip
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        os.killpg(parent.pid, signal.SIGINT)
        assert parent.stdout.readline().split() == ["4.0", str(pid)]
        assert parent.wait(DEADLINE_S) == 0
    assert eventually(lambda: not runs(pid))


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("raise SystemExit(7)", "its process ended with 7"),
        ("import os; os.kill(os.getpid(), 9)", "its process was ended by signal 9"),
        ("print('{\"result\": false}', flush=True); input()", "x+1 and 1+x compared as unequal"),
        ('print(\'{"error": "no parser"}\', flush=True); input()', "no parser"),
    ],
)
def test_a_worker_that_cannot_work_is_an_error_that_says_why(body: str, why: str) -> None:
    worker = Worker((sys.executable, "-c", body))
    with pytest.raises(OmibenchError, match=why.replace("+", r"\+")):
        worker.ask("equal", ["2x", "x+x"], 5.0)
    assert worker.pid is None
