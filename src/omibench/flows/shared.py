"""Shared parts of the flows: the study's folder, tasks with retries, slots, liveness."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import cache, partial, wraps
from inspect import signature
from pathlib import Path
from threading import BoundedSemaphore
from typing import Annotated, NamedTuple, ParamSpec, TypeVar

from prefect import get_run_logger, tags, task
from prefect.cache_policies import NO_CACHE
from prefect.client.orchestration import get_client
from prefect.client.schemas.actions import GlobalConcurrencyLimitCreate
from prefect.concurrency.sync import concurrency
from prefect.exceptions import ObjectAlreadyExists, ObjectNotFound
from prefect.futures import PrefectFuture, wait
from prefect.runtime import deployment, flow_run
from prefect.settings import PREFECT_API_URL, PREFECT_HOME
from pydantic import Field, StringConstraints

from omibench.errors import ModelError, OmibenchError, ParamsError, may_pass
from omibench.files.locations import find_study, in_study_folder
from omibench.files.locks import wait_lock
from omibench.flows import FOLDER_ENV
from omibench.flows.build import snakemake
from omibench.flows.progress import OutageNews, repeat, show_progress
from omibench.flows.retries import RETRIES
from omibench.models.api.stop import check_stop, signals_watched
from omibench.params.study import Study
from omibench.study.sharding import Shard, divide_limits, interleave, name_endpoint

P = ParamSpec("P")
R = TypeVar("R")
LEASE_S = 60.0
"""The seconds after which a killed flow's slot is free again."""


ParamsFile = Annotated[
    str, StringConstraints(pattern=r"^[^\s{\x00-\x1f\x7f][^\x00-\x1f\x7f]*$", max_length=4096)
]
"""Path of a parameter file; JSON text from the server's pages could be any study."""
Count = Annotated[int, Field(ge=1, le=10**9)]


class Job(NamedTuple):
    """A shard, its models, and the function that runs it.

    `ask` is called with the study limited to one slot of each model.
    """

    shard: Shard
    models: tuple[str, ...]
    ask: Callable[[Study, Shard], int]


class Asking:
    """The shared state of one flow's shards: study, slots, and models that reject everything."""

    def __init__(self, study: Study, models: Iterable[str], lanes: int) -> None:
        self.study = study
        self.names = {model: name_endpoint(study.models[model]) for model in models}
        self.lanes = {name: _lanes(name, lanes) for name in dict.fromkeys(self.names.values())}
        self.lost: dict[str, str] = {}

    def ask(self, job: Job, note: Callable[[Shard, int], object]) -> int:
        """Run a shard in a slot of each endpoint, and `note` its answers when it is done.

        A model that rejected everything gets no further shards. Raises OmibenchError.
        """
        study = self.study
        for model in job.models:
            study = divide_limits(study, model, self.lanes[self.names[model]])
        try:
            with ExitStack() as held:
                for name in sorted({self.names[model] for model in job.models}):
                    held.enter_context(_lane(name, self.lanes[name]))
                self._check(job.models)
                check_stop()
                asked = job.ask(study, job.shard)
                note(job.shard, asked)
                return asked
        except OmibenchError as error:
            if not may_pass(error):
                self.lost = dict.fromkeys(job.models, str(error)) | self.lost
            raise

    def _check(self, models: Iterable[str]) -> None:
        # Another shard may have lost the model while this one waited for its slot.
        for model in models:
            if model in self.lost:
                raise ModelError(f"{model}: no further requests: {self.lost[model]}")


@task(**RETRIES, task_run_name="{name}")
def ask_shard(name: str, ask: Callable[[], int]) -> int:
    """Run one shard; responses in the store are not requested again."""
    return ask()


@task(task_run_name="snakemake {targets}", cache_policy=NO_CACHE)
def build(
    params: str,
    targets: Sequence[str],
    cores: int,
    forced: Sequence[str] = (),
    budget_usd: float | None = None,
) -> None:
    """Let Snakemake bring targets up to date."""
    log = get_run_logger().info
    snakemake(params, targets, cores, forced=forced, budget_usd=budget_usd, say=log)


