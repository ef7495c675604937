"""The `openai_embeddings` provider: text embeddings, returned as JSON in the text of an answer."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any, ClassVar

from omibench.errors import ModelError
from omibench.models.http.pictures import Show
from omibench.models.http.replies import Json, add_costs, as_object, as_objects, unreadable
from omibench.models.http.served import ApiProvider
from omibench.models.openai.replies import read_usage
from omibench.params.models.embeddings import EmbeddingModel
from omibench.schemas.request import Request, Response, Usage


class EmbeddingProvider(ApiProvider[EmbeddingModel]):
    """An embedding model behind the OpenAI API; each request is one text."""

    sdk = "openai"
    client = "OpenAI"
    options: ClassVar[dict[str, Any]] = {"security": {"bearer_auth": True}}
    path = "/embeddings"

    def check(self, requests: Sequence[Request]) -> None:
        """Check as `ApiProvider.check`; raises ModelError for anything but a text to embed."""
        for request in requests:
            if request.conversation.images or request.tags.role != "embedder":
                raise ModelError(
                    f"model {self.name!r}: only embeds texts, but has the role "
                    f"{request.tags.role}; use it only as rationale.taxonomy.embedder"
                )
        super().check(requests)

    def build_body(
        self, model: EmbeddingModel, requests: Sequence[Request], show: Show
    ) -> dict[str, Any]:
        """Build the JSON body that requests the embedding of one text."""
        shortened = {} if model.dimensions is None else {"dimensions": model.dimensions}
        text = requests[0].conversation.text
        return {"model": model.id, "input": text, "encoding_format": "float", **shortened}

    def read_reply(self, reply: object, samples: int = 1, *, batch: bool = False) -> list[Response]:
        """See `ApiProvider.read_reply`."""
        return [read_embedding(self.model, reply)]


def read_embedding(model: EmbeddingModel, reply: object) -> Response:
    """Build the response; its text is the vector, a list of numbers as JSON.

    Raises:
        Failure: The body contains no vector.
    """
    body = as_object(reply)
    rows = as_objects(body.get("data"))
    vector = rows[0].get("embedding") if len(rows) == 1 else None
    if not isinstance(vector, list) or not vector or not all(map(_is_finite, vector)):
        raise unreadable("contains no vector of finite numbers")
    response = Response(text=json.dumps(vector), finish_reason="stop")
    return add_costs([response], _count_tokens(body), model, body, batch=False)[0]


def _count_tokens(body: Json) -> Usage:
    usage = read_usage(as_object(body.get("usage")))
    return usage.model_copy(update={"output_tokens": 0})


def _is_finite(value: object) -> bool:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return number and math.isfinite(value)  # type: ignore[arg-type]
