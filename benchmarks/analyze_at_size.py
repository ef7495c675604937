"""Measure the cost of loading, tabulating and drawing a large study.

Makes a results folder of OMIBench's size from drawn verdicts, without calling a model: synthetic
problems, verdicts by item-response theory, responses of a realistic length. Each size is measured
in a separate process: CPU seconds (user and system, all threads) and the peak of its memory.

    python benchmarks/analyze_at_size.py                # 31 models x 20 settings x 1,322 problems
    python benchmarks/analyze_at_size.py --ratio        # half and double the settings as well
    python benchmarks/analyze_at_size.py --slowest 15   # names the results that take longest
    python benchmarks/analyze_at_size.py --models 3 --settings 4 --json out.json

The exit code is 1 when a limit (set for 620 cells under two scorers) is missed.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
import yaml

from omibench.models.simulated.answers import load_oracle
from omibench.params.study import parse_study_file
from omibench.schemas.tables import ResponseRow, VerdictRow, polars_schema, write_frame

CPU_LIMIT_S, MEMORY_LIMIT_MB, RATIO_LIMIT = 60.0, 2048.0, 2.2
LIMITS_HOLD_FOR = 620
BOOKS = ("robust", "omibench")
TEXT_CHARS = 1200
UNSCORED = ("unparsed", "truncated", "refused")
UNSCORED_SHARE = 0.04
PROMPTS = ("cot", "direct", "least-to-most", "plan-and-solve")
IMAGES = ("all", "first", "shuffled", "composite")


class Measured(NamedTuple):
    """One step at one size; `peak_mb` is the highest so far in its process."""

    cells: int
    step: str
    cpu_s: float
    wall_s: float
    peak_mb: float


def main() -> int:
    """Make the folders, measure, print the table; returns the exit code."""
    options = _options()
    if options.measure:
        _measure(Path(options.measure), options.slowest)
        return 0
    settings = options.settings
    sizes = [settings // 2, settings, 2 * settings] if options.ratio else [settings]
    rows: list[Measured] = []
    for size in sizes:
        with tempfile.TemporaryDirectory(dir=options.folder) as folder:
            print(f"{options.models} models x {size} settings", file=sys.stderr, flush=True)
            make_study(Path(folder), options.models, size)
            make_results(Path(folder))
            rows += _measure_apart(Path(folder), options.models * size, options.slowest)
    print(f"load average {', '.join(f'{x:.1f}' for x in os.getloadavg())}\n")
    print(_markdown(rows))
    if options.json:
        Path(options.json).write_text(json.dumps([row._asdict() for row in rows], indent=1) + "\n")
    missed = list(_list_missed(rows, options.models * settings))
    for line in missed:
        print(f"missed: {line}", file=sys.stderr)
    return 1 if missed else 0


def _write_print(folder: Path, models: dict[str, Any], settings: dict[str, Any]) -> Path:
    """Write a table as papers print them, with a row a cell; the numbers are made up."""
    parts = ("total", "biology", "chemistry", "mathematics", "physics")
    rows = [
        {"model": block["label"], "strategy": setting}
        | {f"{part}_acc": f"{(7 * n + 13 * k) % 10000 / 100:.2f}" for part in parts}
        for n, block in enumerate(models.values())
        for k, setting in enumerate(settings)
    ]
    path = folder / "printed.csv"
    pl.DataFrame(rows).write_csv(path)
    return path


def make_study(folder: Path, models: int, settings: int) -> None:
    """Write a params.yaml of stand-ins under settings that differ in prompt, pictures and length.

    Args:
        folder: An empty folder.
        models: How many models, in families of four sizes.
        settings: How many settings, at least one.
    """
    oracle = "synthetic:omibench"
    names = [f"model-{n:02}" for n in range(models)]
    blocks = {
        name: {"provider": "simulated", "oracle": oracle, "label": f"Model {n}",
               "group": f"Family {n // 4}", "parameters_b": 2.0 ** (n % 8), "seed": n}
        for n, name in enumerate(names)
    }  # fmt: skip
    modes = {
        f"setting-{n:02}": {
            "prompt": PROMPTS[n % len(PROMPTS)], "images": IMAGES[n // len(PROMPTS) % len(IMAGES)],
            "decoding": {"temperature": 0.0, "max_tokens": 1024 * 2 ** (n // 16)},
        }
        for n in range(settings)
    }  # fmt: skip
    values = {
        "study": {"name": "large", "results": "results", "store": "store"},
        "benchmark": {"name": "synthetic", "like": "omibench"},
        "freeze": {"name": "large", "version": "1.0.0"},
        "models": blocks,
        "settings": modes,
        "infer": {"models": names, "settings": list(modes)},
        "score": {"scorers": list(BOOKS)},
        "analyze": {
            "explorer": False,
            "published": str(_write_print(folder, blocks, modes)),
            "baselines": {
                "models": dict.fromkeys(names[1:4], names[0]),
                "settings": dict.fromkeys(list(modes)[1:], "setting-00"),
            },
        },
    }
    (folder / "params.yaml").write_text(yaml.safe_dump(values, sort_keys=False))


def make_results(folder: Path) -> None:
    """Freeze the problems and draw the responses and verdicts of every cell."""
    from omibench.stages.freeze import freeze_dataset

    study = parse_study_file(folder / "params.yaml")
    results = folder / "results"
    freeze_dataset(None, results / "freeze", study)
    oracle = load_oracle("synthetic:omibench").rows
    ids = list(oracle)
    difficulty = np.array([oracle[i].difficulty + 0.1 * oracle[i].n_images for i in ids])
    draw = np.random.default_rng(7)
    abilities = dict(
        zip(study.infer.models, draw.normal(0, 1, len(study.infer.models)), strict=True)
    )
    effects = dict(
        zip(study.infer.settings, draw.normal(0, 0.3, len(study.infer.settings)), strict=True)
    )
    filler = "".join(chr(97 + n) for n in draw.integers(0, 26, 4 * TEXT_CHARS))
    for cell in study.cells:
        chance = 1 / (1 + np.exp(difficulty - abilities[cell.model] - effects[cell.setting]))
        place = Path(cell.model) / f"{cell.setting}.parquet"
        responses, verdicts = _draw_cell(ids, chance, filler, draw, "/".join(cell))
        write_frame(results / "infer" / place, responses, ResponseRow)
        write_frame(results / "score" / place, verdicts, VerdictRow)


def _draw_cell(
    ids: list[str], chance: Any, filler: str, draw: np.random.Generator, name: str
) -> tuple[pl.DataFrame, pl.DataFrame]:
    n = len(ids)
    starts = draw.integers(0, 3 * TEXT_CHARS, n)
    keys = [f"{name}-{i}".encode().hex().ljust(64, "0")[:64] for i in range(n)]
    responses = _fill(
        ResponseRow,
        id=ids,
        index=[0] * n,
        key=keys,
        steps=[[]] * n,
        drawn=[[]] * n,
        outcome=["answered"] * n,
        text=[filler[s : s + TEXT_CHARS] for s in starts],
        finish_reason=["stop"] * n,
        input_tokens=draw.integers(200, 3000, n),
        output_tokens=draw.integers(50, 4000, n),
        cost_usd=[0.0] * n,
        latency_s=draw.random(n),
        simulated=[True] * n,
    )
    frames = []
    luck, unscored = draw.random(n), draw.random(n) < UNSCORED_SHARE
    for book in BOOKS:
        right = (luck < chance) & ~unscored & (draw.random(n) < 0.98)
        outcome = np.where(unscored, draw.choice(UNSCORED, n), "scored")
        frames.append(
            _fill(
                VerdictRow,
                id=ids,
                index=[0] * n,
                key=keys,
                rules=[book] * n,
                version=[2] * n,
                extracted=[None if lost else "B" for lost in unscored],
                method=["box"] * n,
                verdict=right.astype(float),
                credit=right.astype(float),
                ratio=np.where(right, 1.0, 0.3) if book == "omibench" else [None] * n,
                outcome=outcome,
                simulated=[True] * n,
            )
        )
    return responses, pl.concat(frames)


def _fill(row: type, **columns: Any) -> pl.DataFrame:
    """A frame with all columns of a row's schema, null where none is given."""
    schema = polars_schema(row)
    height = len(columns["id"])
    return pl.DataFrame(
        {
            name: pl.Series(name, columns.get(name, [None] * height), dtype=kind)
            for name, kind in schema.items()
        }
    )


