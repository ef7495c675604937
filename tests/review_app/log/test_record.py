"""decisions.jsonl and the live log: each takes over what it lacks, once."""

from __future__ import annotations

from pathlib import Path

from typer.testing import CliRunner

from omibench.cli.main import app
from omibench.review.chain import compute_head
from omibench.review.read import read_decisions
from omibench.review_app.log.events import read_head
from omibench.review_app.log.record import export_live_log, extend_record, take_over_record
from omibench.review_app.service import ReviewService
from review.builders import decide, write_lines
from review_app.builders import make_service, make_task, open_browser, status_of


def test_the_record_gets_every_event_once_and_has_the_same_head(tmp_path: Path) -> None:
    service = make_service(tmp_path)
    ann = open_browser(service, "ann")
    ann.decide("item:p1")
    assert extend_record(service.database, tmp_path) == 1
    ann.decide("item:p2")
    words = ["review", "status", "--review", str(tmp_path)]
    assert "not counted yet: 1;" in CliRunner().invoke(app, words).stderr
    assert export_live_log(tmp_path) == 1
    assert export_live_log(tmp_path) == 0
    assert CliRunner().invoke(app, words).stderr == ""
    decisions = read_decisions(tmp_path / "decisions.jsonl").require_whole()
    assert [decision.task for decision in decisions] == ["item:p1", "item:p2"]
    with service.database.read() as connection:
        assert read_head(connection) == (2, compute_head(decisions))


def test_a_folder_without_a_live_log_is_left_alone(tmp_path: Path) -> None:
    assert export_live_log(tmp_path) == 0
    assert not list(tmp_path.iterdir())


def test_the_log_begins_with_the_record(tmp_path: Path) -> None:
    make_service(tmp_path).close()
    first = decide(1, "ann", "annotator", make_task(1))
    write_lines(tmp_path / "decisions.jsonl", first, first, "{bad")
    service = ReviewService(tmp_path)
    assert status_of(service, "item:p1") == "audit"
    assert take_over_record(service.database, tmp_path) == 0  # the log has it
    second = decide(2, "bob", "auditor", make_task(1))
    write_lines(tmp_path / "decisions.jsonl", first, second)
    assert status_of(service, "item:p1") == "settled"
    with service.database.read() as connection:
        assert read_head(connection) == (2, compute_head([first, second]))


def test_a_last_line_without_its_end_is_no_part_of_the_next(tmp_path: Path) -> None:
    service = make_service(tmp_path)
    first = decide(1, "ann", "annotator", make_task(1))
    (tmp_path / "decisions.jsonl").write_text(first.model_dump_json())
    open_browser(service, "ann").decide("item:p2")
    extend_record(service.database, tmp_path)
    lines = read_decisions(tmp_path / "decisions.jsonl")
    assert [decision.task for decision in lines.require_whole()] == ["item:p1", "item:p2"]
