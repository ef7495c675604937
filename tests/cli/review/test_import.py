"""`omibench review import`."""

from __future__ import annotations

from pathlib import Path

from typer.testing import CliRunner

from command_line import app
from omibench.errors import EXIT_SOME_FAILED
from omibench.review.tags import TagEvent, append_tags, read_tags
from review.builders import decide, make_task, write_lines

TASK = make_task()


def test_what_was_taken_and_what_not_is_said(tmp_path: Path) -> None:
    write_lines(tmp_path / "tasks.jsonl", TASK)
    words = ["review", "import", "--review", str(tmp_path)]
    good = write_lines(tmp_path / "good.jsonl", decide(1, "ann", "annotator", TASK))
    result = CliRunner().invoke(app, [*words, str(good)])
    assert (result.exit_code, result.stdout) == (
        0,
        "1 decisions added, 0 already present, 0 refused\n",
    )
    old = decide(2, "ann", "annotator", TASK, content_hash="f" * 64)
    bad = write_lines(tmp_path / "bad.jsonl", old, "{")
    result = CliRunner().invoke(app, [*words, str(bad), str(good)])
    assert result.exit_code == EXIT_SOME_FAILED
    assert f"{bad}, line 2: is not JSON" in result.output
    assert (
        "1 decisions added, 1 already present, 1 refused, 1 tasks stale (item:p1)" in result.output
    )


def test_tags_of_another_folder_are_added_once(tmp_path: Path) -> None:
    tags = [TagEvent(person="ann", tag=tag, problem="p1") for tag in ("odd", "even")]
    append_tags(tmp_path / "theirs", tags)
    append_tags(tmp_path / "ours", tags[:1])
    file = tmp_path / "theirs/tags.jsonl"
    words = ["review", "import", str(file), "--review", str(tmp_path / "ours")]
    result = CliRunner().invoke(app, words)
    assert (result.exit_code, result.stdout) == (
        0,
        "1 changes of tags added, 1 already present\n",
    )
    assert read_tags(tmp_path / "ours") == tags
    with file.open("a") as lines:
        lines.write("{}\n")
    result = CliRunner().invoke(app, words)
    assert result.exit_code == EXIT_SOME_FAILED
    assert f"{file}, line 3: " in result.output
