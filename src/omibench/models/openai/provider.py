"""The `openai` provider: any endpoint compatible with the OpenAI API, chat or Responses."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from pydantic import SecretStr

from omibench.extras import require_extra
from omibench.models.http.pools import open_pools
from omibench.models.http.secrets import with_own_secrets
from omibench.models.http.served import ServedProvider, client_maker, post
from omibench.models.http.wire import wire_body
from omibench.models.openai.messages import PATHS, check_openai, openai_body
from omibench.models.openai.replies import openai_replies
from omibench.models.options import refuse_continued, refuse_options, score_from_list
from omibench.models.traffic.dispatch import Send, Sent
from omibench.params.models.openai import OpenAIModel
from omibench.schemas.request import Request


class OpenAIProvider(ServedProvider[OpenAIModel]):
    """A model behind the OpenAI API. Raises ModelError if its block contradicts the API."""

    def __init__(self, name: str, model: OpenAIModel) -> None:
        super().__init__(name, model)
        check_openai(name, model)

    def check(self, requests: Sequence[Request]) -> None:
        """Check as `ServedProvider.check`; options too, which only some endpoints can score."""
        self.check_options(requests)
        super().check(requests)

    def check_options(self, requests: Sequence[Request]) -> None:
        """See `ChecksOptions.check_options`."""
        if self.model.api != "chat" or not self.model.can.logprobs:
            refuse_options(
                requests,
                self.name,
                "set `can: {logprobs: true}` with `api: chat` if its endpoint returns them",
            )
        if not self.model.can.prefill:
            refuse_continued(
                requests,
                self.name,
                "set `can: {prefill: true}` if its endpoint continues an assistant turn, as a "
                "vLLM server does, or set `saliency.reading` to `before_answer`",
            )

    @asynccontextmanager
    async def connect(self, key: SecretStr) -> AsyncIterator[Send]:
        """Open the SDK clients, each lent to one call at a time."""
        require_extra("api", f"model {self.name!r}", "openai")
        import openai

        model = with_own_secrets(self.model)
        make = client_maker(openai.AsyncOpenAI, openai.DefaultAsyncHttpxClient, self.model, key)
        async with open_pools(make, self.model.limits.concurrency) as lend:

            async def send(requests: Sequence[Request]) -> Sent:
                body = wire_body(
                    lambda show: openai_body(model, requests, show), requests[0], self.pictures
                )
                security = {"security": {"bearer_auth": True}}
                with lend() as client:
                    reply = await post(openai, client, PATHS[self.model.api], body, security)
                responses = openai_replies(self.model, reply, len(requests))
                if options := requests[0].options:
                    responses = [score_from_list(responses[0], reply, options)]
                return self.summarize_call(responses)

            yield send
