"""Measure the explorer with a large study: start, filters, search, opening an item.

Makes results of OMIBench's size without calling a model (as `analyze_at_size.py` does), starts
`omibench explore` on them, and asks what its pages ask. CPU time
is that of the server's process (user and system, all threads), and the peak of its memory.

    python benchmarks/explore_at_size.py                   # 31 models x 5 settings x 1,322 problems
    python benchmarks/explore_at_size.py --settings 50     # ten times as many responses
    python benchmarks/explore_at_size.py --results FOLDER  # results that exist already
    python benchmarks/explore_at_size.py --settings 50 --twice   # again, with the index

The exit code is 1 when a limit (set for 205,000 responses) is missed.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from analyze_at_size import make_results, make_study

from omibench.explore.index import Index, locate_index
from omibench.schemas.tables import ResponseRow, read_parquet, write_frame

START_S, PAGE_S, SEARCH_S, MEMORY_MB = 3.0, 0.2, 2.0, 1024.0
LIMITS_HOLD_FOR = 155
REPEATS = 9
WORDS, SENTENCES = 20_000, 30_000
TICKS = os.sysconf("SC_CLK_TCK")


class Timing(NamedTuple):
    """One step: medians of some requests, and the largest wall time."""

    step: str
    wall_s: float
    cpu_s: float
    worst_s: float


class Server:
    """`omibench explore` in a process of its own."""

    def __init__(self, results: Path) -> None:
        command = [sys.executable, "-m", "omibench", "explore", str(results), "--port", "0"]
        start = time.monotonic()
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        self.address = line.split(": ", 1)[1].split()[0]
        self.get("/healthz")
        self.start = Timing("start", time.monotonic() - start, self.read_cpu(), 0.0)

    def get(self, path: str) -> Any:
        """What an address answers, JSON parsed."""
        with urllib.request.urlopen(self.address + path) as answer:  # noqa: S310  # our server
            data = answer.read()
        return json.loads(data) if path.startswith("/api/") else data

    def read_cpu(self) -> float:
        """CPU seconds of the process so far."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    def read_peak_mb(self) -> float:
        """The most memory that the process held."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        line = next(line for line in status.splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) / 1024


def main() -> int:
    """Make the folder, start, ask, print the table; returns the exit code."""
    options = _options()
    with _make_folder(options) as results:
        if options.twice:
            _build_index(results)
        with serve(results) as server:
            rows = [server.start, *_ask_all(server)]
            peak_mb = server.read_peak_mb()
            study = server.get("/api/study")
        index_mb = _measure_index(results)
    responses, cells = study["responses"], len(study["cells"])
    print(f"{responses:,} responses of {cells} cells; load average {os.getloadavg()[0]:.1f}")
    print(f"peak of memory {peak_mb:,.0f} MB; index {index_mb:,.1f} MB\n")
    print("| step | wall s | CPU s | slowest s |\n|---|---:|---:|---:|")
    for row in rows:
        print(f"| {row.step} | {row.wall_s:.3f} | {row.cpu_s:.3f} | {row.worst_s:.3f} |")
    missed = list(_list_missed(rows, peak_mb)) if cells == LIMITS_HOLD_FOR else []
    for line in missed:
        print(f"missed: {line}", file=sys.stderr)
    return 1 if missed else 0


def _build_index(results: Path) -> None:
    """Start once, and wait until the run is indexed."""
    with serve(results) as server:
        before = -1.0
        while before < (before := server.read_cpu()):
            time.sleep(2)


def _ask_all(server: Server) -> Iterator[Timing]:
    study = server.get("/api/study")
    ids = [item["id"] for item in server.get("/api/items?limit=500")["items"]]
    models = [model["name"] for model in study["models"]]
    cells = "&".join(f"cells={c['model']}/{c['setting']}" for c in study["cells"][:4])
    yield _time(server, "study", ["/api/study"] * REPEATS)
    yield _time(
        server, "page of the grid", [f"/api/items?offset={100 * n}" for n in range(REPEATS)]
    )
    ready = [r["name"] for r in study["ready"] if not r["needs"]]
    yield _time(server, "ready filter", [f"/api/items?ready={name}" for name in ready])
    yield _time(
        server, "columns of a model", [f"/api/items?models={name}" for name in models[:REPEATS]]
    )
    yield _time(
        server, "order and facet",
        [f"/api/items?order=hardest&is.subject=physics&models={name}" for name in models[:REPEATS]],
    )  # fmt: skip
    yield _time(server, "item, 4 columns", [f"/api/items/{name}?{cells}" for name in ids[:REPEATS]])
    words = ["nowhere", "qxz", "the", "a rare word", "zzzzzz"]
    yield _time(
        server, "search questions", [f"/api/items?search={w.replace(' ', '+')}" for w in words]
    )
    yield _time(
        server, "search responses",
        [f"/api/items?in=response&search={w.replace(' ', '+')}" for w in words],
    )  # fmt: skip
    yield _time(
        server, "search answers", [f"/api/items?in=extracted&search={w.replace(' ', '+')}"
                                   for w in words],
    )  # fmt: skip


def _time(server: Server, step: str, paths: list[str]) -> Timing:
    walls, cpus = [], []
    for path in paths:
        cpu, wall = server.read_cpu(), time.monotonic()
        server.get(path)
        walls.append(time.monotonic() - wall)
        cpus.append(server.read_cpu() - cpu)
    return Timing(step, statistics.median(walls), statistics.median(cpus), max(walls))


def _list_missed(rows: list[Timing], peak_mb: float) -> Iterator[str]:
    limits = {"start": START_S, "search responses": SEARCH_S}
    for row in rows:
        limit = limits.get(row.step, PAGE_S)
        if row.wall_s > limit:
            yield f"{row.step}: {row.wall_s:.2f} s, of {limit:g}"
    if peak_mb > MEMORY_MB:
        yield f"{peak_mb:.0f} MB, of {MEMORY_MB:g}"


def _measure_index(results: Path) -> float:
    """MB of the index, which only large runs have."""
    return Index(locate_index(results)).measure() / 1e6


@contextmanager
def serve(results: Path) -> Iterator[Server]:
    """Serve a folder of results until the end of the block."""
    server = Server(results)
    try:
        yield server
    finally:
        server.process.terminate()
        server.process.wait()


@contextmanager
def _make_folder(options: argparse.Namespace) -> Iterator[Path]:
    if options.results:
        yield Path(options.results)
        return
    with tempfile.TemporaryDirectory(dir=options.folder) as scratch:
        folder = Path(options.keep or scratch)
        folder.mkdir(parents=True, exist_ok=True)
        make_study(folder, options.models, options.settings)
        make_results(folder)
        write_texts(folder / "results")
        yield folder / "results"


def write_texts(results: Path) -> None:
    """Put words in place of the letters of the responses: twelve drawn sentences each."""
    draw = np.random.default_rng(11)
    letters = np.array(list("aaabcdeeeefghiiijklmnnooopqrrsssttttuuvwxyz"))
    words = ["".join(draw.choice(letters, n)) for n in draw.integers(2, 11, WORDS)]
    lengths = draw.integers(8, 22, SENTENCES)
    sentences = [" ".join(words[k] for k in draw.integers(0, WORDS, n)) for n in lengths]
    for path in sorted((results / "infer").glob("*/*.parquet")):
        frame = read_parquet(path, ResponseRow)
        picks = draw.integers(0, SENTENCES, (frame.height, 12))
        texts = [". ".join(sentences[k] for k in row) for row in picks]
        write_frame(path, frame.with_columns(text=pl.Series(texts)), ResponseRow)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", type=int, default=31)
    parser.add_argument("--settings", type=int, default=5)
    parser.add_argument("--results", help="a folder of results that is there already")
    parser.add_argument("--twice", action="store_true", help="measure a second start")
    parser.add_argument("--keep", help="where to make results that stay")
    parser.add_argument("--folder", help="where to make the temporary folder")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
