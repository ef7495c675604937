"""The head hash of a record."""

from __future__ import annotations

import hashlib

from omibench.review.chain import EMPTY_HEAD, compute_head, extend_head, format_event
from omibench.schemas.review import ReviewDecision
from review.builders import decide, make_task

FIRST = decide(1, "ann", "annotator", make_task())
SECOND = decide(2, "bob", "auditor", make_task(), seconds=12)


def test_the_head_is_a_chain_over_canonical_lines() -> None:
    assert compute_head([]) == "0" * 64
    link = f"{EMPTY_HEAD}\n{format_event(FIRST)}"
    assert extend_head(EMPTY_HEAD, FIRST) == hashlib.sha256(link.encode()).hexdigest()
    assert compute_head([FIRST, SECOND]) == extend_head(compute_head([FIRST]), SECOND)


def test_any_other_record_has_another_head() -> None:
    head = compute_head([FIRST, SECOND])
    changed = SECOND.model_copy(update={"comment": "No."})
    others = [[FIRST], [SECOND, FIRST], [FIRST, changed], [FIRST, SECOND, SECOND]]
    assert head not in [compute_head(other) for other in others]


def test_how_a_line_is_written_changes_no_head() -> None:
    assert '"comment"' not in format_event(SECOND)
    for text in (SECOND.model_dump_json(), SECOND.model_dump_json(exclude_defaults=True, indent=1)):
        assert compute_head([ReviewDecision.model_validate_json(text)]) == compute_head([SECOND])
