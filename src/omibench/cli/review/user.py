"""`omibench review user`: manage the passwords of reviewers."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from omibench.cli.help import make_group
from omibench.cli.options import Params
from omibench.cli.review.options import ReviewFolder, find_review_folder
from omibench.text.terminal import say

if TYPE_CHECKING:
    import sqlite3

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
    from omibench.review_app.log.database import read_hash, set_password

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
    from omibench.review_app.log.database import set_password

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
    from omibench.review_app.log.database import remove_password

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
    from omibench.review.folder import REVIEWERS
    from omibench.review.people import read_reviewers
    from omibench.review_app.log.database import list_names

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
    from omibench.review_app.log.database import LIVE, Database

    database = Database(folder / LIVE)
    try:
        with database.write() as connection:
            yield connection
    finally:
        database.close()


def _require_listed(folder: Path, name: str) -> None:
    from omibench.review.folder import REVIEWERS
    from omibench.review.people import find_reviewer, read_reviewers

    find_reviewer(read_reviewers(folder / REVIEWERS), name)


def _require_user(folder: Path, name: str) -> None:
    """Raise MissingInputError unless a person has a password."""
    from omibench.errors import MissingInputError
    from omibench.review_app.log.database import list_names
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
