"""Additional measurements of responses: judgements of the reasoning, and saliency of choices."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlencode

from pydantic import BaseModel

from omibench.errors import OmibenchError
from omibench.explore.run import Run
from omibench.params.cell import Cell
from omibench.schemas.saliency_row import SaliencyRow, map_file
from omibench.schemas.tables import JudgementRow, read_parquet
from omibench.stages.analyze.explorer.judged import read_judgement

if TYPE_CHECKING:
    import polars as pl

_OPTION: Final = ("image", "sha256", "option", "logprob", "chosen", "right")
Values = dict[str, Any]


def list_judgements(run: Run, name: str, cell: Cell) -> dict[int, list[Values]]:
    """Return the judgements of a cell's responses to an item.

    Args:
        run: The run.
        name: The id of the item.
        cell: The cell.

    Returns:
        By sample: instrument, judge, verdict as text, key of the judge's reply in the store; empty
        if the cell was not judged, or its file cannot be read.
    """
    by_sample: dict[int, list[Values]] = {}
    for row in _read_rows(run, "judge", name, cell, JudgementRow):
        values = read_judgement(row, None)._asdict()
        # The agreement with human labels is in the report, which reads certificates.
        del values["calibration"]
        by_sample.setdefault(row["index"], []).append(values)
    return by_sample


def describe_saliency(run: Run, name: str, cell: Cell) -> Values | None:
    """Return the saliency of a choice, by the log-probabilities of the options.

    Args:
        run: The run.
        name: The id of the item.
        cell: The cell.

    Returns:
        `{outcome, reason, simulated, options, maps}`: for each option, log P of the unmodified
        pictures, and the address of its heat map over each picture; None without measurements.
    """
    import polars as pl

    rows = _read_rows(run, "saliency", name, cell, SaliencyRow)
    if not rows:
        return None
    frame = pl.DataFrame(rows, infer_schema_length=None)
    places = frame.filter(pl.col("option") != "").select(_OPTION).unique(maintain_order=True)
    options = places.unique("option", keep="first", maintain_order=True)
    return {
        "outcome": rows[0].get("outcome") or "scored",
        "reason": rows[0].get("reason") or "",
        "simulated": any(row["simulated"] for row in rows),
        "options": options.select("option", "logprob", "chosen", "right").to_dicts(),
        "maps": _list_maps(run, name, cell, places),
    }


def find_heat_map(run: Run, name: str, cell: Cell, image: int, option: str) -> Path | None:
    """Return the heat map of an option over a picture, or None if the stage has not drawn one."""
    if cell not in run.cells:
        return None
    path = map_file(_find_folder(run, cell), name, image, option)
    try:
        return path if path.is_file() else None
    except OSError:  # ids may be longer than file names can be
        return None


def _list_maps(run: Run, name: str, cell: Cell, places: pl.DataFrame) -> list[Values]:
    maps = []
    for place in places.unique(["image", "option"], maintain_order=True).iter_rows(named=True):
        if find_heat_map(run, name, cell, place["image"], place["option"]) is None:
            continue
        query = {"model": cell.model, "setting": cell.setting, "id": name,
                 "image": place["image"], "option": place["option"]}  # fmt: skip
        maps.append(
            {
                "image": place["image"],
                "option": place["option"],
                "sha256": place["sha256"],
                "address": f"/heat-map?{urlencode(query)}",
            }
        )
    return maps


def _find_folder(run: Run, cell: Cell) -> Path:
    return run.files.locate("saliency", cell).with_suffix("")


def _read_rows(
    run: Run, stage: str, name: str, cell: Cell, row: type[BaseModel]
) -> Sequence[Values]:
    """Return the rows of an item; empty if the cell's file is missing or unreadable."""
    path = run.files.find_file(stage, cell)
    if path is None:
        return []
    try:
        return read_parquet(path, row).filter(id=name).to_dicts()
    except OmibenchError:
        return []
