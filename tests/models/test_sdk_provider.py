"""A provider over any SDK: retries, Retry-After, concurrency, budget and mistakes of its author."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any, Literal

import pytest
from tests.models.test_plugin_provider import requests
from tests.models.test_plugin_provider import study as plugin_study
from tests.models.traffic.simulated import Books

from omibench.errors import ModelError, PluginError
from omibench.models.client.ask import open_asker
from omibench.models.registry import open_provider, provider
from omibench.models.sdk import Failure, SdkProvider
from omibench.models.sequential import SequentialProvider
from omibench.params.models.base import Limits, ModelBlock, ServedModel
from omibench.params.models.registry import PROVIDERS
from omibench.params.study import Study
from omibench.plugins.registry import loading
from omibench.schemas.request import ImagePart, Request, Response, Usage

Script = Callable[[str, int], None]
"""(problem, attempt) -> what an attempt raises, if anything."""


class OwnModel(ServedModel):
    provider: Literal["own", "own-async", "own-slow"]


class Sdk:
    """Stands in the place of an SDK: counts attempts, and how many are in flight at once."""

    def __init__(self) -> None:
        self.script: Script = lambda problem, attempt: None
        self.attempts: Counter[str] = Counter()
        self.flying = self.peak = self.closed = 0
        self.expected = 1
        self.lock = threading.Lock()

    def begin(self, request: Request) -> None:
        with self.lock:
            self.flying += 1
            self.peak = max(self.peak, self.flying)
            self.attempts[request.tags.problem] += 1

    def pauses(self) -> Iterator[float]:
        """Seconds to sleep until as many attempts as expected were in flight, 10 s at most.

        The first of a run is sent alone, so it does not wait for others.
        """
        yield 0.02
        latest = time.monotonic() + (10 if self.attempts.total() > 1 else 0)
        while self.peak < self.expected and time.monotonic() < latest:
            yield 0.01

    def end(self, request: Request) -> Response:
        with self.lock:
            self.flying -= 1
        self.script(request.tags.problem, self.attempts[request.tags.problem])
        usage = Usage(input_tokens=100, output_tokens=20)
        return Response(text=f"to {request.tags.problem}", usage=usage)


SDK = Sdk()


class OwnProvider(SdkProvider[OwnModel]):
    def respond(self, request: Request) -> Response:
        SDK.begin(request)
        for pause_s in SDK.pauses():
            time.sleep(pause_s)
        return SDK.end(request)

    async def close(self) -> None:
        SDK.closed += 1


class AsyncProvider(OwnProvider):
    async def respond(self, request: Request) -> Response:  # type: ignore[override]
        SDK.begin(request)
        for pause_s in SDK.pauses():
            await asyncio.sleep(pause_s)
        return SDK.end(request)


class SlowProvider(SequentialProvider[OwnModel]):
    respond = OwnProvider.respond


@pytest.fixture(autouse=True)
def sdk() -> Iterator[Sdk]:
    SDK.__init__()  # type: ignore[misc]
    with loading("own.py"):
        provider("own", block=OwnModel)(OwnProvider)
        provider("own-async", block=OwnModel)(AsyncProvider)
        provider("own-slow", block=OwnModel)(SlowProvider)
    yield SDK
    PROVIDERS.forget("own.py")


def study(folder: Path, name: str = "own", **limits: Any) -> Study:
    return plugin_study(folder, 100.0, provider=name, id=str(folder), limits=limits)


def ask(of: Study, count: int = 8) -> list[Response]:
    with open_asker(of, "m") as asker:
        return asker(requests(count))


@pytest.mark.parametrize("name", ["own", "own-async", "own-slow"])
def test_a_rate_limit_is_waited_for_and_every_request_is_answered(
    tmp_path: Path, sdk: Sdk, name: str
) -> None:
    def limited(problem: str, attempt: int) -> None:
        if problem in "456" and attempt == 1:
            raise Failure("too many requests", retry_after_s=0.3)

    sdk.script = limited
    begun = time.monotonic()
    answers = ask(study(tmp_path, name))
    assert [answer.text for answer in answers] == [f"to {n}" for n in range(8)]
    assert time.monotonic() - begun >= 0.3
    assert [sdk.attempts[str(n)] for n in range(8)] == [1, 1, 1, 1, 2, 2, 2, 1]
    assert [answer.cost_usd for answer in answers] == pytest.approx([0.0003] * 8)


@pytest.mark.parametrize(("name", "peak"), [("own", 4), ("own-async", 4), ("own-slow", 1)])
def test_the_concurrency_is_that_of_the_block(
    tmp_path: Path, sdk: Sdk, name: str, peak: int
) -> None:
    limits = {} if name == "own-slow" else {"concurrency": 4}
    sdk.expected = peak
    ask(study(tmp_path, name, **limits), 24)
    assert sdk.peak == peak
    assert sdk.closed == (name != "own-slow")


def test_a_rate_limit_is_not_billed_and_attempts_end_at_the_limit(sdk: Sdk, tmp_path: Path) -> None:
    def never(problem: str, attempt: int) -> None:
        if problem == "1":
            raise Failure(retry_after_s=0.1)

    sdk.script = never
    books = Books()
    model = open_provider("m", study(tmp_path, attempts=3).models["m"])
    ended = {q.tags.problem: r for q, r in model.answer(requests(3), books)}
    assert sdk.attempts == {"0": 1, "1": 3, "2": 1}
    assert ended["1"].outcome == "provider_error"
    assert ended["1"].passing
    assert books.ends == {"paid": 2, "given back": 3}
    assert not books.open


def test_an_exception_of_an_sdk_with_a_status_is_a_failure(tmp_path: Path, sdk: Sdk) -> None:
    class RateLimitError(Exception):
        status_code = 429

    class Unavailable(Exception):
        code = 503

    def script(problem: str, attempt: int) -> None:
        if attempt == 1 and problem in "234":
            raise {"2": RateLimitError, "3": Unavailable, "4": ConnectionResetError}[problem]("no")

    sdk.script = script
    assert {answer.outcome for answer in ask(study(tmp_path))} == {"answered"}
    assert [sdk.attempts[str(n)] for n in range(8)] == [1, 1, 2, 2, 2, 1, 1, 1]


def test_a_mistake_of_the_author_is_one_line_and_earlier_answers_are_kept(
    tmp_path: Path, sdk: Sdk
) -> None:
    def broken(problem: str, attempt: int) -> None:
        if problem == "5":
            raise KeyError("choices")

    sdk.script = broken
    own = study(tmp_path, concurrency=1)
    with pytest.raises(PluginError, match=r"provider 'own' \(of model m\): .*KeyError: 'choices'"):
        ask(own)
    sdk.script = lambda problem, attempt: None
    assert {answer.outcome for answer in ask(own)} == {"answered"}
    assert [sdk.attempts[str(n)] for n in range(8)] == [1, 1, 1, 1, 1, 2, 1, 1]


def test_a_call_that_an_sdk_cancels_itself_loses_no_request(tmp_path: Path, sdk: Sdk) -> None:
    def cancelled(problem: str, attempt: int) -> None:
        if problem == "5":
            future: Future[None] = Future()
            future.cancel()
            future.result()

    sdk.script = cancelled
    with pytest.raises(PluginError, match=r"provider 'own' \(of model m\): .*CancelledError"):
        ask(study(tmp_path))


def test_limits_of_a_block_that_are_not_those_of_a_run_are_its_own() -> None:
    class Block(ModelBlock):
        provider: str = "own"
        limits: dict[str, int] = {"depth": 3}

    class Own(SdkProvider[Block]):
        def respond(self, request: Request) -> Response:
            return Response(text="")

    assert Own("m", Block()).limits == Limits()


def test_one_request_at_a_time_refuses_another_concurrency(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"`limits.concurrency` is 32, but the prov"):
        ask(study(tmp_path, "own-slow", concurrency=32))


def test_it_reads_the_bytes_of_a_picture(tmp_path: Path, root: Path) -> None:
    from hashlib import sha256

    data = b"\x89PNG\r\n\x1a\n" + b"0" * 100
    path = tmp_path / "a.png"
    path.write_bytes(data)
    model = open_provider("m", study(tmp_path).models["m"])
    assert isinstance(model, OwnProvider)
    image = ImagePart(sha256=sha256(data).hexdigest(), path=str(path))
    assert model.read_picture(image) == ("image/png", data)
    path.write_bytes(data + b"1")
    with pytest.raises(ModelError, match="its content differs from the dataset"):
        model.read_picture(image)
