"""Write the report's explorer: pages of items, linked with lists of cells."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from omibench.params.cell import Cell
from omibench.results.load import JUDGE_RULES, Results
from omibench.settings.pictures.derived import locate_pictures
from omibench.stages.analyze.certificates import CALIBRATED, UNCALIBRATED
from omibench.stages.analyze.explorer.document import (
    describe_column,
    describe_outcomes,
    describe_study,
)
from omibench.stages.analyze.explorer.judged import Judgements, judgements
from omibench.stages.analyze.explorer.pages import PAGES, ItemFolder
from omibench.stages.analyze.explorer.steps import Link, Trail
from omibench.stages.analyze.explorer.view import clip_answer, describe_verdict, natural
from omibench.stages.analyze.links import cell_anchor, cell_file, problem_file
from omibench.stages.analyze.page_table import head_scorers
from omibench.stages.analyze.render import write_page
from omibench.stages.analyze.words import name_scorer
from omibench.web.formulas import FORMULAS_POLICY
from omibench.web.pictures import link_file

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
        return describe_outcomes(results.cells, rows, simulated)

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
            {
                row["index"]: [
                    j._asdict() for j in self.judged.get((*cell, name, row["index"]), ())
                ]
                for row in responses
            },
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
    by_subject = defaultdict(list)
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
        subjects=[(s, sorted(by_subject[s], key=_place)) for s in sorted(by_subject)],
        report=link_file(report, page),
    )


def _extracting(results: Results) -> str:
    # Published verdicts have no extracted answers, so show those of the scorer.
    return results.failure_rules or results.main_rules


def _place(row: Row) -> tuple[list[tuple[int, str]], int]:
    return natural(row["id"]), row["sample"]


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
