"""`omibench review`: what people decide on a dataset."""

from __future__ import annotations

import typer

review_group = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Tasks for people, their decisions, and what these settle.",
)
