"""Which instrument judgements are of: a certificate is of one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from omibench.errors import FileFormatError, MissingInputError
from omibench.params.identity import certificate_identity
from omibench.params.stage_params import CertifyStageParams

if TYPE_CHECKING:
    import polars as pl


def get_only_value(judged: pl.DataFrame, column: str, folder: Path) -> str:
    """The only value of a column. Raises FileFormatError naming the folder for any other number."""
    values = judged[column].drop_nulls().unique().sort().to_list()
    if len(values) == 1:
        return str(values[0])
    raise FileFormatError(
        f"{folder}: the judgements have {len(values)} values of {column!r}; "
        f"{folder.name} all cells by one judge with one prompt"
    )


def list_identities(study: CertifyStageParams, judge: str) -> list[dict[str, Any]]:
    """What of the models of a judge, joined by +, changes its answers.

    Raises MissingInputError for one that the study does not define.
    """
    names = judge.split("+")
    lost = [name for name in names if name not in study.models]
    if lost:
        raise MissingInputError(f"models: {lost[0]!r} judged these responses and is not defined")
    return [certificate_identity(study.models[name]) for name in names]
