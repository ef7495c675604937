"""The changelog of the board: who moved, from where to where."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omibench.errors import (
    FileFormatError,
    MissingInputError,
    ModelError,
    OutputError,
    PassingError,
)
from omibench.schemas.tables import write_text
from omibench.study.reevaluate.candidates import ModelCandidate
from omibench.study.reevaluate.changes import (
    Move,
    Priced,
    Standing,
    Standings,
    add_entry,
    find_moves,
    format_entry,
    make_news,
    post,
    publish,
    read_standings,
)

NEW = Priced(ModelCandidate("new-1", "Lab/new-1", "lab", {}), 1234, 1.0, 2.0)


def board(folder: Path, name: str, accuracies: dict[str, float], **more: Any) -> Standings:
    metrics = {
        model: {"cot": {"acc": acc, "lo": acc / 2, "hi": (1 + acc) / 2, "simulated": False} | more}
        for model, acc in accuracies.items()
    }
    path = folder / f"{name}.json"
    path.write_text(json.dumps(metrics))
    return read_standings(path)


def test_equal_accuracies_share_a_rank(tmp_path: Path) -> None:
    found = board(tmp_path, "m", {"a": 0.5, "b": 0.7, "c": 0.5, "d": 0.1})
    assert {model: s.rank for (_, model), s in found.items()} == {"b": 1, "a": 2, "c": 2, "d": 4}


@given(st.dictionaries(st.text("ab", max_size=4), st.floats(0, 1), max_size=6))
def test_a_rank_counts_those_before(accuracies: dict[str, float]) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        found = board(Path(folder), "m", accuracies)
    for (_, model), standing in found.items():
        better = [other for other, acc in accuracies.items() if acc > accuracies[model]]
        assert standing.rank == len(better) + 1


def test_moves_are_new_places_other_ranks_and_other_scores(tmp_path: Path) -> None:
    before = board(tmp_path, "before", {"a": 0.7, "b": 0.5, "c": 0.3})
    after = board(tmp_path, "after", {"a": 0.7, "b": 0.5, "c": 0.31, "new-1": 0.6})
    assert find_moves(before, before) == []
    moved = find_moves(before, after)
    assert [(m.model, m.before.rank if m.before else None, m.after.rank) for m in moved] == [
        ("new-1", None, 2), ("b", 2, 3), ("c", 3, 4),
    ]  # fmt: skip
    text = format_entry("2026-11-21 06:00 UTC", [NEW], 0.5, moved)
    assert "| cot | `new-1` | new → 2 | 60.0 % [30.0, 80.0] | new |" in text
    assert "| cot | `b` | 2 → 3 | 50.0 % [25.0, 75.0] | +0.0 points |" in text
    assert "| cot | `c` | 3 → 4 | 31.0 % [15.5, 65.5] | +1.0 points |" in text
    assert "`new-1` is `Lab/new-1`, found by the watch `lab`; 1,234 requests were to buy" in text
    assert "Spent: $0.5" in text
    assert "SIMULATED" not in text


def test_what_is_made_up_says_so(tmp_path: Path) -> None:
    after = board(tmp_path, "m", {"new-1": 0.6}, simulated=True)
    text = format_entry("now", [NEW], 0.0, find_moves({}, after))
    assert "`new-1` SIMULATED" in text
    assert "their scores are invented" in text


def test_a_changelog_grows_at_its_top(tmp_path: Path) -> None:
    changelog = tmp_path / "board" / "changes.md"
    for when in ("first", "second", "third"):
        add_entry(changelog, format_entry(when, [NEW], 0.0, []))
    text = changelog.read_text()
    assert text.startswith("# What changed on the board\n")
    headings = [line for line in text.splitlines() if line.startswith("## ")]
    assert headings == [f"## {when}: `new-1`" for when in ("third", "second", "first")]
    assert text.count("Nothing moved.") == 3


def test_no_board_has_no_standings_and_a_broken_one_is_an_error(tmp_path: Path) -> None:
    assert read_standings(tmp_path / "none.json") == {}
    for broken in ("{", "[1]", '{"a": {"cot": {"acc": "x"}}}'):
        (tmp_path / "m.json").write_text(broken)
        with pytest.raises(FileFormatError, match="not the metrics of a study"):
            read_standings(tmp_path / "m.json")


# The published board: a copy of the results that is never half of one.


FILES = {
    "analyze/report.html": "report",
    "analyze/metrics.json": "{}",
    "analyze/explorer/pages/p1.html": "<img src='../../../freeze/images/a.png'>",
    "freeze/images/a.png": "picture",
    "pictures/composite/p1.png": "a made picture",
    "freeze/answers.jsonl": "gold",
    "score/m/cot.parquet": "verdicts",
}


def results(folder: Path, **changes: str) -> Path:
    for name, text in (FILES | changes).items():
        write_text(folder / "results" / name, text)
    return folder / "results"


def held(board: Path) -> set[str]:
    return {str(p.relative_to(board)) for p in board.rglob("*") if p.is_file()}


def test_the_board_holds_what_its_pages_show_and_no_gold(tmp_path: Path) -> None:
    report = publish(results(tmp_path), tmp_path / "board")
    assert report == tmp_path / "board/analyze/report.html"
    shown = {name for name in FILES if name.startswith(("analyze/", "freeze/images/", "pictures/"))}
    assert held(tmp_path / "board") == {*shown, "index.html"}


def test_what_is_gone_goes_and_what_is_equal_stays(tmp_path: Path) -> None:
    source, board = results(tmp_path), tmp_path / "board"
    publish(source, board)
    (board / "changes.md").write_text("what moved")
    untouched = (board / "analyze/metrics.json").stat()
    os.utime(board / "analyze/report.html", (1, 1))
    (source / "analyze/report.html").write_text("REPORT")
    (source / "analyze/explorer/pages/p1.html").unlink()
    publish(source, board)
    assert (board / "analyze/report.html").read_text() == "REPORT"
    assert not (board / "analyze/explorer/pages/p1.html").exists()
    assert (board / "changes.md").read_text() == "what moved"
    assert (board / "analyze/metrics.json").stat().st_mtime_ns == untouched.st_mtime_ns


def test_no_report_and_no_room_are_one_line(tmp_path: Path) -> None:
    with pytest.raises(MissingInputError, match="report not found"):
        publish(tmp_path, tmp_path / "board")
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="cannot be"):
        publish(results(tmp_path), tmp_path / "file")


# News are posted as JSON to a URL that no message names.


PLANTED = "planted-T0kenOfTheHook"
MOVED = [Move("cot", "new-1", None, Standing(1, 0.5, 0.4, 0.6, simulated=True))]


class Hook(BaseHTTPRequestHandler):
    """Answers with the status that its path ends in, and remembers what it was told."""

    told: list[Any] = []

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        Hook.told.append(json.loads(body))
        said = f"no, {self.path}".encode()
        self.send_response(int(self.path[-3:]))
        self.send_header("content-length", str(len(said)))
        self.end_headers()
        self.wfile.write(said)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing is logged."""


