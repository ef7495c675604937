"""Mathpix, against a server that speaks its API."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.mathpix_server import ID, KEY, Mathpix, line, running
from tests.stages.ocr.conftest import exam
from tests.stages.ocr.engines.pages import save_scan
from typer.testing import CliRunner, Result

from command_line import app
from omibench.errors import MissingInputError, ModelError
from omibench.schemas.pages import PageText
from omibench.schemas.problem import Problem
from omibench.schemas.tables import read_jsonl
from omibench.stages.ocr.engines.mathpix import (
    ID_ENV,
    KEY_ENV,
    URL_ENV,
    Client,
    open_client,
    read_image,
    read_pdf,
)

PAGES = [
    {
        "page": 1,
        "page_width": 1240,
        "page_height": 1754,
        "lines": [
            line("1. What is $v_{0}$ of the ball in Figure 1?", 150, 200, 800, 40),
            line("", 300, 300, 400, 300, type="diagram"),
            line("Figure 1: A ball.", 380, 620, 240, 36),
            line("2. And how high does it fly over the whole of the field?", 150, 720, 900, 40),
            line("about 3 m", 200, 900, 300, 60, is_handwritten=True, confidence=0.4),
        ],
    }
]


@pytest.fixture
def mathpix() -> Iterator[Mathpix]:
    with running(Mathpix(pages=PAGES)) as server:
        yield server


@pytest.fixture
def client(mathpix: Mathpix, tmp_path: Path) -> Client:
    return Client(mathpix.url, ID, KEY, tmp_path / "mathpix", pause=0.01)


def test_a_paper_is_sent_once_polled_and_read(mathpix: Mathpix, client: Client) -> None:
    mathpix.polls = 3
    (page,) = read_pdf(client, b"%PDF-1.7 paper", "abc").values()
    assert [ln.text for ln in page.lines][:2] == [
        "1. What is $v_{0}$ of the ball in Figure 1?", "Figure 1: A ball.",
    ]  # fmt: skip
    assert page.figures == [(300, 300, 700, 600)]
    assert [ln.handwritten for ln in page.lines] == [False, False, False, True]
    assert mathpix.seen["/v3/pdf/job-1"] == 4
    assert b"%PDF-1.7 paper" in mathpix.bodies[0]
    assert b"math_inline_delimiters" in mathpix.bodies[0]
    assert read_pdf(client, b"%PDF-1.7 paper", "abc") == {1: page}
    assert mathpix.seen["/v3/pdf"] == 1


def test_a_run_that_was_killed_goes_on_with_the_job_it_has_paid_for(
    mathpix: Mathpix, client: Client
) -> None:
    mathpix.polls = 10_000
    with pytest.raises(ModelError, match="still 'split'"):
        read_pdf(client._replace(patience=0.0), b"%PDF", "abc")
    mathpix.polls = 0
    assert list(read_pdf(client, b"%PDF", "abc")) == [1]
    assert mathpix.seen["/v3/pdf"] == 1


def test_a_busy_server_is_asked_again(mathpix: Mathpix, client: Client) -> None:
    mathpix.busy = 3
    assert list(read_pdf(client, b"%PDF", "abc")) == [1]


def test_a_job_that_failed_says_why_and_is_sent_anew_next_time(
    mathpix: Mathpix, client: Client
) -> None:
    mathpix.fails = "PDF is broken"
    with pytest.raises(ModelError, match="PDF is broken"):
        read_pdf(client, b"%PDF", "abc")
    mathpix.fails = None
    assert list(read_pdf(client, b"%PDF", "abc")) == [1]
    assert mathpix.seen["/v3/pdf"] == 2


def test_a_photograph_goes_to_the_other_call(mathpix: Mathpix, client: Client) -> None:
    contour = [[10, 20], [110, 22], [110, 60], [10, 58]]
    mathpix.text = {
        "image_width": 640,
        "image_height": 480,
        "line_data": [{"type": "text", "cnt": contour, "text": "5. Who?", "confidence": 0.9}],
    }
    page = read_image(client, b"png", "def")
    assert [(ln.text, ln.quad[0], ln.quad[2]) for ln in page.lines] == [
        ("5. Who?", (10, 20), (110, 60))
    ]
    assert (page.width, page.height, page.figures) == (640, 480, None)
    sent = json.loads(mathpix.bodies[0])
    assert sent["src"].startswith("data:image/png;base64,")
    assert read_image(client, b"png", "def") == page
    assert mathpix.seen["/v3/text"] == 1


def test_wrong_keys_are_told_and_kept_nowhere(mathpix: Mathpix, client: Client) -> None:
    wrong = client._replace(app_key="wrong-secret")
    with pytest.raises(ModelError, match="HTTP 401: Invalid credentials") as told:
        read_pdf(wrong, b"%PDF", "abc")
    assert "wrong-secret" not in str(told.value)
    assert not list(client.folder.rglob("*"))


def test_keys_come_from_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(ID_ENV, raising=False)
    monkeypatch.delenv(KEY_ENV, raising=False)
    with pytest.raises(MissingInputError, match="set MATHPIX_APP_ID and MATHPIX_APP_KEY"):
        open_client(tmp_path)
    monkeypatch.setenv(ID_ENV, ID)
    monkeypatch.setenv(KEY_ENV, KEY)
    assert open_client(tmp_path).url == "https://api.mathpix.com"
    monkeypatch.setenv(URL_ENV, "file:///etc/passwd")
    with pytest.raises(MissingInputError, match="is not an http"):
        open_client(tmp_path)


def run(mathpix: Mathpix, folder: Path, key: str, *papers: Path) -> Result:
    """What the command does with papers and a key."""
    params = json.dumps({"study": {"store": str(folder / "store")}})
    files = [str(paper) for paper in (save_scan(folder), *papers)]
    told = ["ocr", *files, "--out", str(folder / "out"), "--engine", "mathpix", "--params", params]
    keys = {ID_ENV: ID, KEY_ENV: key, URL_ENV: mathpix.url}
    return CliRunner().invoke(app, told, env=keys)


@pytest.mark.slow
def test_the_command_reads_a_scan_by_mathpix(mathpix: Mathpix, tmp_path: Path) -> None:
    mathpix.polls = 0
    done = run(mathpix, tmp_path, KEY)
    assert done.exit_code == 0, done.output
    first, second = read_jsonl(tmp_path / "out/problems.jsonl", Problem)
    assert first.question.startswith("What is $v_{0}$ of the ball")
    assert [figure.caption for figure in first.images] == ["Figure 1: A ball."]
    assert (second.question, list(map(str, second.warnings))) == (
        "And how high does it fly over the whole of the field?", [],
    )  # fmt: skip
    (page,) = read_jsonl(tmp_path / "out/pages.jsonl", PageText)
    assert page.engine == "mathpix"
    assert {ln.left_out for ln in page.lines} == {None, "handwriting"}
    for file in tmp_path.rglob("*"):
        assert file.is_dir() or KEY.encode() not in file.read_bytes()


@pytest.mark.slow
def test_an_engine_that_fails_is_a_code_and_the_other_papers_are_done(
    mathpix: Mathpix, tmp_path: Path
) -> None:
    exam().save(tmp_path / "whole.pdf")
    done = run(mathpix, tmp_path, "wrong", tmp_path / "whole.pdf")
    report = json.loads((tmp_path / "out/report.json").read_text("utf-8"))["files"]
    assert report[0]["codes"] == ["engine_failed"]
    assert report[1]["status"] == "ok"
    assert "1 of 2 files failed" in str(done.exception)
