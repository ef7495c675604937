"""The folder of item pages that open from disk: `index.html`, `pages/<item>.html`, `formulas/`.

The report's explorer and `omibench explore --export` write it. A page has its data inside and is
rendered by the script of the served explorer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

from omibench.params.cell import Cell
from omibench.schemas.problem import Answer, Question
from omibench.schemas.tables import write_text
from omibench.schemas.verdict import RIGHT
from omibench.stages.analyze.explorer.document import (
    Values,
    describe_item,
    describe_page,
    describe_place_among,
)
from omibench.stages.analyze.explorer.steps import Link, Trail
from omibench.stages.analyze.explorer.view import image_words
from omibench.stages.analyze.links import INDEX, cell_anchor, problem_file
from omibench.stages.analyze.render import write_page
from omibench.stages.analyze.words import format_share, name_scorer
from omibench.web.formulas import join_modules, write_formula_files
from omibench.web.policy import SCRIPTED_PAGE_POLICY
from omibench.web.templates import embed_json

PAGES: Final = "pages"
FORMULAS: Final = "formulas"
MOST_COLUMNS: Final = 12
"""The maximum number of cells with a column in the index; for more, only right ones are counted."""


@dataclass(frozen=True)
class ItemFolder:
    """A folder of item pages under construction.

    Attributes:
        folder: The folder.
        study: What every page shows of the study, as of `document.describe_study`.
        questions: The problems by id, in the order of the pages.
        answers: Their gold answers.
        rules: The scorer; None if nothing is scored.
        trail: The requests of the store.
        link: Returns the address of a picture by its SHA-256 and a page.
    """

    folder: Path
    study: Values
    questions: Mapping[str, Question]
    answers: Mapping[str, Answer]
    rules: str | None
    trail: Trail
    link: Callable[[str, Path], str | None]
    _rows: list[Values] = field(default_factory=list)

    def write_item(
        self,
        name: str,
        outcomes: Sequence[Values],
        describe_columns: Callable[[Link, Path], Sequence[Values]],
        list_pages: Callable[[Link], Sequence[Values]] = lambda link: [],
    ) -> None:
        """Write the page of an item.

        Args:
            name: Its id.
            outcomes: The outcome of each cell, as of `document.describe_outcomes`.
            describe_columns: Returns the responses of each cell, with pictures linked from the
                page, as of `document.describe_column`.
            list_pages: Returns the pages of its paper: `{address, label, boxes}`.
        """
        page = self.folder / PAGES / problem_file(name)
        question, answer = self.questions[name], self.answers[name]

        def link(sha256: str) -> str | None:
            return self.link(sha256, page)

        item = describe_item(question, answer, link)
        item["pages_drawn"] = list_pages(link)
        ids = list(self.questions)
        place = {
            "item": item,
            "rules": self.rules,
            "outcomes": outcomes,
            "columns": describe_columns(link, page),
            **describe_place_among(ids, name),
        }
        data = describe_page(self.study, place, self.trail, link)
        write_page(
            page,
            "item.html.j2",
            csp=SCRIPTED_PAGE_POLICY,
            title=name,
            partial=self.study.get("partial", ""),
            data=embed_json(data),
        )
        self._rows.append(self._describe_row(question, answer, outcomes))

    def write_index(self, *, simulated: bool, **values: Any) -> None:
        """Write the index of all pages that were written, and their scripts and styles.

        Args:
            simulated: Whether to mark the verdicts.
            values: Further variables of `index.html.j2`: `dataset`, `report`, `partial`.
        """
        cells, names = self.study["cells"], _list_labels(self.study)
        write_page(
            self.folder / INDEX,
            "index.html.j2",
            **{"dataset": "", "report": "", "partial": "", **values},
            title=self.study["title"],
            items=self._rows,
            cells=[
                {"label": names[c["model"]], "setting": names[c["setting"]],
                 "simulated": c["simulated"]}
                for c in cells
            ],
            has_columns=0 < len(cells) <= MOST_COLUMNS,
            papers=any(row["source"] for row in self._rows),
            scored_by=name_scorer(self.rules) if self.rules else "",
            simulated=simulated,
            made_up=bool(self.study["synthetic"]),
        )  # fmt: skip
        write_page_files(self.folder / FORMULAS)

    def _describe_row(
        self, question: Question, answer: Answer, outcomes: Sequence[Values]
    ) -> Values:
        by_cell = {Cell(o["model"], o["setting"]): o for o in outcomes}
        cells = [Cell(c["model"], c["setting"]) for c in self.study["cells"]]
        href = f"{PAGES}/{problem_file(question.id)}"
        right = sum(outcome["verdict"] >= RIGHT for outcome in outcomes)
        return {
            "id": question.id,
            "href": href,
            "subject": answer.subject,
            "type": answer.answer_type,
            "images": image_words(question, answer),
            "source": question.source or "",
            "right": f"{right} of {len(outcomes)}" if outcomes else "–",
            "marks": [
                {**_word_mark(by_cell.get(cell)), "href": f"{href}#{cell_anchor(cell)}"}
                for cell in cells
            ],
        }


def write_page_files(folder: Path) -> None:
    """Write the scripts and styles of item pages, and those of formulas."""
    write_formula_files(folder)
    shared, own = files("omibench.web") / "static", files(__package__) / "static"
    styles = (shared / "base.css", shared / "content.css", own / "item.css")
    write_text(folder / "item.css", "".join(style.read_text("utf-8") for style in styles))
    write_text(folder / "item.js", join_modules("item", own))


def _list_labels(study: Values) -> dict[str, str]:
    return {entry["name"]: entry["label"] for entry in (*study["models"], *study["settings"])}


def _word_mark(outcome: Values | None) -> Values:
    """Return a mean verdict as text, as in the explorer's grid."""
    if outcome is None:
        return {"word": "", "style": "muted"}
    if "scored" not in outcome["outcomes"]:
        return {"word": "no answer", "style": "failed"}
    value = outcome["verdict"]
    if value in (0, 1):
        return (
            {"word": "✓ right", "style": "right"}
            if value
            else {"word": "✗ wrong", "style": "wrong"}
        )
    return {"word": f"{format_share(value, 0)} % right", "style": ""}
