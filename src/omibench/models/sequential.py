"""A provider that answers one request at a time: for a model that cannot take several."""

from __future__ import annotations

from omibench.errors import ModelError
from omibench.models.provider import NO_FOLDERS, B, Folders
from omibench.models.sdk import SdkProvider
from omibench.params.models.base import Limits


class SequentialProvider(SdkProvider[B]):
    """An `SdkProvider` with one request in flight.

    Raises ModelError if the block sets another `limits.concurrency`.
    """

    def __init__(self, name: str, model: B, folders: Folders = NO_FOLDERS) -> None:
        super().__init__(name, model, folders)
        limits = super().limits
        if "concurrency" in limits.model_fields_set and limits.concurrency != 1:
            raise ModelError(
                f"model {name!r}: `limits.concurrency` is {limits.concurrency}, but the "
                f"provider {model.provider!r} answers one request at a time; remove it, or derive "
                "the provider from SdkProvider"
            )

    @property
    def limits(self) -> Limits:
        """Those of the block, with one request in flight."""
        return super().limits.model_copy(update={"concurrency": 1})
