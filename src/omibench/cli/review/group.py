"""`omibench review`: human review of a dataset."""

from __future__ import annotations

from omibench.cli.help import make_group

review_group = make_group(
    "review", "Have people review problems and responses, and use their decisions."
)
