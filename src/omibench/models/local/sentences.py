"""The `sentence-transformers` provider: text embeddings from a model on this machine."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cached_property
from typing import Any

from omibench.errors import ModelError
from omibench.extras import require_extra
from omibench.models.provider import refuse_all_but_texts
from omibench.models.registry import provider
from omibench.models.sequential import SequentialProvider
from omibench.params.models.providers import SentenceModel
from omibench.schemas.request import Request, Response


@provider("sentence-transformers", block=SentenceModel)
class SentenceProvider(SequentialProvider[SentenceModel]):
    """An embedding model; each request is one text, each answer its vector as JSON."""

    @cached_property
    def encoder(self) -> Any:
        """The model, loaded once."""
        require_extra("sentences", f"model {self.name!r}")
        from sentence_transformers import SentenceTransformer

        try:
            return SentenceTransformer(
                self.model.id,
                revision=self.model.revision,
                device=self.model.device,
                trust_remote_code=False,
                model_kwargs={"torch_dtype": self.model.dtype},
            )
        except (OSError, ValueError, RuntimeError) as error:
            first_line = next(iter(str(error).splitlines()), type(error).__name__)
            raise ModelError(
                f"model {self.name!r}: {self.model.id} cannot be loaded: {first_line}"
            ) from None

    def check(self, requests: Sequence[Request]) -> None:
        """Check the requests, and load the model, which no limit of an attempt may cut off.

        Raises ModelError for anything but a text to embed.
        """
        refuse_all_but_texts(requests, self.name)
        _ = self.encoder

    def respond(self, request: Request) -> Response:
        """See `SdkProvider.respond`."""
        vector = self.encoder.encode(request.conversation.text, show_progress_bar=False)
        return Response(text=json.dumps([float(value) for value in vector]), finish_reason="stop")
