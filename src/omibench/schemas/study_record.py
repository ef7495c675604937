"""What a study consists of, as the last run of its graph noted in its results folder."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class StudyRecord(BaseModel):
    """The current cells of a study; files of other cells are left over from earlier parameters."""

    model_config = ConfigDict(frozen=True)

    version: int = 1
    cells: dict[str, list[tuple[str, str]]]
    """Stage with a file per cell -> model and setting of each of its cells."""
    aggregates: dict[str, str]
    """Setting that chooses one of several samples -> how: `first`, `majority`, ..."""
    labels: dict[str, str]
    """Model or setting with a cell -> its display name, if it has one."""
    main_rules: str | None
    """The scorer of the headline."""
