"""The main table: accuracy by subject, one row per cell, beside printed rows and guessing."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

from omibench.papers.layouts import AVERAGE
from omibench.papers.study import PrintedResult, find_row
from omibench.papers.tables import ACC, GPTSCORE, STRICT
from omibench.params.models.base import Model
from omibench.params.setting import Cell
from omibench.results.load import JUDGE_RULES, Results
from omibench.schemas.problem import join_labels
from omibench.stages.analyze.formatting import (
    NO_VALUE,
    count_noun,
    format_bounds,
    format_decimals,
    format_level,
    format_points,
    format_share,
    name_rules,
    name_scorer,
)
from omibench.stages.analyze.page_table import Row
from omibench.stages.analyze.pages import EXPLORER, INDEX, cell_file, describe_command, has_pages
from omibench.stages.analyze.results.accuracy import SUBJECT, TOTAL, subjects
from omibench.stages.analyze.results.chance import AT_CHANCE, BELOW_CHANCE, guess_slice
from omibench.stages.analyze.sections.section import ReportSection, section
from omibench.stages.analyze.sentences import UNKNOWN_FAILURES, best, find_cell
from omibench.web.templates import embed_json

if TYPE_CHECKING:
    from markupsafe import Markup

    from omibench.stages.analyze.analysis import Analysis

_PAGES_SHOW = "statement, figures, responses, verdicts and the position in the paper"
_PAGES_WITHOUT_PICTURES_SHOW = "statement, responses and verdicts"
_STRICT = " ACC is the mean share of right parts; Strict is the share with all parts right."
_READING = (
    "ACC is the share of responses called right, averaged over problems; {bounds}. "
    "Totals over part of the problems are marked and cannot lead. Intervals are Wilson's at the "
    "effective sample size: problems that share a stem count as one cluster. Models with "
    "overlapping intervals can still differ, because they "
    "answer the same problems: sentences in this report use paired differences, each with the "
    "interval of its pair, and tests with Holm's correction over all pairs of the compared cells, "
    "since the best of many equal models looks better. "
    "Without a certificate, a GPTScore is one judge's opinion; with one, the card on the judge "
    "shows totals corrected for its errors."
)
_NO_RANK = {"text": "", "bounds": "", "value": ""}
Scores = Mapping[tuple[str, str, str, str], Row]
"""Rows of `Analysis.scores` by model, setting, scorer and subject."""


@section("main")
class MainSection(ReportSection):
    """The main table: every cell under the main scorer, with subjects, GPTScore, failures and
    printed rows."""

    title = "Leaderboard"
    files = ("main",)
    template = "sections/main.html.j2"

    def view(self) -> Mapping[str, Any]:
        """Return formatted rows by group, missing cells, and the link to the explorer."""
        results = self.results
        judged = JUDGE_RULES in results.rules
        names = subjects(self.analysis)
        rows = self.analysis.scores.to_dicts()
        strict = any(r["strict"] is not None and r["rules"] == results.main_rules for r in rows)
        scores = {(r["model"], r["setting"], r["rules"], r["subject"]): r for r in rows}
        ranks = format_ranks(self.analysis)
        beside = {
            cell: find_row(results, cell, self.analysis.printed_rows)
            for cell in results.study.cells
        }
        digits = max((row.digits for row in beside.values() if row), default=1)
        groups = group_rows(self.analysis, scores, beside, ranks, digits)
        cells = [row["cell"] for g in groups for m in g["models"] for row in m["rows"]]
        return {
            "chance": describe_chance(self.analysis, digits),
            "simulated": results.main_simulated,
            "caption": caption_table(results) + (_STRICT if strict else ""),
            "judged": judged,
            "judge_simulated": results.judge_simulated or results.has_synthetic_problems,
            "uncalibrated": judged and results.certificate is None,
            "subjects": names,
            "strict": strict,
            "columns": 6 + len(names) + judged + strict + bool(ranks),
            "ranked": bool(ranks),
            "data": embed_rows(self.analysis, cells, scores),
            "failure_head": head_failures(results),
            "groups": groups,
            "missing": [
                (results.label(cell.model), results.setting_label(cell.setting))
                for cell in results.missing
            ],
            "reading": describe_reading(results),
            "index_href": f"{EXPLORER}/{INDEX}" if has_pages(results) else None,
            "explore": describe_command(results),
            "pages_show": _PAGES_SHOW if results.pictures_held else _PAGES_WITHOUT_PICTURES_SHOW,
        }


def group_rows(
    analysis: Analysis,
    scores: Scores,
    beside: Mapping[Cell, PrintedResult | None],
    ranks: Mapping[Cell, Mapping[str, str]],
    digits: int,
) -> list[dict[str, Any]]:
    """Return the rows of the main table: models in the study's order, by group.

    Args:
        analysis: The study's results.
        scores: Its scores.
        beside: The printed row of each cell.
        ranks: Formatted ranks by cell.
        digits: Number of decimals of accuracies.

    Returns:
        For each group its `name` and `models`; for each model `label`, `simulated`, `size`,
        `parameters` (in billions), `weights` (`open`, `closed` or empty) and `rows`, one per
        setting, as the template names their values.
    """
    results, main = analysis.results, analysis.results.main_rules
    parts = analysis.printed_comparisons.filter(subject=AVERAGE).to_dicts()
    averages = {find_cell(row): 100 * row["estimate"] for row in parts}
    top = best(analysis)
    leader = find_cell(top) if top else None
    groups: dict[str, list[dict[str, Any]]] = {}
    for model in dict.fromkeys(cell.model for cell in results.study.cells):
        cells = [cell for cell in results.study.cells if cell.model == model]
        rows = [
            _format_row(analysis, cell, scores, digits)
            | {
                "leader": cell == leader,
                "gain": describe_gain(results, cell, scores),
                "printed_in": describe_places(results, cell),
                "rank": ranks.get(cell, _NO_RANK),
                "printed": _describe_printed(analysis, beside[cell], averages.get(cell)),
            }
            for cell in cells
            if (*cell, main, TOTAL) in scores
        ]
        if rows:
            block = results.study.models[model]
            entry = {
                "label": results.label(model),
                "simulated": any(results.simulated_cells[cell] for cell in cells),
                "rows": rows,
                "size": describe_size(block),
                "parameters": f"{block.parameters_b or 0:g}",
                "weights": block.weights or "",
            }
            groups.setdefault(block.group or "Models", []).append(entry)
    return [{"name": name, "models": models} for name, models in groups.items()]


def _format_row(analysis: Analysis, cell: Cell, scores: Scores, digits: int) -> dict[str, Any]:
    results, main = analysis.results, analysis.results.main_rules
    total, judge = scores[*cell, main, TOTAL], scores.get((*cell, JUDGE_RULES, TOTAL))
    page = f"{EXPLORER}/cells/{cell_file(cell)}" if has_pages(results) else None
    n, problems = total["n"], len(results.answers)
    failed = total["failures"]
    bounds = (format_share(total[name], digits) for name in ("estimate", "failures_right"))

    def share(rules: str, subject: str) -> str:
        row = scores.get((*cell, rules, subject))
        return format_share(row["estimate"] if row else None, digits)

    return {
        "cell": cell,
        "setting": results.setting_label(cell.setting),
        "href": page,
        "bar": _draw_bar(total),
        "total": format_share(total["estimate"], digits),
        "interval": format_bounds(total["low"], total["high"]),
        "partial": f"{n:,} of {count_noun(problems, 'problem')}" if n < problems else "",
        "subjects": [
            {
                "acc": share(main, name),
                "gptscore": share(JUDGE_RULES, name),
                "href": f"{page}#{name}" if page and (*cell, main, name) in scores else None,
            }
            for name in subjects(analysis)
        ],
        "gptscore": share(JUDGE_RULES, TOTAL),
        "gptscore_interval": format_bounds(judge["low"], judge["high"]) if judge else "",
        "failures": NO_VALUE if failed is None else f"{failed} / {total['responses']}",
        "bounds": NO_VALUE if failed is None else " to ".join(bounds),
        "strict": format_share(total["strict"], digits),
        "strict_interval": format_bounds(total["strict_low"], total["strict_high"]),
    }


def _draw_bar(row: Row) -> dict[str, float]:
    """Return a bar with a whisker, in per cent."""
    names = {"mean": "estimate", "lo": "low", "hi": "high"}
    return {name: round(100 * row[column], 2) for name, column in names.items()}


def _describe_printed(
    analysis: Analysis, row: PrintedResult | None, average: float | None
) -> dict[str, Any] | None:
    """Format the printed row below one of our rows.

    `macro` is a printed mean over parts of the problems, and ours; it is not a total, since it
    weights the parts equally.
    """
    if row is None:
        return None

    def text(subject: str, metric: str) -> str:
        value = row.values.get((subject, metric))
        return NO_VALUE if value is None else format_decimals(value, row.digits)

    total, answers = text(TOTAL, ACC), analysis.results.answers.values()
    pairs = {join_labels(answer.attributes.get("pair")) for answer in answers}
    if total == NO_VALUE and len(pairs) == 1:
        total = text(pairs.pop(), ACC)
    values = [text(subject, ACC) for subject in subjects(analysis)]
    macro = _describe_macro(row, average) if (AVERAGE, ACC) in row.values else ""
    gptscore, strict = text(TOTAL, GPTSCORE), text(TOTAL, STRICT)
    if {total, gptscore, strict, *values} == {NO_VALUE} and not macro:
        return None
    return {
        "total": total, "gptscore": gptscore, "subjects": values, "strict": strict, "macro": macro,
    }  # fmt: skip


def _describe_macro(row: PrintedResult, average: float | None) -> str:
    parts = [part for part, metric in row.values if metric == ACC and part != AVERAGE]
    printed = format_decimals(row.values[AVERAGE, ACC], row.digits)
    ours = "" if average is None else f", ours {format_decimals(average, row.digits)}"
    return f"macro average of {' and '.join(parts)}: {printed}{ours}"


def format_ranks(analysis: Analysis) -> dict[Cell, dict[str, str]]:
    """Format the ranks of the headline's cells under the main scorer.

    Args:
        analysis: The study's results.

    Returns:
        By cell: the rank by accuracy, and the best and worst rank that the tests allow; empty if no
        cells are compared.
    """
    table = analysis.find_rows("ranks")
    if table is None:
        return {}
    rows = table.filter(rules=analysis.results.main_rules).to_dicts()
    return {
        find_cell(row): {
            "text": f"{row['estimate']:.0f}",
            "bounds": f"{row['low']:.0f} to {row['high']:.0f} of {len(rows)}",
            "value": f"{row['estimate']:.0f}",
        }
        for row in rows
    }


def embed_rows(analysis: Analysis, cells: Sequence[Cell], scores: Scores) -> Markup:
    """Return the data of the leaderboard's script, as JSON inside a page.

    Args:
        analysis: The study's results.
        cells: Cells of the table, in order of its rows.
        scores: Scores of the study.

    Returns:
        `main`, the name of the scorer of the table; `subjects`; `rules`, titles by name; `values`:
        by scorer a list of rows, each with mean, lower and upper bound in per cent of the total and
        of each subject, or null; and `simulated`: by scorer, whether each row is simulated.
    """
    results, names = analysis.results, subjects(analysis)
    values = {
        rules: [
            [
                [*_draw_bar(row).values()] if row else None
                for name in (TOTAL, *names)
                for row in (scores.get((*cell, rules, name)),)
            ]
            for cell in cells
        ]
        for rules in results.rules
    }
    marks = {row[:3]: row[3] for row in analysis.simulated_cells.iter_rows()}
    return embed_json(
        {
            "main": results.main_rules,
            "subjects": names,
            "rules": {rules: name_rules(rules) for rules in results.rules},
            "values": values,
            "simulated": {
                rules: [marks.get((*cell, rules), results.simulated_cells[cell]) for cell in cells]
                for rules in results.rules
            },
        }
    )


def describe_chance(analysis: Analysis, digits: int) -> dict[str, Any] | None:
    """Format the row of guessing among the choices (EMMA, table 2, "Random choice").

    Args:
        analysis: The study's results.
        digits: Number of decimals in the table.

    Returns:
        The row, with a `note` on the accuracies that guessing explains; None if no problem has
        choices.
    """
    table = analysis.find_rows("chance")
    if table is None:
        return None
    total = table.filter(metric="chance", slice="").to_dicts()[0]
    parts = {row["value"]: row for row in guess_slice(analysis, SUBJECT).to_dicts()}
    upper = format_share(total["upper"])
    return {
        "bar": _draw_bar(total),
        "total": format_share(total["estimate"], digits),
        "interval": format_bounds(total["low"], total["high"]),
        "upper": f"{format_level(analysis.confidence)} of guesses up to {upper}",
        "subjects": [format_share(parts[name]["estimate"], digits) for name in subjects(analysis)],
        "note": _describe_cells_at_chance(analysis),
    }


def _describe_cells_at_chance(analysis: Analysis) -> str:
    """Describe the accuracies at chance level under the main scorer, overall and by slice."""
    rows = analysis.rows("chance").filter(rules=analysis.results.main_rules, setting="")
    counts = {
        metric: round(float((part["estimate"] * part["n"]).sum()))
        for metric in (AT_CHANCE, BELOW_CHANCE)
        if (part := rows.filter(metric=metric)).height
    }
    if not counts:
        return ""
    cells = int(rows.filter(metric=AT_CHANCE)["n"].sum())
    below = f", and {counts[BELOW_CHANCE]:,} lie below it" if counts[BELOW_CHANCE] else ""
    return (
        f"Accuracies on problems with choices, overall and by slice: the intervals of "
        f"{counts[AT_CHANCE]:,} of {cells:,} contain the accuracy of guessing{below}."
    )


def describe_size(model: Model) -> str:
    """Return the size: '8 B', '235 B, 22 B active'; empty if unknown."""
    total, active = model.parameters_b, model.active_parameters_b
    parts = [f"{total:g} B" if total else "", f"{active:g} B active" if active else ""]
    return ", ".join(filter(None, parts))


def describe_gain(results: Results, cell: Cell, scores: Scores) -> str:
    """Return a fine-tuned model's gain over its base under the same setting, in points.

    Empty if the study does not have both on the same number of problems (OMIBench, table 9).
    """
    base, rest = results.study.models[cell.model].base, (cell.setting, results.main_rules, TOTAL)
    score, of_base = scores[cell.model, *rest], scores.get((base or "", *rest))
    if base is None or of_base is None or score["n"] != of_base["n"]:
        return ""
    gain = format_points(score["estimate"] - of_base["estimate"], 2)
    return f"{gain} from {results.label(base)}"


def describe_places(results: Results, cell: Cell) -> str:
    """Return the printed tables and figures of the cell: 'table 2, 10, figure 5c'."""
    names = results.study.infer.list_printed_places(cell.model, cell.setting)
    kinds = groupby(sorted(names, key=_place), key=lambda name: name.partition(" ")[0])
    return ", ".join(
        ", ".join([first, *(name.removeprefix(f"{kind} ") for name in later_names)])
        for kind, (first, *later_names) in kinds
    )


def _place(name: str) -> tuple[object, ...]:
    """Return a key that sorts tables before figures, each by number."""
    kind, _, number = name.partition(" ")
    parts = re.split(r"(\d+)", number)
    return kind != "table", kind, [(part.zfill(9) if part.isdigit() else part) for part in parts]


def caption_table(results: Results) -> str:
    """Return the caption of the main table."""
    judged = " The value after GPT is the GPTScore." if JUDGE_RULES in results.rules else ""
    return (
        f"ACC in per cent by {name_scorer(results.main_rules)}; in brackets the "
        f"{format_level(results.study.analyze.confidence)} interval.{judged}"
    )


def head_failures(results: Results) -> str:
    """Return the heading of the responses without an answer, with their scorer."""
    rules = results.failure_rules
    return "No answer" if rules in (None, results.main_rules) else f"No answer, by {rules}"


def describe_reading(results: Results) -> str:
    """Return the explanation of the main table."""
    rules = results.failure_rules
    if rules == results.main_rules:
        bounds = (
            "responses without an answer count as wrong, and Bounds shows the total with them "
            "counted as wrong and as right"
        )
    elif rules:
        bounds = (
            f"{UNKNOWN_FAILURES}, so Bounds shows the total as published, and with the responses "
            f"in which {name_scorer(rules)} finds no answer counted as right"
        )
    else:
        bounds = f"{UNKNOWN_FAILURES}, so there are no bounds"
    return _READING.format(bounds=bounds)
