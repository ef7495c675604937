"""What code of a model can see and call: the options of bubblewrap and of containers."""

from __future__ import annotations

import errno
import platform
import struct
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

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
