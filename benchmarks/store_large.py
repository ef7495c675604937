"""Measure the cost of opening and counting one model's partition of ten million responses.

Makes a partition by the store's own writer (short answers, segments of 1,322 responses as the
cells of a study leave them), and measures CPU and wall seconds and the peak memory of a process of
its own for each step, imports left out of the seconds and not of the memory.

    python benchmarks/store_large.py                       # about 6 GB in a temporary folder
    python benchmarks/store_large.py --responses 200000    # a quick trial

The exit code is 1 when a limit is missed.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from omibench.schemas.request import Usage
from omibench.store.contents import count_responses, summarise
from omibench.store.partition.compact import compact_partition
from omibench.store.partition.line import Body, encode_line
from omibench.store.partition.partition import Partition
from omibench.store.partition.segment import SegmentWriter
from omibench.store.partition.table import TABLE
from omibench.store.store import Store, partition_name

CELL = 1322
IDENTITY = {"provider": "openai", "id": "large", "revision": "2026-01-01"}
LIMITS = {"open": (2.0, 200.0), "shard": (2.0, 200.0), "inspect": (10.0, 200.0)}
"""Wall seconds and MB at most, at ten million responses."""
USAGE = {"input_tokens": 2400, "output_tokens": 500}


def key_of(number: int) -> str:
    """The key of a made-up request: spread evenly, as hashes are."""
    mixed = (number * 0x9E3779B97F4A7C15 + 0x1234567) % 2**64
    return f"{mixed:016x}{number:048x}"


def body_of(number: int) -> Body:
    """A made-up response to it."""
    tags = b'{"role":"respondent","problem":"p%d","setting":"cot"}' % number
    response = (
        b'{"text":"It is \\\\boxed{%d}.","usage":{"input_tokens":2400,"output_tokens":500},'
        b'"cost_usd":0.0123}' % number
    )
    asked = b'{"messages":[],"decoding":{"max_tokens":4096},"index":0}'
    return Body(1, tags, response, asked)


def build(store: Path, responses: int) -> str:
    """Write the partition."""
    folder = store / partition_name(IDENTITY)
    folder.mkdir(parents=True)
    (folder / "model.json").write_text(json.dumps(IDENTITY))
    shown = {"usage": Usage(**USAGE).__dict__, "cost_usd": 0.0123}
    for start in range(0, responses, CELL):
        writer = SegmentWriter(folder)
        for number in range(start, min(start + CELL, responses)):
            writer.write(encode_line(key_of(number), body_of(number)), shown)
        writer.close()
    size = sum(path.stat().st_size for path in folder.iterdir())
    return f"{size / 1e9:.2f} GB, {len(list(folder.glob('*.jsonl'))):,} segments"


def open_once(store: Path, responses: int) -> str:
    """Open the partition and read one cell in its middle."""
    with Store(store) as opened:
        partition = opened.open_partition(IDENTITY)
        assert len(partition) == responses
        return read_cell(partition, responses)


def read_cell(partition: Partition, responses: int) -> str:
    """Read the answers of one cell."""
    first = responses // 2 // CELL * CELL
    numbers = range(first, min(first + CELL, responses))
    found = [partition.get(key_of(number)) for number in numbers]
    assert all(response is not None for response in found)
    assert "ab" * 32 not in partition
    return f"{len(found):,} of {len(partition):,} responses"


def open_shards(store: Path, responses: int) -> str:
    """Open it once a shard, as the 20 shards of a flow do in one process."""
    for _ in range(20):
        with Store(store) as opened:
            partition = opened.open_partition(IDENTITY)
            assert key_of(responses // 3) in partition
    return "20 times"


def inspect(store: Path, responses: int) -> str:
    """Count it as `omibench store inspect` and `status` do."""
    folder = store / partition_name(IDENTITY)
    found = summarise(folder)
    assert found.counts.responses == count_responses(folder) == responses
    assert found.counts.tokens["output_tokens"] == 500 * responses
    return f"{found.counts.cost_usd:,.0f} dollars"


def compact(store: Path, _: int) -> str:
    """Pack it."""
    done = compact_partition(store / partition_name(IDENTITY))
    return f"{done.bytes_before / 1e9:.2f} GB to {done.bytes_after / 1e9:.2f} GB"


STEPS: dict[str, tuple[str, Callable[[Path, int], str]]] = {
    "build": ("write it", build),
    "first": ("open it the first time: its keys are sorted", open_once),
    "open": ("open it and read one cell", open_once),
    "shard": ("open it once a shard of a flow", open_shards),
    "inspect": ("count every response", inspect),
    "compact": ("compact it", compact),
}


def main() -> int:
    """Make, measure, print; 1 when a limit is missed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--responses", type=int, default=10_000_000)
    parser.add_argument("--folder", help="where to make the temporary folder")
    parser.add_argument("--packed", action="store_true", help="also compact it, and open it again")
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        return measure(options.measure, Path(options.folder), options.responses)
    print("| what | wall s | CPU s | peak MB | |\n|---|---:|---:|---:|---|", flush=True)
    missed = 0
    again = ["compact", "first", "open", "shard", "inspect"] if options.packed else []
    with tempfile.TemporaryDirectory(prefix="omibench-large-", dir=options.folder) as folder:
        for step in ["build", "first", "open", "shard", "inspect", *again]:
            missed += not _step(step, folder, options.responses)
    return 1 if missed else 0


def _step(step: str, folder: str, responses: int) -> bool:
    command = [sys.executable, str(Path(sys.argv[0]).resolve()), "--measure", step]
    command += ["--folder", folder, "--responses", str(responses)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    wall, cpu, memory, note = json.loads(done.stdout.splitlines()[-1])
    most = LIMITS.get(step, (float("inf"), float("inf")))
    times = 20 if step == "shard" else 1
    holds = wall / times <= most[0] and memory <= most[1]
    print(
        f"| {STEPS[step][0]} | {wall:.2f} | {cpu:.2f} | {memory:.0f} | {note}"
        f"{'' if holds else ', MISSED'} |",
        flush=True,
    )
    return holds


def measure(step: str, folder: Path, responses: int) -> int:
    """Do one step in this process and print what it took as JSON."""
    began, cpu = time.perf_counter(), time.process_time()
    note = STEPS[step][1](folder / "store", responses)
    took, used = time.perf_counter() - began, time.process_time() - cpu
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    table = folder / "store" / partition_name(IDENTITY) / TABLE
    note += f"; its table {table.stat().st_size / 1e6:.0f} MB" if table.exists() else ""
    print(json.dumps([took, used, memory, note]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
