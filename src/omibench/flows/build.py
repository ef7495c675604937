"""Run Snakemake from a flow: one build at a time per study's folder, also after a kill.

The current folder is that of the study (`omibench.flows.shared.in_its_study`).
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import IO

from omibench.errors import SomeFailedError
from omibench.files.locations import SNAKEFILE, find_shipped
from omibench.files.locks import wait_lock
from omibench.files.programs import isolate_env, python_module
from omibench.files.yaml_file import read_mapping
from omibench.models.api.stop import stoppable
from omibench.models.client.ask import BUDGET_ENV
from omibench.plugins.allowance import find_code, require_allowed
from omibench.study.plan.study_file import read_study
from omibench.study.status.owners import take_folder
from omibench.text.terminal import printable

LOCK = Path(".snakemake/omibench.lock")
SHOWN = 30
"""The number of last lines in the error of a failed build."""


def snakemake(
    params: str,
    targets: Iterable[str],
    cores: int,
    *,
    forced: Iterable[str] = (),
    budget_usd: float | None = None,
    say: Callable[[str], object] = print,
) -> None:
    """Bring targets up to date in the current folder; `say` receives each line of the output.

    `forced` are outputs to build again in any case. A folder without a Snakefile is built by the
    rules that omibench ships. It waits for a running build of another flow in this folder. Raises
    OmibenchError while `omibench run` or Snakemake works here or if its code was not allowed,
    SomeFailedError with the last lines
    of Snakemake, and StopSignal after its jobs have ended because of a signal.
    """
    study = ["--configfile", params]
    if not Path(SNAKEFILE).is_file():
        study += ["--snakefile", str(find_shipped(SNAKEFILE))]
    command = python_module("snakemake", *targets, "--cores", str(cores))
    command += [*study, "--quiet", "rules", "host", "--rerun-incomplete"]
    command += ["--forcerun", *forced] if (forced := list(forced)) else []
    budget = {} if budget_usd is None else {BUDGET_ENV: str(budget_usd)}
    last: deque[str] = deque(maxlen=SHOWN)

    def heard(line: str) -> None:
        last.append(line)
        say(line)

    require_allowed(read_mapping(params), [params], find_code)
    results = read_study(params, run_plugins=False).study.results
    with _alone() as lock, take_folder(results, say):
        code = _run(command, isolate_env(os.environ) | budget, lock, heard)
    if code:
        raise SomeFailedError(f"snakemake failed with exit code {code} in {Path.cwd()}", *last)


def _run(
    command: list[str], environment: dict[str, str], lock: IO[str], say: Callable[[str], object]
) -> int:
    # The child holds the lock, too: a killed flow leaves no concurrent build behind.
    with subprocess.Popen(
        command, env=environment, pass_fds=[lock.fileno()], text=True, errors="replace",
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    ) as child, stoppable(partial(_stop, child)):  # fmt: skip
        try:
            for line in child.stdout or ():
                say(printable(line.rstrip()))
        except BaseException:
            child.terminate()
            raise
    return child.returncode


def _stop(child: subprocess.Popen[str], at_once: bool) -> None:
    """Pass a signal to Snakemake and wait for its jobs (`omibench.study.status.owners`)."""
    child.send_signal(signal.SIGINT if at_once else signal.SIGTERM)


@contextmanager
def _alone() -> Iterator[IO[str]]:
    """Wait until no other flow builds in the folder, and lock it."""
    LOCK.parent.mkdir(parents=True, exist_ok=True)
    with LOCK.open("a") as file:
        wait_lock(file.fileno())
        yield file
