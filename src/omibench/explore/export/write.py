"""Export of items as pages that open from disk, with all their files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from omibench.errors import OutputError, reason_of
from omibench.explore.app.live import Snapshot
from omibench.explore.export.choice import ExportChoice
from omibench.explore.export.index_page import describe_index
from omibench.explore.export.pictures import FOLDER, CopyingTrail, PictureCopies
from omibench.explore.export.responses import ExportedRows, ItemPage, describe_response
from omibench.files.outputs import made_folder
from omibench.schemas.image_marks import list_image_marks
from omibench.schemas.problem import Question
from omibench.schemas.tables import write_json, write_text
from omibench.settings.pictures.derived import list_figures
from omibench.stages.analyze.explorer.sent import OPEN_AT_MOST, SentConversations
from omibench.stages.analyze.explorer.view import (
    Evidence,
    choice_view,
    image_words,
    pieces,
    place,
)
from omibench.stages.analyze.links import INDEX, problem_file
from omibench.stages.analyze.render import write_page
from omibench.web.formulas import FORMULAS_POLICY, write_formula_files
from omibench.web.templates import render_page

LIST: Final = "items.json"
"""The list of an export's items; folders without it are not overwritten."""
_PAGES, _FORMULAS = "pages", "formulas"
_AT_ONCE: Final = 100
"""The number of items with responses in memory."""
Values = dict[str, Any]


def export_items(
    folder: Path, snapshot: Snapshot, choice: ExportChoice, *, with_pages: bool = False
) -> Path:
    """Write `index.html`, `pages/<item>.html`, `pictures/`, `formulas/` and `items.json`.

    The folder contains only the selected items: questions, gold answers, rationales, responses,
    requests and verdicts. Notes, names of people and attributes of items are not included.

    Args:
        folder: The output folder: new, empty, or an earlier export, which is replaced.
        snapshot: The study.
        choice: The selection.
        with_pages: Whether to show pages of papers, which are third-party works.

    Returns:
        The first page.

    Raises:
        OutputError: The folder contains something else, or cannot be written.
        FileFormatError: The file of a cell cannot be read.
    """
    _prepare_folder(folder)
    try:
        write_json(folder / LIST, _describe_export(snapshot, choice))
        _write_pages(_ItemSite(folder, snapshot, choice, with_pages))
        index = describe_index(snapshot, choice)
        write_text(folder / INDEX, render_page("omibench.explore", "exported.html.j2", **index))
        write_formula_files(folder / _FORMULAS)
    except OSError as error:
        raise OutputError(f"{folder}: cannot be written: {reason_of(error)}") from None
    return folder / INDEX


def _prepare_folder(folder: Path) -> None:
    """Reject a folder with other files; delete an earlier export."""
    made_folder(folder)
    if any(folder.iterdir()) and not (folder / LIST).is_file():
        raise OutputError(
            f"--out {folder}: not empty, and has no {LIST}; pass a new folder, or one with an "
            "earlier export"
        )
    for path in (*(folder / _PAGES).glob("*.html"), *(folder / FOLDER).glob("*")):
        path.unlink()


def _describe_export(snapshot: Snapshot, choice: ExportChoice) -> Values:
    items, run = snapshot.study.items, snapshot.study.run
    return {
        "dataset": {"name": items.manifest.name, "version": items.manifest.version},
        "rules": choice.rules,
        "simulated": bool(run and run.simulated_cells & set(choice.cells)),
        "synthetic": bool(items.manifest.synthetic),
        "cells": [cell._asdict() for cell in choice.cells],
        "items": [{"id": name, "page": f"{_PAGES}/{problem_file(name)}"} for name in choice.ids],
    }


@dataclass(frozen=True)
class _ItemSite:
    folder: Path
    snapshot: Snapshot
    choice: ExportChoice
    with_pages: bool

    @cached_property
    def copies(self) -> PictureCopies:
        return PictureCopies(self.snapshot.pictures, self.folder)

    @cached_property
    def trail(self) -> CopyingTrail:
        sources = self.snapshot.sources
        return CopyingTrail(self.snapshot, sources.store or sources.dataset / "store", self.copies)

    @cached_property
    def stems(self) -> set[str]:
        """Return the groups that several items of the dataset share."""
        counts = Counter(q.group for q in self.snapshot.study.items.questions.values() if q.group)
        return {group for group, count in counts.items() if count > 1}

    @cached_property
    def neighbours(self) -> Mapping[str, tuple[str | None, str | None]]:
        """Return the items before and after each one."""
        ids = self.choice.ids
        pairs = zip((None, *ids), (*ids[1:], None), strict=False)
        return dict(zip(ids, pairs, strict=False))


def _write_pages(site: _ItemSite) -> None:
    run, ids = site.snapshot.study.run, site.choice.ids
    for start in range(0, len(ids), _AT_ONCE):
        names = ids[start : start + _AT_ONCE]
        cells = [ExportedRows(run, cell, names) for cell in site.choice.cells] if run else []
        for name in names:
            _write_item(site, name, cells)


def _write_item(site: _ItemSite, name: str, cells: Sequence[ExportedRows]) -> None:
    page = site.folder / _PAGES / problem_file(name)
    items = site.snapshot.study.items
    question, answer = items.questions[name], items.answers[name]
    figures = _list_evidence(site, question, page)
    choices = question.choices or []
    sent = SentConversations(site.trail, page)
    item_page = ItemPage(page, question, site.trail, site.copies, sent)
    responses = [
        describe_response(rows, row, item_page) for rows in cells for row in rows.responses[name]
    ]
    placed = {i for choice in choices for i in list_figures(choice)}
    placed |= set(list_image_marks(question.question))
    before, after = site.neighbours[name]
    write_page(
        page,
        "problem.html.j2",
        csp=FORMULAS_POLICY,
        partial="",
        question=question,
        answer=answer,
        pieces=pieces(question.question, figures),
        figures=figures,
        stem=[figure for i, figure in enumerate(figures) if i not in placed],
        choices=[choice_view(c, figures, c.label in answer.answer) for c in choices],
        pages=", ".join(map(str, question.pages)),
        image_words=image_words(question, answer),
        shared_stem=question.group if question.group in site.stems else "",
        responses=responses,
        sent=sent.all(),
        open_at_most=OPEN_AT_MOST,
        paper_pages=_list_paper_pages(site, name, page),
        is_beside=len(responses) > 1,
        simulated=any(response["marked"] for response in responses),
        made_up=bool(items.manifest.synthetic),
        previous=problem_file(before) if before else None,
        following=problem_file(after) if after else None,
    )


def _list_evidence(site: _ItemSite, question: Question, page: Path) -> list[Evidence]:
    return [
        Evidence(
            f"IMAGE{index}",
            site.copies.link(figure.sha256, page) or "",
            figure.caption or "",
            place(question, figure),
            figure.sha256,
        )
        for index, figure in enumerate(question.images)
    ]


def _list_paper_pages(site: _ItemSite, name: str, page: Path) -> list[Values]:
    shown = site.snapshot.pictures.list_pages(name) if site.with_pages else ()
    linked = ((drawn, site.copies.link(drawn.sha256, page)) for drawn in shown)
    return [
        {"label": drawn.label, "src": src, "boxes": drawn.boxes} for drawn, src in linked if src
    ]
