"""The sandbox: a fresh process without network, with files of its own, that limits end.

bubblewrap shows the process the programs of the machine, the pictures and one folder in memory,
and nothing else of the disk. A filter of system calls forbids new processes and threads (so that
the limits of the one process hold for all), sockets, mounts, and memory that no limit counts. A
container of podman or docker has a limit of processes and of memory instead.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from selectors import EVENT_READ, DefaultSelector
from tempfile import TemporaryDirectory, TemporaryFile
from time import monotonic
from typing import Any, Final, NamedTuple
from uuid import uuid4

from omibench.errors import ModelError
from omibench.models.code.confinement import (
    FOLDER,
    describe_bubblewrap,
    describe_container,
    system_calls,
)
from omibench.params.models.tools import PythonModel

INSIDE: Final = Path(__file__).with_name("inside.py")
READY: Final = b"ready\n"
"""What `inside.py` reports before it runs any code."""
MOST_FILES: Final = 2000
"""Files and folders in the writable folder; above, the process is ended."""
MOST_PRINTED: Final = 2**26
KEPT_BYTES: Final = 2**17
"""Bytes of each end of the printed text that are kept."""
PICTURE_BYTES: Final = 4 * 2**20
_LOOK_S = 0.1
_CHUNK = 2**16
_PROGRAMS = {"bubblewrap": "bwrap", "podman": "podman", "docker": "docker"}


class Run(NamedTuple):
    """What a process left: its printed text, its report, and why it was ended, if it was."""

    printed: bytes
    report: bytes
    ended: str


class _Started(NamedTuple):
    process: subprocess.Popen[bytes]
    status: int
    """Descriptor with bubblewrap's JSON about the process."""


def find_program(model: PythonModel) -> str:
    """Return the path of the program that confines the code. Raises ModelError without it."""
    name = _PROGRAMS[model.sandbox]
    path = shutil.which(name)
    if path is None:
        raise ModelError(
            f"the tool python: the program {name} is not installed, and code of a model never "
            f"runs without it; install {model.sandbox}, or set `sandbox` of the model's block to "
            f"another of {', '.join(_PROGRAMS)}"
        )
    return path


def run_cells(model: PythonModel, cells: Sequence[Mapping[str, Any]], pictures: Path) -> Run:
    """Run cells in a fresh process, and return what the last one left.

    Args:
        model: The limits.
        cells: `code`, and the names of the `pictures` that are new in it.
        pictures: The folder with their files, which the process can read.

    Raises:
        ModelError: The sandbox is missing or does not start: nothing ran.
    """
    limits = {
        "memory_bytes": model.memory_mb * 2**20,
        "file_bytes": model.folder_mb * 2**20,
        "cpu_s": int(model.seconds) + 1,
        "pictures": model.pictures,
        "picture_bytes": PICTURE_BYTES,
    }
    with _start(model, pictures, json.dumps({"cells": list(cells), "limits": limits})) as started:
        run = _watch(started, model)
    if not run.report.startswith(READY) and not run.ended:
        words = " ".join(run.printed.decode(errors="replace").split())[-300:]
        raise ModelError(
            f"the tool python: {model.sandbox} does not start, and code of a model never runs "
            f"without it: {words or 'it says nothing'}"
        )
    return run._replace(report=run.report.removeprefix(READY))


@contextmanager
def _start(model: PythonModel, pictures: Path, job: str) -> Iterator[_Started]:
    program, name = find_program(model), f"omibench-{uuid4().hex}"
    with ExitStack() as stack:
        source, rules = (stack.enter_context(TemporaryFile()) for _ in range(2))
        source.write(job.encode())
        source.seek(0)
        script = Path(shutil.copy(INSIDE, stack.enter_context(TemporaryDirectory())))
        for place in (script.parent, script, pictures):  # a container can have another user
            place.chmod(0o755)
        tell, told = os.pipe()
        stack.callback(os.close, tell)
        end: list[str] = []
        try:
            if model.sandbox == "bubblewrap":
                rules.write(system_calls())
                rules.seek(0)
                files = ["--seccomp", str(rules.fileno()), "--json-status-fd", str(told)]
                command = [program, *files, *describe_bubblewrap(model, pictures, script)]
            else:
                command = [program, *describe_container(model, name, pictures, script)]
                end = [program, "kill", name]
            process = subprocess.Popen(
                command, stdin=source, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                pass_fds=(told, rules.fileno()), start_new_session=True,
            )  # fmt: skip
        finally:
            os.close(told)
        stack.enter_context(process)
        stack.callback(_kill, process, end)
        yield _Started(process, tell)


def _kill(process: subprocess.Popen[bytes], end: Sequence[str]) -> None:
    """End the process and all below it, which die with bubblewrap, or with their container."""
    if end and process.poll() is None:
        with suppress(OSError, subprocess.SubprocessError):
            subprocess.run(end, capture_output=True, timeout=30, check=False)
    with suppress(OSError):
        os.killpg(process.pid, signal.SIGKILL)


def _watch(started: _Started, model: PythonModel) -> Run:
    """Read both streams until they end, or a limit is reached."""
    process, until = started.process, monotonic() + model.seconds
    printed, report, ended = _Ends(), bytearray(), ""
    most_report = model.pictures * PICTURE_BYTES * 4 // 3 + _CHUNK
    inside: int | None = None
    with DefaultSelector() as selector:
        for stream in (process.stdout, process.stderr):
            assert stream is not None
            selector.register(stream, EVENT_READ)
        while selector.get_map() and not ended:
            for key, _ in selector.select(min(_LOOK_S, max(0.0, until - monotonic()))):
                data = os.read(key.fd, _CHUNK)
                if not data:
                    selector.unregister(key.fileobj)
                elif key.fileobj is process.stderr:
                    printed.add(data)
                else:
                    report += data
            if report and inside is None:
                inside = _read_id(started.status) if model.sandbox == "bubblewrap" else 0
            if monotonic() > until:
                ended = f"it ran for {model.seconds:g} seconds"
            elif len(report) > most_report:
                ended = "it reported too much"
            elif printed.count > MOST_PRINTED:
                ended = f"it printed more than {MOST_PRINTED >> 20} MB"
            elif inside and _count_files(inside) > MOST_FILES:
                ended = f"it made more than {MOST_FILES:,} files"
    return Run(printed.join(), bytes(report), ended)


def _read_id(status: int) -> int:
    """Return the id of the first process in the sandbox; 0 if bubblewrap does not tell it."""
    with suppress(OSError, ValueError, KeyError):
        return int(json.loads(os.read(status, _CHUNK).splitlines()[0])["child-pid"])
    return 0


def _count_files(process: int) -> int:
    try:
        state = os.statvfs(Path(f"/proc/{process}/root{FOLDER}"))
    except OSError:  # it has ended
        return 0
    return state.f_files - state.f_ffree


class _Ends:
    """Both ends of a stream, each of at most `KEPT_BYTES`."""

    def __init__(self) -> None:
        self.count = 0
        self._head, self._tail = bytearray(), bytearray()

    def add(self, data: bytes) -> None:
        """Add the next bytes."""
        self.count += len(data)
        room = KEPT_BYTES - len(self._head)
        self._head += data[:room]
        self._tail += data[room:]
        del self._tail[:-KEPT_BYTES]

    def join(self) -> bytes:
        """Return the bytes that were kept."""
        is_cut = self.count > len(self._head) + len(self._tail)
        return bytes(self._head) + (b"\n[...]\n" if is_cut else b"") + bytes(self._tail)
