"""Measure the cost of opening a store of a million responses, and of rerunning a study.

Builds a synthetic store (31 models, cells of 1,322 requests, texts of 2 kB in the mean, one
segment a cell, as jobs of a study leave it), measures it, compacts it and measures it again. Each
figure is CPU seconds and peak memory of a separate process, imports left out of the seconds and
not of the memory. Then a study of 31 x 1,322 requests is answered by simulated models, and run
again.

    python benchmarks/store_scale.py              # full size: about 4 GB in a temporary folder
    python benchmarks/store_scale.py --small      # a fiftieth of it

The exit code is 1 when a limit is missed.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from omibench.schemas.problem import Choice, Figure, Question
from omibench.schemas.request import Request, Response, Tags, Usage
from omibench.store.compaction import compact_partition
from omibench.store.key import Keys, dump_request
from omibench.store.segments import SUFFIX, Body, SegmentWriter, encode_line, new_name
from omibench.store.store import Store, partition_folders, partition_name

MODELS = 31
CELL = 1322
WORDS = 20_000
LETTERS = "etaoinshrdlucmfwypvbgkjqxz"


class Limit(NamedTuple):
    """What a measure may cost at most at full size; None: no limit was set."""

    cpu_s: float | None = None
    memory_mb: float | None = None


class Measured(NamedTuple):
    """One figure of the table."""

    what: str
    cpu_s: float
    memory_mb: float
    note: str
    limit: Limit


def main() -> int:
    """Build, measure, print; 1 when a limit is missed."""
    options = _options()
    if options.measure:
        _measure(options.measure, Path(options.folder), options.responses)
        return 0
    responses = 20_000 if options.small else options.responses
    with tempfile.TemporaryDirectory(prefix="omibench-store-", dir=options.folder) as folder:
        table = list(_run(Path(folder), responses, Path(sys.argv[0]).resolve()))
    print(_markdown(table))
    missed = [row for row in table if not _holds(row)]
    for row in missed:
        print(f"missed: {row.what}", file=sys.stderr)
    return 1 if missed else 0


def _run(folder: Path, responses: int, script: Path) -> Iterator[Measured]:
    store, study = folder / "store", folder / "study"

    def measure(what: str, title: str, limit: Limit, where: Path = store) -> Measured:
        command = [sys.executable, str(script), "--measure", what, "--folder", str(where)]
        command += ["--responses", str(responses)]
        shown = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
        cpu, memory, note = json.loads(shown.stdout.splitlines()[-1])
        _say(f"{title}: {cpu:.3f} s, {memory:.0f} MB")
        return Measured(title, cpu, memory, note, limit)

    yield measure("build", f"write {responses:,} responses", Limit())
    one, whole = Limit(cpu_s=0.2), Limit(cpu_s=10.0, memory_mb=2000.0)
    for state in ("segments", "packs"):
        if state == "packs":
            yield measure("compact", "compact every partition", Limit())
        yield measure("cell", f"{state}: open a partition and read one cell", one)
        yield measure("one", f"{state}: open a partition and read one response", one)
        yield measure("whole", f"{state}: open every partition", whole)
        yield measure("inspect", f"{state}: count every response", Limit())
    build_study(study)
    yield measure("rerun", "answer 31 cells the first time (simulated)", Limit(), study)
    for state in ("segments", "packs"):
        if state == "packs":
            for partition in partition_folders(study / "store"):
                compact_partition(partition)
        yield measure("rerun", f"{state}: run 31 answered cells again", Limit(cpu_s=5.0), study)
        yield measure("ask", f"{state}: of that, keys made and answers read", Limit(), study)


def build_store(store: Path, responses: int) -> None:
    """Write the synthetic store: every model answers the same items, in cells."""
    rng = random.Random(1)  # noqa: S311
    pool = _pool(rng)
    items = [_item(rng, n) for n in range(responses // MODELS)]
    middle = MODELS // 2
    start = len(items) // CELL // 2 * CELL
    keys = Keys(_identity(middle))
    cell = [keys.key(request) for request, _, _ in items[start : start + CELL]]
    store.mkdir(parents=True)
    (store.parent / "cell.json").write_text(json.dumps(cell))
    for model in range(MODELS):
        identity = _identity(model)
        keys = Keys(identity)
        folder = store / partition_name(identity)
        folder.mkdir(parents=True)
        (folder / "model.json").write_text(json.dumps(identity))
        for start in range(0, len(items), CELL):
            writer = SegmentWriter(folder / new_name(SUFFIX))
            for request, tags, asked in items[start : start + CELL]:
                body = Body(1, tags, _answer(rng, pool), asked)
                writer.write(encode_line(keys.key(request), body))
            writer.close()


def build_study(folder: Path) -> None:
    """A frozen dataset of one cell, its known answers, and params of 31 simulated models."""
    from omibench.schemas.tables import write_jsonl

    rng = random.Random(2)  # noqa: S311
    images = folder / "freeze" / "images"
    images.mkdir(parents=True)
    questions, oracle = [], []
    for n in range(CELL):
        figures = []
        for i in range(3):
            content = rng.randbytes(2000)
            (images / f"{n}-{i}.png").write_bytes(content)
            sha256 = hashlib.sha256(content).hexdigest()
            figures.append(Figure(file=f"images/{n}-{i}.png", sha256=sha256))
        choices = [Choice(label=x, text=_words(rng, 8)) for x in "ABCD"]
        text = f"{_words(rng, 60)} [IMAGE0] [IMAGE1] [IMAGE2] {_words(rng, 30)}?"
        questions.append(Question(id=f"p{n}", question=text, images=figures, choices=choices))
        row = {"id": f"p{n}", "answer": ["B"], "answer_type": "mcq", "choices": list("ABCD")}
        oracle.append(json.dumps(row) + "\n")
    write_jsonl(folder / "freeze" / "questions.jsonl", questions)
    (folder / "oracle.jsonl").write_text("".join(oracle))
    model = {"provider": "simulated", "oracle": str(folder / "oracle.jsonl")}
    names = [f"sim{n:02d}" for n in range(MODELS)]
    params = {
        "study": {"name": "scale", "store": str(folder / "store")},
        "models": {name: {**model, "seed": n} for n, name in enumerate(names)},
        "settings": {"cot": {}},
        "infer": {"models": names, "settings": ["cot"]},
    }
    (folder / "params.json").write_text(json.dumps(params))


def _measure(what: str, folder: Path, responses: int) -> None:
    """Do one thing in this process and print [CPU seconds, peak MB, note] as JSON."""
    if what == "build":
        work: Callable[[], str] = lambda: _build(folder, responses)  # noqa: E731
    else:
        work = {
            "cell": _read_cell, "one": _read_one, "whole": _open_whole,
            "inspect": _inspect, "compact": _compact, "rerun": _rerun, "ask": _ask,
        }[what](folder)  # fmt: skip
    began = time.process_time()
    note = work()
    cpu = time.process_time() - began
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps([cpu, memory, note]))


def _build(store: Path, responses: int) -> str:
    build_store(store, responses)
    return f"{sum(path.stat().st_size for path in store.glob('*/*.jsonl')) / 1e9:.2f} GB"


def _read_cell(store: Path) -> Callable[[], str]:
    import pyarrow.parquet

    keys = _cell_keys(store)

    def work() -> str:
        with Store(store) as opened:
            partition = opened.open_partition(_identity(MODELS // 2))
            found = [partition.get(key) for key in keys]
        assert all(found)
        return f"{len(found):,} of {len(partition):,} responses (pyarrow {pyarrow.__version__})"

    return work


def _read_one(store: Path) -> Callable[[], str]:
    import pyarrow.parquet  # noqa: F401

    key = _cell_keys(store)[7]

    def work() -> str:
        with Store(store) as opened:
            assert opened.open_partition(_identity(MODELS // 2)).get(key) is not None
        return ""

    return work


def _open_whole(store: Path) -> Callable[[], str]:
    import pyarrow.parquet  # noqa: F401

    def work() -> str:
        with Store(store) as opened:
            sizes = [len(opened.open_partition(_identity(n))) for n in range(MODELS)]
        return f"{sum(sizes):,} responses"

    return work


def _inspect(store: Path) -> Callable[[], str]:
    import pyarrow.parquet  # noqa: F401

    from omibench.store.contents import summarise

    def work() -> str:
        found = [summarise(folder) for folder in partition_folders(store)]
        return f"{sum(s.bytes for s in found) / 1e9:.2f} GB"

    return work


def _rerun(folder: Path) -> Callable[[], str]:
    import polars
    import pyarrow.parquet  # noqa: F401

    from omibench.models.simulated.provider import SimulatedProvider
    from omibench.params.study import parse_study_file
    from omibench.stages.infer.stage import infer_cell

    study = parse_study_file(str(folder / "params.json"))
    sent = 0
    respond = SimulatedProvider.respond

    def counting(self: Any, request: Request) -> Response:
        nonlocal sent
        sent += 1
        return respond(self, request)

    SimulatedProvider.respond = counting  # type: ignore[method-assign]

    def work() -> str:
        rows = 0
        for cell in study.cells:
            out = folder / "infer" / f"{cell.model}.parquet"
            rows += infer_cell(folder / "freeze" / "questions.jsonl", out, study, cell)
        return f"{rows:,} rows, {sent:,} sent (polars {polars.__version__})"

    return work


def _ask(folder: Path) -> Callable[[], str]:
    import pyarrow.parquet  # noqa: F401

    from omibench.models.client.ask import open_asker
    from omibench.params.study import parse_study_file
    from omibench.settings.tasks import list_requests

    study = parse_study_file(str(folder / "params.json"))
    questions = folder / "freeze" / "questions.jsonl"
    asked = [(cell.model, list_requests(questions, study, cell)) for cell in study.cells]

    def work() -> str:
        found = 0
        for model, requests in asked:
            with open_asker(study, model) as asker:
                found += len(asker(requests))
        return f"{found:,} responses"

    return work


def _compact(store: Path) -> Callable[[], str]:
    import pyarrow.parquet  # noqa: F401

    def work() -> str:
        done = [compact_partition(folder) for folder in partition_folders(store)]
        before, after = (sum(d.bytes_before for d in done), sum(d.bytes_after for d in done))
        return f"{before / 1e9:.2f} GB to {after / 1e9:.2f} GB"

    return work


def _identity(model: int) -> dict[str, Any]:
    return {"provider": "openai", "id": f"model-{model:02d}", "revision": "2026-01-01"}


def _cell_keys(store: Path) -> list[str]:
    """The keys of one cell in the middle of the middle partition, in the order of its problems."""
    keys: list[str] = json.loads((store.parent / "cell.json").read_text())
    return keys


def _item(rng: random.Random, number: int) -> tuple[Request, bytes, bytes]:
    """A request, with its tags and what is asked as a line of the store has them."""
    from omibench.schemas.request import Conversation, ImagePart, Message, Part, TextPart

    problem, setting = number % CELL, f"setting-{number // CELL:02d}"
    images = [f"{problem * 8 + i:064x}" for i in range(2 + problem % 3)]
    parts: list[Part] = [TextPart(text=f"{setting}: {_words(rng, 60)}")]
    parts += [ImagePart(sha256=sha256) for sha256 in images]
    parts.append(TextPart(text=_words(rng, 40)))
    tags = Tags(role="respondent", problem=f"p{problem}", study="scale", setting=setting)
    conversation = Conversation(messages=(Message(role="user", parts=tuple(parts)),))
    request = Request(conversation=conversation, tags=tags)
    return request, _json(tags.model_dump()), _json(dump_request(request))


def _answer(rng: random.Random, pool: str) -> bytes:
    length = min(20_000, int(rng.lognormvariate(7.48, 0.5)))  # a mean of 2,000 characters
    start = rng.randrange(len(pool) - length)
    response = Response(
        text=pool[start : start + length],
        finish_reason="stop",
        usage=Usage(input_tokens=2400, output_tokens=length // 4),
        cost_usd=0.0123,
        latency_s=12.5,
        provider_id=f"resp-{rng.getrandbits(64):016x}",
    )
    return _json(response.model_dump(exclude_defaults=True))


def _pool(rng: random.Random) -> str:
    """Four million characters of made-up words, frequent ones first, from which answers are cut."""
    vocabulary = ["".join(rng.choices(LETTERS, k=rng.randint(2, 10))) for _ in range(WORDS)]
    weights = [1 / (rank + 10) for rank in range(WORDS)]
    return " ".join(rng.choices(vocabulary, weights, k=600_000))


def _words(rng: random.Random, count: int) -> str:
    letters = "".join(rng.choices(LETTERS + "    ", k=6 * count))
    return " ".join(letters.split())


def _json(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode("ascii")


def _holds(row: Measured) -> bool:
    cpu, memory = row.limit
    return (cpu is None or row.cpu_s <= cpu) and (memory is None or row.memory_mb <= memory)


def _markdown(table: list[Measured]) -> str:
    lines = [
        "| what | CPU s | limit | share | peak MB | limit | |",
        "|---|---:|---:|---:|---:|---:|---|",
    ]
    for row in table:
        cpu, memory = row.limit
        share = f"{row.cpu_s / cpu:.2f}" if cpu else ""
        lines.append(
            f"| {row.what} | {row.cpu_s:.3g} | {cpu or ''} | {share} | {row.memory_mb:.0f} | "
            f"{memory or ''} | {row.note} |"
        )
    return "\n".join(lines)


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--responses", type=int, default=1_000_000)
    parser.add_argument("--small", action="store_true", help="20,000 responses; limits still hold")
    parser.add_argument("--folder", help="where to make the temporary folder")
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
