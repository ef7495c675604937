"""Notes of a run from Snakemake's own events; whatever goes wrong, the run goes on."""

from __future__ import annotations

import logging
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from omibench.params.study import Study
from omibench.study.status.hooks import WatchedRun, command, describe_checkpoint
from omibench.study.status.runs import FOLDER, KEPT_RUNS, read_runs

OUTPUT = "results/infer/one/cot.parquet"


class Graph:
    """What the hooks ask of Snakemake's graph."""

    def __init__(self) -> None:
        self.jobs = [
            self.job(1, "infer", OUTPUT, model="one", setting="cot"),
            self.job(2, "freeze", "results/freeze/questions.jsonl"),
            self.job(0, "all", None),
        ]

    def job(self, number: int, rule: str, output: str | None, **wildcards: str) -> Any:
        return SimpleNamespace(
            jobid=number, rule=SimpleNamespace(name=rule), wildcards_dict=wildcards,
            output=[output] if output else [], log=[f"logs/{rule}.log"],
        )  # fmt: skip

    def needrun(self, job: Any) -> bool:
        return bool(job.jobid == 1)


def event(**fields: Any) -> None:
    pytest.importorskip("snakemake")
    logging.getLogger("snakemake.logging").warning("event", extra=fields)


def test_a_run_is_noted_from_start_to_end(study: Study, capsys: pytest.CaptureFixture[str]) -> None:
    watched = WatchedRun(study)
    watched.start(SimpleNamespace(touch=False, dag=Graph()))
    event(event="job_info", jobid=1)
    (run,) = read_runs(Path("results"))
    assert run.live
    assert run.jobs[OUTPUT].state == "running"
    assert run.current == {"results/freeze/questions.jsonl"}
    event(
        event="job_info", jobid=7, rule_name="infer", output=["results/infer/two/cot.parquet"],
        wildcards={"model": "two", "setting": "cot"}, log=["l"],
    )  # fmt: skip
    event(event="job_error", jobid=1)
    assert read_runs(Path("results"))[0].jobs[OUTPUT].state == "failed"
    event(event="job_finished", job_id=7)
    event(event="progress", done=1, total=2)
    watched.end("failed")
    (run,) = read_runs(Path("results"))
    assert [(job.name, job.state) for job in run.jobs.values()] == [
        ("infer one/cot", "failed"), ("infer two/cot", "done"),
    ]  # fmt: skip
    told = capsys.readouterr().err
    assert "1 job failed" in told
    assert "infer one/cot" in told
    event(event="job_info", jobid=1)  # nobody listens any more


def test_touching_files_is_no_run(study: Study) -> None:
    watched = WatchedRun(study)
    watched.start(SimpleNamespace(touch=True, dag=Graph()))
    watched.end("done")
    assert not (Path("results") / FOLDER).exists()


def test_a_run_that_cannot_be_noted_goes_on(study: Study, caplog: pytest.LogCaptureFixture) -> None:
    (Path("results") / FOLDER).write_text("in the way")
    watched = WatchedRun(study)
    watched.start(SimpleNamespace(touch=False, dag=Graph()))
    watched.end("done")
    WatchedRun(study).start(object())
    assert caplog.text.count("cannot be watched") == 2


def test_only_the_last_runs_are_kept(study: Study) -> None:
    for _ in range(KEPT_RUNS + 3):
        watched = WatchedRun(study)
        watched.start(SimpleNamespace(touch=False, dag=Graph()))
        watched.end("done")
    assert len(list((Path("results") / FOLDER).iterdir())) == KEPT_RUNS


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["/x/snakemake", "--cores", "2", "-k"], ["snakemake", "--cores", "2", "-k"]),
        (["snakemake", "-F", "all", "--cores", "1"], ["snakemake", "all", "--cores", "1"]),
        (["snakemake", "--cores", "1", "-R", "a", "b"], ["snakemake", "--cores", "1"]),
        (["snakemake", "--forcerun", "a", "--config", "d=x y"], ["snakemake", "--config", "d=x y"]),
    ],
)  # fmt: skip
def test_the_command_that_goes_on_forces_nothing(argv: list[str], words: list[str]) -> None:
    assert command(argv) == words


# A list of jobs says of which it may spare some.


@pytest.mark.parametrize(
    ("rules", "said"),
    [
        (["freeze", *["infer"] * 16, "score"], "of the 16 infer jobs in this list, only those"),
        (["freeze", "fill", "infer", "infer"], "of the 1 fill and 2 infer jobs"),
        (["infer"] * 16, None),
        (["freeze", "score", "analyze"], None),
        ([], None),
    ],
)
def test_jobs_that_freeze_may_spare_are_told(rules: list[str], said: str | None) -> None:
    remark = describe_checkpoint(rules)
    assert (remark is None) == (said is None)
    assert said is None or (remark and said in remark and "\n" not in remark)
