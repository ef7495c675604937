"""Measure what grows with the number of items of a study with many samples, and extrapolate it.

Makes a study of ten simulated models, one setting with 16 samples, and items with a picture. One
model answers through the commands of a study, which are measured. The cells of the other models are
made from its cell, each with the answers of other items, so that report and explorer have ten
models. All answers are simulated. CPU seconds are user and system time of a command with everything
that it started; the peak is that of its largest process, and at least that of this script.

    python benchmarks/growth.py                                  # 1,000, 2,000 and 4,000 items
    python benchmarks/growth.py --items 100 200 --samples 4      # a quick trial

The last column continues the line through the last two sizes, for what grows with them.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl
import yaml
from explore_at_size import Server
from graph_scale import ROOT, run_command
from PIL import Image
from pydantic import BaseModel

from omibench.schemas.problem import Answer, Figure, Question
from omibench.schemas.tables import (
    AggregateRow,
    FrozenManifest,
    ResponseRow,
    VerdictRow,
    content_hash,
    read_parquet,
    write_frame,
    write_json,
    write_jsonl,
)

SUBJECTS = ("biology", "chemistry", "mathematics", "physics")
PICTURES, SETTING, TARGET = 100, "sampled", 1_000_000
GROWING = 1.2
"""The least ratio between the values of the last two sizes that is extrapolated."""
STAGES: dict[str, type[BaseModel]] = {
    "infer": ResponseRow,
    "score": VerdictRow,
    "aggregate": AggregateRow,
}
Table = dict[str, dict[int, float]]
"""What -> number of items -> value."""


class Size(NamedTuple):
    """A study: items, models, samples of an item by each model."""

    items: int
    models: int
    samples: int


def main() -> None:
    """Measure each size and print the table."""
    options = _options()
    if options.scan:
        _scan(Path(options.scan), options.copies)
        return
    table: Table = {}
    for items in options.items:
        size = Size(items, options.models, options.samples)
        with tempfile.TemporaryDirectory(prefix="omibench-growth-", dir=options.folder) as name:
            for what, value in _measure(Path(name), size, options.copies):
                table.setdefault(what, {})[items] = value
                print(f"{items:,} items: {what}: {value:,.4g}", file=sys.stderr, flush=True)
    load = ", ".join(f"{x:.1f}" for x in os.getloadavg())
    print(f"{options.models} models, {options.samples} samples; load average {load}\n")
    print(_markdown(table, options.items))


def _measure(folder: Path, size: Size, copies: int) -> Iterator[tuple[str, float]]:
    make_study(folder, size)
    results, first = folder / "results", f"m0/{SETTING}.parquet"
    questions, answers = (f"results/freeze/{name}.jsonl" for name in ("questions", "answers"))
    cell = ("--model", "m0", "--setting", SETTING)
    infer = ("omibench", "infer", questions, *cell, "--out", f"results/infer/{first}")
    steps: dict[str, tuple[str, ...]] = {
        "plan (`snakemake -n`)": ("snakemake", "-n", "-s", str(ROOT / "Snakefile")),
        "freeze": ("omibench", "freeze", "--out", "results/freeze"),
        "infer, one model": infer,
        "infer again, from the store": infer,
        "score, one model": (
            "omibench", "score", f"results/infer/{first}", "--answers", answers,
            "--questions", questions, "--params", "params.yaml", "--out", f"results/score/{first}",
        ),
        "aggregate, one model": (
            "omibench", "aggregate", *cell, "--out", f"results/aggregate/{first}"
        ),
        "report": ("omibench", "analyze", "--out", "results/analyze"),
        "report with pages of items": (
            "omibench", "analyze", "--out", "results/analyze", "--params", "pages.yaml"
        ),
    }  # fmt: skip
    for what, command in steps.items():
        if what == "report":
            _copy_cells(results, size)
        yield from _describe(what, run_command(folder, *command))
    yield from _explore(results)
    scan = (sys.executable, __file__, "--scan", str(results), "--copies", str(copies))
    yield from _describe(
        f"accuracies of {copies} times as many, streamed", run_command(folder, *scan)
    )
    for name in ("freeze", "infer/m0", "score/m0", "aggregate/m0", "analyze", "../store"):
        files = [path for path in (results / name).rglob("*") if path.is_file()]
        yield f"{name.removeprefix('../')}: MB", sum(path.stat().st_size for path in files) / 1e6
        yield f"{name.removeprefix('../')}: files", len(files)


def _describe(what: str, cost: Any) -> Iterator[tuple[str, float]]:
    yield f"{what}: CPU s", cost.cpu_s
    yield f"{what}: peak MB", cost.memory_mb


def make_study(folder: Path, size: Size) -> None:
    """Put a study of simulated models and its dataset into an empty folder."""
    (folder / "src").symlink_to(ROOT / "src")
    images = folder / "data" / "images"
    images.mkdir(parents=True)
    figures = []
    for n in range(PICTURES):
        path = images / f"{n}.png"
        Image.new("RGB", (64, 64), (2 * n, 90, 120)).save(path)
        sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
        figures.append(Figure(file=f"images/{n}.png", sha256=sha256))
    questions, answers, oracle = [], [], []
    for n in range(size.items):
        name, subject, text = f"item-{n:07}", SUBJECTS[n % 4], f"How fast is train {n}? [IMAGE0]"
        gold = [f"{n % 997 + 1} m/s"]
        pictures = [figures[n % PICTURES]]
        questions.append(Question(id=name, subject=subject, question=text, images=pictures))
        answers.append(
            Answer(id=name, answer_type="open", answer=gold, subject=subject, n_images=1)
        )
        row = {"id": name, "answer": gold, "n_images": 1, "subject": subject}
        oracle.append(json.dumps({**row, "difficulty": (n % 41 - 20) / 10}))
    write_jsonl(folder / "data" / "questions.jsonl", questions)
    write_jsonl(folder / "data" / "answers.jsonl", answers)
    manifest = FrozenManifest(
        name="growing", version="1.0.0", problems=size.items, images=PICTURES,
        subjects={name: sum(a.subject == name for a in answers) for name in SUBJECTS},
        questions_sha256=content_hash(questions), answers_sha256=content_hash(answers),
    )  # fmt: skip
    write_json(folder / "data" / "manifest.json", manifest)
    (folder / "oracle.jsonl").write_text("\n".join(oracle) + "\n", "utf-8")
    names = [f"m{n}" for n in range(size.models)]
    models = {
        name: {"provider": "simulated", "oracle": "oracle.jsonl", "seed": n}
        for n, name in enumerate(names)
    }
    setting = {
        "prompt": "cot", "decoding": {"temperature": 0.7, "samples": size.samples},
        "aggregate": {"how": "majority"},
    }  # fmt: skip
    params = {
        "study": {"name": "growing", "results": "results", "store": "store"},
        "benchmark": {"name": "frozen"}, "data": "data", "models": models,
        "settings": {SETTING: setting}, "infer": {"models": names, "settings": [SETTING]},
        "score": {"scorers": ["robust"]}, "analyze": {"explorer": False},
    }  # fmt: skip
    pages = params | {"analyze": {"explorer": True}}
    for name, values in (("params.yaml", params), ("pages.yaml", pages)):
        (folder / name).write_text(yaml.safe_dump(values, sort_keys=False), "utf-8")


def _copy_cells(results: Path, size: Size) -> None:
    """Make the cells of the other models: the answers of each item are those of another one."""
    items = [f"item-{n:07}" for n in range(size.items)]
    for stage, row in STAGES.items():
        frame = read_parquet(results / stage / "m0" / f"{SETTING}.parquet", row)
        for n in range(1, size.models):
            by = n * size.items // size.models
            moved = dict(zip(items, items[by:] + items[:by], strict=True))
            path = results / stage / f"m{n}" / f"{SETTING}.parquet"
            write_frame(path, frame.with_columns(pl.col("id").replace(moved)), row)


def _explore(results: Path) -> Iterator[tuple[str, float]]:
    server = Server(results)
    try:
        yield "explore, start: CPU s", server.start.cpu_s
        yield "explore, start: wall s", server.start.wall_s
        for what, path in {
            "a page of items": "/api/items",
            "one item": "/api/items/item-0000000",
            "search in responses": "/api/items?in=response&search=qxz",
        }.items():
            wall = time.monotonic()
            server.get(path)
            yield f"explore, {what}: wall s", time.monotonic() - wall
        yield "explore: peak MB", server.read_peak_mb()
    finally:
        server.process.terminate()
        server.process.wait()


def _scan(results: Path, copies: int) -> None:
    """Print the accuracy of all verdicts, each file read several times, by polars' streaming."""
    files = sorted((results / "score").glob("*/*.parquet")) * copies
    scan = pl.scan_parquet(files).group_by("id").agg(pl.len(), pl.mean("verdict"))
    print(scan.select(pl.sum("len"), pl.mean("verdict")).collect(engine="streaming"))


def _markdown(table: Table, sizes: Sequence[int]) -> str:
    head = [*(f"{items:,} items" for items in sizes), f"{TARGET:,} items, extrapolated"]
    lines = [f"| what | {' | '.join(head)} |", "|---|" + "---:|" * len(head)]
    for what, values in table.items():
        cells = [f"{values[items]:,.4g}" for items in sizes]
        if len(sizes) > 1:
            (x, y), (after, later) = ((items, values[items]) for items in sizes[-2:])
            slope = (later - y) / (after - x)
            is_growing = later > GROWING * y
            cells.append(f"{later + slope * (TARGET - after):,.3g}" if is_growing else "")
        lines.append(f"| {what} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--items", type=int, nargs="+", default=[1000, 2000, 4000])
    parser.add_argument("--models", type=int, default=10)
    parser.add_argument("--samples", type=int, default=16)
    parser.add_argument("--copies", type=int, default=25, help="how often verdicts are streamed")
    parser.add_argument("--folder", help="where to make the temporary folders")
    parser.add_argument("--scan", help=argparse.SUPPRESS)
    return parser.parse_args()


if __name__ == "__main__":
    main()
