"""A Slurm cluster of one node, from the distribution's packages, in a folder of its own.

Nothing is installed: apt downloads what the machine lacks, dpkg unpacks it, and the daemons run
from there until the fixture ends them by their process ids. Wrappers of the clients name the
configuration, since Snakemake's executor takes SLURM_CONF out of the environment of its jobs.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

PACKAGES = ("slurmctld", "slurmd", "slurm-client", "munge")
CLIENTS = ("sacct", "sacctmgr", "sbatch", "scancel", "scontrol", "sinfo", "squeue", "srun")
DEADLINE_S = 60
CORES = 2
GPUS = 2


class NoSlurmError(Exception):
    """Slurm cannot be had on this machine; the message says why."""


@contextmanager
def running_slurm() -> Iterator[Path]:
    """The folder of the clients (sbatch, squeue, ...) of a cluster that runs until the end.

    Raises NoSlurmError with the reason when packages or daemons are not to be had.
    """
    # Sockets have short paths only.
    folder = Path(tempfile.mkdtemp(prefix="slurm-"))
    folder.chmod(0o755)
    daemons: list[subprocess.Popen[bytes]] = []
    try:
        software = _unpack(folder)
        yield _start(folder, software, daemons)
    finally:
        for daemon in reversed(daemons):
            _end(daemon)
        shutil.rmtree(folder, ignore_errors=True)


def _unpack(folder: Path) -> Path:
    if os.geteuid() != 0:
        raise NoSlurmError("Slurm's daemons need root")
    if not shutil.which("apt-get") or not shutil.which("dpkg"):
        raise NoSlurmError("Slurm's packages need apt-get and dpkg")
    archives, software = folder / "archives", folder / "software"
    (archives / "partial").mkdir(parents=True)
    fetch = [
        "apt-get", "install", "--yes", "--no-install-recommends", "--download-only",
        "--reinstall", "-o", f"Dir::Cache::archives={archives}", *PACKAGES,
    ]  # fmt: skip
    done = _quietly(fetch)
    if done.returncode:
        _quietly(["apt-get", "update"])
        done = _quietly(fetch)
    if done.returncode:
        raise NoSlurmError(f"Slurm's packages cannot be downloaded: {_last_line(done.stderr)}")
    for archive in sorted(archives.glob("*.deb")):
        unpacked = _quietly(["dpkg", "-x", str(archive), str(software)])
        if unpacked.returncode:
            raise NoSlurmError(f"{archive.name}: {_last_line(unpacked.stderr)}")
    return software


def _start(folder: Path, software: Path, daemons: list[subprocess.Popen[bytes]]) -> Path:
    plugins = next(software.glob("usr/lib/*/slurm-wlm"), None)
    if plugins is None:
        raise NoSlurmError("Slurm's packages are not laid out as this test knows them")
    munge = folder / "munge.socket"
    config = folder / "slurm.conf"
    config.write_text(_configuration(folder, plugins, munge))
    environment = {
        **os.environ, "SLURM_CONF": str(config), "LD_LIBRARY_PATH": f"{plugins.parent}:{plugins}"
    }  # fmt: skip
    environment["PATH"] = f"{software / 'usr/sbin'}:{environment['PATH']}"

    def daemon(*command: str) -> None:
        log = (folder / f"{command[0]}.log").open("ab")
        daemons.append(
            subprocess.Popen(
                command, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )
        )

    key = folder / "munge.key"
    key.write_bytes(os.urandom(128))
    key.chmod(0o400)
    daemon(
        "munged", "--foreground", "--force", f"--key-file={key}", f"--socket={munge}",
        f"--pid-file={folder / 'munged.pid'}", f"--seed-file={folder / 'munged.seed'}",
    )  # fmt: skip
    _wait(munge.exists, "munged", folder)
    daemon("slurmctld-wlm", "-D", "-f", str(config))
    daemon("slurmd-wlm", "-D", "-f", str(config), "-d", str(software / "usr/sbin/slurmstepd-wlm"))
    clients = _clients(folder, software, environment)
    _wait(lambda: _is_idle(clients), "slurmctld-wlm", folder)
    return clients


def _configuration(folder: Path, plugins: Path, munge: Path) -> str:
    host = socket.gethostname().split(".")[0]
    values = {
        "ClusterName": "tests",
        "SlurmctldHost": f"{host}(127.0.0.1)",
        "SlurmUser": "root",
        "SlurmctldPort": _free_port(),
        "SlurmdPort": _free_port(),
        "AuthType": "auth/munge",
        "AuthInfo": f"socket={munge}",
        "CredType": "cred/munge",
        "PluginDir": plugins,
        "StateSaveLocation": folder / "state",
        "SlurmdSpoolDir": folder / "spool",
        "SlurmctldPidFile": folder / "slurmctld.pid",
        "SlurmdPidFile": folder / "slurmd.pid",
        "ProctrackType": "proctrack/linuxproc",
        "TaskPlugin": "task/none",
        "AccountingStorageType": "accounting_storage/none",
        "JobAcctGatherType": "jobacct_gather/none",
        "SelectType": "select/cons_tres",
        "SelectTypeParameters": "CR_CPU",
        "SchedulerParameters": "batch_sched_delay=0,sched_min_interval=0",
        "SlurmdParameters": "config_overrides",
        "ReturnToService": 2,
        "MinJobAge": 3600,
        "KillWait": 5,
        "GresTypes": "gpu",
        "MailProg": "/bin/true",
    }
    # It has neither the memory nor the GPUs that it claims: what jobs ask for is on trial here.
    (folder / "gres.conf").write_text(f"Name=gpu Count={GPUS}\n")
    node = (
        f"NodeName={host} NodeAddr=127.0.0.1 CPUs={CORES} RealMemory=64000 Gres=gpu:{GPUS} "
        "State=UNKNOWN"
    )
    partition = f"PartitionName=main Nodes={host} Default=YES MaxTime=INFINITE State=UP"
    return "\n".join([*(f"{k}={v}" for k, v in values.items()), node, partition, ""])


def _clients(folder: Path, software: Path, environment: dict[str, str]) -> Path:
    clients = folder / "bin"
    clients.mkdir()
    for name in CLIENTS:
        wrapper = clients / name
        wrapper.write_text(
            f"#!/bin/sh\nexport SLURM_CONF={environment['SLURM_CONF']}\n"
            f"export LD_LIBRARY_PATH={environment['LD_LIBRARY_PATH']}\n"
            f'exec {software}/usr/bin/{name} "$@"\n'
        )
        wrapper.chmod(0o755)
    return clients


def _is_idle(clients: Path) -> bool:
    return "idle" in _quietly([str(clients / "sinfo"), "--noheader", "--format=%t"]).stdout


def _wait(ready: Callable[[], bool], daemon: str, folder: Path) -> None:
    end = time.monotonic() + DEADLINE_S
    while not ready():
        if time.monotonic() > end:
            logs = "".join(p.read_text(errors="replace") for p in sorted(folder.glob("*.log")))
            raise NoSlurmError(f"{daemon} does not start here: {_last_line(logs)}")
        time.sleep(0.2)


def _end(daemon: subprocess.Popen[bytes]) -> None:
    daemon.terminate()
    try:
        daemon.wait(timeout=20)
    except subprocess.TimeoutExpired:
        daemon.kill()
        daemon.wait()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _quietly(command: list[str]) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=180,
            stdin=subprocess.DEVNULL,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, 1, "", f"{command[0]} takes too long")


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "no reason given"
