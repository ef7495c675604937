"""decisions.jsonl only grows, and has a head hash."""

from __future__ import annotations

import hashlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from omibench.errors import OutputError
from omibench.review import folder as record
from omibench.review.folder import (
    EMPTY_HEAD,
    append_decisions,
    compute_head,
    extend_head,
    format_event,
    read_record,
)
from omibench.schemas.review import ReviewDecision
from review.builders import decide, make_task

TASK = make_task()
FIRST, SECOND, THIRD = [decide(i, "ann", "annotator", TASK) for i in range(3)]
ANNOTATED = decide(1, "ann", "annotator", TASK)
AUDITED = decide(2, "bob", "auditor", TASK, seconds=12)


def test_an_event_is_recorded_once(tmp_path: Path) -> None:
    growth = append_decisions(tmp_path, [("f, line 1", FIRST), ("f, line 2", FIRST)])
    assert (growth.added, growth.repeated) == ((FIRST,), 1)
    before = (tmp_path / "decisions.jsonl").read_bytes()
    assert append_decisions(tmp_path, [("f, line 1", FIRST)]).repeated == 1
    assert (tmp_path / "decisions.jsonl").read_bytes() == before
    append_decisions(tmp_path, [("f, line 1", SECOND)])
    assert read_record(tmp_path).rows == (FIRST, SECOND)
    assert (tmp_path / "decisions.jsonl").read_bytes().startswith(before)


def test_an_event_never_changes(tmp_path: Path) -> None:
    append_decisions(tmp_path, [("f, line 1", FIRST)])
    changed = FIRST.model_copy(update={"comment": "No."})
    growth = append_decisions(tmp_path, [("g, line 7", changed), ("g, line 8", SECOND)])
    assert growth.added == (SECOND,)
    (line,) = growth.errors
    assert line.startswith("g, line 7: the id 'd0' belongs to another decision (on item:p1 by ann)")
    assert read_record(tmp_path).rows == (FIRST, SECOND)


def test_bad_lines_and_a_missing_line_end_stay(tmp_path: Path) -> None:
    path = tmp_path / "decisions.jsonl"
    path.write_text("{", encoding="utf-8")
    append_decisions(tmp_path, [("f, line 1", FIRST)])
    assert path.read_text("utf-8").splitlines()[0] == "{"
    assert read_record(tmp_path).rows == (FIRST,)


def test_writers_wait_for_each_other(tmp_path: Path) -> None:
    decisions = [decide(i, "ann", "annotator", TASK) for i in range(24)]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda d: append_decisions(tmp_path, [("f", d)]), decisions))
    assert sorted(d.id for d in read_record(tmp_path).rows) == sorted(d.id for d in decisions)


def test_a_write_that_fails_leaves_the_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    append_decisions(tmp_path, [("f", FIRST)])

    def fail(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(record.os, "fsync", fail)
    with pytest.raises(OutputError, match="cannot be written: No space left"):
        append_decisions(tmp_path, [("f", SECOND)])
    assert read_record(tmp_path).rows == (FIRST,)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        ".decisions.lock",
        "decisions.jsonl",
    ]


def test_the_head_is_a_chain_over_canonical_lines() -> None:
    assert compute_head([]) == "0" * 64
    link = f"{EMPTY_HEAD}\n{format_event(ANNOTATED)}"
    assert extend_head(EMPTY_HEAD, ANNOTATED) == hashlib.sha256(link.encode()).hexdigest()
    assert compute_head([ANNOTATED, AUDITED]) == extend_head(compute_head([ANNOTATED]), AUDITED)


def test_how_a_line_is_written_changes_no_head() -> None:
    assert '"comment"' not in format_event(AUDITED)
    for text in (
        AUDITED.model_dump_json(),
        AUDITED.model_dump_json(exclude_defaults=True, indent=1),
    ):
        assert compute_head([ReviewDecision.model_validate_json(text)]) == compute_head([AUDITED])
