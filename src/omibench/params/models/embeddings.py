"""The blocks of the embedding providers `openai_embeddings` and `sentence-transformers`."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from omibench.params.blocks import Variable
from omibench.params.models.base import ApiModel, LocalModel
from omibench.params.roles import Runtime


class EmbeddingModel(ApiModel):
    """An embedding model behind the OpenAI API, such as OpenAI's or that of a vLLM server."""

    default_url: ClassVar[str] = "https://api.openai.com/v1"
    url_env: ClassVar[str] = "OPENAI_BASE_URL"

    provider: Literal["openai_embeddings"]
    key_env: Runtime[Variable] = "OPENAI_API_KEY"
    """Environment variable with the API key; the key itself must never be in a file."""
    batch: Runtime[Literal[False]] = False
    """Always direct requests."""
    dimensions: Annotated[int, Field(ge=1)] | None = None
    """Length of shortened vectors, if the model supports it."""


class SentenceModel(LocalModel):
    """A sentence-transformers model that embeds texts on this machine."""

    provider: Literal["sentence-transformers"]
    device: Runtime[str | None] = None
    """Device such as `cpu` or `cuda`; default: chosen by the package."""
    trust_remote_code: Literal[False] = False
    """Models with custom code are not supported."""
