"""The folder of item pages that open from disk: `index.html`, `pages/<item>.html`, `formulas/`.

The report's explorer and `omibench explore --export` write it. A page has its data inside and is
rendered by the script of the served explorer.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

import polars as pl

from omibench.params.setting import Cell
from omibench.results.load import JUDGE_RULES, Results
from omibench.schemas.problem import Answer, Question
from omibench.schemas.tables import write_text
from omibench.schemas.verdict import RIGHT
from omibench.settings.pictures import locate_pictures
from omibench.stages.analyze.certificates import CALIBRATED, UNCALIBRATED
from omibench.stages.analyze.explorer.item import (
    Judgements,
    choose_columns,
    describe_column,
    describe_item,
    describe_outcomes,
    describe_page,
    describe_place_among,
    describe_study,
    judgements,
    measure_responses,
)
from omibench.stages.analyze.explorer.requests import (
    Link,
    Trail,
    Values,
    clip_answer,
    describe_verdict,
    image_words,
    natural,
)
from omibench.stages.analyze.formatting import format_share, name_scorer
from omibench.stages.analyze.page_table import head_scorers
from omibench.stages.analyze.pages import INDEX, cell_anchor, cell_file, problem_file, write_page
from omibench.web.formulas import FORMULAS_POLICY, join_modules, write_formula_files
from omibench.web.pictures import link_file
from omibench.web.templates import SCRIPTED_PAGE_POLICY, embed_json
from omibench.web.verdicts import read_verdict_words

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
            "chosen": [f"{o['model']}/{o['setting']}" for o in choose_columns(outcomes)],
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
        cells, named = self.study["cells"], (*self.study["models"], *self.study["settings"])
        names = {entry["name"]: entry["label"] for entry in named}
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
    names = ("theme.css", "base.css", "content.css")
    styles = (*(shared / name for name in names), own / "item.css")
    write_text(folder / "item.css", "".join(style.read_text("utf-8") for style in styles))
    write_text(folder / "item.js", join_modules("item", own))


def _word_mark(outcome: Values | None) -> Values:
    """Return a mean verdict as its kind and its words, as in the explorer's grid."""
    if outcome is None:
        return {"kind": "none", "word": ""}
    value = outcome["verdict"]
    kind = "failed" if "scored" not in outcome["outcomes"] else {0: "wrong", 1: "right"}.get(value)
    if kind is None:
        return {"kind": "partly", "word": f"{format_share(value, 0)} % right"}
    return {"kind": kind, "word": read_verdict_words()[kind]}


# Write the report's explorer: pages of items, linked with lists of cells.

Row = dict[str, Any]
Place = tuple[str, str, str]
"""A model, a setting and a problem."""


@dataclass(frozen=True)
class _Rows:
    """The rows of a study by cell and problem."""

    results: Results
    responses: Mapping[Place, Sequence[Row]]
    verdicts: Mapping[Place, Sequence[Row]]
    judged: Judgements

    def describe_outcomes(self, name: str) -> list[Row]:
        results = self.results
        rows = {
            cell: [
                row
                for row in self.verdicts.get((*cell, name), ())
                if row["rules"] == results.main_rules and row["counts"]
            ]
            for cell in results.cells
        }
        simulated = [cell for cell, is_simulated in results.simulated_cells.items() if is_simulated]
        measures = {
            cell: measure_responses(self.responses.get((*cell, name), ())) for cell in results.cells
        }
        return describe_outcomes(results.cells, rows, simulated, measures)

    def describe_columns(self, name: str, link: Link, page: Path) -> list[Row]:
        return [
            self._describe_column(cell, name, link)
            for cell in self.results.cells
            if (*cell, name) in self.responses
        ]

    def _describe_column(self, cell: Cell, name: str, link: Link) -> Row:
        verdicts = self.verdicts.get((*cell, name), ())
        others = {row["index"] for row in verdicts} - {r["index"] for r in verdicts if r["counts"]}
        responses = self.responses[(*cell, name)]
        return describe_column(
            cell,
            [{**row, "left_out": row["index"] in others} for row in responses],
            [{**row, "calibration": _describe_calibration(self.results, row)} for row in verdicts],
            {row["index"]: self.judged.get((*cell, name, row["index"]), []) for row in responses},
            link,
        )


