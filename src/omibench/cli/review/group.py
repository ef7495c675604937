"""`omibench review`: what people decide on a dataset."""

from __future__ import annotations

from omibench.cli.help import make_group

review_group = make_group("review", "Tasks for people, their decisions, and what these settle.")
