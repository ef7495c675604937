"""Run one client of `api_client.py`: send every question and report the cost.

`python api_contestants.py CLIENT TASK.json` asks one question to have everything imported, prints
`ready`, waits for a line, asks the others and prints its figures as JSON. The task names `url`,
`questions` and `warm_up` (JSONL), `concurrency`, and `work`, a folder to write into.
"""

from __future__ import annotations

import asyncio
import base64
import json
import re
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

MODEL, KEY, MAX_TOKENS = "stub-model", "sk-test", 4096
Task = dict[str, Any]
Answers = dict[str, str]
Collect = Callable[[], Answers]
"""Gives the answer texts by question, once the clock has stopped."""
Client = Callable[[Task, str, Path], Collect]
"""Asks the questions of a file; its files go to the folder."""


def bare_aiohttp(task: Task, questions: str, work: Path) -> Collect:
    """AsyncOpenAI over aiohttp, as its documentation advises for concurrency."""
    import openai

    return _bare(task, questions, openai.DefaultAioHttpClient())


def bare_default(task: Task, questions: str, work: Path) -> Collect:
    """AsyncOpenAI as it comes."""
    return _bare(task, questions, None)


def _bare(task: Task, questions: str, http_client: Any) -> Collect:
    import openai

    answers: Answers = {}

    async def one(client: openai.AsyncOpenAI, free: asyncio.Semaphore, row: Task) -> None:
        async with free:
            parts: list[Any] = []
            for kind, value in parts_of(row, Path(questions).parent):
                if kind == "text":
                    parts.append({"type": "text", "text": value})
                else:
                    data = base64.b64encode(Path(value).read_bytes()).decode()
                    image = {"url": f"data:image/png;base64,{data}"}
                    parts.append({"type": "image_url", "image_url": image})
            reply = await client.chat.completions.create(
                model=MODEL, messages=[{"role": "user", "content": parts}],
                temperature=0, max_completion_tokens=MAX_TOKENS,
            )  # fmt: skip
            answers[row["id"]] = reply.choices[0].message.content or ""

    async def every() -> None:
        free = asyncio.Semaphore(task["concurrency"])
        async with openai.AsyncOpenAI(
            api_key=KEY, base_url=task["url"], http_client=http_client
        ) as client:
            await asyncio.gather(*(one(client, free, row) for row in rows_of(questions)))

    asyncio.run(every())
    return lambda: answers


def omibench(task: Task, questions: str, work: Path) -> Collect:
    """`omibench infer`: a cell from the frozen questions to its Parquet file."""
    import os

    import polars as pl

    from omibench.params.setting import Cell
    from omibench.params.study import parse_study
    from omibench.stages.infer import infer_cell

    os.environ["BENCHMARK_KEY"] = KEY
    model = {
        "provider": "openai", "id": MODEL, "base_url": task["url"], "key_env": "BENCHMARK_KEY",
        "limits": {"concurrency": task["concurrency"]},
    }  # fmt: skip
    values = {
        "study": {"name": "benchmark", "store": str(work / "store")},
        "models": {"m": model},
        "settings": {"direct": {"prompt": "direct", "decoding": {"max_tokens": MAX_TOKENS}}},
        "infer": {"models": ["m"], "settings": ["direct"]},
    }
    out = work / "direct.parquet"
    infer_cell(Path(questions), out, parse_study(values, "benchmark"), Cell("m", "direct"))

    def collect() -> Answers:
        rows = pl.read_parquet(out, columns=["id", "outcome", "text"])
        return {row[0]: row[2] for row in rows.iter_rows() if row[1] == "answered"}

    return collect


LEAN = {"display": "none", "log_realtime": False}


def inspect_lean(task: Task, questions: str, work: Path) -> Collect:
    """inspect-ai without display and live log, which its maintainers advise for throughput."""
    return _inspect(task, questions, work, LEAN)


def inspect_default(task: Task, questions: str, work: Path) -> Collect:
    """inspect-ai as it comes, apart from the number of connections."""
    return _inspect(task, questions, work, {})


def _inspect(task: Task, questions: str, work: Path, flags: dict[str, Any]) -> Collect:
    import inspect_ai
    from inspect_ai.dataset import Sample
    from inspect_ai.log import read_eval_log
    from inspect_ai.model import ChatMessageUser, ContentImage, ContentText, get_model
    from inspect_ai.solver import generate

    samples = []
    for row in rows_of(questions):
        content = [
            ContentText(text=value) if kind == "text" else ContentImage(image=value)
            for kind, value in parts_of(row, Path(questions).parent)
        ]
        samples.append(Sample(id=row["id"], input=[ChatMessageUser(content=content)]))
    model = get_model(f"openai-api/stub/{MODEL}", base_url=task["url"], api_key=KEY)
    (log,) = inspect_ai.eval(
        inspect_ai.Task(dataset=samples, solver=generate()), model=model,
        log_dir=str(work / "logs"), temperature=0, max_tokens=MAX_TOKENS,
        max_connections=task["concurrency"], **flags,
    )  # fmt: skip

    def collect() -> Answers:
        found = log.samples or read_eval_log(log.location).samples or []
        return {str(sample.id): sample.output.completion for sample in found}

    return collect


CLIENTS: dict[str, Client] = {
    "bare-aiohttp": bare_aiohttp,
    "bare-default": bare_default,
    "omibench": omibench,
    "inspect-lean": inspect_lean,
    "inspect-default": inspect_default,
}


def rows_of(questions: str) -> list[Task]:
    """The questions of a JSONL file."""
    return [json.loads(line) for line in Path(questions).read_text("utf-8").splitlines()]


def parts_of(row: Task, folder: Path) -> list[tuple[str, str]]:
    """A question as the texts and the picture files that it shows, in order."""
    pieces = re.split(r"\[IMAGE(\d+)\]", row["question"])
    files = [str(folder / figure["file"]) for figure in row["images"]]
    parts = [
        ("image", files[int(piece)]) if place % 2 else ("text", piece)
        for place, piece in enumerate(pieces)
    ]
    return [(kind, value) for kind, value in parts if value.strip()]


def main() -> None:
    """Warm up, wait, measure."""
    name, task = sys.argv[1], json.loads(Path(sys.argv[2]).read_text("utf-8"))
    client, work = CLIENTS[name], Path(task["work"])
    out, sys.stdout = sys.stdout, sys.stderr  # displays of the clients
    client(task, task["warm_up"], work / "warm-up")()
    print("ready", file=out, flush=True)
    sys.stdin.readline()
    cpu, written, began = _cpu_s(), _written(), time.monotonic()
    collect = client(task, task["questions"], work / "run")
    wall_s, cpu_s = time.monotonic() - began, _cpu_s() - cpu
    figures = {"wall_s": wall_s, "cpu_s": cpu_s, "written": _written() - written}
    print(json.dumps({**figures, "memory": _peak_memory(), "answers": collect()}), file=out)


def _cpu_s() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(u.ru_utime + u.ru_stime for u in used)


def _peak_memory() -> int:
    """Bytes of this program alone: `ru_maxrss` would count what its parent once held."""
    found = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text("ascii"))
    return int(found.group(1)) * 1024 if found else 0


def _written() -> int:
    """Bytes handed to write calls: files, also those removed since; not what sockets send."""
    found = re.search(r"wchar: (\d+)", Path("/proc/self/io").read_text("ascii"))
    return int(found.group(1)) if found else 0


if __name__ == "__main__":
    main()
