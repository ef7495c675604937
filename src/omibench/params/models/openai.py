"""The block of the provider `openai`."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from omibench.params.blocks import Extra, Variable
from omibench.params.models.base import ApiModel, ImageTokens
from omibench.params.roles import Runtime

Effort = Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"]


class OpenAIModel(ApiModel):
    """Any endpoint compatible with the OpenAI API: OpenAI, Gemini, a vLLM server, DashScope, ..."""

    default_url: ClassVar[str] = "https://api.openai.com/v1"
    url_env: ClassVar[str] = "OPENAI_BASE_URL"

    provider: Literal["openai"]
    api: Literal["chat", "responses"] = "chat"
    key_env: Runtime[Variable] = "OPENAI_API_KEY"
    """Environment variable with the API key; the key itself must never be in a file."""
    effort: Effort | None = None
    max_tokens_field: Literal["max_completion_tokens", "max_tokens"] = "max_completion_tokens"
    detail: Literal["auto", "low", "high"] | None = None
    extra_body: Extra = {}
    """Additional fields of this endpoint, such as chat_template_kwargs; part of identity. Write
    a key in them as `${NAME}`, the name of its environment variable."""
    batch: Runtime[bool] = False
    """Use the batch API: half the price, answers within a day."""

    @property
    def store_identity(self) -> dict[str, Any]:
        """As for all models, and whether the endpoint uses its default sampling."""
        identity = self.identity_fields
        # Keys of billed responses never contained it; certificates always did.
        identity.pop("max_tokens_field", None)
        return identity | ({} if self.can.temperature else {"sampling": "provider_default"})

    def image_options(self, formula: ImageTokens) -> dict[str, Any]:
        """Return `detail` if it is low and the formula depends on it."""
        return {"detail": "low"} if formula == "openai-tiles" and self.detail == "low" else {}
