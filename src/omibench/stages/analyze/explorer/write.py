"""Write the explorer: an index, and linked pages of problems and cells."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from omibench.params.cell import Cell
from omibench.results.load import JUDGE_RULES, Results
from omibench.schemas.image_marks import list_image_marks
from omibench.settings.pictures.derived import list_figures, locate_pictures
from omibench.stages.analyze.certificates import CALIBRATED, UNCALIBRATED
from omibench.stages.analyze.explorer.judged import Judgements, judgements
from omibench.stages.analyze.explorer.sent import OPEN_AT_MOST, SentConversations
from omibench.stages.analyze.explorer.steps import Trail, TrailStep
from omibench.stages.analyze.explorer.view import (
    choice_view,
    clip_answer,
    evidence,
    image_words,
    natural,
    pieces,
    shorten_response,
    verdict_words,
)
from omibench.stages.analyze.links import INDEX, cell_anchor, cell_file, problem_file
from omibench.stages.analyze.page_table import head_scorers
from omibench.stages.analyze.render import write_page
from omibench.stages.analyze.words import format_share, name_outcome, name_scorer
from omibench.web.formulas import FORMULAS_POLICY, write_formula_files
from omibench.web.pictures import link_file

if TYPE_CHECKING:
    import polars as pl

Row = dict[str, Any]
Verdicts = dict[tuple[str, str, str, int], list[Row]]


@dataclass(frozen=True)
class _Site:
    folder: Path
    report: Path
    results: Results
    verdicts: Verdicts
    responses: dict[str, list[Row]]
    stems: set[str]
    """The groups shared by more than one problem of the dataset."""
    trail: Trail
    judged: Judgements

    @property
    def calibration(self) -> str:
        """The certificate of the judge whose verdicts are shown."""
        return UNCALIBRATED if self.results.certificate is None else CALIBRATED


def write_explorer(folder: Path, results: Results, report: Path) -> None:
    """Write `index.html`, `pages/<problem>.html`, `cells/<model>@<setting>.html`, `formulas/`."""
    responses = _group_by_problem(results.read_responses())
    store, pictures = Path(results.study.study.store), locate_pictures(results.freeze)
    trail = Trail(store, pictures, results.freeze, folder / "images")
    judged = judgements(results, results.freeze.parent / "judge")
    site = _Site(
        folder, report, results, _verdicts(results), responses, _stems(results), trail, judged
    )
    ids = sorted(results.questions, key=natural)
    for problem, before, after in zip(ids, [None, *ids], [*ids[1:], None], strict=False):
        _write_problem(site, problem, before, after)
    for cell in results.study.cells:
        _write_cell(site, cell)
    _write_index(site)
    write_formula_files(folder / "formulas")


def _write_problem(site: _Site, problem: str, before: str | None, after: str | None) -> None:
    results, page = site.results, site.folder / "pages" / problem_file(problem)
    question, answer = results.questions[problem], results.answers[problem]
    figures = evidence(question, results.freeze, page)
    choices = [choice_view(c, figures, c.label in answer.answer) for c in question.choices or []]
    letters = SentConversations(site.trail, page)
    responses = [_response(site, row, page, letters) for row in site.responses[problem]]
    placed = {i for c in question.choices or [] for i in list_figures(c)}
    placed |= set(list_image_marks(question.question))
    write_page(
        page,
        "problem.html.j2",
        csp=FORMULAS_POLICY,
        partial=str(results.partial or ""),
        question=question,
        answer=answer,
        pieces=pieces(question.question, figures),
        figures=figures,
        stem=[f for i, f in enumerate(figures) if i not in placed],
        choices=choices,
        pages=", ".join(map(str, question.pages)),
        image_words=image_words(question, answer),
        shared_stem=question.group if question.group in site.stems else "",
        responses=responses,
        sent=letters.all(),
        open_at_most=OPEN_AT_MOST,
        simulated=any(r["marked"] for r in responses),
        made_up=site.results.has_synthetic_problems,
        paper_pages=[],
        is_beside=False,
        previous=problem_file(before) if before else None,
        following=problem_file(after) if after else None,
    )


def _response(site: _Site, row: Row, page: Path, letters: SentConversations) -> Row:
    results, cell = site.results, Cell(row["model"], row["setting"])
    name = f"{results.label(cell.model)}, {results.setting_label(cell.setting)}"
    steps = _steps(site, row, page)
    place = (cell.model, cell.setting, row["id"], row["index"])
    verdicts, judged = site.verdicts.get(place, []), site.judged.get(place, [])
    return {
        "anchor": cell_anchor(cell, row["index"]),
        "label": results.label(cell.model),
        "setting": results.setting_label(cell.setting),
        "sample": row["index"],
        "left_out": not any(v["counts"] for v in verdicts),
        "simulated": row["simulated"],
        "marked": row["simulated"]
        or any(v["judge_simulated"] for v in verdicts)
        or any(j.simulated for j in judged),
        "outcome": name_outcome(row["outcome"]),
        "finish_reason": row["finish_reason"] or "",
        "tokens": row["output_tokens"],
        "key": row["key"],
        "error": row["error"] or "",
        "sent": letters.anchor(row["key"], name),
        "sent_before": [
            letters.anchor(s.key, f"{s.who}, before {name}") for s in steps if s.key != row["key"]
        ],
        "asked": len(row["steps"]),
        "steps": [step for step in steps if step.key != row["key"]],
        "shown": next((step.pictures for step in steps if step.key == row["key"]), []),
        "told": next((step.told for step in steps if step.key == row["key"]), []),
        "drawn": next((step.drawn for step in steps if step.key == row["key"]), []),
        "text": shorten_response(row["text"]),
        "reasoning": shorten_response(row["reasoning"] or ""),
        "verdicts": [{**verdict_words(v), "calibration": _calibration(site, v)} for v in verdicts],
        "judged": judged,
        "saliency": None,
        "cell_href": f"../cells/{cell_file(cell)}",
    }


def _calibration(site: _Site, verdict: Row) -> str:
    """Return a note if the certificate belongs to the judge of this verdict; empty if no judge was
    run."""
    if not verdict["judge"]:
        return ""
    return site.calibration if verdict["rules"] == JUDGE_RULES else UNCALIBRATED


def _steps(site: _Site, row: Row, page: Path) -> list[TrailStep]:
    """Return the steps to an answer, if there are others than the problem's request itself."""
    setting = site.results.study.settings[row["setting"]]
    if not (row["steps"] or row["drawn"] or setting.images.is_derived):
        return []
    problem_images = [figure.sha256 for figure in site.results.questions[row["id"]].images]
    return site.trail.steps([*row["steps"], row["key"]], problem_images, page)


