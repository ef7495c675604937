"""The command `omibench review export`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from omibench.cli.options import Params
from omibench.cli.review.options import Kinds, ReviewFolder, find_review_folder
from omibench.errors import EXIT_SOME_FAILED, OutputError, ParamsError
from omibench.text.terminal import say

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from omibench.review.exports import TaskSelection
    from omibench.review.folder import ReviewRecord


ExportRole = Literal["annotator", "auditor", "senior"]
"""Same as `review.people.AssignedRole`, whose import would slow down `omibench --help`."""


OutFolder = Annotated[
    Path | None,
    typer.Option(metavar="DIR", help="Folder to write tasks, decisions and pictures into."),
]
Statuses = Annotated[
    str | None,
    typer.Option(
        "--status",
        metavar="STATUS[,...]",
        help="Only tasks with this status: open, audit, escalated, settled.",
    ),
]
Person = Annotated[
    str | None,
    typer.Option(
        metavar="NAME", help="Only tasks assigned to this person, as this person can see them."
    ),
]
Role = Annotated[ExportRole | None, typer.Option(help="Write tasks as this role can see them.")]
PeopleFile = Annotated[
    Path | None,
    typer.Option(metavar="FILE.csv", help="Write the answers of the human baseline."),
]
OwnAnswersFile = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE.csv",
        help="Write the reviewers' own answers to the problems, given before they saw the key.",
    ),
]
LabelsFile = Annotated[
    Path | None,
    typer.Option(metavar="FILE.csv", help="Write labels of responses, for `omibench certify`."),
]
TagsFile = Annotated[
    Path | None,
    typer.Option(metavar="FILE.csv", help="Write the tags that users of the explorer set."),
]
CorrectionsFile = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE.yaml",
        help="Write the results of page tasks as corrections.yaml entries.",
    ),
]
Live = Annotated[
    bool,
    typer.Option("--live", help="Add the decisions logged by the application to decisions.jsonl."),
]


def export(
    review: ReviewFolder = None,
    params: Params = "params.yaml",
    out: OutFolder = None,
    kinds: Kinds = None,
    statuses: Statuses = None,
    person: Person = None,
    role: Role = None,
    people: PeopleFile = None,
    own_answers: OwnAnswersFile = None,
    labels: LabelsFile = None,
    tags: TagsFile = None,
    corrections: CorrectionsFile = None,
    live: Live = False,
) -> None:
    """Export tasks for reviewers, or results of the review for the study.

    With --person or --role, the export leaves out everything the role cannot see: hidden parts,
    gold answers, names and decisions of others, tags of the explorer. Decisions come back with
    `omibench review import`. Exits with 3 if bad lines of the review files were left out.

    \b
    Example:
      omibench review export --person ada --out for-ada
      omibench review export --people people.csv --labels labels.csv
      omibench review export --corrections reviewed.yaml
      omibench review export --tags tags.csv
    """
    from omibench.review.folder import read_review

    needs_tasks = out or people or own_answers or labels or corrections or live
    if not (needs_tasks or tags):
        raise ParamsError(
            "review export: give at least one of --out, --people, --own-answers, --labels, "
            "--corrections, --tags, --live"
        )
    folder = find_review_folder(review, params)
    errors: dict[str, None] = {}
    if tags is not None:
        _print_errors(_write_tags(tags, folder), errors)
    if not needs_tasks:
        raise typer.Exit(EXIT_SOME_FAILED if errors else 0)
    if live:
        from omibench.review.app.database import LIVE
        from omibench.review.app.decisions import list_unrecorded
        from omibench.review.folder import append_decisions

        growth = append_decisions(folder, [(LIVE, event) for event in list_unrecorded(folder)])
        say(f"{len(growth.added)} decisions added to decisions.jsonl", err=True)
    record = read_review(folder)
    _print_errors(record.errors, errors)
    if out is not None:
        selection = _read_selection(kinds, statuses, person, role)
        _print_errors(_write_folder(record, selection, out), errors)
    if people is not None:
        from omibench.review.exports import PEOPLE_COLUMNS, list_answers

        answers = list_answers(record.tasks, record.decisions, record.reviewers)
        _write_table(people, answers, PEOPLE_COLUMNS, "answers")
    if own_answers is not None:
        _write_own_answers(own_answers, record)
    if labels is not None:
        from omibench.review.exports import LABEL_COLUMNS, list_labels

        rows = list_labels(record.tasks, record.decisions)
        _write_table(labels, rows, LABEL_COLUMNS, "labelled responses")
    if corrections is not None:
        _write_corrections(corrections, record, params)
    if errors:
        raise typer.Exit(EXIT_SOME_FAILED)


def _print_errors(errors: Sequence[str], printed: dict[str, None]) -> None:
    """Print errors of bad lines, each once, and note them in `printed`."""
    for error in errors:
        if error not in printed:
            say(f"{error}; the line was skipped", err=True)
        printed[error] = None


def _write_tags(path: Path, folder: Path) -> tuple[str, ...]:
    """Write the current tags of a review folder and return its bad lines."""
    from omibench.review.tags import (
        TAG_COLUMNS,
        TAGS,
        list_current,
        list_tag_rows,
        read_tag_events,
    )

    lines = read_tag_events(folder / TAGS)
    _write_table(path, list_tag_rows(list_current(lines.rows)), TAG_COLUMNS, "tags")
    return lines.errors


def _write_own_answers(path: Path, record: ReviewRecord) -> None:
    from omibench.review.own_answers import COLUMNS, list_own_answers, list_rows

    rows = list_rows(list_own_answers(record.tasks, record.decisions))
    _write_table(path, rows, COLUMNS, "own answers")


def _write_corrections(path: Path, record: ReviewRecord, params: str) -> None:
    from omibench.cli.options import show_study
    from omibench.review.outcomes import ReviewRule
    from omibench.review.tasks.corrections import list_page_corrections
    from omibench.schemas.problem import Problem
    from omibench.schemas.tables import read_jsonl, write_text
    from omibench.stages.ocr.corrections.entry import format_corrections

    if path.exists():
        raise OutputError(f"{path}: the file exists; give another one and copy its entries")
    study = show_study(params)
    problems = read_jsonl(Path(study.study.results) / "ocr/problems.jsonl", Problem)
    rule = ReviewRule(study.review.reviewers)
    entries = list_page_corrections(problems, record.tasks, record.decisions, rule)
    write_text(path, format_corrections(entries))
    say(f"{len(entries)} corrections in {path}")


def _read_selection(
    kinds: str | None, statuses: str | None, person: str | None, role: ExportRole | None
) -> TaskSelection:
    from omibench.review.exports import TaskSelection
    from omibench.review.kinds import find_kind
    from omibench.review.state import STATUSES
    from omibench.schemas.validation import suggest_name

    names = statuses.split(",") if statuses else []
    for name in names:
        if name not in STATUSES:
            raise ParamsError(f"--status {name!r}: is not a status{suggest_name(name, STATUSES)}")
    kind_names = [find_kind(name).name for name in kinds.split(",")] if kinds else []
    chosen = tuple(status for status in STATUSES if status in names)
    return TaskSelection(tuple(kind_names), chosen, person, role)


def _write_folder(record: ReviewRecord, selection: TaskSelection, out: Path) -> tuple[str, ...]:
    """Write an export and return the bad lines of the tags in it."""
    from omibench.review.exports import select_export, write_export
    from omibench.review.people import find_reviewer

    if selection.person is not None and record.reviewers:
        find_reviewer(record.reviewers, selection.person)
    chosen = select_export(record, selection)
    pictures = write_export(chosen, record.folder, out)
    say(
        f"{len(chosen.tasks)} tasks, {len(chosen.decisions)} decisions and {pictures} pictures "
        f"in {out}"
    )
    return chosen.errors


def _write_table(
    path: Path, rows: Sequence[Mapping[str, object]], columns: Sequence[str], what: str
) -> None:
    from omibench.files.outputs import write_csv

    write_csv(path, rows, columns)
    say(f"{len(rows)} {what} in {path}")


# The command `omibench review import`.


def import_(
    files: Annotated[
        list[Path],
        typer.Argument(metavar="FILE", help="JSONL files of decisions, or tags.jsonl files."),
    ],
    review: ReviewFolder = None,
    params: Params = "params.yaml",
) -> None:
    """Add decisions from files to decisions.jsonl of a review, or tags to its tags.jsonl.

    A file of tags has a name that ends in tags.jsonl. Importing a file twice changes nothing.
    Lines that do not fit their task are listed and skipped, and the exit code is 3. A decision on
    content that has changed since is stored, and its task is opened again.

    \b
    Example:
      omibench review import ann.jsonl bob.jsonl --review review
    """
    from omibench.review.imports import import_files
    from omibench.review.tags import TAGS

    folder = find_review_folder(review, params)
    decisions = [file for file in files if not file.name.endswith(TAGS)]
    errors = [
        line for file in files if file not in decisions for line in _import_tags(folder, file)
    ]
    if errors and not decisions:
        raise typer.Exit(EXIT_SOME_FAILED)
    if not decisions:
        return
    outcome = import_files(folder, decisions)
    for error in outcome.errors:
        say(error, err=True)
    stale = f", {len(outcome.stale)} tasks stale ({', '.join(outcome.stale[:10])})"
    say(
        f"{outcome.added} decisions added, {outcome.repeated} already present, "
        f"{len(outcome.errors)} refused{stale if outcome.stale else ''}"
    )
    if outcome.errors or errors:
        raise typer.Exit(EXIT_SOME_FAILED)


def _import_tags(folder: Path, file: Path) -> tuple[str, ...]:
    """Add the tags of a file and return its bad lines."""
    from omibench.review.folder import read_lines
    from omibench.review.tags import TagEvent, append_tags

    lines = read_lines(file, TagEvent)
    for error in lines.errors:
        say(error, err=True)
    added = append_tags(folder, lines.rows)
    say(f"{added} changes of tags added, {len(lines.rows) - added} already present")
    return lines.errors
