"""Responses of an item on its exported page."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from omibench.errors import OmibenchError
from omibench.explore.app.beside import describe_saliency, find_heat_map
from omibench.explore.export.pictures import CopyingTrail, PictureCopies
from omibench.explore.item import find_others, read_rows
from omibench.explore.run import Run
from omibench.params.cell import Cell
from omibench.schemas.problem import Question
from omibench.schemas.tables import JudgementRow, ResponseRow, VerdictRow, read_parquet
from omibench.stages.analyze.explorer.judged import Judgement, read_judgement
from omibench.stages.analyze.explorer.sent import SentConversations
from omibench.stages.analyze.explorer.view import shorten_response, verdict_words
from omibench.stages.analyze.links import cell_anchor
from omibench.stages.analyze.words import name_outcome

_RESPONSE: Final = tuple(ResponseRow.model_fields)
_VERDICT: Final = tuple(VerdictRow.model_fields)
Values = dict[str, Any]
Place = tuple[str, int]
"""An item and a sample."""


@dataclass(frozen=True)
class ItemPage:
    """The page of an item under construction.

    Attributes:
        path: Its file.
        question: The item.
        trail: The store.
        copies: Its pictures.
        sent: The conversations on the page; those of each response are added.
    """

    path: Path
    question: Question
    trail: CopyingTrail
    copies: PictureCopies
    sent: SentConversations


class ExportedRows:
    """A cell's data on some items: responses, verdicts, and judgements of the reasoning."""

    def __init__(self, run: Run, cell: Cell, names: Sequence[str]) -> None:
        """Read the files of a cell.

        Args:
            run: The run.
            cell: The cell.
            names: The ids of the items.

        Raises:
            FileFormatError: A file cannot be read.
        """
        self.run, self.cell = run, cell
        self.responses: defaultdict[str, list[Values]] = defaultdict(list)
        for row in read_rows(run, "infer", cell, names, _RESPONSE):
            self.responses[row["id"]].append(row)
        self.verdicts: defaultdict[Place, list[Values]] = defaultdict(list)
        for row in read_rows(run, "score", cell, names, _VERDICT):
            self.verdicts[row["id"], row["index"]].append(row)
        self.others = find_others(run, cell)
        self.judgements = _read_judgements(run, cell, names)


def describe_response(rows: ExportedRows, row: Values, page: ItemPage) -> Values:
    """Return one response for the template `problem.html.j2`.

    Args:
        rows: The data of its cell.
        row: The response.
        page: The page that shows it.
    """
    run, cell, place = rows.run, rows.cell, (row["id"], row["index"])
    name = f"{run.label(cell.model)}, {run.label(cell.setting)}"
    verdicts, judged = rows.verdicts[place], rows.judgements[place]
    pictures = [figure.sha256 for figure in page.question.images]
    steps = page.trail.steps([*(row["steps"] or []), row["key"]], pictures, page.path)
    before = [step for step in steps if step.key != row["key"]]
    last = next((step for step in steps if step.key == row["key"]), None)
    return {
        "anchor": cell_anchor(cell, row["index"]),
        "label": run.label(cell.model),
        "setting": run.label(cell.setting),
        "sample": row["index"],
        "left_out": place in rows.others,
        "simulated": row["simulated"],
        "marked": row["simulated"]
        or any(verdict["simulated"] for verdict in verdicts)
        or any(judgement.simulated for judgement in judged),
        "outcome": name_outcome(row["outcome"]),
        "finish_reason": row["finish_reason"] or "",
        "tokens": row["output_tokens"],
        "key": row["key"],
        "error": row["error"] or "",
        "sent": page.sent.anchor(row["key"], name),
        "sent_before": [page.sent.anchor(s.key, f"{s.who}, before {name}") for s in before],
        "asked": len(row["steps"] or []),
        "steps": before,
        "shown": last.pictures if last else [],
        "told": last.told if last else [],
        "drawn": last.drawn if last else [],
        "text": shorten_response(row["text"] or ""),
        "reasoning": shorten_response(row["reasoning"] or ""),
        "verdicts": [_describe_verdict(verdict) for verdict in verdicts],
        "judged": judged,
        "saliency": describe_heat_maps(rows, row["id"], page) if row["index"] == 0 else None,
        "cell_href": "",
    }


def describe_heat_maps(rows: ExportedRows, name: str, page: ItemPage) -> Values | None:
    """Return log-probabilities of the options with their heat maps, which are copied.

    Args:
        rows: The data of the cell.
        name: The id of the item.
        page: The page that shows them.

    Returns:
        As `beside.describe_saliency`, each map with its address as `src`; None without
        measurements.
    """
    measured = describe_saliency(rows.run, name, rows.cell)
    if measured is None:
        return None
    maps = []
    for entry in measured["maps"]:
        path = find_heat_map(rows.run, name, rows.cell, entry["image"], entry["option"])
        src = page.copies.link_file(path, page.path) if path else None
        if src:
            maps.append({"image": entry["image"], "option": entry["option"], "src": src})
    return {**measured, "maps": maps}


def _describe_verdict(row: Values) -> Values:
    # The agreement with human labels is in the report, which reads certificates.
    is_judged = bool(row["judge"])
    words = verdict_words({**row, "judge_simulated": is_judged and row["simulated"]})
    return {**words, "calibration": ""}


def _read_judgements(
    run: Run, cell: Cell, names: Sequence[str]
) -> defaultdict[Place, list[Judgement]]:
    """Return judgements by item and sample; empty if the file is missing or unreadable."""
    judgements: defaultdict[Place, list[Judgement]] = defaultdict(list)
    path = run.files.find_file("judge", cell)
    if path is None:
        return judgements
    try:
        rows = read_parquet(path, JudgementRow)
    except OmibenchError:
        return judgements
    wanted = set(names)
    for row in rows.iter_rows(named=True):
        if row["id"] in wanted:
            judgement = read_judgement(row, None)._replace(calibration="")
            judgements[row["id"], row["index"]].append(judgement)
    return judgements
