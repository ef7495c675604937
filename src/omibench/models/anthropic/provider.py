"""The `anthropic` provider: the Anthropic messages API."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from pydantic import SecretStr

from omibench.errors import ModelError
from omibench.extras import require_extra
from omibench.models.anthropic.messages import (
    PATH,
    anthropic_body,
    check_anthropic,
    check_anthropic_request,
)
from omibench.models.anthropic.replies import anthropic_reply
from omibench.models.http.pools import open_pools
from omibench.models.http.served import ServedProvider, client_maker, post
from omibench.models.http.wire import wire_body
from omibench.models.options import refuse_options
from omibench.models.traffic.dispatch import Send, Sent
from omibench.params.models.anthropic import AnthropicModel
from omibench.schemas.request import Request


class AnthropicProvider(ServedProvider[AnthropicModel]):
    """A model behind the Anthropic API. Raises ModelError if its block contradicts the API."""

    def __init__(self, name: str, model: AnthropicModel) -> None:
        super().__init__(name, model)
        check_anthropic(name, model)

    def check_options(self, requests: Sequence[Request]) -> None:
        """See `ChecksOptions.check_options`."""
        refuse_options(requests, self.name, "the Anthropic API returns none; choose another model")

    def check(self, requests: Sequence[Request]) -> None:
        """See `ServedProvider.check`; also rejects top_p, which this API does not accept."""
        self.check_options(requests)
        super().check(requests)
        for request in requests:
            check_anthropic_request(self.model, request)
            if request.decoding.top_p is not None:
                raise ModelError(
                    f"setting {request.tags.setting!r}: top_p is set, but the Anthropic API "
                    f"(model {self.name!r}) does not accept it; remove `decoding.top_p`"
                )

    @asynccontextmanager
    async def connect(self, key: SecretStr) -> AsyncIterator[Send]:
        """Open the SDK clients, each lent to one call at a time."""
        require_extra("api", f"model {self.name!r}", "anthropic")
        import anthropic

        make = client_maker(
            anthropic.AsyncAnthropic, anthropic.DefaultAsyncHttpxClient, self.model, key
        )
        async with open_pools(make, self.model.limits.concurrency) as lend:

            async def send(requests: Sequence[Request]) -> Sent:
                request = requests[0]
                body = wire_body(
                    lambda show: anthropic_body(self.model, request, show), request, self.pictures
                )
                with lend() as client:
                    reply = await post(anthropic, client, PATH, body, {})
                return self.summarize_call([anthropic_reply(self.model, reply)])

            yield send
