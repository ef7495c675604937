"""Batches of both APIs, and the ways in which they go wrong."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import anthropic
import openai
import pytest

from model_server.conftest import chat, chat_client, claude, claude_client
from model_server.handle import ServerHandle


def batch_file(texts: list[str], **body: Any) -> bytes:
    rows = [
        {
            "custom_id": f"q{i}",
            "method": "POST",
            "url": "/v1/chat/completions",
            "body": {"model": "m", "messages": [{"role": "user", "content": text}]} | body,
        }
        for i, text in enumerate(texts)
    ]
    return "\n".join(map(json.dumps, rows)).encode()


async def submitted(client: openai.AsyncOpenAI, data: bytes) -> openai.types.Batch:
    file = await client.files.create(file=("batch.jsonl", data), purpose="batch")
    return await client.batches.create(
        input_file_id=file.id, endpoint="/v1/chat/completions", completion_window="24h"
    )


async def rows_of(client: openai.AsyncOpenAI, file_id: str | None) -> dict[str, Any]:
    if file_id is None:
        return {}
    text = (await client.files.content(file_id)).text
    return {row["custom_id"]: row for row in map(json.loads, text.splitlines())}


def test_openai_batches_answer_as_the_endpoint_does(server: ServerHandle) -> None:
    server.configure(batch_s=60, batch_bad=["poison"])
    texts = ["Question 1", "poison", "Question 2"]

    async def go() -> tuple[Any, dict[str, Any], dict[str, Any], list[str]]:
        async with chat_client(server) as client:
            batch = await submitted(client, batch_file(texts, n=2))
            assert batch.status == "validating"
            seen = await client.batches.retrieve(batch.id)
            assert (seen.status, seen.output_file_id) == ("in_progress", None)
            server.finish_batches()
            batch = await client.batches.retrieve(batch.id)
            listed = [found.id async for found in client.batches.list(limit=1)]
            good = await rows_of(client, batch.output_file_id)
            return batch, good, await rows_of(client, batch.error_file_id), listed

    batch, good, poor, listed = asyncio.run(go())
    assert (batch.status, listed) == ("completed", [batch.id])
    counts = batch.request_counts
    assert (counts.total, counts.completed, counts.failed) == (3, 2, 1)
    assert (sorted(good), sorted(poor)) == (["q0", "q2"], ["q1"])
    assert poor["q1"]["response"]["status_code"] == 500
    direct = chat(server, n=2)
    text = good["q0"]["response"]["body"]["choices"][1]["message"]["content"]
    assert text == direct.choices[1].message.content
    entries = {entry["text"]: entry for entry in server.stats()["contents"].values()}
    assert (entries["Question 1"]["paid"], entries["Question 1"]["batch_paid"]) == (2, 1)
    assert (entries["poison"]["paid"], server.stats()["batch_lines"]) == (0, 3)


def test_openai_batches_fail_expire_and_cancel(server: ServerHandle) -> None:
    async def go() -> None:
        async with chat_client(server) as client:
            twice = batch_file(["a"]) + b"\n" + batch_file(["b"])
            batch = await submitted(client, twice)
            assert batch.status == "failed"
            assert "used before" in batch.errors.data[0].message
            server.configure(batch_expires=0.5)
            batch = await submitted(client, batch_file([f"Question {i}" for i in range(30)]))
            while batch.status in ("validating", "in_progress"):
                await asyncio.sleep(0.02)
                batch = await client.batches.retrieve(batch.id)
            lost = await rows_of(client, batch.error_file_id)
            assert (batch.status, len(lost)) == ("expired", batch.request_counts.failed)
            assert {row["error"]["code"] for row in lost.values()} == {"batch_expired"}
            server.configure(batch_s=60, batch_expires=0)
            batch = await submitted(client, batch_file(["x", "y"]))
            assert (await client.batches.cancel(batch.id)).status == "cancelling"
            batch = await client.batches.retrieve(batch.id)
            assert (batch.status, batch.request_counts.failed) == ("cancelled", 2)
            with pytest.raises(openai.ConflictError):
                await client.batches.cancel(batch.id)

    asyncio.run(go())
    stats = server.stats()
    assert [batch["lines"] for batch in stats["batches"]] == [0, 30, 2]
    assert not any(entry["text"] in ("x", "y") for entry in stats["contents"].values())


@pytest.mark.parametrize(("kind", "made"), [("reset_mid", 1), ("reset", 0), ("server_error", 0)])
def test_a_submission_can_be_lost_on_either_way(server: ServerHandle, kind: str, made: int) -> None:
    server.configure(batch_create=[kind])

    async def go() -> int:
        async with chat_client(server) as client:
            with pytest.raises(openai.APIError):
                await submitted(client, batch_file(["a"]))
            lost = len([batch async for batch in client.batches.list()])
            await submitted(client, batch_file(["a"]))
        return lost

    assert asyncio.run(go()) == made
    prints = [batch["fingerprint"] for batch in server.stats()["batches"]]
    assert prints == prints[:1] * (made + 1)


def messages(texts: list[str]) -> list[dict[str, Any]]:
    return [
        {
            "custom_id": f"q{i}",
            "params": {
                "model": "m",
                "max_tokens": 100,
                "messages": [{"role": "user", "content": text}],
            },
        }
        for i, text in enumerate(texts)
    ]


def test_message_batches(server: ServerHandle) -> None:
    server.configure(batch_s=60, batch_bad=["poison"])
    requests: Any = messages(["Question 1", "poison", "Question 2"])
    del requests[2]["params"]["max_tokens"]

    async def go() -> tuple[Any, dict[str, Any]]:
        async with claude_client(server) as client:
            api = client.messages.batches
            batch = await api.create(requests=requests)
            assert (batch.processing_status, batch.request_counts.processing) == ("in_progress", 3)
            with pytest.raises(anthropic.AnthropicError, match="results_url"):
                await api.results(batch.id)
            server.finish_batches()
            batch = await api.retrieve(batch.id)
            results = {row.custom_id: row.result async for row in await api.results(batch.id)}
            assert [found.id async for found in api.list()] == [batch.id]
            await api.delete(batch.id)
            with pytest.raises(anthropic.NotFoundError):
                await api.retrieve(batch.id)
            return batch, results

    batch, results = asyncio.run(go())
    assert (batch.processing_status, batch.request_counts.succeeded) == ("ended", 1)
    assert {name: found.type for name, found in results.items()} == {
        "q0": "succeeded", "q1": "errored", "q2": "errored",
    }  # fmt: skip
    assert results["q1"].error.error.type == "api_error"
    assert results["q2"].error.error.type == "invalid_request_error"
    assert results["q0"].message.content[0].text == claude(server).content[0].text


def test_message_batches_cancel_and_check_ids(server: ServerHandle) -> None:
    server.configure(batch_s=60)

    async def go() -> None:
        async with claude_client(server) as client:
            api = client.messages.batches
            requests: Any = messages(["a", "b"])
            batch = await api.create(requests=requests)
            assert (await api.cancel(batch.id)).processing_status == "canceling"
            batch = await api.retrieve(batch.id)
            assert (batch.processing_status, batch.request_counts.canceled) == ("ended", 2)
            assert {row.result.type async for row in await api.results(batch.id)} == {"canceled"}
            requests[1]["custom_id"] = "q0"
            with pytest.raises(anthropic.BadRequestError, match="used before"):
                await api.create(requests=requests)
            requests[1]["custom_id"] = "not/allowed"
            with pytest.raises(anthropic.BadRequestError, match="must match"):
                await api.create(requests=requests)

    asyncio.run(go())
    assert len(server.stats()["batches"]) == 1
