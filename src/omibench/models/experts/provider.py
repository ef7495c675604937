"""The provider of the tools of experts: it asks their server."""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import ProxyHandler, build_opener
from urllib.request import Request as HttpRequest

from omibench.errors import ModelError
from omibench.models.drawn import redraw_picture
from omibench.models.registry import provider
from omibench.models.sdk import SdkProvider
from omibench.params.models.tools import ExpertsModel
from omibench.schemas.request import ImagePart, Request, Response, TextPart
from omibench.text.controls import drop_controls

VERSION = 1
"""Version of what experts are asked and say, part of the identity."""
MOST_BYTES = 2**26
LONGEST = 8000
"""Characters of a finding that are kept."""


@provider("experts", block=ExpertsModel)
class ExpertsProvider(SdkProvider[ExpertsModel]):
    """Asks a server of experts: a request has a tool with its arguments, and a picture."""

    @property
    def identity(self) -> dict[str, Any]:
        """See `Provider.identity`."""
        return {**super().identity, "version": VERSION}

    def respond(self, request: Request) -> Response:
        """Ask the expert. Raises ModelError if the server has other weights."""
        (message,) = request.conversation.messages
        image = next(part for part in message.parts if isinstance(part, ImagePart))
        asked = json.loads(next(p.text for p in message.parts if isinstance(p, TextPart)))
        body = {
            "image": b64encode(self.read_picture(image)[1]).decode("ascii"),
            "arguments": asked["arguments"],
        }
        found = self._post(asked["tool"], body)
        weights = self.model.experts[asked["tool"]].model_dump()
        if found.get("weights") != weights:
            raise ModelError(
                f"model {self.name!r}: the server at {self.model.base_url} has other weights for "
                f"{asked['tool']}, {found.get('weights')}, and the block {weights}; restart "
                "`omibench experts serve`"
            )
        drawn = redraw_picture(b64decode(found["picture"])) if found.get("picture") else None
        text = drop_controls(str(found["text"]))[:LONGEST]
        return Response(
            text=text or "(nothing)", drawn=(drawn,) if drawn else (), finish_reason="stop",
            cost_usd=0.0,
        )  # fmt: skip

    def _post(self, tool: str, body: dict[str, Any]) -> dict[str, Any]:
        address = f"{self.model.base_url.rstrip('/')}/{tool}"
        headers = {"Content-Type": "application/json"}
        asked = HttpRequest(address, json.dumps(body).encode(), headers)  # noqa: S310 (its own address)
        try:
            with build_opener(ProxyHandler({})).open(asked, timeout=self.limits.timeout_s) as reply:
                found = json.loads(reply.read(MOST_BYTES))
        except HTTPError:
            raise
        except URLError as error:
            raise ConnectionError(
                f"no experts answer at {self.model.base_url}; start `omibench experts serve`"
            ) from error
        except (HTTPException, ValueError) as error:
            raise ConnectionError(f"the experts' reply cannot be read: {error}") from error
        return dict(found)
