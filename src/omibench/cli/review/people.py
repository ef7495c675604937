"""`omibench review user`: manage the passwords of reviewers."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from omibench.cli.options import AsJson, Params, make_group
from omibench.cli.review.options import ReviewFolder, find_review, find_review_folder
from omibench.errors import EXIT_SOME_FAILED
from omibench.text.terminal import say, say_lines

if TYPE_CHECKING:
    import sqlite3

    from omibench.review.folder import ReviewRecord


PersonName = Annotated[str, typer.Argument(metavar="NAME", help="Name in reviewers.yaml.")]
user_app = make_group("user", "Manage the passwords of the reviewers in reviewers.yaml.")
PASSWORD_CHARACTERS = 2000
"""The longest password read from standard input, in bytes."""


@user_app.command()
def add(name: PersonName, review: ReviewFolder = None, params: Params = "params.yaml") -> None:
    """Set the password of a reviewer, typed at the prompt or read from standard input.

    \b
    Example:
      omibench review user add ann --review review
    """
    from omibench.errors import ParamsError
    from omibench.review.app.database import read_hash, set_password

    folder = _find_folder(review, params)
    _require_listed(folder, name)
    with _open_log(folder) as connection:
        if read_hash(connection, name) is not None:
            raise ParamsError(
                f"review user add: {name} has a password already; change it with "
                f"`omibench review user password {name}`"
            )
    password = _ask_password(name)
    with _open_log(folder) as connection:
        set_password(connection, name, password)
    say(f"{name} can log in", err=True)


@user_app.command()
def password(name: PersonName, review: ReviewFolder = None, params: Params = "params.yaml") -> None:
    """Change a password, typed at the prompt or read from standard input; ends open sessions.

    \b
    Example:
      omibench review user password ann
    """
    from omibench.review.app.database import set_password

    folder = _find_folder(review, params)
    _require_user(folder, name)
    text = _ask_password(name)
    with _open_log(folder) as connection:
        set_password(connection, name, text)
    say(f"password of {name} changed", err=True)


@user_app.command()
def remove(name: PersonName, review: ReviewFolder = None, params: Params = "params.yaml") -> None:
    """Remove a password: the reviewer can no longer log in; earlier decisions stay.

    \b
    Example:
      omibench review user remove ann
    """
    from omibench.review.app.database import remove_password

    folder = _find_folder(review, params)
    _require_user(folder, name)
    with _open_log(folder) as connection:
        remove_password(connection, name)
    say(f"{name} can no longer log in", err=True)


@user_app.command("list")
def list_(review: ReviewFolder = None, params: Params = "params.yaml") -> None:
    """List the reviewers in reviewers.yaml with their roles and whether they can log in.

    \b
    Example:
      omibench review user list
    """
    from omibench.params.review import REVIEWERS
    from omibench.review.app.database import list_names
    from omibench.review.people import read_reviewers

    folder = _find_folder(review, params)
    people = read_reviewers(folder / REVIEWERS)
    with _open_log(folder) as connection:
        names = list_names(connection)
    for person in people:
        login = "can log in" if person.name in names else "has no password"
        say(f"{person.name}: {', '.join(person.roles)}; {login}")
    for name in sorted(names - {person.name for person in people}):
        say(f"{name}: not in reviewers.yaml, so the password has no effect")


def _find_folder(review: Path | None, params: str) -> Path:
    from omibench.extras import require_extra

    require_extra("review", "review user", "argon2")
    return find_review_folder(review, params)


@contextmanager
def _open_log(folder: Path) -> Iterator[sqlite3.Connection]:
    """Open the live log in a transaction, even while a server uses it."""
    from omibench.review.app.database import LIVE, Database

    database = Database(folder / LIVE)
    try:
        with database.write() as connection:
            yield connection
    finally:
        database.close()


def _require_listed(folder: Path, name: str) -> None:
    from omibench.params.review import REVIEWERS
    from omibench.review.people import find_reviewer, read_reviewers

    find_reviewer(read_reviewers(folder / REVIEWERS), name)


def _require_user(folder: Path, name: str) -> None:
    """Raise MissingInputError unless a person has a password."""
    from omibench.errors import MissingInputError
    from omibench.review.app.database import list_names
    from omibench.schemas.validation import suggest_name

    with _open_log(folder) as connection:
        names = list_names(connection)
    if name not in names:
        raise MissingInputError(
            f"review user: {name!r} has no password{suggest_name(name, sorted(names))}"
        )


def _ask_password(name: str) -> str:
    """Read a password typed twice, or the first line of standard input; never an argument."""
    if sys.stdin.isatty():
        return str(
            typer.prompt(f"Password of {name}", hide_input=True, confirmation_prompt=True, err=True)
        )
    return sys.stdin.readline(PASSWORD_CHARACTERS).rstrip("\r\n")


# The command `omibench review status`.


def status(
    review: ReviewFolder = None,
    params: Params = "params.yaml",
    as_json: AsJson = False,
) -> None:
    """Show the progress of a review by kind of task and by reviewer.

    `hurried` counts decisions in less time than `review.shortest_seconds`.

    `review.reviewers` in the parameters decides when a task is settled. Exits with 3 if a decision
    is stale, a task is escalated or a line is bad. Writes nothing.

    \b
    Example:
      omibench review status
      omibench review status --review sample/review --json
    """
    from omibench.review.agreement.text import describe_calibration
    from omibench.review.calibration import measure_calibration
    from omibench.review.progress import describe_progress, dump_progress, measure_people
    from omibench.review.report import summarize_review

    path, rule = find_review(review, params)
    folder = _read_with_journal(path)
    for error in folder.errors:
        say(error, err=True)
    report = summarize_review(folder.tasks, folder.decisions, rule.reviewers)
    shortest = rule.shortest_seconds
    people = measure_people(folder.tasks, folder.decisions, rule.reviewers, shortest)
    tests = (
        measure_calibration(folder.tasks, folder.decisions, rule.calibration, shortest)
        if rule.calibration
        else []
    )
    if as_json:
        say_lines(dump_progress(report, people, tests))
    else:
        say_lines(describe_progress(report, people))
        if tests:
            say_lines(f"\n{describe_calibration(tests)}")
    if report.stale or report.escalations or folder.errors:
        raise typer.Exit(EXIT_SOME_FAILED)


def _read_with_journal(folder: Path) -> ReviewRecord:
    """Read a review, with the decisions that the application has not added to decisions.jsonl."""
    from dataclasses import replace

    from omibench.review.app.decisions import list_unrecorded
    from omibench.review.folder import read_review

    record, unrecorded = read_review(folder), list_unrecorded(folder)
    if unrecorded:
        say(
            f"{len(unrecorded)} decisions are in the journal of the application only; they are "
            "counted here. Add them to decisions.jsonl with `omibench review export --live`",
            err=True,
        )
    return replace(record, decisions=(*record.decisions, *unrecorded))


# The command `omibench review agree`.


def agree(
    review: ReviewFolder = None,
    params: Params = "params.yaml",
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also write the figures as CSV.")
    ] = None,
    confidence: Annotated[
        float, typer.Option(min=0.5, max=0.999, help="Two-sided confidence level of the intervals.")
    ] = 0.95,
    seed: Annotated[int, typer.Option(help="Seed of the bootstrap.")] = 0,
) -> None:
    """Report agreement between reviewers, the residual error rate, and calibration results.

    Agreement is measured on the first, independent decisions of annotators and auditors; the own
    answers of reviewers, given before they saw the key, are compared with it. The residual error
    rate is estimated from samples that senior reviewers judged again. Exits with 3 if the review
    files have bad lines.

    \b
    Example:
      omibench review agree
      omibench review agree --review sample/review --out agreement.csv
    """
    from omibench.files.outputs import write_csv
    from omibench.params.review import CalibrationParams
    from omibench.review.agreement import measure_agreement
    from omibench.review.agreement.text import QualityReport, describe_quality, list_quality_rows
    from omibench.review.calibration import measure_calibration
    from omibench.review.own_answers import (
        list_doubted_keys,
        list_own_answers,
        measure_own_answers,
    )
    from omibench.review.report import AgreementFigure
    from omibench.review.sampling.strata import measure_residual_error

    path, rule = find_review(review, params)
    folder = _read_with_journal(path)
    say_lines("\n".join(folder.errors), err=True)
    answers = list_own_answers(folder.tasks, folder.decisions)
    report = QualityReport(
        [
            *measure_agreement(folder.tasks, folder.decisions, confidence, seed),
            *measure_own_answers(answers, confidence),
        ],
        measure_residual_error(folder.tasks, folder.decisions, confidence, rule.reviewers),
        measure_calibration(
            folder.tasks,
            folder.decisions,
            rule.calibration or CalibrationParams(),
            rule.shortest_seconds,
        ),
        confidence,
        list_doubted_keys(answers),
    )
    say_lines(describe_quality(report))
    if out is not None:
        write_csv(out, list_quality_rows(report), [field.name for field in fields(AgreementFigure)])
    if folder.errors:
        raise typer.Exit(EXIT_SOME_FAILED)
