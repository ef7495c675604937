"""Head hash of a decision log: it changes if any line of the log changes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from typing import Final

from omibench.schemas.review import ReviewDecision

EMPTY_HEAD: Final = "0" * 64
"""The head of an empty log."""


def format_event(decision: ReviewDecision) -> str:
    """Return the canonical JSON of a decision: sorted keys, no spaces, default values omitted.

    Because defaults are omitted, fields added by later versions do not change earlier hashes.
    """
    values = decision.model_dump(mode="json", exclude_defaults=True)
    return json.dumps(values, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def extend_head(head: str, decision: ReviewDecision) -> str:
    """Return the head after one more decision: SHA-256 of the previous head, a newline and the
    event.
    """
    link = f"{head}\n{format_event(decision)}"
    return hashlib.sha256(link.encode("utf-8", "surrogatepass")).hexdigest()


def compute_head(decisions: Iterable[ReviewDecision]) -> str:
    """Return the head of a log. The order counts: each link depends on the previous one.

    Args:
        decisions: Decisions in the order of the log.
    """
    head = EMPTY_HEAD
    for decision in decisions:
        head = extend_head(head, decision)
    return head
