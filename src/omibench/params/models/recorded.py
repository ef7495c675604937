"""The block of the provider `recorded`."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import ClassVar, Literal

from omibench.params.models.base import ModelBlock
from omibench.params.roles import Request


class RecordedModel(ModelBlock):
    """Replays published responses from files, one list of files per setting."""

    is_recorded: ClassVar[bool] = True
    is_free: ClassVar[bool] = True

    provider: Literal["recorded"]
    responses: Request[dict[str, list[str]]]
    """Setting -> files (Parquet or JSONL), relative to the study's `data` folder."""
    partial: Request[bool] = False
    """The files cover only part of the items; the others are omitted from the model's cells."""

    @property
    def named_settings(self) -> Collection[str]:
        """The settings with recorded responses."""
        return self.responses

    def files(self, data: str | None, setting: str | None = None) -> list[str]:
        """Return the files of one setting, or of all."""
        groups = [self.responses.get(setting, [])] if setting else self.responses.values()
        return [str(Path(data or ".") / file) for group in groups for file in group]