def ask_all(study: Study, groups: Sequence[Sequence[Job]], lanes: int) -> int:
    """Run every shard, those of one group (an endpoint's) in order; return the number of requests.

    All are tried before the first failure is raised; responses are kept.
    """
    jobs = interleave(groups)
    if not jobs:
        return 0
    asking = Asking(study, dict.fromkeys(m for job in jobs for m in job.models), lanes)
    futures: list[PrefectFuture[int]] = []
    shards = [job.shard for job in jobs]
    outages = OutageNews(study, asking.names)
    with repeat(outages.check), show_progress(study, shards) as progress:
        note = progress.note_answered
        for job in jobs:
            check_stop()
            shard = job.shard
            with tags(f"study {study.study.name}", f"model {shard.model}", shard.name):
                name = f"{shard.model} {shard.name} {shard.start}-{shard.stop}"
                futures.append(ask_shard.submit(name, partial(asking.ask, job, note)))
        wait(futures)
        for job, future in zip(jobs, futures, strict=True):
            if future.state.is_failed():
                progress.note_failed(job.shard)
    return sum(future.result() for future in futures)


def _lanes(name: str, wanted: int) -> int:
    """Return the number of slots of an endpoint: as set on the server, otherwise as requested."""
    if not PREFECT_API_URL.value():
        return wanted
    with get_client(sync_client=True) as client:
        for _ in range(2):
            try:
                return client.read_global_concurrency_limit_by_name(name).limit or 1
            except ObjectNotFound:
                limit = GlobalConcurrencyLimitCreate(name=name, limit=wanted)
                try:
                    client.create_global_concurrency_limit(limit)
                except ObjectAlreadyExists:  # another flow was quicker
                    continue
    return wanted


@contextmanager
def _lane(name: str, lanes: int) -> Iterator[None]:
    """Take one slot of an endpoint, shared by all flows of a server or by the shards of this
    one."""
    if PREFECT_API_URL.value():
        with concurrency(name, occupy=1, lease_duration=LEASE_S, strict=True):
            yield
    else:
        with _semaphore(name, lanes):
            yield


@cache
def _semaphore(name: str, lanes: int) -> BoundedSemaphore:
    return BoundedSemaphore(lanes)


def living(call: Callable[P, R]) -> Callable[P, R]:
    """Wrap a flow's function to hold a lock while it runs, so that others can see it is alive.

    Signals stop it cleanly: Prefect's handler of SIGTERM would raise only in the flow, while the
    shards in their threads continue.
    """

    @wraps(call)
    def held(*args: P.args, **kwargs: P.kwargs) -> R:
        with signals_watched(), _held(flow_run.get_id()):
            return call(*args, **kwargs)

    return held


def in_its_study(call: Callable[P, R]) -> Callable[P, R]:
    """Wrap a flow's function to run in the folder of the study of its argument `params`: wherever
    it was started, it touches no other folder. A server's run needs a study in its folder."""

    @wraps(call)
    def run_there(*args: P.args, **kwargs: P.kwargs) -> R:
        given = signature(call).bind(*args, **kwargs)
        given.apply_defaults()
        refuse_other_folders(given.arguments["params"])
        with in_study_folder(given.arguments["params"], get_run_logger().info) as there:
            given.arguments["params"] = there
            return call(*given.args, **given.kwargs)

    # Prefect checks parameters by the signature, and resolves names in this module alone.
    run_there.__signature__ = signature(call, eval_str=True)  # type: ignore[attr-defined]
    return run_there


def refuse_other_folders(params: str) -> None:
    """Raise ParamsError if a deployed run got parameters from outside of the served folder.

    Every user of the server's pages can give a run any parameters: those of a folder of their own
    could send keys to another address.
    """
    served = os.environ.get(FOLDER_ENV)
    if served is None or deployment.get_id() is None:
        return
    folder = find_study(params).folder
    if not folder.is_relative_to(Path(served).resolve()):
        raise ParamsError(
            f"params: {params!r} belongs to the study in {folder}, but this server runs those in "
            f"{served}; start `omibench serve` there"
        )


def sign_of_life(run_id: str) -> Path:
    """Return the lock file of a run, which exists from its start to its end."""
    return Path(PREFECT_HOME.value()) / "omibench" / f"{run_id}.lock"


@contextmanager
def _held(run_id: str | None) -> Iterator[None]:
    if run_id is None:
        yield
        return
    path = sign_of_life(run_id)
    path.parent.mkdir(parents=True, exist_ok=True)
    # NFS grants a shared lock only to readers.
    with path.open("a+") as file:
        wait_lock(file.fileno(), shared=True)
        yield
    path.unlink(missing_ok=True)


def questions_of(study: Study) -> Path:
    """Return the frozen questions of a study."""
    return Path(study.study.results) / "freeze" / "questions.jsonl"
