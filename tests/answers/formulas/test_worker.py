from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from omibench.answers.formulas.symbolic import Worker

ASK = """
from omibench.errors import OmibenchError
from omibench.answers.formulas.symbolic import symbolically_equal
try:
    print(symbolically_equal("2x", "x+x"), symbolically_equal("2x", "3x"))
except OmibenchError as error:
    print(error)
"""


def asked_under(limit_kib: int, root: Path) -> str:
    run = subprocess.run(
        ["/bin/sh", "-c", f'ulimit -v {limit_kib} && exec "$0" -c "$1"', sys.executable, ASK],
        cwd=root, capture_output=True, text=True, check=False,
    )  # fmt: skip
    return run.stdout.strip()


def test_a_lower_hard_limit_on_memory_is_taken_as_it_is(root: Path) -> None:
    assert asked_under(900_000, root) == "True False"


def test_too_little_memory_is_an_error_not_a_wrong_answer(root: Path) -> None:
    told = asked_under(200_000, root)
    assert told.startswith("symbolic comparison does not work here: the limit on address space is")
    assert "ulimit -v" in told


def test_a_system_that_cannot_limit_memory_still_compares(tmp_path: Path) -> None:
    body = (
        "import resource\n"
        "def refuse(*_): raise ValueError('current limit exceeds maximum limit')\n"
        "resource.setrlimit = refuse\n"
        "from omibench.answers.formulas.worker import main\n"
        "main()\n"
    )
    script = tmp_path / "worker.py"
    script.write_text(body)
    worker = Worker((sys.executable, str(script)))
    try:
        assert worker.ask("equal", ["2x", "x+x"], 5.0).result is True
    finally:
        worker.stop()


@pytest.mark.slow
def test_a_job_may_not_spend_more_than_its_cpu_time() -> None:
    body = (
        "import signal\n"
        "from omibench.answers.formulas.worker import limit_cpu\n"
        "limit_cpu(0.2)\n"
        "{then}\n"
        "while True: pass\n"
    )
    runs = [
        subprocess.run([sys.executable, "-c", body.replace("{then}", then)], check=False).returncode
        for then in ("", "signal.setitimer(signal.ITIMER_PROF, 0)")
    ]
    assert runs == [-signal.SIGPROF, -signal.SIGXCPU]
