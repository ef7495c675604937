"""Measure the server's cost of a page of the review application, by number of tasks.

Makes a review of item tasks, half of them annotated and a quarter audited, and serves it in a
separate process, whose CPU seconds (user and system, all threads) are read before and after the
requests: nothing of the client counts.

    python benchmarks/review_page.py              # 5,000 tasks
    python benchmarks/review_page.py --ratio      # half and double of them as well
    python benchmarks/review_page.py --tasks 500 --requests 50

The exit code is 1 when a limit (30 ms of CPU for a page with 5,000 tasks) is missed, or twice the
tasks cost more than 2.2 times as much.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

import httpx
import psutil
from starlette.responses import Response

from omibench.review.app.context import Sessions
from omibench.review.app.database import LIVE, Database, set_password
from omibench.review.app.demo import invent_content
from omibench.review.contents import hash_content
from omibench.review.folder import format_event
from omibench.review.kinds import KINDS
from omibench.schemas.review import ReviewDecision, ReviewTask

LIMIT_MS, RATIO_LIMIT, LIMIT_HOLDS_FOR = 30.0, 2.2, 5000
SECRET = b"a secret of this benchmark, long enough"
START = datetime(2026, 1, 5, 9, tzinfo=UTC)
FIELDS = {"valid": "valid", "quality": 4}
PEOPLE = {"ann": "annotator", "bob": "auditor", "eve": "senior"}
SERVER = """
import sys
from pathlib import Path
from omibench.review.app.application import run_server
from omibench.review.app.service import ReviewService
from omibench.review.app.context import ServerSettings
settings = ServerSettings(secret=sys.argv[2].encode(), port=int(sys.argv[3]))
run_server(ReviewService(Path(sys.argv[1])), settings, lambda address: print(address, flush=True))
"""


class Cost(NamedTuple):
    """CPU milliseconds of one request, by what was asked for."""

    tasks: int
    request: str
    cpu_ms: float


def main() -> int:
    """Measure all sizes, print the table; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tasks", type=int, default=LIMIT_HOLDS_FOR)
    parser.add_argument("--requests", type=int, default=200)
    parser.add_argument("--ratio", action="store_true")
    options = parser.parse_args()
    sizes = [options.tasks]
    if options.ratio:
        sizes = [options.tasks // 2, options.tasks, 2 * options.tasks]
    costs = [cost for size in sizes for cost in measure_size(size, options.requests)]
    print(f"load average {', '.join(f'{x:.1f}' for x in os.getloadavg())}\n")
    print(format_table(costs, sizes))
    missed = list(list_missed(costs, sizes))
    for line in missed:
        print(f"missed: {line}", file=sys.stderr)
    return 1 if missed else 0


def measure_size(size: int, requests: int) -> list[Cost]:
    """What each kind of request costs with so many tasks."""
    with tempfile.TemporaryDirectory(prefix="omibench-review-") as name:
        folder = Path(name)
        write_review(folder, size)
        with running_server(folder) as (process, client):
            page = client.get(f"/tasks/item%3Ap{size // 2}").text
            document = json.loads(re.findall(r'id="task">(.*?)</script>', page)[0])
            tasks = iter(range(3 * size // 4, size))

            def decide(_: int) -> httpx.Response:
                task = f"p{next(tasks)}"
                body = {"fields": FIELDS, "content_hash": HASH, "base": None}
                return client.post(f"/tasks/item%3A{task}/decision", json=body)

            def save(_: int) -> httpx.Response:
                body = {"fields": FIELDS, "content_hash": HASH, "base": None}
                return client.put(f"{document['task']['url']}/draft", json=body)

            actions: dict[str, Callable[[int], httpx.Response]] = {
                "page of a task": lambda n: client.get(f"/tasks/item%3Ap{(n * 37) % size}"),
                "list of my tasks": lambda _: client.get("/"),
                "progress": lambda _: client.get("/progress"),
                "draft": save,
                "decision": decide,
            }
            return [
                Cost(size, name, measure_requests(process, action, requests))
                for name, action in actions.items()
            ]


def measure_requests(
    process: psutil.Process, act: Callable[[int], httpx.Response], requests: int
) -> float:
    """CPU milliseconds of the server for one request."""
    for number in range(5):
        act(number).raise_for_status()
    before = process.cpu_times()
    for number in range(requests):
        act(number).raise_for_status()
    after = process.cpu_times()
    return 1000 * (after.user + after.system - before.user - before.system) / requests


KIND = KINDS["item"]
CONTENT = invent_content(KIND)
HASH = hash_content(KIND, CONTENT)


def write_review(folder: Path, size: int) -> None:
    """A review of so many items: the first half annotated, the first quarter audited."""
    (folder / "reviewers.yaml").write_text(
        "".join(f"- {{name: {name}, roles: [{role}]}}\n" for name, role in PEOPLE.items())
    )
    with (folder / "tasks.jsonl").open("w") as file:
        for number in range(size):
            task = ReviewTask(
                id=f"item:p{number}",
                kind="item",
                problem=f"p{number}",
                content=CONTENT,
                content_hash=HASH,
            )
            file.write(task.model_dump_json() + "\n")
    with (folder / "decisions.jsonl").open("w") as file:
        for number in range(size // 2):
            readers = ["ann", "bob"] if number < size // 4 else ["ann"]
            for place, name in enumerate(readers):
                decision = ReviewDecision(
                    id=uuid.uuid5(uuid.NAMESPACE_OID, f"{number} {name}").hex,
                    task=f"item:p{number}",
                    kind="item",
                    person=name,
                    role=PEOPLE[name],  # type: ignore[arg-type]
                    time=START + timedelta(seconds=10 * number + place),
                    content_hash=HASH,
                    fields=dict(FIELDS),
                    seconds=60,
                )
                file.write(format_event(decision) + "\n")


@contextmanager
def running_server(folder: Path) -> Iterator[tuple[psutil.Process, httpx.Client]]:
    """A server of the review, and a client in which the annotator has logged in."""
    import socket

    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
    cookie, token = make_session(folder, port)
    words = [sys.executable, "-c", SERVER, str(folder), SECRET.decode(), str(port)]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        headers = {"cookie": cookie, "x-csrf-token": token, "accept": "text/html"}
        with httpx.Client(base_url=address, headers=headers, timeout=60) as client:
            yield psutil.Process(process.pid), client
    finally:
        process.kill()
        process.wait()


def make_session(folder: Path, port: int) -> tuple[str, str]:
    """Cookie and token of the annotator, as a server with this secret signs them."""
    database = Database(folder / LIVE)
    with database.write() as connection:
        set_password(connection, "ann", "a password of this benchmark")
    response = Response()
    sessions = Sessions(database, SECRET, is_secure=False, port=port)
    token = sessions.start(response, "ann").token
    database.close()
    return response.headers["set-cookie"].partition(";")[0], token


def format_table(costs: list[Cost], sizes: list[int]) -> str:
    """CPU milliseconds by request and size, as Markdown."""
    lines = [
        f"| request | {' | '.join(f'{size:,} tasks' for size in sizes)} |",
        "|---|" + "---|" * len(sizes),
    ]
    for request in dict.fromkeys(cost.request for cost in costs):
        values = [cost.cpu_ms for cost in costs if cost.request == request]
        lines.append(f"| {request} | {' | '.join(f'{value:.1f} ms' for value in values)} |")
    return "\n".join(lines)


def list_missed(costs: list[Cost], sizes: list[int]) -> Iterator[str]:
    """Limits that are missed."""
    by_place = {(cost.tasks, cost.request): cost.cpu_ms for cost in costs}
    for (tasks, request), cpu_ms in by_place.items():
        if tasks <= LIMIT_HOLDS_FOR and cpu_ms > LIMIT_MS:
            yield f"{request}, {tasks:,} tasks: {cpu_ms:.1f} ms of {LIMIT_MS:.0f}"
        half = by_place.get((tasks // 2, request))
        if half and cpu_ms > RATIO_LIMIT * half:
            yield f"{request}: {tasks:,} tasks cost {cpu_ms / half:.1f} times {tasks // 2:,}"


if __name__ == "__main__":
    sys.exit(main())
