"""`omibench explore --export`: write selected problems as pages into a folder."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from omibench.errors import ArgumentError
from omibench.text.terminal import say

if TYPE_CHECKING:
    from omibench.explore.app.live import Snapshot


@dataclass(frozen=True)
class ItemExportOptions:
    """Options of an export.

    Attributes:
        items: Problem ids, files of ids, or explorer addresses; empty to serve the explorer.
        out: Folder of the pages.
        models: Names separated by commas; None for all.
        settings: Names separated by commas; None for all.
        rules: Scorer shown on the first page; None for the main one.
        paper_pages: Whether to show pages of papers.
    """

    items: list[str]
    out: Path | None
    models: str | None
    settings: str | None
    rules: str | None
    paper_pages: bool

    def check(self) -> None:
        """Check that the options go together.

        Raises:
            ArgumentError: Only one of `--export` and `--out` is given, or another option of the
                export is given without them.
        """
        if bool(self.items) != (self.out is not None):
            raise ArgumentError(
                "--export, --out: give both or neither: the problems to write, and the folder"
            )
        if not self.items and (self.models or self.settings or self.rules or self.paper_pages):
            raise ArgumentError(
                "--models, --settings, --rules, --paper-pages: need --export; in the browser, "
                "choose them on the page"
            )


def write_export(snapshot: Snapshot, options: ItemExportOptions) -> None:
    """Write the pages and print their path.

    Args:
        snapshot: The study.
        options: Options of the command.

    Raises:
        ArgumentError: The folder is inside the results.
        MissingInputError: A problem does not exist.
        ParamsError: A model or setting does not exist, or the export is too large.
        OutputError: The folder contains other files, or cannot be written.
    """
    from omibench.explore.export.choice import choose_items
    from omibench.explore.export.write import export_items
    from omibench.explore.query import ItemQuery
    from omibench.files.outputs import spare_store

    assert options.out is not None
    sources = snapshot.sources
    folder = sources.results or sources.dataset
    if options.out.resolve().is_relative_to(folder.resolve()):
        raise ArgumentError(f"--out {options.out}: is inside {folder}; give a folder outside of it")
    query = ItemQuery(
        rules=options.rules,
        models=_split_names(options.models),
        settings=_split_names(options.settings),
    )
    choice = choose_items(snapshot.study, options.items, query)
    for line in snapshot.warnings:
        say(line, err=True)
    out = spare_store(options.out, sources.store or "store")
    page = export_items(out, snapshot, choice, with_pages=options.paper_pages)
    say(f"{page}: {len(choice.ids)} problems, {len(choice.cells)} cells", err=True)


def _split_names(text: str | None) -> tuple[str, ...]:
    return tuple(name.strip() for name in (text or "").split(",") if name.strip())
