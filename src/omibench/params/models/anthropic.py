"""The block of the provider `anthropic`."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field

from omibench.params.blocks import Variable
from omibench.params.models.base import ApiModel
from omibench.params.roles import Runtime


class AnthropicModel(ApiModel):
    """The Anthropic messages API. Its SDK takes no temperature: sampling is the provider's."""

    cache_write_factor: ClassVar[float] = 1.25
    default_url: ClassVar[str] = "https://api.anthropic.com"
    url_env: ClassVar[str] = "ANTHROPIC_BASE_URL"
    list_api: ClassVar[Literal["openai", "anthropic"]] = "anthropic"

    provider: Literal["anthropic"]
    key_env: Runtime[Variable] = "ANTHROPIC_API_KEY"
    """Environment variable that holds the key; the key itself never stands in a file."""
    thinking: Literal["adaptive", "disabled"] | Annotated[int, Field(ge=1024)] | None = None
    """`adaptive`, `disabled`, or a budget of tokens."""
    effort: Literal["low", "medium", "high", "xhigh", "max"] | None = None
    batch: Runtime[bool] = False
    """Ask through the batch API, at half the price and within a day."""

    @property
    def takes_temperature(self) -> bool:
        """Its SDK takes none."""
        return False

    def as_probe(self) -> Self:
        """Without its thinking, whose budget is larger than a probe."""
        return super().as_probe().model_copy(update={"thinking": None})
