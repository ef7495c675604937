"""What the explorer shows, and where and for whom it is served."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from omibench.web.serving.address import ServedAddress

if TYPE_CHECKING:
    from omibench.params.study import Study


@dataclass(frozen=True)
class ExplorerSources:
    """The files that the explorer reads.

    Attributes:
        dataset: The frozen dataset.
        results: The folder of results; None to look at items before a model is asked.
        other: The results of another run, to compare with; None without.
        study: The parameters of the results; None where none are there.
        store: The store of responses, which need not be there.
        review: The folder of a review, into which notes are written; None for a look alone.
        pages: The folder of a review whose pictures of pages are shown; None without.
        index: The folder of the index of a large run; None without.
        name: What the dataset is called where there are no results.
        pictures: Where the dataset's pictures lie, if they lie elsewhere.
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
        """Names under which models and settings are shown, by their own."""
        if self.study is None:
            return {}
        models = {name: block.label for name, block in self.study.models.items()}
        settings = {name: block.label for name, block in self.study.settings.items()}
        return {name: label for name, label in (models | settings).items() if label}

    @property
    def order(self) -> list[str]:
        """Models and settings in the order of the study."""
        return [*self.study.infer.models, *self.study.infer.settings] if self.study else []

    @property
    def main_rules(self) -> str | None:
        """The rule book of the headline, as the parameters say."""
        if self.study is None:
            return None
        return self.study.analyze.main_rules or next(iter(self.study.score.rules), None)

    @property
    def title(self) -> str:
        """What the pages are called."""
        if self.study is not None:
            return self.study.study.title
        return self.name or (self.results or self.dataset).resolve().name


@dataclass(frozen=True)
class ExplorerSettings(ServedAddress):
    """Where and for whom the explorer is served.

    Attributes:
        secret: What people type to log in; None where only this machine reaches the server.
    """

    secret: bytes | None = field(default=None, repr=False)
