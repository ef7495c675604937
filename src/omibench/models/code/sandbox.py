"""The sandbox of a model's Python: what confines it, and its run."""

from __future__ import annotations

import errno
import json
import os
import platform
import shutil
import signal
import struct
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from pathlib import Path
from selectors import EVENT_READ, DefaultSelector
from tempfile import TemporaryDirectory, TemporaryFile
from time import monotonic
from typing import Any, Final, NamedTuple
from uuid import uuid4

from omibench.errors import ModelError, reason_of
from omibench.files.programs import locate_python
from omibench.params.models.tools import PythonModel

FOLDER: Final = "/mnt/folder"
"""The one folder that code can write to, where it starts."""
_ENVIRONMENT: Final = {
    "HOME": FOLDER, "TMPDIR": FOLDER, "PATH": "/usr/local/bin:/usr/bin:/bin",
    "LANG": "C.UTF-8", "MPLBACKEND": "Agg", "MPLCONFIGDIR": f"{FOLDER}/.matplotlib",
    "PYTHONHASHSEED": "0", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1", "OPENCV_FOR_THREADS_NUM": "1",
}  # fmt: skip
_SHOWN: Final = (
    "/usr", "/bin", "/lib", "/lib32", "/lib64",
    "/etc/alternatives", "/etc/fonts", "/etc/ld.so.cache",
)  # fmt: skip
_ARGUMENTS: Final = ("-P", "-s", "-B", "/mnt/inside.py")
_MOST_PROCESSES: Final = 64


def describe_bubblewrap(model: PythonModel, pictures: Path, script: Path) -> list[str]:
    """Return the options and the command for bubblewrap."""
    words = ["--unshare-all", "--unshare-user", "--uid", "1000", "--gid", "1000"]
    words += ["--die-with-parent", "--new-session", "--cap-drop", "ALL", "--clearenv"]
    for name, value in _ENVIRONMENT.items():
        words += ["--setenv", name, value]
    for place in (*_SHOWN, *_find_homes(model.python)):
        words += ["--ro-bind-try", place, place]
    words += ["--dev", "/dev", "--remount-ro", "/dev", "--dir", "/mnt"]
    words += ["--size", str(model.folder_mb * 2**20), "--tmpfs", FOLDER]
    words += ["--ro-bind", str(pictures), "/mnt/pictures", "--ro-bind", str(script), _ARGUMENTS[-1]]
    python = model.python or locate_python()
    return [*words, "--remount-ro", "/", "--chdir", FOLDER, "--", python, *_ARGUMENTS]


def describe_container(model: PythonModel, name: str, pictures: Path, script: Path) -> list[str]:
    """Return the options and the command for podman or docker."""
    memory = f"{model.memory_mb + model.folder_mb}m"
    words = ["run", "--rm", "--interactive", "--name", name, "--network", "none", "--read-only"]
    words += ["--cap-drop", "ALL", "--security-opt", "no-new-privileges", "--user", "65534:65534"]
    words += ["--pids-limit", str(_MOST_PROCESSES), "--memory", memory, "--memory-swap", memory]
    words += ["--tmpfs", f"{FOLDER}:rw,size={model.folder_mb}m,mode=1777,nr_inodes=2000"]
    for source, place in ((pictures, "/mnt/pictures"), (script, _ARGUMENTS[-1])):
        words += ["--volume", f"{source}:{place}:ro"]
    for variable, value in _ENVIRONMENT.items():
        words += ["--env", f"{variable}={value}"]
    words += ["--workdir", FOLDER, model.image or "", model.python or "python3"]
    return [*words, *_ARGUMENTS]


