"""Export of a list of problems as a table: exactly the selected ones, in their order."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, Final, Literal

import numpy as np

from omibench.explore.filters import OF_RESPONSES, describe_numbers, round_number
from omibench.explore.query import ItemQuery
from omibench.explore.selection import Selection, Study
from omibench.files.outputs import format_csv
from omibench.results.statistics.items import average_rows
from omibench.schemas.verdict import RIGHT

ListForm = Literal["csv", "jsonl"]
MEDIA: Final[dict[ListForm, str]] = {
    "csv": "text/csv; charset=utf-8",
    "jsonl": "application/jsonl; charset=utf-8",
}
_JOINT: Final = "; "
_MEANS: Final = {**OF_RESPONSES, "length": "characters"}


def write_list(study: Study, query: ItemQuery, form: ListForm) -> str:
    """Return all items that a query selects as a table.

    A row has the problem, its tags, the number of right cells, the means of the responses'
    measures, and the verdict in each of the query's cells. `simulated` is whether any of them is.

    Args:
        study: The study.
        query: The query; `offset`, `column` and `limit` are ignored.
        form: `csv` has a column MODEL/SETTING for each cell and joins lists with `; `; `jsonl` has
            lists, and the verdicts in an object.

    Raises:
        ParamsError: The query does not match the study.
    """
    selection = study.select(query)
    rows = _list_rows(study, query, selection, selection.ids)
    if form == "jsonl":
        return "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)
    # Without matches, the header is that of another problem's row.
    other = _list_rows(study, query, selection, study.items.ids[:1])
    return format_csv([*map(_flatten, rows)], [name for row in other for name in _flatten(row)])


def _flatten(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row of a table without lists and objects."""
    verdicts = row.pop("verdicts")
    joined = {name: _JOINT.join(v) if isinstance(v, list) else v for name, v in row.items()}
    return {**joined, **verdicts}


def _list_rows(
    study: Study, query: ItemQuery, selection: Selection, names: Sequence[str]
) -> Iterator[dict[str, Any]]:
    grid, run = selection.grid, study.run
    tags, measures = study.read_tags(), {}
    if selection.columns:
        measures = study.average_measures(selection.columns, with_slow=True)
    cells = [run.cells[column] for column in selection.columns] if run else []
    simulated = bool(run and run.simulated_cells & set(cells))
    for name in names:
        question, answer = study.items.questions[name], study.items.answers[name]
        place = study.items.places[name]
        row = {
            "id": name,
            "subject": question.subject,
            "answer_type": answer.answer_type,
            "n_images": answer.n_images,
            "question": question.question,
            "gold": answer.answer,
            "tags": sorted(tags.get(name, ())),
            "synthetic": bool(study.items.manifest.synthetic),
        }
        verdicts: dict[str, float | None] = {}
        if grid is not None:
            values = grid.values[place].astype(float)
            row |= {
                "scorer": study.choose_rules(query.rules),
                "right": int((values >= RIGHT).sum()),
                "scored": int((~np.isnan(values)).sum()),
                "mean_verdict": round_number(float(average_rows(values[None])[0])),
            }
            columns = ("/".join(cell) for cell in grid.cells)
            verdicts = dict(zip(columns, map(round_number, values), strict=True))
        if measures:
            numbers = describe_numbers(measures, place)
            row |= {f"mean_{column}": numbers[measure] for measure, column in _MEANS.items()}
            row["simulated"] = simulated
        yield row | {"verdicts": verdicts}
