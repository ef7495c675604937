"""One build at a time in a folder, and one that was killed does not lock it for ever."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from omibench.errors import OmibenchError, SomeFailedError
from omibench.flows import build
from omibench.study.status.owners import take_folder

SNAKEFILE = 'rule all:\n    output: "out.txt"\n    shell: "{command}"\n'


@pytest.fixture
def folder(own_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(own_folder)
    (own_folder / "params.yaml").write_text("{}\n")
    return own_folder


@pytest.mark.slow
def test_the_lines_of_a_build_are_heard_and_a_failure_shows_the_last(folder: Path) -> None:
    (folder / "Snakefile").write_text(SNAKEFILE.format(command="echo made > {output}"))
    heard: list[str] = []
    build.snakemake("params.yaml", ["all"], 1, say=heard.append)
    assert (folder / "out.txt").read_text() == "made\n"
    assert heard
    (folder / "Snakefile").write_text(SNAKEFILE.format(command="echo its reason >&2; exit 7"))
    with pytest.raises(SomeFailedError, match="snakemake failed with exit code 1") as found:
        build.snakemake("params.yaml", ["all"], 1, forced=["out.txt"], say=heard.append)
    assert "At least one job did not complete" in str(found.value)


@pytest.mark.slow
def test_a_killed_build_is_unlocked_by_the_next(folder: Path) -> None:
    started = "touch started; sleep 600"
    (folder / "Snakefile").write_text(SNAKEFILE.format(command=started))
    script = "from omibench.flows import build; build.snakemake('params.yaml', ['all'], 1)"
    root = Path(build.__file__).parents[2]
    with subprocess.Popen(
        [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(root)!r}); {script}"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
    ) as flow:  # fmt: skip
        end = time.monotonic() + 120
        while not (folder / "started").exists():
            assert time.monotonic() < end, "the build did not start"
            time.sleep(0.1)
        os.killpg(flow.pid, signal.SIGKILL)
    (folder / "Snakefile").write_text(SNAKEFILE.format(command="echo made > {output}"))
    heard: list[str] = []
    build.snakemake("params.yaml", ["all"], 1, say=heard.append)
    assert (folder / "out.txt").read_text() == "made\n"
    assert "its lock is removed" in heard[0]


def test_a_build_is_refused_while_another_run_is_active(folder: Path) -> None:
    (folder / "Snakefile").write_text(SNAKEFILE.format(command="echo made > {output}"))
    with (
        take_folder("results", print),
        pytest.raises(OmibenchError, match=rf"process {os.getpid()}\b"),
    ):
        build.snakemake("params.yaml", ["all"], 1, say=print)
    assert not (folder / "out.txt").exists()
