"""`omibench review export --to label-studio` and `import --from label-studio`."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from omibench.cli.main import app
from omibench.errors import EXIT_SOME_FAILED, ParamsError
from omibench.review.folder import read_decisions
from omibench.schemas.review import TaskPicture
from review.builders import make_task, write_lines
from review.label_studio.test_round_trip import ITEM, annotate

SHA = hashlib.sha256(b"picture").hexdigest()
TASK = make_task().model_copy(
    update={
        "pictures": [TaskPicture(sha256=SHA, suffix="png")],
        "people": {"annotator": ["ann"]},
    }
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A review of one item with a picture."""
    review = tmp_path / "review"
    sample = TASK.model_copy(update={"id": "item:p1@w", "purpose": "sample", "of": TASK.id})
    write_lines(review / "tasks.jsonl", TASK, sample)
    (review / "pictures").mkdir()
    (review / "pictures" / f"{SHA}.png").write_bytes(b"picture")
    people = "- {name: ann, roles: [annotator], email: ann@example.org}\n"
    (review / "reviewers.yaml").write_text(people, encoding="utf-8")
    return review


def run(verb: str, folder: Path, *words: object) -> Any:
    return CliRunner().invoke(app, ["review", verb, "--review", str(folder), *map(str, words)])


def test_a_project_has_tasks_configuration_and_pictures(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "projects"
    result = run("export", folder, "--to", "label-studio", "--kind", "item", "--out", out)
    assert result.exit_code == 0, result.output
    (document,) = json.loads((out / "item.json").read_text())
    assert document["data"]["part_images"] == [
        {"url": f"/data/local-files/?d=projects/pictures/{SHA}.png"}
    ]
    assert '<Choices name="valid" toName="task"' in (out / "item.xml").read_text()
    assert (out / "pictures" / f"{SHA}.png").read_bytes() == b"picture"


def test_what_comes_back_is_recorded_once(folder: Path, tmp_path: Path) -> None:
    export = tmp_path / "export.json"
    export.write_text(
        json.dumps([annotate(TASK, ITEM, completed_by=4), annotate(TASK, {}, was_cancelled=True)]),
        encoding="utf-8",
    )
    users = tmp_path / "users.json"
    users.write_text('[{"id": 4, "email": "ann@example.org"}]', encoding="utf-8")
    words = ("--from", "label-studio", export, "--users", users)
    for line in ("1 decisions added", "0 decisions added, 1 already present"):
        result = run("import", folder, *words)
        assert result.exit_code == 0, result.output
        assert line in result.stdout
        assert "1 tasks were skipped in Label Studio" in result.stdout
    (decision,) = read_decisions(folder / "decisions.jsonl").rows
    assert (decision.person, decision.role) == ("ann", "imported")


def test_a_bad_annotation_ends_with_three(folder: Path, tmp_path: Path) -> None:
    export = tmp_path / "export.json"
    export.write_text(json.dumps([annotate(TASK, ITEM, completed_by=9)]), encoding="utf-8")
    result = run("import", folder, "--from", "label-studio", export)
    assert result.exit_code == EXIT_SOME_FAILED
    assert "task 1, annotation 1: completed_by: user 9 is unknown" in result.stderr


@pytest.mark.parametrize(
    ("verb", "words", "message"),
    [
        ("export", ("--to", "label-studio"), "--to needs --out DIR"),
        ("export", ("--out", "x", "--pictures", "/"), "--pictures needs --to"),
        ("import", ("x.jsonl", "--users", "u.json"), "needs --from label-studio"),
    ],
)
def test_options_that_need_each_other(
    folder: Path, verb: str, words: tuple[str, ...], message: str
) -> None:
    result = run(verb, folder, *words)
    assert isinstance(result.exception, ParamsError)
    assert message in str(result.exception)
