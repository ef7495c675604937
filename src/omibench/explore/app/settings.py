"""Settings of the explorer: its files and its server."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from omibench.web.address import ServedAddress

if TYPE_CHECKING:
    from omibench.params.study import Study


@dataclass(frozen=True)
class ExplorerSources:
    """The files of the explorer.

    Attributes:
        dataset: The frozen dataset.
        results: The results folder; None to view items before any model runs.
        other: The results of another run for comparison, or None.
        study: The parameters of the results, or None.
        store: The store of responses, which may be missing.
        review: The review folder for notes; None for read-only use.
        pages: The review folder with page images, or None.
        index: The folder of the index of a large run, or None.
        name: The name of the dataset if there are no results.
        pictures: The folder of the dataset's pictures, if not in the dataset.
    """

    dataset: Path
    results: Path | None = None
    other: Path | None = None
    study: Study | None = None
    store: Path | None = None
    review: Path | None = None
    pages: Path | None = None
    index: Path | None = None
    name: str = ""
    pictures: Path | None = None

    @property
    def labels(self) -> dict[str, str]:
        """Display names of models and settings."""
        if self.study is None:
            return {}
        models = {name: block.label for name, block in self.study.models.items()}
        settings = {name: block.label for name, block in self.study.settings.items()}
        return {name: label for name, label in (models | settings).items() if label}

    @property
    def order(self) -> list[str]:
        """Return models and settings in the order of the study."""
        return [*self.study.infer.models, *self.study.infer.settings] if self.study else []

    @property
    def pooled_settings(self) -> list[str]:
        """Return the settings over which the report aggregates; none without parameters."""
        from omibench.results.load import list_pooled_settings

        return list_pooled_settings(self.study) if self.study and self.study.cells else []

    @property
    def main_rules(self) -> str | None:
        """Return the headline scorer from the parameters."""
        if self.study is None:
            return None
        return self.study.analyze.main_scorer or next(iter(self.study.score.scorers), None)

    @property
    def title(self) -> str:
        """Return the title of the pages."""
        if self.study is not None:
            return self.study.study.title
        return self.name or (self.results or self.dataset).resolve().name


@dataclass(frozen=True)
class ExplorerSettings(ServedAddress):
    """Address and access of the server.

    Attributes:
        secret: The secret for logging in; None if only this machine reaches the server.
    """

    secret: bytes | None = field(default=None, repr=False)
