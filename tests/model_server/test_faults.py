"""When faults strike, and the limits that are enforced."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from typing import Any

import httpx2
import openai
import pytest

from model_server.config import Config
from model_server.conftest import chat, chat_client, only
from model_server.faults import Window, latency, planned
from model_server.handle import ServerHandle, wait_until
from model_server.openai_chat import parse


def test_a_script_is_followed_and_the_sdk_recovers(server: ServerHandle) -> None:
    limited = {"kind": "rate_limit", "retry_after_s": 0.05, "retry_after_form": "ms"}
    server.configure(script=[{"match": "Question 1", "steps": [limited, "reset_mid", "ok"]}])
    assert chat(server, client={"max_retries": 3}).choices[0].message.content
    entry = only(server)
    assert entry["outcomes"] == {"rate_limit": 1, "reset_mid": 1, "ok": 1}
    assert (entry["attempts"], entry["paid"], entry["delivered"]) == (3, 2, 1)
    chat(server, "Another question")
    assert server.stats()["outcomes"]["ok"] == 2


def outcomes_of(server: ServerHandle, texts: list[str], **options: Any) -> dict[str, Any]:
    """Send the texts at once, retrying as the SDK does; outcomes by text."""

    async def go() -> None:
        async with chat_client(server, **options) as client:
            await asyncio.gather(*(one(client, text) for text in texts), return_exceptions=True)

    async def one(client: openai.AsyncOpenAI, text: str) -> None:
        await client.chat.completions.create(**body(text))

    asyncio.run(go())
    return {e["text"]: e["outcomes"] for e in server.stats()["contents"].values()}


def body(text: str) -> dict[str, Any]:
    return {"model": "m", "messages": [{"role": "user", "content": text}]}


def test_rates_repeat_in_any_order(server: ServerHandle) -> None:
    texts = [f"Question {i}" for i in range(40)]
    found = []
    for seed, order in ((3, texts), (3, texts[::-1]), (4, texts)):
        server.reset()
        server.configure(faults={"rate_limit": 0.3, "wrong_model": 0.2}, seed=seed)
        found.append(outcomes_of(server, order))
    assert found[0] == found[1] != found[2]


def test_rates_are_kept() -> None:
    config = Config(faults={"hang": 0.01, "reset": 0.2})
    requests = [parse(body(f"Question {i}")) for i in range(2000)]
    for attempt in (0, 1):
        kinds = Counter(planned(config, asked, attempt, 0).kind for asked in requests)
        assert 6 <= kinds["hang"] <= 40
        assert 340 <= kinds["reset"] <= 460
    again = [planned(config, asked, 1, 0).kind == "hang" for asked in requests]
    assert [planned(config, asked, 0, 0).kind == "hang" for asked in requests] != again


def test_bursts_come_by_arrival(server: ServerHandle) -> None:
    server.configure(bursts=[{"fault": "overloaded", "every": 5, "length": 2, "first": 1}])
    met = []
    for i in range(8):
        try:
            chat(server, f"Question {i}")
            met.append("ok")
        except openai.InternalServerError:
            met.append("down")
    assert met == ["ok", "down", "down", "ok", "ok", "ok", "down", "down"]


def test_latency_is_waited_and_lognormal(server: ServerHandle) -> None:
    server.configure(latency_s=0.3)
    began = time.monotonic()
    outcomes_of(server, [f"Question {i}" for i in range(20)])
    assert 0.3 <= time.monotonic() - began < 20 * 0.3
    assert 2 < server.stats()["peak_concurrent"] <= 20
    config = Config(latency_s=2, latency_sigma=0.5)
    drawn = sorted(latency(config, parse(body("a")), attempt) for attempt in range(1001))
    assert 1.85 < drawn[500] < 2.15
    assert 1.5 < drawn[841] / drawn[500] < 1.8  # exp(0.5) at one standard deviation


def test_limits_answer_429_with_the_time_to_wait(server: ServerHandle) -> None:
    server.configure(rpm=2)
    texts = [f"Question {i}" for i in range(4)]
    found = outcomes_of(server, texts)
    assert sum("rate_limit" in outcomes for outcomes in found.values()) == 2
    with pytest.raises(openai.RateLimitError) as caught:
        chat(server)
    assert 0 < float(caught.value.response.headers["retry-after"]) <= 60
    server.reset()
    server.configure(rpm=120, window_s=1.0)  # two a second
    outcomes_of(server, texts, max_retries=5)
    assert server.stats()["outcomes"]["ok"] == 4
    server.reset()
    server.configure(tpm=20)  # an answer alone takes seven tokens, a question three
    found = outcomes_of(server, texts)
    assert sum("ok" in outcomes for outcomes in found.values()) == 2


def test_a_window_forgets_what_is_past(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr("model_server.faults.time.monotonic", lambda: now[0])
    window = Window()
    assert [window.wait(1, cap=2, window_s=10) for _ in range(2)] == [0, 0]
    now[0] = 104.0
    assert window.wait(1, cap=2, window_s=10) == 6
    now[0] = 110.0
    assert window.wait(1, cap=2, window_s=10) == 0
    assert window.wait(50, cap=2, window_s=10) == 10
    now[0] = 120.0
    assert window.wait(50, cap=2, window_s=10) == 0  # else it could never be sent


def test_requests_at_once_are_limited(server: ServerHandle) -> None:
    hold = {"match": "hold", "steps": ["hang"]}
    server.configure(max_concurrent=3, script=[hold])

    async def go() -> None:
        async with chat_client(server) as client:
            held = [
                asyncio.create_task(client.chat.completions.create(**body(f"hold {i}")))
                for i in range(3)
            ]
            while server.stats()["concurrent"] < 3:
                await asyncio.sleep(0.02)
            with pytest.raises(openai.RateLimitError):
                await client.chat.completions.create(**body("one too many"))
            for task in held:
                task.cancel()

    asyncio.run(go())
    wait_until(lambda: server.stats()["concurrent"] == 0)
    assert chat(server, "one too many")
    assert server.stats()["peak_concurrent"] == 4


def test_a_client_that_leaves_has_paid(server: ServerHandle) -> None:
    server.configure(latency_s=1.0)
    with pytest.raises(openai.APITimeoutError):
        chat(server, client={"timeout": httpx2.Timeout(20, read=0.2)})
    wait_until(lambda: only(server)["undelivered"] == 1)
    assert (only(server)["paid"], only(server)["delivered"]) == (1, 0)