def _measure_apart(folder: Path, cells: int, slowest: int) -> Iterator[Measured]:
    command = [sys.executable, __file__, "--measure", str(folder), "--slowest", str(slowest)]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True, cwd=folder)
    for line in done.stdout.decode().splitlines():
        yield Measured(cells, **json.loads(line))


def _measure(folder: Path, slowest: int) -> None:
    """Print a line of JSON for each step of `analyze`, from the start of this process."""
    from omibench.stages.analyze.stage import (
        REPORT,
        load_analysis,
        make_sections,
        write_pages,
        write_tables,
    )

    study = parse_study_file(folder / "params.yaml")
    out = folder / "results" / "analyze"
    with _step("load"):
        analysis = load_analysis(folder / "results", out / REPORT, study)
    with _step("tables and figure data"), _timed_results(slowest):
        sections = make_sections(analysis)
        headline = write_tables(out, analysis, sections)
    with _step("draw"):
        write_pages(out, analysis, sections, headline)


@contextmanager
def _step(name: str) -> Iterator[None]:
    cpu, wall = time.process_time(), time.monotonic()
    yield
    peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    numbers = {
        "cpu_s": time.process_time() - cpu,
        "wall_s": time.monotonic() - wall,
        "peak_mb": peak_mb,
    }
    print(json.dumps({"step": name, **numbers}), flush=True)


