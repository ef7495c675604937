from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from omibench.errors import OmibenchError
from omibench.score import symbolic

ASK = """
from omibench.errors import OmibenchError
from omibench.score.symbolic import symbolically_equal
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
        "from omibench.score.worker import main\n"
        "main()\n"
    )
    script = tmp_path / "worker.py"
    script.write_text(body)
    worker = symbolic.Worker(command=(sys.executable, str(script)))
    try:
        assert worker.ask("equal", "2x", "x+x") is True
    finally:
        worker.stop()


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("raise SystemExit(7)", "its process ended with 7"),
        ("import os; os.kill(os.getpid(), 9)", "its process was ended by signal 9"),
        ("print('{\"result\": false}', flush=True); input()", "x+1 and 1+x came out as unequal"),
        ('print(\'{"error": "no parser"}\', flush=True); input()', "no parser"),
    ],
)
def test_a_worker_that_cannot_work_is_an_error_that_says_why(body: str, why: str) -> None:
    worker = symbolic.Worker(command=(sys.executable, "-c", body))
    with pytest.raises(OmibenchError, match=why.replace("+", r"\+")):
        worker.ask("equal", "2x", "x+x")
    assert worker.pid is None
