"""News for a webhook: one JSON object, posted to a secret URL."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit
from urllib.request import Request

from omibench.errors import ModelError, PassingError
from omibench.models.http.exchange import send
from omibench.models.http.secrets import read_key
from omibench.models.traffic.failure import Failure
from omibench.models.traffic.retry import passes
from omibench.reevaluate.changes import Move

TIMEOUT_S, MOST_S = 30.0, 90.0
MOST_MOVES = 50


def make_news(
    study: str, text: str, models: Sequence[str], moved: Sequence[Move] = (), board: str = ""
) -> dict[str, Any]:
    """The posted object. Chat services show `text`; at most 50 changes are listed."""
    return {
        "text": text,
        "study": study,
        "models": list(models),
        "simulated": any(move.after.simulated for move in moved),
        "moved": len(moved),
        "moves": [
            {
                "setting": move.setting,
                "model": move.model,
                "rank_before": move.before.rank if move.before else None,
                "rank": move.after.rank,
                "accuracy_before": move.before.acc if move.before else None,
                "accuracy": move.after.acc,
            }
            for move in moved[:MOST_MOVES]
        ],
        "board": board,
    }


def post(body: Mapping[str, Any], url_env: str) -> bool:
    """POST a body to the URL in an environment variable; return False if it is not set.

    The URL is a secret, so messages do not contain it.

    Raises:
        ModelError: The request failed.
        PassingError: A retry may succeed.
    """
    if not os.environ.get(url_env, "").strip():
        return False
    url = read_key(url_env).get_secret_value()
    if urlsplit(url).scheme not in ("http", "https"):
        raise ModelError(f"{url_env}: must be a URL that begins with http:// or https://")
    data = json.dumps(body, ensure_ascii=False).encode()
    request = Request(url, data, {"content-type": "application/json"})  # noqa: S310
    try:
        status = send(request, timeout_s=TIMEOUT_S, most_s=MOST_S)
    except Failure as failure:
        # The message may quote the URL, whose path is the secret.
        if failure.status is not None:
            reason = f"HTTP {failure.status}" + (
                ": it redirects, but news are sent only to the given address"
                if 300 <= failure.status < 400
                else ""
            )
            raise ModelError(f"the webhook in {url_env} refused the news: {reason}") from None
        cause = failure.message.removeprefix("the connection failed: ").partition(":")[0]
        raise PassingError(f"the webhook in {url_env} cannot be reached: {cause}") from None
    except ValueError as error:
        cause = type(error).__name__
        raise PassingError(f"the webhook in {url_env} cannot be reached: {cause}") from None
    if status < 300:
        return True
    kind = PassingError if passes(status) else ModelError
    raise kind(f"the webhook in {url_env} refused the news: HTTP {status}")
