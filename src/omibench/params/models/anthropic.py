"""The block of the provider `anthropic`."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field

from omibench.params.blocks import Variable
from omibench.params.models.base import ApiModel
from omibench.params.roles import Runtime


class AnthropicModel(ApiModel):
    """The Anthropic messages API. Its SDK takes no temperature: the provider's default applies."""

    cache_write_factor: ClassVar[float] = 1.25
    default_url: ClassVar[str] = "https://api.anthropic.com"
    url_env: ClassVar[str] = "ANTHROPIC_BASE_URL"
    list_api: ClassVar[Literal["openai", "anthropic"]] = "anthropic"

    provider: Literal["anthropic"]
    key_env: Runtime[Variable] = "ANTHROPIC_API_KEY"
    """Environment variable with the API key; the key itself must never be in a file."""
    thinking: Literal["adaptive", "disabled"] | Annotated[int, Field(ge=1024)] | None = None
    """`adaptive`, `disabled`, or a budget of tokens."""
    effort: Literal["low", "medium", "high", "xhigh", "max"] | None = None
    batch: Runtime[bool] = False
    """Use the batch API: half the price, answers within a day."""

    @property
    def takes_temperature(self) -> bool:
        """Its SDK takes none."""
        return False

    def as_probe(self) -> Self:
        """Return the model without thinking, whose budget is larger than a probe."""
        return super().as_probe().model_copy(update={"thinking": None})
