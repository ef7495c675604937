"""`omibench explore --export`: chosen items as pages in a folder."""

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
    """What the command line says of an export.

    Attributes:
        items: Ids, files of ids, addresses; none to serve the explorer.
        out: The folder of the pages.
        models: Names, with commas; all where it is None.
        settings: Names, with commas; all where it is None.
        rules: The rule book of the first page; the main one where it is None.
        paper_pages: Whether pages of papers are shown.
    """

    items: list[str]
    out: Path | None
    models: str | None
    settings: str | None
    rules: str | None
    paper_pages: bool

    def check(self) -> None:
        """Refuse options that do not go together.

        Raises:
            ArgumentError: `--export` and `--out` lack each other, or others lack them.
        """
        if bool(self.items) != (self.out is not None):
            raise ArgumentError("--export, --out: go together: which items, and where to")
        if not self.items and (self.models or self.settings or self.rules or self.paper_pages):
            raise ArgumentError(
                "--models, --settings, --rules, --paper-pages: say what --export writes; in the "
                "browser they are choices of its pages"
            )


def write_export(snapshot: Snapshot, options: ItemExportOptions) -> None:
    """Write the pages, and say where they are.

    Args:
        snapshot: The study.
        options: What the command line says.

    Raises:
        ArgumentError: The folder lies in the results.
        MissingInputError: There is no such item.
        ParamsError: There is no such model or setting, or too much to export.
        OutputError: The folder holds something else, or cannot be written.
    """
    from omibench.explore.export.choice import choose_items
    from omibench.explore.export.write import export_items
    from omibench.explore.query import ItemQuery
    from omibench.files.outputs import spare_store

    assert options.out is not None
    sources = snapshot.sources
    folder = sources.results or sources.dataset
    if options.out.resolve().is_relative_to(folder.resolve()):
        raise ArgumentError(f"--out {options.out}: lies in {folder}; name a folder beside it")
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
    say(f"{page}: {len(choice.ids)} items, {len(choice.cells)} cells", err=True)


def _split_names(text: str | None) -> tuple[str, ...]:
    return tuple(name.strip() for name in (text or "").split(",") if name.strip())
