"""The blocks of the providers of vectors: `openai_embeddings` and `sentence-transformers`."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from omibench.params.blocks import Variable
from omibench.params.models.base import ApiModel, LocalModel
from omibench.params.roles import Runtime


class EmbeddingModel(ApiModel):
    """A model of embeddings behind the OpenAI API, such as OpenAI's or that of a vLLM server."""

    default_url: ClassVar[str] = "https://api.openai.com/v1"
    url_env: ClassVar[str] = "OPENAI_BASE_URL"

    provider: Literal["openai_embeddings"]
    key_env: Runtime[Variable] = "OPENAI_API_KEY"
    """Environment variable that holds the key; the key itself never stands in a file."""
    batch: Runtime[Literal[False]] = False
    """Embeddings are asked directly."""
    dimensions: Annotated[int, Field(ge=1)] | None = None
    """Length to which the model shortens its vectors, where it can."""


class SentenceModel(LocalModel):
    """A sentence-transformers model that makes vectors of texts on this machine."""

    provider: Literal["sentence-transformers"]
    device: Runtime[str | None] = None
    """Where it runs, such as `cpu` or `cuda`; the package chooses where nothing is said."""
    trust_remote_code: Literal[False] = False
    """Models that bring code of their own are not loaded."""