def write_explorer(folder: Path, results: Results, report: Path) -> None:
    """Write `index.html`, `pages/<problem>.html`, `cells/<model>@<setting>.html`, `formulas/`."""
    pictures = locate_pictures(results.freeze)
    trail = Trail(Path(results.study.study.store), pictures, results.freeze)
    rows = _Rows(
        results,
        _group(results.read_responses().sort("index")),
        _group(_sort_verdicts(results)),
        judgements(results, results.freeze.parent / "judge"),
    )
    labels = {cell.model: results.label(cell.model) for cell in results.cells}
    labels |= {cell.setting: results.setting_label(cell.setting) for cell in results.cells}
    simulated = results.simulated_cells
    site = ItemFolder(
        folder=folder,
        study=describe_study(
            results.study.study.title,
            {cell: simulated[cell] for cell in results.cells},
            labels,
            results.rules,
            results.manifest.synthetic,
        )
        | {"partial": str(results.partial or "")},
        questions={
            name: results.questions[name] for name in sorted(results.questions, key=natural)
        },
        answers=results.answers,
        rules=results.main_rules,
        trail=trail,
        link=partial(trail.link_picture, copies=folder / "images"),
    )
    for name in site.questions:
        site.write_item(name, rows.describe_outcomes(name), partial(rows.describe_columns, name))
    for cell in results.cells:
        _write_cell(folder, rows, cell, report)
    site.write_index(
        report=link_file(report, folder / "index.html"),
        partial=str(results.partial or ""),
        simulated=results.main_simulated,
    )


def _describe_calibration(results: Results, verdict: Row) -> str:
    """Return a note if the certificate belongs to the judge of this verdict; empty if no judge was
    run."""
    if not verdict["judge"]:
        return ""
    is_certified = verdict["rules"] == JUDGE_RULES and results.certificate is not None
    return CALIBRATED if is_certified else UNCALIBRATED


def _write_cell(folder: Path, rows: _Rows, cell: Cell, report: Path) -> None:
    results, page = rows.results, folder / "cells" / cell_file(cell)
    by_subject: defaultdict[str, list[Row]] = defaultdict(list)
    for problem, answer in results.answers.items():
        by_sample: defaultdict[int, Row] = defaultdict(dict)
        for row in rows.verdicts.get((*cell, problem), ()):
            by_sample[row["index"]][row["rules"]] = describe_verdict(row)
        for index, words in by_sample.items():
            main = words.get(_extracting(results)) or next(iter(words.values()))
            by_subject[answer.subject].append(
                {
                    "id": problem,
                    "sample": index,
                    "href": f"../{PAGES}/{problem_file(problem)}#{cell_anchor(cell, index)}",
                    "images": answer.n_images,
                    "gold": clip_answer("; ".join(answer.answer)),
                    "extracted": clip_answer(main["extracted"]),
                    "verdicts": [words.get(r) for r in [*results.rules, *results.votes]],
                }
            )
    write_page(
        page,
        "cell.html.j2",
        csp=FORMULAS_POLICY,
        partial=str(results.partial or ""),
        label=results.label(cell.model),
        setting=results.setting_label(cell.setting),
        simulated=results.simulated_cells[cell] or results.has_synthetic_problems,
        made_up=results.has_synthetic_problems,
        rules=head_scorers(results),
        scored_by=name_scorer(_extracting(results)),
        subjects=[
            (subject, sorted(rows, key=lambda row: (natural(row["id"]), row["sample"])))
            for subject, rows in sorted(by_subject.items())
        ],
        report=link_file(report, page),
    )


def _extracting(results: Results) -> str:
    # Published verdicts have no extracted answers, so show those of the scorer.
    return results.failure_rules or results.main_rules


def _sort_verdicts(results: Results) -> pl.DataFrame:
    """Return all verdicts by sample, the headline's scorer first."""
    order = {rules: place for place, rules in enumerate([*results.rules, *results.votes])}
    places = pl.col("rules").replace_strict(order, return_dtype=pl.Int64)
    return results.verdicts.sort("index", places, maintain_order=True)


def _group(frame: pl.DataFrame) -> dict[Place, list[Row]]:
    rows: dict[Place, list[Row]] = {}
    for row in frame.iter_rows(named=True):
        rows.setdefault((row["model"], row["setting"], row["id"]), []).append(row)
    return rows
