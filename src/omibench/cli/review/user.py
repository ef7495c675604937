"""`omibench review user`: who may log in to the application."""

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

PersonName = Annotated[str, typer.Argument(help="A name of reviewers.yaml.")]
user_app = make_group(
    "user", "Who may log in to the application: people of reviewers.yaml, with passwords."
)
PASSWORD_CHARACTERS = 2000
"""How much of a line of standard input is read as a password."""


@user_app.command()
def add(name: PersonName, review: ReviewFolder = None, params: Params = "params.yaml") -> None:
    """Give a person of reviewers.yaml a password, which is asked for or read from standard input.

    \b
    Example:
      omibench review user add ann --review review
    """
    from omibench.errors import ParamsError
    from omibench.review_app.log.users import read_hash, set_password

    folder = _find_folder(review, params)
    _require_listed(folder, name)
    with _open_log(folder) as connection:
        if read_hash(connection, name) is not None:
            raise ParamsError(
                f"review user add: {name} has a password: change it with "
                f"`omibench review user password {name}`"
            )
    password = _ask_password(name)
    with _open_log(folder) as connection:
        set_password(connection, name, password)
    say(f"{name} may log in", err=True)


@user_app.command()
def password(name: PersonName, review: ReviewFolder = None, params: Params = "params.yaml") -> None:
    """Change a password, asked for or read from standard input; it ends the person's sessions.

    \b
    Example:
      omibench review user password ann
    """
    from omibench.review_app.log.users import set_password

    folder = _find_folder(review, params)
    _require_user(folder, name)
    text = _ask_password(name)
    with _open_log(folder) as connection:
        set_password(connection, name, text)
    say(f"the password of {name} is changed", err=True)


@user_app.command()
def remove(name: PersonName, review: ReviewFolder = None, params: Params = "params.yaml") -> None:
    """Take a password away: the person can no longer log in; what they decided stays.

    \b
    Example:
      omibench review user remove ann
    """
    from omibench.review_app.log.users import remove_password

    folder = _find_folder(review, params)
    _require_user(folder, name)
    with _open_log(folder) as connection:
        remove_password(connection, name)
    say(f"{name} can no longer log in", err=True)


@user_app.command("list")
def list_(review: ReviewFolder = None, params: Params = "params.yaml") -> None:
    """List the people of reviewers.yaml with their roles, and whether they may log in.

    \b
    Example:
      omibench review user list
    """
    from omibench.review.people import read_reviewers
    from omibench.review.read import REVIEWERS
    from omibench.review_app.log.users import list_names

    folder = _find_folder(review, params)
    people = read_reviewers(folder / REVIEWERS)
    with _open_log(folder) as connection:
        names = list_names(connection)
    for person in people:
        login = "may log in" if person.name in names else "has no password"
        say(f"{person.name}: {', '.join(person.roles)}; {login}")
    for name in sorted(names - {person.name for person in people}):
        say(f"{name}: not in reviewers.yaml, so that the password opens nothing")


def _find_folder(review: Path | None, params: str) -> Path:
    from omibench.extras import require_extra

    require_extra("review", "review user", "argon2")
    return find_review_folder(review, params)


@contextmanager
def _open_log(folder: Path) -> Iterator[sqlite3.Connection]:
    """The live log in a transaction, which a server may have open at the same time."""
    from omibench.review_app.log.database import LIVE, Database

    database = Database(folder / LIVE)
    try:
        with database.write() as connection:
            yield connection
    finally:
        database.close()


def _require_listed(folder: Path, name: str) -> None:
    from omibench.review.people import find_reviewer, read_reviewers
    from omibench.review.read import REVIEWERS

    find_reviewer(read_reviewers(folder / REVIEWERS), name)


def _require_user(folder: Path, name: str) -> None:
    """Raise MissingInputError unless a person has a password."""
    from omibench.errors import MissingInputError
    from omibench.review_app.log.users import list_names
    from omibench.schemas.validation import suggest_name

    with _open_log(folder) as connection:
        names = list_names(connection)
    if name not in names:
        raise MissingInputError(
            f"review user: {name!r} has no password{suggest_name(name, sorted(names))}"
        )


def _ask_password(name: str) -> str:
    """The password that is typed twice, or the first line of standard input. Never an argument."""
    if sys.stdin.isatty():
        return str(
            typer.prompt(f"Password of {name}", hide_input=True, confirmation_prompt=True, err=True)
        )
    return sys.stdin.readline(PASSWORD_CHARACTERS).rstrip("\r\n")
