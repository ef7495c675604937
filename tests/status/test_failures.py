"""Why a job failed: the end of its log, without what could command a terminal."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omibench.study.status.rows import WIDTH, clean, list_failures, read_last_lines
from omibench.study.status.runs import RunJob


def failed(log: Path) -> RunJob:
    return RunJob("infer", "x", "m", "cot", str(log), "failed")


@pytest.mark.parametrize(
    ("text", "why", "lines"),
    [
        (
            "omibench: first\n 10%|#\r 20%|##\r 100%|###\nomibench: the key X is missing\n\n",
            "the key X is missing",
            ["omibench: first", " 100%|###", "omibench: the key X is missing"],
        ),
        ("Traceback\nMemoryError: no more\n", "MemoryError: no more",
         ["Traceback", "MemoryError: no more"]),
        (None, "it left no message; see Snakemake's log", []),
    ],
    ids=["our own line", "the last line of another program", "no log"],
)  # fmt: skip
def test_the_reason_of_a_failure(
    tmp_path: Path, text: str | None, why: str, lines: list[str]
) -> None:
    log = tmp_path / "cot.log"
    if text:
        log.write_text(text)
    (found,) = list_failures([failed(log), RunJob("infer", "y", state="done")], tmp_path)
    assert (found.why, found.lines) == (why, lines)


def test_only_the_end_of_a_long_log_is_read(tmp_path: Path) -> None:
    log = tmp_path / "long.log"
    log.write_text("".join(f"line {n}\n" for n in range(100_000)))
    assert read_last_lines(log, 2) == ["line 99998", "line 99999"]


def test_escape_sequences_and_bidirectional_marks_are_left_out() -> None:
    assert clean("\x1b[31mred\x1b[0m \x07\u202eevil\u2066 \x9b2J") == "red evil 2J"


@given(st.text())
def test_what_is_shown_commands_nothing(text: str) -> None:
    found = clean(text)
    assert len(found) <= WIDTH
    assert not any(ord(c) < 32 or 127 <= ord(c) < 160 for c in found)


@given(st.binary(max_size=300))
def test_any_bytes_are_a_log(tmp_path_factory: object, data: bytes) -> None:
    log = tmp_path_factory.mktemp("log") / "x.log"  # type: ignore[attr-defined]
    log.write_bytes(data)
    assert all("\n" not in line for line in read_last_lines(log))
