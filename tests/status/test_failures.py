"""Why a job failed: the end of its log, without what could command a terminal."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from omibench.study.status.rows import WIDTH, clean, list_failures, read_last_lines
from omibench.study.status.runs import RunJob


def failed(log: Path | None) -> RunJob:
    return RunJob("infer", "x", "m", "cot", str(log) if log else None, "failed")


def test_our_own_last_line_is_the_reason(tmp_path: Path) -> None:
    log = tmp_path / "cot.log"
    log.write_text(
        "omibench: first\n 10%|#\r 20%|##\r 100%|###\nomibench: the key X is missing\n\n"
    )
    (found,) = list_failures([failed(log), RunJob("infer", "y", state="done")], tmp_path)
    assert found.why == "the key X is missing"
    assert found.lines == ["omibench: first", " 100%|###", "omibench: the key X is missing"]


def test_another_programs_last_line_is_the_reason_where_we_said_nothing(tmp_path: Path) -> None:
    log = tmp_path / "cot.log"
    log.write_text("Traceback\n  File\nMemoryError: no more\n")
    assert list_failures([failed(log)], tmp_path)[0].why == "MemoryError: no more"


def test_a_job_without_a_log_is_told_too(tmp_path: Path) -> None:
    for log in (None, tmp_path / "absent.log", tmp_path):
        (found,) = list_failures([failed(log)], tmp_path)
        assert found.lines == []
        assert "Snakemake" in found.why


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
