"""The command `omibench review serve`."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from omibench.cli.options import BehindTls, Host, Params, Port
from omibench.cli.review.options import ReviewFolder, find_review
from omibench.text.terminal import say

if TYPE_CHECKING:
    from omibench.review.app.context import ServerSettings
    from omibench.review.app.service import ReviewService

PORT = 8765


def serve(
    review: ReviewFolder = None,
    params: Params = "params.yaml",
    demo: Annotated[
        bool,
        typer.Option("--demo", help="Serve example tasks with example reviewers; nothing is kept."),
    ] = False,
    port: Port = PORT,
    host: Host = "127.0.0.1",
    behind_tls: BehindTls = "",
    secret_file: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="File with a key that signs sessions, so that they survive a restart.",
        ),
    ] = None,
) -> None:
    """Serve the review application.

    It listens on this machine only. To reach it from other machines, put a TLS proxy in front and
    give --behind-tls and --secret-file. Each decision is added to decisions.jsonl in the review
    folder, which only one server can use at a time. Give reviewers a password with `omibench
    review user add NAME`.

    \b
    Example:
      omibench review serve --demo
      omibench review serve --review review --port 8765
    """
    from omibench.extras import require_extra

    require_extra("review", "review serve")
    from omibench.review.app.application import run_server
    from omibench.review.app.context import ServerSettings
    from omibench.review.app.service import ReviewService
    from omibench.review.outcomes import ReviewRule
    from omibench.web.address import check_listening, read_secret

    check_listening(host, secret_file is not None, behind_tls)
    settings = ServerSettings(host=host, port=port, origin=behind_tls)
    if secret_file is not None:
        settings = settings.replace(secret=read_secret(secret_file))
    if demo:
        _serve_demo(settings)
        return
    folder, rules = find_review(review, params)
    service = ReviewService(
        folder,
        rule=ReviewRule(rules.reviewers),
        calibration=rules.calibration,
        shortest_seconds=rules.shortest_seconds,
    )
    _announce_review(service)
    run_server(service, settings, lambda address: say(f"{folder}: {address} (Ctrl-C stops it)"))


def _serve_demo(settings: ServerSettings) -> None:
    from omibench.review.app.application import run_server
    from omibench.review.app.demo import write_demo
    from omibench.review.app.service import ReviewService

    with TemporaryDirectory(prefix="omibench-review-") as name:
        users = write_demo(Path(name))
        for person, password, roles in users:
            say(f"{person:6} {password}  {roles}")
        say(f"folder {name}: `omibench review status --review {name}` counts the decisions in it")
        settings = settings.replace(is_demo=True, demo_users=users)
        run_server(
            ReviewService(Path(name)),
            settings,
            lambda address: say(f"demonstration: {address} (Ctrl-C stops it and keeps nothing)"),
        )


def _announce_review(service: ReviewService) -> None:
    """Print the skipped lines of tasks.jsonl and the reviewers without a password."""
    from omibench.review.app.database import list_names

    for line in service.content.errors:
        say(line, err=True)
    with service.database.read() as connection:
        missing = sorted(set(service.content.people) - list_names(connection))
    if missing:
        say(
            f"{len(missing)} of {len(service.content.people)} reviewers have no password yet, such "
            f"as {missing[0]}; give them one with `omibench review user add NAME`",
            err=True,
        )
