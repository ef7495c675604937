"""Instrument of judgements: each certificate is about one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl

from omibench.errors import FileFormatError, MissingInputError
from omibench.params.identity import certificate_identity
from omibench.params.stage_params import CertifyStageParams


def get_only_value(judged: pl.DataFrame, column: str, folder: Path) -> str:
    """Return the only value of a column.

    Raises:
        FileFormatError: There are several values; the message gives the folder.
    """
    values = judged[column].drop_nulls().unique().sort().to_list()
    if len(values) == 1:
        return str(values[0])
    raise FileFormatError(
        f"{folder}: the judgements have {len(values)} values of {column!r}; {folder.name} all "
        "cells by one judge with one prompt"
    )


def list_identities(study: CertifyStageParams, judge: str) -> list[dict[str, Any]]:
    """Return the configuration of a judge's models, joined by +, that affects answers.

    Raises:
        MissingInputError: The study does not define a model.
    """
    names = judge.split("+")
    lost = [name for name in names if name not in study.models]
    if lost:
        raise MissingInputError(f"models: {lost[0]!r} judged these responses and is not defined")
    return [certificate_identity(study.models[name]) for name in names]
