"""Measure time and memory of a killed and resumed rehearsal of OMIBench's size.

`--study` rehearses a ready-made study instead.

Makes a study of simulated models in many settings on synthetic problems of OMIBench's shape, runs
its whole graph from the frozen dataset to the report, kills all of it (SIGKILL) in the middle and
runs the same command again. CPU seconds are those of all processes; memory is the largest sum over
the processes that ran at once (what they share counted once: PSS), sampled every two seconds.

    python benchmarks/rehearsal.py                             # 31 models x 20 settings x 1,322
    python benchmarks/rehearsal.py --models 4 --settings 5     # a part of it
    python benchmarks/rehearsal.py --like emma-mini --models 2 --settings 2 --kill-at 0.5
    python benchmarks/rehearsal.py --study studies/emma.yaml --kill-at 0

The exit code is 1 when a whole rehearsal took 60 minutes or 8 GB, or sent any request twice.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from graph_scale import PARTS, PROGRAMS, ROOT

from omibench.params.study import parse_study

PROMPTS = ("cot", "direct", "least-to-most", "plan-and-solve", "visualization-of-thought")
SHOWN = ("all", "first", "none", "shuffled")
SLIPS = {"no_box": 0.03, "units": 0.02, "two_boxes": 0.02, "refusal": 0.005, "truncation": 0.01}
MINUTES, GIGABYTES = 60.0, 8.0
LOOK_S = 2.0
STUDY = "rehearsal.yaml"


class Run(NamedTuple):
    """One run of Snakemake: wall and CPU seconds, memory in GB, and how far it was killed."""

    wall_s: float
    cpu_s: float
    gigabytes: float
    killed: bool


def main() -> int:
    """Run, kill, resume, print; 1 when a target is missed."""
    options = _options()
    study = _study(options)
    cells = len(parse_study(study, "benchmark").cells)
    with tempfile.TemporaryDirectory(prefix="omibench-rehearsal-", dir=options.folder) as name:
        folder = Path(name)
        _make(folder, study)
        runs = []
        if options.kill_at:
            runs.append(_run(folder, options.cores, kill_after=round(options.kill_at * cells)))
            print(f"killed with {_done(folder)} of {cells} cells inferred", flush=True)
        runs.append(_run(folder, options.cores))
        asked, twice = _asked(folder)
        headline = next(folder.glob("results*/analyze/headline.txt"))
        print(headline.read_text("utf-8").splitlines()[0])
    what = options.study or f"{options.models} models x {options.settings} settings, {options.like}"
    return _report(f"{what}: {cells} cells", bool(options.kill_at), runs, asked, twice)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", type=int, default=31)
    parser.add_argument("--settings", type=int, default=len(PROMPTS) * len(SHOWN))
    parser.add_argument("--like", default="omibench")
    parser.add_argument("--study", help="a ready-made study instead, such as studies/emma.yaml")
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--kill-at", type=float, default=0.5, help="share of cells; 0: never")
    parser.add_argument("--folder", type=Path, help="where to make the study")
    return parser.parse_args()


def _make(folder: Path, study: dict[str, Any]) -> None:
    for part in PARTS:
        source, target = ROOT / part, folder / part
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
        elif source.is_file():
            shutil.copy(source, target)
    (folder / STUDY).write_text(yaml.safe_dump(study, sort_keys=False), "utf-8")


def _study(options: argparse.Namespace) -> dict[str, Any]:
    if options.study is None:
        return _crossed(options.models, options.settings, options.like)
    study: dict[str, Any] = yaml.safe_load(Path(options.study).read_text("utf-8"))
    return study | {
        "simulated": True,
        "study": study["study"] | {"results": "results", "store": "store"},
    }


def _crossed(models: int, settings: int, like: str) -> dict[str, Any]:
    pairs = list(product(PROMPTS, SHOWN))[:settings]
    names = [f"model-{n + 1}" for n in range(models)]
    return {
        "study": {"name": "rehearsal", "results": "results", "store": "store"},
        "benchmark": {"name": "synthetic", "like": like},
        "models": {
            name: {
                "provider": "simulated", "oracle": f"synthetic:{like}", "seed": n,
                "ability": round(-3.0 + 4.0 * n / max(1, models - 1), 3), "image_penalty": 0.1,
                "slips": SLIPS,
            }
            for n, name in enumerate(names)
        },
        "settings": {
            f"{prompt}-{shown}": {"prompt": prompt, "images": shown} for prompt, shown in pairs
        },
        "infer": {"models": names, "settings": [f"{p}-{s}" for p, s in pairs]},
        "score": {"scorers": ["robust"]},
        "analyze": {"explorer": False},
    }  # fmt: skip


def _run(folder: Path, cores: int, kill_after: int | None = None) -> Run:
    """Run the graph, all of it killed once `kill_after` cells are inferred."""
    environment = {
        **os.environ,
        "PATH": f"{PROGRAMS}:{os.environ['PATH']}",
        "PYTHONPATH": str(folder / "src"),
    }
    command = [str(PROGRAMS / "snakemake"), "--cores", str(cores), "--configfile", STUDY]
    begun, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    most, killed = 0.0, False
    with (folder / "run.log").open("a") as log:
        process = subprocess.Popen(
            [*command, "--rerun-incomplete"], cwd=folder, stdout=log, stderr=log,
            start_new_session=True, env=environment,
        )  # fmt: skip
        while process.poll() is None:
            most = max(most, _gigabytes(process.pid))
            if kill_after is not None and _done(folder) >= kill_after:
                _kill(process.pid)
                killed = True
            time.sleep(LOOK_S)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if process.returncode and not killed:
        sys.exit((folder / "run.log").read_text("utf-8")[-3000:])
    if killed:
        unlock = [*command, "--unlock"]
        subprocess.run(unlock, cwd=folder, env=environment, capture_output=True, check=True)
    cpu = (after.ru_utime + after.ru_stime) - (before.ru_utime + before.ru_stime)
    return Run(time.monotonic() - begun, cpu, most, killed)


def _session(leader: int) -> list[int]:
    """The processes of a session, from Linux' table of processes."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[3]) == leader:
            found.append(int(stat.parent.name))
    return found


