"""The `openai` provider: any endpoint compatible with the OpenAI API, chat or Responses."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

from omibench.models.http.pictures import Show
from omibench.models.http.served import ApiProvider
from omibench.models.openai.batch import OpenAIBatches
from omibench.models.openai.messages import PATHS, check_openai, openai_body
from omibench.models.openai.replies import openai_replies
from omibench.models.options import refuse_continued, refuse_options
from omibench.params.models.openai import OpenAIModel
from omibench.schemas.request import Request, Response


class OpenAIProvider(ApiProvider[OpenAIModel]):
    """A model behind the OpenAI API. Raises ModelError if its block contradicts the API."""

    sdk = "openai"
    client = "OpenAI"
    options: ClassVar[dict[str, Any]] = {"security": {"bearer_auth": True}}
    batch_api = OpenAIBatches

    def __init__(self, name: str, model: OpenAIModel, batches: Path | None = None) -> None:
        super().__init__(name, model, batches)
        check_openai(name, model)

    def check(self, requests: Sequence[Request]) -> None:
        """Check as `ApiProvider.check`; options too, which only some endpoints can score."""
        self.check_options(requests)
        super().check(requests)

    def check_options(self, requests: Sequence[Request]) -> None:
        """See `ChecksOptions.check_options`."""
        if self.model.batch:
            refuse_options(requests, self.name, "query it directly, with `batch: false`")
            return
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

    @property
    def path(self) -> str:
        """See `ApiProvider.path`."""
        return PATHS[self.model.api]

    def build_body(
        self, model: OpenAIModel, requests: Sequence[Request], show: Show
    ) -> dict[str, Any]:
        """See `ApiProvider.build_body`."""
        return openai_body(model, requests, show)

    def read_reply(self, reply: object, samples: int = 1, *, batch: bool = False) -> list[Response]:
        """See `ApiProvider.read_reply`."""
        return openai_replies(self.model, reply, samples, batch=batch)
