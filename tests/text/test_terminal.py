"""What others wrote is shown on a terminal, and commands it nothing."""

from __future__ import annotations

import io
import json
import logging
import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omibench.text.terminal import (
    Guarded,
    PrintableRecord,
    guarded_streams,
    measure_width,
    printable,
    printable_lines,
    raw_stream,
    say,
    say_lines,
)


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("\x1b[2Jpaper.pdf", r"\u001b[2Jpaper.pdf"),
        ("\x1b]0;title\x07", r"\u001b]0;title\u0007"),
        ("\x9b31m", r"\u009b31m"),
        ("a\nomibench: all is well", r"a\nomibench: all is well"),
        ("over\rwritten\ttab", r"over\rwritten\ttab"),
        ("\x7f\x00", r"\u007f\u0000"),
        ("gpj.\u202efdp", r"gpj.\u202efdp"),
        ("\u2066a\u2069\u200e\u061c", r"\u2066a\u2069\u200e\u061c"),
        ("line\u2028end\u2029", r"line\u2028end\u2029"),
        ("zero\u200bwidth\ufeff\u00ad", r"zero\u200bwidth\ufeff\u00ad"),
        ("\U000e0041", r"\udb40\udc41"),
        ("name\udcff", r"name\udcff"),
    ],
)
def test_what_commands_a_terminal_is_shown(text: str, seen: str) -> None:
    assert printable(text) == seen
    assert json.loads(f'"{printable(text)}"') == text


@pytest.mark.parametrize(
    "text",
    [
        "plain ASCII, 100 % $\\frac{1}{2}$",
        "Prüfung 物理 الفيزياء עברית",
        "می\u200cخواهم",
        "👩\u200d🔬",
        "\u0600١٢",
        "∑ ≤ ½ – “quoted” non\u00a0breaking",
        "",
    ],
)
def test_what_is_only_read_stays(text: str) -> None:
    assert printable(text) == text


@given(st.text())
def test_nothing_that_commands_is_left(text: str) -> None:
    left = printable(text)
    joiners = "\u200c\u200d"
    odd = {c for c in left if unicodedata.category(c) in ("Cc", "Cs", "Zl", "Zp")}
    assert not odd
    assert all(
        unicodedata.bidirectional(c) not in ("LRE", "RLE", "LRO", "RLO", "PDF") for c in left
    )
    assert all(ord(c) < 0x20 or c in joiners or c == printable(c) for c in left)
    assert printable(left) == left


def test_lines_keep_their_ends() -> None:
    assert printable_lines("one\n\ttwo\x1b[K\n") == "one\n\ttwo\\u001b[K\n"


def test_what_is_said_is_printable(capsys: pytest.CaptureFixture[str]) -> None:
    say("a\nb\x1b[1m")
    say_lines("a\nb\x1b[1m\n", err=True)
    told = capsys.readouterr()
    assert told.out == "a\\nb\\u001b[1m\n"
    assert told.err == "a\nb\\u001b[1m\n"


def test_a_terminal_of_another_encoding_is_told_too(monkeypatch: pytest.MonkeyPatch) -> None:
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding="ascii"))
    say("größer → 物")
    assert raw.getvalue() == b"gr\\xf6\\xdfer \\u2192 \\u7269\n"


def test_a_logged_name_forges_no_line() -> None:
    name = "x\nomibench: done\x1b[A"
    ours = PrintableRecord("omibench.stages.ocr", 40, "", 1, "%s: unread", (name,), None)
    others = PrintableRecord("httpx", 40, "", 1, "two\nlines \x1b[A", (), None)
    assert ours.getMessage() == "x\\nomibench: done\\u001b[A: unread"
    assert others.getMessage() == "two\nlines \\u001b[A"


def test_guarded_streams_take_what_libraries_write(capsys: pytest.CaptureFixture[str]) -> None:
    before = sys.stdout, sys.stderr, logging.getLogRecordFactory()
    with guarded_streams():
        sys.stdout.write("title \x1b]0;x\x07\r\n")
        sys.stderr.writelines(["one\r", "two\n"])
        logging.Logger("omibench.of nobody").warning("paper %s", "\x1b[8m\n")
        raw_stream(sys.stderr).write("\rbar")
        assert sys.stdout.encoding
    assert (sys.stdout, sys.stderr, logging.getLogRecordFactory()) == before
    told = capsys.readouterr()
    assert told.out == "title \\u001b]0;x\\u0007\n"
    assert told.err == "one\\rtwo\npaper \\u001b[8m\\n\n\rbar"


def test_a_stream_that_is_not_guarded_is_itself() -> None:
    stream = io.StringIO()
    assert raw_stream(stream) is stream
    assert raw_stream(Guarded(stream)) is stream  # type: ignore[arg-type]


@pytest.mark.parametrize(("columns", "width"), [("20", 40), ("90", 90), ("400", 120)])
def test_lines_follow_the_terminal_within_limits(
    monkeypatch: pytest.MonkeyPatch, columns: str, width: int
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    assert measure_width() == width