@cache
def _find_homes(python: str | None) -> tuple[str, ...]:
    """Return the folders of a Python, default this one, and of the Python that it rests on."""
    if python is None:
        return tuple(dict.fromkeys((sys.prefix, sys.base_prefix)))
    command = [python, "-I", "-c", "import sys; print(sys.prefix, sys.base_prefix, sep='\\n')"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    except (OSError, subprocess.SubprocessError) as error:
        raise ModelError(f"the tool python: {python} does not run: {reason_of(error)}") from None
    return tuple(dict.fromkeys(done.stdout.split("\n")[:2]))


# The filter of system calls, as a program of the Linux kernel's seccomp (seccomp(2)).


class _Calls(NamedTuple):
    """The audit number of an architecture, and the calls that it forbids."""

    architecture: int
    forbidden: tuple[int, ...]


_OF_ALL: Final = (425, 428, 429, 430, 431, 432, 433, 442, 447)
"""io_uring_setup, open_tree, move_mount, fsopen, fsconfig, fsmount, fspick, mount_setattr,
memfd_secret."""
_CALLS: Final = {
    # clone, fork, vfork; socket, socketpair; ptrace, process_vm_readv and _writev, kcmp; unshare,
    # setns; mount, umount2, pivot_root, chroot; memfd_create, shmget, semget, msgget, mq_open;
    # userfaultfd, perf_event_open, bpf; add_key, request_key, keyctl; kexec_load, init_module,
    # finit_module; name_to_handle_at, open_by_handle_at; fanotify_init, quotactl, syslog,
    # personality, acct, swapon, reboot.
    "x86_64": _Calls(0xC000003E, (
        56, 57, 58, 41, 53, 101, 310, 311, 312, 272, 308, 165, 166, 155, 161, 319, 29, 64, 68, 240,
        323, 298, 321, 248, 249, 250, 246, 175, 313, 303, 304, 300, 179, 103, 135, 163, 167, 169,
    )),
    "aarch64": _Calls(0xC00000B7, (
        220, 198, 199, 117, 270, 271, 272, 97, 268, 40, 39, 41, 51, 279, 194, 190, 186, 180, 282,
        241, 280, 217, 218, 219, 104, 105, 273, 264, 265, 262, 60, 116, 92, 89, 224, 142,
    )),
}  # fmt: skip
_CLONE3: Final = 435
_X32: Final = 0x40000000
"""Numbers from here are calls of another interface of x86-64."""
_LOAD, _EQUAL, _ABOVE, _RETURN = 0x20, 0x15, 0x35, 0x06
_ALLOW, _KILL, _ERROR = 0x7FFF0000, 0x80000000, 0x00050000


def system_calls() -> bytes:
    """Return the filter. Raises ModelError on a machine whose calls it does not know."""
    calls = _CALLS.get(platform.machine())
    if calls is None:
        raise ModelError(
            f"the tool python: bubblewrap is used on {' and '.join(_CALLS)}, and this machine is "
            f"{platform.machine()}; set `sandbox` of the model's block to podman or docker"
        )
    return b"".join(struct.pack("=HBBI", *step) for step in _list_steps(calls))


def _list_steps(calls: _Calls) -> Iterator[tuple[int, int, int, int]]:
    """Yield code, jump if true, jump if false, and value of each step."""
    yield _LOAD, 0, 0, 4
    yield _EQUAL, 1, 0, calls.architecture
    yield _RETURN, 0, 0, _KILL
    yield _LOAD, 0, 0, 0
    yield _ABOVE, 0, 1, _X32
    yield _RETURN, 0, 0, _ERROR | errno.EPERM
    # The flags of clone3 cannot be read here; as if it were missing, programs use clone.
    for number, error in [
        (_CLONE3, errno.ENOSYS),
        *((n, errno.EPERM) for n in calls.forbidden + _OF_ALL),
    ]:
        yield _EQUAL, 0, 1, number
        yield _RETURN, 0, 0, _ERROR | error
    yield _RETURN, 0, 0, _ALLOW


# The sandbox: a fresh process without network, with files of its own, that limits end.
#
# bubblewrap shows the process the programs of the machine, the pictures and one folder in memory,
# and nothing else of the disk. A filter of system calls forbids new processes and threads (so that
# the limits of the one process hold for all), sockets, mounts, and memory that no limit counts. A
# container of podman or docker has a limit of processes and of memory instead.

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
        read_end, write_end = os.pipe()
        stack.callback(os.close, read_end)
        end: list[str] = []
        try:
            if model.sandbox == "bubblewrap":
                rules.write(system_calls())
                rules.seek(0)
                files = ["--seccomp", str(rules.fileno()), "--json-status-fd", str(write_end)]
                command = [program, *files, *describe_bubblewrap(model, pictures, script)]
            else:
                command = [program, *describe_container(model, name, pictures, script)]
                end = [program, "kill", name]
            process = subprocess.Popen(
                command, stdin=source, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                pass_fds=(write_end, rules.fileno()), start_new_session=True,
            )  # fmt: skip
        finally:
            os.close(write_end)
        stack.enter_context(process)
        stack.callback(_kill, process, end)
        yield _Started(process, read_end)


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
