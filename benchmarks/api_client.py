"""Measure the client's cost per request, compared with the bare SDK and inspect-ai.

The server of the tests answers in its own process after a fixed latency; every client, a process
of its own, sends the same questions with three pictures of 300 kB each, all different, and starts
with empty caches. A run counts only if every answer is right and the server
received each question once with its pictures in order. CPU is user and system time of the client's
process, imports and one warm-up request left out; wall time is that of the whole run, from the
questions to the last file; the ideal is rounds of requests x latency.

    python benchmarks/api_client.py           # up to twenty minutes on two busy cores
    python benchmarks/api_client.py --quick   # the correctness gate on one small cell
    python benchmarks/api_client.py --pairs 4 # bare and omibench in turn, 256 in flight at 2 s

Other jobs on the machine hit all clients of a pair alike, so that `--pairs` says on a busy machine
what the table cannot: the median ratio of pairs, and CPU time.

Rows of one cell (concurrency x latency) ran after one another; ratios compare within a cell, and
their reference is the better of the two ways to use the bare SDK. The exit code is 1 when a
client fails the gate; limits that are missed are printed and published.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import os
import platform
import random
import shutil
import subprocess
import sys
import tempfile
import time
import venv
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tests"))

from api_table import Cell, Figures, aims, markdown, pairs  # noqa: E402

from model_server.handle import ServerHandle, running_server  # noqa: E402

IMAGES, IMAGE_BYTES, ANSWER_CHARS = 3, 300_000, 2000
PACKAGES = ("openai[aiohttp]", "inspect-ai")
EVERY = ("bare-aiohttp", "bare-default", "omibench", "inspect-lean", "inspect-default")
LONG = ("bare-aiohttp", "omibench", "inspect-lean")
"""The clients of the cells whose requests take 20 s."""
CHEAP = ("bare-aiohttp", "bare-default", "omibench")
"""The clients that are run several times."""
PLAN = (
    (Cell(64, 0.2), 256, EVERY, 3),
    (Cell(256, 0.2), 512, EVERY, 3),
    (Cell(64, 2.0), 128, EVERY, 3),
    (Cell(256, 2.0), 512, EVERY, 3),
    (Cell(64, 20.0), 128, LONG, 1),
    (Cell(256, 20.0), 512, LONG, 1),
)
PAIRED = Cell(256, 2.0)
QUICK = ((Cell(8, 0.05), 16, EVERY, 1),)


class Exam(NamedTuple):
    """The questions and what must come back for each."""

    folder: Path
    texts: dict[str, str]
    pictures: dict[str, list[str]]


def main() -> int:
    """Prepare, run every cell, print the table; 1 when a client failed the gate."""
    options = _options()
    plan = QUICK if options.quick else PLAN
    if options.pairs:
        plan = ((PAIRED, 512, CHEAP, options.pairs),)
    began, load = time.monotonic(), os.getloadavg()
    with tempfile.TemporaryDirectory(prefix="omibench-api-", dir=options.folder) as name:
        folder = Path(name)
        python = options.peers or _peers(folder / "venv")
        exam = make_exam(folder / "exam", max(requests for _, requests, _, _ in plan))
        head = [
            *_versions(python, inspects=not options.pairs),
            f"Load average at the start {load[0]:.1f}",
        ]
        found: dict[tuple[Cell, str], list[Figures]] = {}
        with running_server() as server:
            for cell, requests, clients, repeats in plan:
                for turn in range(repeats):
                    for client in clients:
                        if turn and client not in CHEAP:
                            continue
                        work = folder / "work"
                        program = sys.executable if client == "omibench" else python
                        figures = run(program, client, server, exam, work, cell, requests)
                        found.setdefault((cell, client), []).append(figures)
                        _say(f"{cell} {client}: {figures}")
    if options.pairs:
        print(*head, "", pairs(found, PAIRED), sep="\n")
        return 0
    table = {
        key: Figures(*(median(values) for values in zip(*runs, strict=True)))
        for key, runs in found.items()
    }
    head.append(f"at the end {os.getloadavg()[0]:.1f}; {time.monotonic() - began:.0f} s in all.")
    print("; ".join(head[-2:]), *head[:-2], "", markdown(table), "", aims(table), sep="\n")
    return 0


def make_exam(folder: Path, size: int) -> Exam:
    """`size` questions with pictures of their own, and one to warm up with, last.

    The pictures begin like PNG files and are noise, which no log can compress.
    """
    from omibench.schemas.problem import Figure, Question
    from omibench.schemas.tables import write_jsonl

    folder.mkdir()
    rng = random.Random(1)  # noqa: S311
    exam = Exam(folder, {}, {})
    questions = []
    for n in range(size + 1):
        figures = []
        for i in range(IMAGES):
            content = b"\x89PNG\r\n\x1a\n" + rng.randbytes(IMAGE_BYTES - 8)
            (folder / f"{n:04}-{i}.png").write_bytes(content)
            sha256 = hashlib.sha256(content).hexdigest()
            figures.append(Figure(file=f"{n:04}-{i}.png", sha256=sha256))
        name = f"{n:04}"
        text = f"Question {name}: compare [IMAGE0] with [IMAGE1] and then with [IMAGE2] ?"
        questions.append(Question(id=name, question=text, images=figures))
        words = f"The figures of {name} are compared. " * (ANSWER_CHARS // 35)
        exam.texts[name] = f"{words}The answer is \\boxed{{{n}}}."
        exam.pictures[name] = [figure.sha256 for figure in figures]
    write_jsonl(folder / "warm-up.jsonl", questions[-1:])
    write_jsonl(folder / "questions.jsonl", questions[:-1])
    return exam


def run(  # noqa: PLR0913, PLR0917 (one for each thing that makes a run)
    program: str, client: str, server: ServerHandle, exam: Exam, work: Path, cell: Cell, size: int
) -> Figures:
    """One client through `size` questions. Raises AssertionError when it fails the gate."""
    shutil.rmtree(work, ignore_errors=True)
    (work / "home").mkdir(parents=True)
    lines = (exam.folder / "questions.jsonl").read_text("utf-8").splitlines(keepends=True)
    asked = exam.folder / f"first-{size}.jsonl"
    asked.write_text("".join(lines[:size]), "utf-8")
    task = {
        "url": server.openai_url, "questions": str(asked), "concurrency": cell.concurrency,
        "warm_up": str(exam.folder / "warm-up.jsonl"), "work": str(work),
    }  # fmt: skip
    (work / "task.json").write_text(json.dumps(task), "utf-8")
    replies = {f"Question {name}:": text for name, text in exam.texts.items()}
    server.reset()
    server.configure(replies=replies)
    command = [program, str(HERE / "api_contestants.py"), client, str(work / "task.json")]
    with (
        (work / "stderr").open("w+", encoding="utf-8") as errors,
        subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True,
            cwd=work, env=os.environ | {"HOME": str(work / "home"), "NO_COLOR": "1"},
        ) as child,
    ):  # fmt: skip
        assert child.stdout is not None
        ready = child.stdout.readline()
        server.reset()
        server.configure(replies=replies, latency_s=cell.latency_s)
        said, _ = child.communicate("go\n" if ready else "", timeout=600)
        assert child.returncode == 0, (work / "stderr").read_text("utf-8")[-2000:]
    figures = json.loads(said)
    stats = server.stats()
    check(client, figures["answers"], stats, exam, size)
    ideal_s = math.ceil(size / cell.concurrency) * cell.latency_s
    return Figures(
        cpu_ms=1000 * figures["cpu_s"] / size,
        wall_s=figures["wall_s"],
        sending_s=stats["finished_at"] - stats["started_at"],
        ideal_share=ideal_s / figures["wall_s"],
        memory_mb=figures["memory"] / 1e6,
        written_kb=figures["written"] / size / 1000,
        peak=stats["peak_concurrent"],
        requests=size,
    )


def check(
    client: str, answers: dict[str, str], stats: dict[str, Any], exam: Exam, size: int
) -> None:
    """The gate: each question was asked once with its pictures, and its own answer came back."""
    expected = {name: text for name, text in exam.texts.items() if int(name) < size}
    assert answers == expected, f"{client}: {len(answers)} answers, or wrong ones"
    seen = {}
    for content in stats["contents"].values():
        name = content["text"].partition("Question ")[2][:4]
        assert (content["attempts"], content["delivered"]) == (1, 1), f"{client}: {content}"
        seen[name] = content["images"]
    shown = {name: exam.pictures[name] for name in expected}
    assert seen == shown, f"{client}: other pictures reached the server"


def _peers(folder: Path) -> str:
    """The Python of a new environment with the peers as released."""
    _say("installing the peers into an environment of their own")
    venv.create(folder, with_pip=True)
    python = str(folder / "bin" / "python")
    subprocess.run([python, "-m", "pip", "install", "-qq", *PACKAGES], check=True)
    return python


def _versions(python: str, inspects: bool) -> list[str]:
    names = ["openai", "httpx2", "aiohttp", *(["inspect-ai"] if inspects else [])]
    code = f"from importlib.metadata import version\nprint(*map(version, {names}))"
    shown = subprocess.run([python, "-c", code], check=True, capture_output=True, text=True)
    peers = ", ".join(map(" ".join, zip(names, shown.stdout.split(), strict=True)))
    own = ", ".join(f"{name} {version(name)}" for name in ("omibench", "openai", "httpx2"))
    return [
        f"Python {platform.python_version()}, {os.cpu_count()} cores.",
        f"bare and inspect: {peers}. omibench: {own}.",
    ]


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="one small cell: the gate alone")
    parser.add_argument("--pairs", type=int, help="so many rounds of bare and omibench in turn")
    parser.add_argument("--peers", help="a Python that has them: else they are installed again")
    parser.add_argument("--folder", help="where to make the temporary folder (1.5 GB)")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
