"""The main table: accuracy by subject, one row per cell, beside printed rows and guessing."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from math import inf
from typing import TYPE_CHECKING, Any

from omibench.papers.layouts import AVERAGE
from omibench.papers.study import PrintedResult, find_row
from omibench.papers.tables import ACC, GPTSCORE, STRICT
from omibench.params.models.base import ModelBlock
from omibench.params.setting import Cell
from omibench.results.load import JUDGE_RULES, Results
from omibench.schemas.problem import join_labels
from omibench.stages.analyze.findings import best, contenders, find_cell
from omibench.stages.analyze.formatting import (
    NO_VALUE,
    count_noun,
    format_decimals,
    format_level,
    format_points,
    format_share,
    name_rules,
    name_scorer,
)
from omibench.stages.analyze.page_table import Row
from omibench.stages.analyze.pages import EXPLORER, INDEX, cell_file, describe_command, has_pages
from omibench.stages.analyze.people import EVERYBODY, MAJORITY
from omibench.stages.analyze.results.accuracy import SUBJECT, TOTAL, subjects
from omibench.stages.analyze.results.chance import AT_CHANCE, BELOW_CHANCE, guess_slice
from omibench.stages.analyze.sections.section import ReportSection, section
from omibench.stages.analyze.sentences import UNKNOWN_FAILURES, name_reference
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
        """Return formatted rows by accuracy, references, missing cells and links to responses."""
        results = self.results
        judged = JUDGE_RULES in results.rules
        names = subjects(self.analysis)
        rows = self.analysis.scores.to_dicts()
        strict = any(r["strict"] is not None and r["rules"] == results.main_rules for r in rows)
        scores = {(r["model"], r["setting"], r["rules"], r["subject"]): r for r in rows}
        ranks = rank_cells(self.analysis)
        printed = {
            cell: find_row(results, cell, self.analysis.printed_rows)
            for cell in results.study.cells
        }
        own = list_rows(self.analysis, scores, printed, ranks)
        uncalibrated = judged and results.certificate is None
        heads = list_heads(results, names, ranks=bool(ranks), strict=strict)
        judged_note = " The value after GPT is the GPTScore." if judged else ""
        return {
            "references": [*list_references(self.analysis)],
            "chance_note": _describe_cells_at_chance(self.analysis),
            "digits": max((row.digits for row in printed.values() if row), default=1),
            "simulated": results.main_simulated,
            "caption": f"ACC in per cent by {name_scorer(results.main_rules)}; in brackets the "
            f"{format_level(self.analysis.confidence)} interval.{judged_note}"
            + (_STRICT if strict else ""),
            "judged": judged,
            "judge_simulated": results.judge_simulated or results.has_synthetic_problems,
            "uncalibrated": uncalibrated,
            "subjects": names,
            "strict": strict,
            "heads": heads,
            "labels": label_cards(heads),
            "ranks": len(ranks),
            "ranked_under": name_reference(results),
            "data": embed_rows(self.analysis, [row["cell"] for row in own], scores),
            "rows": own,
            "missing": [
                (results.label(cell.model), results.setting_label(cell.setting))
                for cell in results.missing
            ],
            "reading": describe_reading(results),
            "index_href": f"{EXPLORER}/{INDEX}" if has_pages(results) else None,
            "explore": describe_command(results),
            "pages_show": _PAGES_SHOW if results.pictures_held else _PAGES_WITHOUT_PICTURES_SHOW,
        }


def list_heads(
    results: Results, subjects: Sequence[str], *, ranks: bool, strict: bool
) -> list[str]:
    """Return the titles of the columns, in order.

    Args:
        results: The study's results.
        subjects: Names of the subjects.
        ranks: Whether cells are ranked.
        strict: Whether the accuracy counts parts.
    """
    by = "" if results.failure_rules in (None, results.main_rules) else results.failure_rules
    return [
        "Model", "Setting", *["Rank"] * ranks, "ACC, %", "Total", *["Strict"] * strict,
        *(subject.capitalize() for subject in subjects),
        *["GPTScore"] * (JUDGE_RULES in results.rules),
        f"No answer, by {by}" if by else "No answer", "Bounds",
    ]  # fmt: skip


def label_cards(heads: Sequence[str]) -> Markup:
    """Return a style sheet that puts the title of its column before each value.

    On narrow screens a row is a card, without the head of the table.

    Args:
        heads: The titles, which can be untrusted: every other character than a letter or digit is
            written as CSS's escape.
    """
    from markupsafe import Markup

    texts = (
        "".join(c if c.isascii() and c.isalnum() else f"\\{ord(c):x} " for c in head)
        for head in heads
    )
    rules = (
        f'#leaderboard tr>:nth-child({place})::before{{content:"{text}"}}'
        for place, text in enumerate(texts, start=1)
        if place > 2
    )
    return Markup("".join(rules))  # noqa: S704  # escaped above


def list_rows(
    analysis: Analysis,
    scores: Scores,
    printed: Mapping[Cell, PrintedResult | None],
    ranks: Mapping[Cell, Row],
) -> list[dict[str, Any]]:
    """Return the rows of the main table: by rank, others by accuracy, last those that cannot lead.

    Args:
        analysis: The study's results.
        scores: Its scores.
        printed: The printed row of each cell.
        ranks: Rows of the result `ranks` by cell.

    Returns:
        For each scored cell its texts, and `total`, `judge` and `subjects`: rows of `scores`, or
        None; the template formats their shares. `place` is its position by models, in the study's
        order.
    """
    results, main = analysis.results, analysis.results.main_rules
    study, problems, leader = results.study, len(results.answers), find_clear_leader(analysis)
    parts = analysis.printed_comparisons.filter(subject=AVERAGE).to_dicts()
    averages = {find_cell(row): 100 * row["estimate"] for row in parts}
    models = list(dict.fromkeys(cell.model for cell in study.cells))
    simulated = {cell.model for cell, mark in results.simulated_cells.items() if mark}
    able = {find_cell(row) for row in contenders(analysis, results.cells)}
    rows: list[dict[str, Any]] = []
    for cell in sorted(study.cells, key=lambda cell: models.index(cell.model)):
        total, block = scores.get((*cell, main, TOTAL)), study.models[cell.model]
        if total is None:
            continue
        page = f"{EXPLORER}/cells/{cell_file(cell)}" if has_pages(results) else None
        by_subject = [(name, scores.get((*cell, main, name))) for name in subjects(analysis)]
        row = {
            "cell": cell,
            "place": len(rows),
            "group": block.group or "Models",
            "label": results.label(cell.model),
            "setting": results.setting_label(cell.setting),
            "simulated": cell.model in simulated,
            "size": describe_size(block),
            "parameters": f"{block.parameters_b or 0:g}",
            "weights": block.weights or "",
            "href": page,
            "leader": cell == leader,
            "gain": describe_gain(results, cell, scores),
            "printed_in": describe_places(results, cell),
            "rank": ranks.get(cell),
            "printed": _describe_printed(analysis, printed[cell], averages.get(cell)),
            "bar": _draw_bar(total),
            "total": total,
            "judge": scores.get((*cell, JUDGE_RULES, TOTAL)),
            "partial": f"{total['n']:,} of {count_noun(problems, 'problem')}"
            if total["n"] < problems
            else "",
            "subjects": [
                {
                    "acc": score,
                    "judge": scores.get((*cell, JUDGE_RULES, name)),
                    "href": f"{page}#{name}" if page and score else None,
                }
                for name, score in by_subject
            ],
        }
        rows.append(row)
    return sorted(rows, key=lambda row: (row["cell"] not in able, *_order(row)))


def _order(row: Mapping[str, Any]) -> tuple[float, float]:
    """Return the place of a row: ranked ones by rank, then the others by accuracy."""
    rank = row["rank"]
    return rank["estimate"] if rank else inf, -row["total"]["estimate"]


def find_clear_leader(analysis: Analysis) -> Cell | None:
    """Return the leading cell, if the paired tests put it ahead of the second."""
    results, top = analysis.results, best(analysis)
    first = find_cell(top) if top else None
    second = best(analysis, [cell for cell in results.family.cells if cell != first])
    if first is None or second is None:
        return None
    return first if results.family_tests.is_ahead(first, find_cell(second)) else None


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
    macro = ""
    if (AVERAGE, ACC) in row.values:
        parts = [part for part, metric in row.values if metric == ACC and part != AVERAGE]
        ours = "" if average is None else f", ours {format_decimals(average, row.digits)}"
        macro = f"macro average of {' and '.join(parts)}: {text(AVERAGE, ACC)}{ours}"
    return {
        "total": total,
        "gptscore": text(TOTAL, GPTSCORE),
        "subjects": [text(subject, ACC) for subject in subjects(analysis)],
        "strict": text(TOTAL, STRICT),
        "macro": macro,
    }


def rank_cells(analysis: Analysis) -> dict[Cell, Row]:
    """Return the rows of `ranks` under the main scorer by cell; empty if none are compared."""
    rows = analysis.list_rows("ranks", rules=analysis.results.main_rules)
    return {find_cell(row): row for row in rows}


def embed_rows(analysis: Analysis, cells: Sequence[Cell], scores: Scores) -> Markup:
    """Return the data of the leaderboard's script, as JSON inside a page.

    Args:
        analysis: The study's results.
        cells: Cells of the table, in order of its rows.
        scores: Scores of the study.

    Returns:
        `main`, the name of the scorer of the table; `subjects`; `rules`, titles by name; `values`:
        by other scorer a list of rows, each with mean, lower and upper bound in per cent of the
        total and of each subject, or null; and `simulated`: by scorer, whether each row is
        simulated.
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
        if rules != results.main_rules
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