def _write_cell(site: _Site, cell: Cell) -> None:
    results, page = site.results, site.folder / "cells" / cell_file(cell)
    answers, rows = results.answers, defaultdict(list)
    for (model, setting, problem, index), verdicts in site.verdicts.items():
        if (model, setting) == cell:
            words = {v["rules"]: verdict_words(v) for v in verdicts}
            main = words.get(_extracting(results)) or next(iter(words.values()))
            rows[answers[problem].subject].append(
                {
                    "id": problem,
                    "sample": index,
                    "href": f"../pages/{problem_file(problem)}#{cell_anchor(cell, index)}",
                    "images": answers[problem].n_images,
                    "gold": clip_answer("; ".join(answers[problem].answer)),
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
        subjects=[(s, sorted(rows[s], key=_place)) for s in sorted(rows)],
        report=link_file(site.report, page),
    )


def _write_index(site: _Site) -> None:
    import polars as pl

    results, page = site.results, site.folder / INDEX
    shares = dict(
        results.select_verdicts(results.main_rules)
        .group_by("id")
        .agg(pl.col("verdict").mean())
        .iter_rows()
    )
    problems = [
        {
            "id": q.id,
            "href": f"pages/{problem_file(q.id)}",
            "subject": q.subject,
            "images": results.answers[q.id].n_images,
            "type": results.answers[q.id].answer_type,
            "source": q.source or "",
            "solved": format_share(shares[q.id], 0) if q.id in shares else "–",
        }
        for q in sorted(results.questions.values(), key=lambda q: natural(q.id))
    ]
    write_page(
        page,
        "index.html.j2",
        partial=str(results.partial or ""),
        title=results.study.study.title,
        problems=problems,
        papers=any(p["source"] for p in problems),
        pictures_held=results.pictures_held,
        simulated=results.main_simulated,
        made_up=results.has_synthetic_problems,
        scored_by=name_scorer(results.main_rules),
        report=link_file(site.report, page),
    )


def _extracting(results: Results) -> str:
    # Published verdicts have no extracted answers, so show those of the scorer.
    return results.failure_rules or results.main_rules


def _place(row: Row) -> tuple[list[tuple[int, str]], int]:
    return natural(row["id"]), row["sample"]


def _stems(results: Results) -> set[str]:
    counts = Counter(q.group for q in results.questions.values() if q.group)
    return {group for group, count in counts.items() if count > 1}


def _verdicts(results: Results) -> Verdicts:
    order = {rules: place for place, rules in enumerate([*results.rules, *results.votes])}
    verdicts: Verdicts = defaultdict(list)
    for row in results.verdicts.iter_rows(named=True):
        verdicts[row["model"], row["setting"], row["id"], row["index"]].append(row)
    for rows in verdicts.values():
        rows.sort(key=lambda row: order[row["rules"]])
    return verdicts


def _group_by_problem(responses: pl.DataFrame) -> dict[str, list[Row]]:
    rows_by_problem: dict[str, list[Row]] = defaultdict(list)
    for row in responses.iter_rows(named=True):
        rows_by_problem[row["id"]].append(row)
    return rows_by_problem
