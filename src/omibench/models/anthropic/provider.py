"""The `anthropic` provider: the Anthropic messages API."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from omibench.errors import ModelError
from omibench.models.anthropic.batch import AnthropicBatches
from omibench.models.anthropic.messages import (
    PATH,
    anthropic_body,
    check_anthropic,
    check_anthropic_request,
)
from omibench.models.anthropic.replies import anthropic_reply
from omibench.models.http.pictures import Show
from omibench.models.http.served import ApiProvider
from omibench.models.options import refuse_options
from omibench.params.models.anthropic import AnthropicModel
from omibench.schemas.request import Request, Response


class AnthropicProvider(ApiProvider[AnthropicModel]):
    """A model behind the Anthropic API. Raises ModelError if its block contradicts the API."""

    sdk = "anthropic"
    client = "Anthropic"
    batch_api = AnthropicBatches
    path = PATH

    def __init__(self, name: str, model: AnthropicModel, batches: Path | None = None) -> None:
        super().__init__(name, model, batches)
        check_anthropic(name, model)

    def check_options(self, requests: Sequence[Request]) -> None:
        """See `ChecksOptions.check_options`."""
        refuse_options(requests, self.name, "the Anthropic API returns none; choose another model")

    def check(self, requests: Sequence[Request]) -> None:
        """See `ApiProvider.check`; also rejects top_p, which this API does not accept."""
        self.check_options(requests)
        super().check(requests)
        for request in requests:
            check_anthropic_request(self.model, request)
            if request.decoding.top_p is not None:
                raise ModelError(
                    f"setting {request.tags.setting!r}: top_p is set, but the Anthropic API "
                    f"(model {self.name!r}) does not accept it; remove `decoding.top_p`"
                )

    def build_body(
        self, model: AnthropicModel, requests: Sequence[Request], show: Show
    ) -> dict[str, Any]:
        """See `ApiProvider.build_body`."""
        return anthropic_body(model, requests[0], show)

    def read_reply(self, reply: object, samples: int = 1, *, batch: bool = False) -> list[Response]:
        """See `ApiProvider.read_reply`."""
        return [anthropic_reply(self.model, reply, batch=batch)]