def list_references(analysis: Analysis) -> Iterator[dict[str, Any]]:
    """Return the rows for comparison with the models: people, and guessing among the choices.

    Guessing is that of EMMA (table 2, "Random choice"). People are scored by the main scorer.

    Args:
        analysis: The study's results.
    """
    names = subjects(analysis)
    for kind, label in {EVERYBODY: "People", MAJORITY: "Majority of people"}.items():
        rules = analysis.results.main_rules
        rows = analysis.list_rows("people", kind=kind, metric="accuracy", rules=rules)
        by_subject = {row["value"]: row for row in rows if row["slice"] == SUBJECT}
        for total in (row for row in rows if not row["slice"]):
            yield {
                "label": label,
                "simulated": total["simulated"],
                "detail": "",
                "note": f"on {count_noun(total['problems'], 'problem')}",
                "bar": _draw_bar(total),
                "total": total,
                "subjects": [by_subject.get(name) for name in names],
            }
    for total in analysis.list_rows("chance", metric="chance", slice="")[:1]:
        parts = {row["value"]: row for row in guess_slice(analysis, SUBJECT).to_dicts()}
        upper = format_share(total["upper"])
        yield {
            "label": "Random choice",
            "simulated": False,
            "detail": "among the choices",
            "note": f"{format_level(analysis.confidence)} of guesses up to {upper}",
            "bar": _draw_bar(total),
            "total": total,
            "subjects": [parts[name] for name in names],
        }


def _describe_cells_at_chance(analysis: Analysis) -> str:
    """Describe the accuracies at chance level under the main scorer, overall and by slice."""
    if analysis.find_rows("chance") is None:
        return ""
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


def describe_size(model: ModelBlock) -> str:
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