@pytest.fixture
def hook() -> Iterator[str]:
    Hook.told = []
    server = ThreadingHTTPServer(("127.0.0.1", 0), Hook)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/{PLANTED}/"
    server.shutdown()
    server.server_close()
    thread.join()


def test_news_arrive(hook: str, monkeypatch: pytest.MonkeyPatch) -> None:
    body = make_news("s", "evaluated new-1", ["new-1"], MOVED * 60, "board")
    monkeypatch.setenv("HOOK", f"{hook}200")
    assert post(body, "HOOK") is True
    (told,) = Hook.told
    assert told == body
    assert told["simulated"] is True
    assert (told["moved"], len(told["moves"])) == (60, 50)
    assert told["moves"][0] == {
        "setting": "cot", "model": "new-1", "rank_before": None, "rank": 1,
        "accuracy_before": None, "accuracy": 0.5,
    }  # fmt: skip


def test_without_a_url_nothing_is_posted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HOOK", raising=False)
    assert post({}, "HOOK") is False


@pytest.mark.parametrize(
    ("status", "passes"), [(403, False), (404, False), (429, True), (503, True)]
)
def test_a_refusal_says_whether_it_may_pass_and_never_where(
    hook: str, monkeypatch: pytest.MonkeyPatch, status: int, passes: bool
) -> None:
    monkeypatch.setenv("HOOK", f"{hook}{status}")
    with pytest.raises(
        ModelError, match=f"the webhook in HOOK refused the news: HTTP {status}"
    ) as e:
        post({}, "HOOK")
    assert isinstance(e.value, PassingError) is passes
    assert PLANTED not in str(e.value)


def test_text_of_others_is_no_markup_and_has_an_end(
    hook: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOOK", f"{hook}200")
    post(
        make_news("s", "failed: <!channel> <https://x.example|click> &\udcff\r\n" + "x" * 9999, []),
        "HOOK",
    )
    (told,) = Hook.told
    assert told["text"].startswith("failed: &lt;!channel&gt; &lt;https://x.example|click&gt; &amp;")
    assert told["text"].count("x") < 4000


@pytest.mark.parametrize(
    "url",
    [
        f"http://127.0.0.1:9/{PLANTED}", f"file:///{PLANTED}", f"http://[::1/{PLANTED}",
        f"https://[{PLANTED}]/x", f"http:/{PLANTED}", f"http://u:{PLANTED}@127.0.0.1:9/",
        f"http://127.0.0.1:9/{PLANTED} x", f"http://127.0.0.1:9/{PLANTED}\r\nX: y",
        f"http://127.0.0.1:{PLANTED}/", f"http://127.0.0.1:9\\@{PLANTED}/",
        f"http://127.0.0.1:9/{PLANTED}é", f"<http://127.0.0.1:9/{PLANTED}>",
    ],
)  # fmt: skip
def test_a_url_that_leads_nowhere_is_not_shown(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOOK", url)
    with pytest.raises(ModelError, match="HOOK") as found:
        post({}, "HOOK")
    assert PLANTED not in str(found.value)
    assert isinstance(found.value, PassingError) is (url == f"http://127.0.0.1:9/{PLANTED}")