@contextmanager
def _timed_results(slowest: int) -> Iterator[None]:
    """Say on stderr which results took the most CPU, when it is asked for."""
    from omibench.stages.analyze.analysis import Analysis

    compute, spent = Analysis.table, {}

    def timed(analysis: Analysis, name: str) -> Any:
        start = time.process_time()
        table = compute(analysis, name)
        spent.setdefault(name, time.process_time() - start)
        return table

    Analysis.table = timed  # type: ignore[method-assign]
    try:
        yield
    finally:
        Analysis.table = compute  # type: ignore[method-assign]
    for name in sorted(spent, key=lambda name: -spent[name])[:slowest]:
        print(f"  {name}: {spent[name]:.2f} s", file=sys.stderr)


def _list_missed(rows: list[Measured], cells: int) -> Iterator[str]:
    totals = {
        count: sum(row.cpu_s for row in rows if row.cells == count and row.step != "draw")
        for count in dict.fromkeys(row.cells for row in rows)
    }
    if cells == LIMITS_HOLD_FOR:
        peak = max(row.peak_mb for row in rows if row.cells == cells and row.step != "draw")
        if totals[cells] > CPU_LIMIT_S:
            yield f"{totals[cells]:.1f} CPU s to all tables, of {CPU_LIMIT_S:g}"
        if peak > MEMORY_LIMIT_MB:
            yield f"{peak:.0f} MB, of {MEMORY_LIMIT_MB:g}"
    for smaller, larger in zip(totals, list(totals)[1:], strict=False):
        if totals[larger] > RATIO_LIMIT * totals[smaller]:
            ratio = totals[larger] / totals[smaller]
            yield f"{larger:,} cells take {ratio:.2f} times as long as {smaller:,}"


def _markdown(rows: list[Measured]) -> str:
    lines = ["| cells | step | CPU s | wall s | peak MB so far |", "|---:|---|---:|---:|---:|"]
    lines += [
        f"| {row.cells:,} | {row.step} | {row.cpu_s:.1f} | {row.wall_s:.1f} | {row.peak_mb:,.0f} |"
        for row in rows
    ]
    return "\n".join(lines)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", type=int, default=31)
    parser.add_argument("--settings", type=int, default=20)
    parser.add_argument("--ratio", action="store_true", help="half and double the settings as well")
    parser.add_argument("--slowest", type=int, default=0, help="name so many results on stderr")
    parser.add_argument("--json", help="write the numbers to this file")
    parser.add_argument("--folder", help="where to make the temporary folders")
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
