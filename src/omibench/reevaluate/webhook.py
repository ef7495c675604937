"""News to a webhook: one JSON object, posted to a URL that nobody gets to see."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

from omibench.errors import ModelError, PassingError
from omibench.models.secrets import read_key
from omibench.models.traffic.retry import passes
from omibench.reevaluate.changes import Move

TIMEOUT_S = 30.0
MOST_MOVES = 50


def news(
    study: str, text: str, models: Sequence[str], moved: Sequence[Move] = (), board: str = ""
) -> dict[str, Any]:
    """What is posted. `text` is what chat services show; at most 50 moves are listed."""
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
    """POST a body to the URL in an environment variable; False when there is none.

    Raises ModelError, PassingError when another attempt may go better. The URL is a secret: no
    message names it.
    """
    if not os.environ.get(url_env, "").strip():
        return False
    url = read_key(url_env).get_secret_value()
    if urlsplit(url).scheme not in ("http", "https"):
        raise ModelError(f"{url_env}: must hold a URL that begins with http:// or https://")
    data = json.dumps(body, ensure_ascii=False).encode()
    request = Request(url, data, {"content-type": "application/json"})  # noqa: S310
    try:
        with urlopen(request, timeout=TIMEOUT_S):  # noqa: S310
            return True
    except HTTPError as error:
        # What it says may quote the URL's path, which is where such URLs keep their secret.
        kind = PassingError if passes(error.code) else ModelError
        raise kind(f"the webhook in {url_env} refused the news: HTTP {error.code}") from None
    except (URLError, OSError, HTTPException, ValueError) as error:
        what = type(getattr(error, "reason", error)).__name__
        raise PassingError(f"the webhook in {url_env} cannot be reached: {what}") from None
