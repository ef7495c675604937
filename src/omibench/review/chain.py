"""The head hash of a record of decisions: one number that says whether a line of it has changed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from typing import Final

from omibench.schemas.review import ReviewDecision

EMPTY_HEAD: Final = "0" * 64
"""The head of a record without decisions."""


def format_event(decision: ReviewDecision) -> str:
    """The canonical JSON of a decision: keys sorted, no spaces, values by default left out.

    Since defaults are left out, a field that a later version adds changes no earlier hash.
    """
    values = decision.model_dump(mode="json", exclude_defaults=True)
    return json.dumps(values, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def extend_head(head: str, decision: ReviewDecision) -> str:
    """The head after one more decision: SHA-256 of the head before, a line end and the event."""
    link = f"{head}\n{format_event(decision)}"
    return hashlib.sha256(link.encode("utf-8", "surrogatepass")).hexdigest()


def compute_head(decisions: Iterable[ReviewDecision]) -> str:
    """The head of a record, whose order counts: each link is made of the one before.

    Args:
        decisions: In the order of the record.
    """
    head = EMPTY_HEAD
    for decision in decisions:
        head = extend_head(head, decision)
    return head
