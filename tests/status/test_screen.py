"""`status --watch` in a terminal: the alternate screen, left however the command ends."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import yaml
from tests.status.conftest import note_run

from omibench.params.study import Study

pty = pytest.importorskip("pty")
ENTER, LEAVE = "\x1b[?1049h\x1b[?25l", "\x1b[?25h\x1b[?1049l"


class Terminal:
    """A command in a terminal, and all that it wrote there."""

    def __init__(self, process: subprocess.Popen[bytes], end: int) -> None:
        self.process, self._end, self.text = process, end, ""

    def read_until(self, seen: Callable[[str], bool]) -> None:
        while not seen(self.text):
            if not self._read():
                pytest.fail(f"the terminal shows {self.text!r}")

    def read_all(self) -> str:
        while self._read():
            pass
        self.process.wait(60)
        return self.text

    def _read(self) -> bool:
        try:
            data = os.read(self._end, 65536)
        except OSError:  # the other end is closed
            return False
        self.text += data.decode()
        return bool(data)


@contextmanager
def watch(*words: str, term: str = "xterm") -> Iterator[Terminal]:
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "omibench", "status", "--params", "s.yaml", "--watch", *words]
    process = subprocess.Popen(
        command, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True,
        env={**os.environ, "TERM": term},
    )  # fmt: skip
    os.close(theirs)
    try:
        yield Terminal(process, ours)
    finally:
        process.kill()
        process.wait()
        os.close(ours)


@pytest.fixture
def notes(study: Study) -> Path:
    values = study.model_dump(mode="json", exclude_defaults=True)
    Path("s.yaml").write_text(yaml.safe_dump(values))
    return note_run({"infer one/cot": ["running"]})


def check(text: str) -> str:
    """The text after the alternate screen was left, which is entered and left once."""
    assert "\x1b[3J" not in text
    assert (text.count(ENTER), text.count(LEAVE)) == (1, 1)
    assert "\x1b" not in text.partition(ENTER)[0]
    return text.partition(LEAVE)[2]


def test_the_last_status_stays_when_the_run_ends(notes: Path) -> None:
    with watch("--every", "0.2", "--html", "status.html") as terminal:
        terminal.read_until(lambda text: text.count("\x1b[H\x1b[J") > 2)
        assert 'id="reload"' in Path("status.html").read_text("utf-8")
        with notes.open("a") as file:
            file.write(json.dumps({"time": time.time(), "job": 1, "state": "failed"}) + "\n")
            file.write(json.dumps({"time": time.time(), "end": "failed"}) + "\n")
        after = check(terminal.read_all())
    assert terminal.process.returncode == 3
    assert "\x1b" not in after
    assert "1 job failed" in after
    assert after.count("infer one/cot") == 1
    assert 'id="reload"' not in Path("status.html").read_text("utf-8")


@pytest.mark.usefixtures("notes")
@pytest.mark.parametrize(
    ("number", "code"),
    [
        (signal.SIGTERM, 143),
        pytest.param(signal.SIGINT, 130, marks=pytest.mark.slow),
        pytest.param(signal.SIGHUP, 129, marks=pytest.mark.slow),
    ],
)
def test_a_signal_leaves_the_alternate_screen(number: signal.Signals, code: int) -> None:
    with watch("--every", "60") as terminal:
        terminal.read_until(lambda text: "0 of 1 jobs done" in text)
        terminal.process.send_signal(number)
        after = check(terminal.read_all())
    assert terminal.process.returncode == code
    assert "0 of 1 jobs done" in after


@pytest.mark.slow
@pytest.mark.usefixtures("notes")
def test_an_error_leaves_the_alternate_screen() -> None:
    with watch("--every", "0.2", "--html", "gone/page.html") as terminal:
        terminal.read_until(lambda text: "0 of 1 jobs done" in text)
        Path("gone/page.html").unlink()
        Path("gone").rmdir()
        Path("gone").write_text("a file where a folder was")
        after = check(terminal.read_all())
    assert terminal.process.returncode in (1, 2)
    assert "0 of 1 jobs done" in after


@pytest.mark.slow
@pytest.mark.usefixtures("notes")
def test_a_terminal_without_escape_sequences_gets_lines() -> None:
    with watch("--every", "60", term="dumb") as terminal:
        terminal.read_until(lambda text: "0 of 1 jobs done" in text)
        terminal.process.terminate()
        assert "\x1b" not in terminal.read_all()


def test_a_text_is_cropped_to_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    from omibench.study.status.text import _crop

    monkeypatch.setenv("COLUMNS", "10")
    monkeypatch.setenv("LINES", "6")
    assert _crop("a\nb") == "a\nb"
    assert _crop("\n".join("abcdefgh")).splitlines() == [
        "a", "b", "c", "d", "... 4 more lines: `omibench status`",
    ]  # fmt: skip
    assert _crop("a\n" + "b" * 25 + "\nc\nd").splitlines()[:2] == ["a", "b" * 25]
