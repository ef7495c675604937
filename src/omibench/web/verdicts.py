"""The words of verdicts, which Python and the scripts of pages read from one file."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files


@cache
def read_verdict_words() -> dict[str, str]:
    """Return the word of each kind of verdict: right, partly, wrong, failed, none."""
    text = (files("omibench.web") / "static/words.js").read_text("utf-8")
    value = text[text.index("{") : text.rindex(";")]
    return {kind: entry["word"] for kind, entry in json.loads(value).items()}