def _gigabytes(leader: int) -> float:
    kilobytes = 0
    for pid in _session(leader):
        try:
            lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        except OSError:
            continue
        kilobytes += sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return kilobytes * 1024 / 1e9


def _kill(leader: int) -> None:
    for pid in _session(leader):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue


def _done(folder: Path) -> int:
    return sum(1 for _ in folder.glob("results*/infer/*/*.parquet"))


def _asked(folder: Path) -> tuple[int, int]:
    """How many responses the store holds, and how many under a key that another has."""
    found = Counter(
        (segment.parent.name, json.loads(line).get("key"))
        for segment in folder.glob("store*/*/*.jsonl")
        for line in segment.read_bytes().splitlines()
        if line.startswith(b"{") and line.endswith(b"}")
    )
    return found.total(), found.total() - len(found)


def _report(what: str, kill: bool, runs: list[Run], asked: int, twice: int) -> int:
    load = ", ".join(f"{x:.1f}" for x in os.getloadavg())
    print(f"\n{what}, load {load}\n")
    print("| run | wall min | CPU min | most GB |\n|---|---:|---:|---:|")
    for run in runs:
        name = "to the kill" if run.killed else "resumed" if kill else "whole"
        figures = f"{run.wall_s / 60:.1f} | {run.cpu_s / 60:.1f} | {run.gigabytes:.2f}"
        print(f"| {name} | {figures} |")
    minutes, most = sum(r.wall_s for r in runs) / 60, max(r.gigabytes for r in runs)
    print(f"| total | {minutes:.1f} | {sum(r.cpu_s for r in runs) / 60:.1f} | {most:.2f} |")
    print(f"\n{asked:,} responses in the store, {twice:,} of them asked for twice")
    return int(minutes >= MINUTES or most >= GIGABYTES or twice > 0)


if __name__ == "__main__":
    sys.exit(main())
