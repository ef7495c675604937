"""The state of one server, and the life of one generation request."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Any

import orjson
from aiohttp import web

from model_server.answers import Answer, answer
from model_server.asked import Api, Asked, Refused, admit, bad, refusal
from model_server.batches import Batches
from model_server.config import Config, Fault
from model_server.faults import (
    NO_HEADERS,
    interrupt,
    latency,
    planned,
    reply,
    retry_after,
    send,
    spoiled,
)
from model_server.stats import Content, Stats

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Server:
    """What the handlers share: configuration, counters and batches."""

    def __init__(self, config: Config) -> None:
        self.initial = config
        self.reset()

    def reset(self) -> None:
        """Forget everything that happened and return to the configuration of the start."""
        self.config = self.initial
        self.stats = Stats()
        self.batches = Batches(self)

    def restart(self, config: Config) -> None:
        """As a server that starts now with another configuration, to which a reset returns."""
        self.initial = config
        self.reset()

    def parsed(self, api: Api, body: Any, headers: Mapping[str, str]) -> Asked:
        """A request that this server would answer. Raises Refused."""
        if not isinstance(body, dict):
            raise bad("The body of a request must be a JSON object")
        admit(body, headers, self.config)
        asked = api.parse(body)
        if any(part in asked.text for part in self.config.too_long):
            raise bad("This model's maximum context length is 10 tokens. Reduce the prompt.")
        return asked

    def generate(self, api: Api) -> Handler:
        """The handler of an endpoint."""

        async def handle(request: web.Request) -> web.StreamResponse:
            # A reset while this request runs must not unbalance the new counters.
            stats = self.stats
            stats.enter()
            try:
                return await self._generate(api, request, stats)
            finally:
                stats.leave()

        return handle

    async def _generate(self, api: Api, request: web.Request, stats: Stats) -> web.StreamResponse:
        try:
            asked = self.parsed(api, await body_of(request), request.headers)
        except Refused as refused:
            stats.rejected += 1
            return await self.refuse(api, request, refused)
        content, attempt, arrival = stats.attempt(asked)
        fault = planned(self.config, asked, attempt, arrival)
        made = answer(asked, self.config)
        stats.outcome(content, fault.kind)
        if turned_down := refusal(fault.kind):
            return await self.refuse(api, request, turned_down, retry_after(fault))
        if wait := latency(self.config, asked, attempt):
            await asyncio.sleep(wait)
        return await self._answer(api, request, asked, made, fault, content, stats)

    async def refuse(
        self,
        api: Api,
        request: web.Request,
        refused: Refused,
        headers: Mapping[str, str] = NO_HEADERS,
    ) -> web.StreamResponse:
        """An error in the words of the API."""
        status = api.statuses.get(refused.kind, refused.status)
        body = orjson.dumps(api.error(refused))
        response = reply(status, body, headers)
        await send(request, response)
        return response

    async def _answer(
        self,
        api: Api,
        request: web.Request,
        asked: Asked,
        made: Answer,
        fault: Fault,
        content: Content,
        stats: Stats,
    ) -> web.StreamResponse:
        """A 200, or what the fault leaves of it."""
        made = filtered(made) if fault.kind == "content_filter" else made
        serial = f"{asked.key}-{content.attempts}"
        rendered = api.render(asked, made, self.config, serial=serial, kind=fault.kind)
        body = orjson.dumps(rendered)

        def bill() -> None:
            stats.pay(content, made)

        if fault.kind in ("reset", "hang", "reset_mid", "hang_mid"):

            def lose() -> None:
                bill()
                stats.arrived(content, whole=False)

            return await interrupt(request, body, fault, lose)
        bill()
        bad_body = spoiled(body, fault)
        response = bad_body or reply(200, body)
        sent = await send(request, response)
        stats.arrived(content, whole=sent and bad_body is None)
        return response


def filtered(made: Answer) -> Answer:
    """The same with its first draw withheld by a content filter."""
    first = replace(made.choices[0], text="", reasoning="", finish="filter")
    return replace(made, choices=(first, *made.choices[1:]))


async def body_of(request: web.Request) -> Any:
    """The JSON of a body. Raises Refused."""
    try:
        return orjson.loads(await request.read())
    except orjson.JSONDecodeError as error:
        raise bad(f"We could not parse the JSON body of your request: {error}") from error
