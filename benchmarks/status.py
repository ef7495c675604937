"""Measure the cost of `omibench status` on a study of 600 cells in the middle of a run.

30 models x 20 settings x 1,322 questions.
Half of the cells are written and scored, eight run and are half answered, the rest wait; the store
holds every answer, one segment a cell. CPU is user and system time of `omibench status` as a
separate process, and of each update of one process that keeps watching.

    python benchmarks/status.py

Everything is synthetic and made in a temporary folder (about 250 MB).
"""

from __future__ import annotations

import json
import os
import random
import resource
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import yaml

from omibench.params.setting import Cell
from omibench.params.study import Study, parse_study_file
from omibench.schemas.problem import Question
from omibench.schemas.request import Response
from omibench.schemas.tables import ResponseRow, VerdictRow, write_jsonl, write_parquet
from omibench.settings.tasks import list_requests
from omibench.store.segments import read_process_start
from omibench.store.store import Store
from omibench.study.plan.plan import StudyView
from omibench.study.status.reader import Looker
from omibench.study.status.runs import FOLDER
from omibench.study.status.text import write_page

MODELS, SETTINGS, QUESTIONS, RUNNING = 30, 20, 1322, 8


def main() -> None:
    """Make the study, and measure."""
    folder = Path(tempfile.mkdtemp(prefix="omibench-status-"))
    try:
        os.chdir(folder)
        study = make()
        for html in ([], ["--html", "status.html"]):
            seconds = process_cpu([sys.executable, "-m", "omibench", "status", "s.yaml", *html])
            print(f"omibench status {' '.join(html):<22} {seconds:.2f} s of CPU")
        looker = Looker(study, "s.yaml")
        for n in range(4):
            start = time.process_time()
            write_page(Path("status.html"), looker.look(), 5.0)
            print(
                f"look {n + 1} of one watcher, with page {time.process_time() - start:.2f} s of CPU"
            )
        looker.close()
    finally:
        shutil.rmtree(folder)


def process_cpu(command: list[str]) -> float:
    """CPU seconds of a process and its children."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def make() -> Study:
    """A study of files only: nothing is asked."""
    model = {"provider": "openai", "base_url": "http://127.0.0.1:9/v1", "key_env": "NO_KEY"}
    settings = {f"setting-{n:02}": {"decoding": {"max_tokens": 500 + n}} for n in range(SETTINGS)}
    models = {f"model-{n:02}": {**model, "id": f"model-{n:02}"} for n in range(MODELS)}
    values = {
        "study": {"name": "wide", "results": "results", "store": "store"},
        "models": models,
        "settings": settings,
        "infer": {"models": list(models), "settings": list(settings)},
    }
    Path("s.yaml").write_text(yaml.safe_dump(values))
    study = parse_study_file("s.yaml")
    text = "How far does the ball roll, as figure one shows? " * 12
    questions = Path("results/freeze/questions.jsonl")
    rows = [Question(id=f"p{n}", question=f"{n}: {text}") for n in range(QUESTIONS)]
    write_jsonl(questions, rows)
    cells = study.cells
    written = set(random.Random(1).sample(cells, len(cells) // 2))  # noqa: S311
    running = [cell for cell in cells if cell not in written][:RUNNING]
    with Store("store") as store:
        desk = StudyView(study, questions, store)
        for cell in [*sorted(written), *running]:
            fill(desk, cell, questions, cell in written)
    notes(cells, written, running)
    return study


def fill(desk: StudyView, cell: Cell, questions: Path, whole: bool) -> None:
    """Answers of one cell in a segment of their own, and its files where it is whole."""
    requests = list_requests(questions, desk.study, cell, desk.open_provider(cell.model))
    partition = desk.open_partition(cell.model)
    keys = [partition.key(request) for request in requests]
    answer = Response(text="The answer is 42. " * 8, cost_usd=0.002)
    for request, key in list(zip(requests, keys, strict=True))[: None if whole else QUESTIONS // 2]:
        partition.append(key, request, answer)
    partition.close()
    if not whole:
        return
    out = Path(f"results/infer/{cell.model}/{cell.setting}.parquet")
    rows = [
        ResponseRow(id=q.tags.problem, index=0, key=k, outcome="answered", text=answer.text,
                    cost_usd=0.002)
        for q, k in zip(requests, keys, strict=True)
    ]  # fmt: skip
    write_parquet(out, rows, ResponseRow)
    verdicts = [
        VerdictRow(id=r.id, index=0, key=r.key, rules=rules, version=1, method="box", verdict=1.0,
                   outcome="scored")
        for rules in ("robust", "omibench", "gptscore") for r in rows
    ]  # fmt: skip
    write_parquet(Path(str(out).replace("infer", "score")), verdicts, VerdictRow)


def notes(cells: list[Cell], written: set[Cell], running: list[Cell]) -> None:
    """The notes of a run that seems to be this process."""
    jobs, events = [], []
    for cell in cells:
        for stage in ("infer", "score"):
            number = len(jobs)
            jobs.append(
                {"id": number, "stage": stage, "model": cell.model, "setting": cell.setting,
                 "output": f"results/{stage}/{cell.model}/{cell.setting}.parquet",
                 "log": f"logs/{stage}/{cell.model}/{cell.setting}.log"}
            )  # fmt: skip
            if cell in written or (cell in running and stage == "infer"):
                events.append({"time": time.time() - 60, "job": number, "state": "running"})
            if cell in written:
                events.append({"time": time.time(), "job": number, "state": "done"})
    head = {
        "time": time.time() - 600, "pid": os.getpid(), "host": socket.gethostname(),
        "process": read_process_start(os.getpid()), "command": ["snakemake"], "jobs": jobs,
        "current": [],
    }  # fmt: skip
    path = Path("results", FOLDER, "run.jsonl")
    path.parent.mkdir(parents=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in [head, *events]))


if __name__ == "__main__":
    main()
