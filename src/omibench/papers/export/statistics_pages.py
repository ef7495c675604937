"""Printed statistics of a dataset, measured on the frozen problems of a study."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path

from omibench.datasets.release.rows import FrozenFolder, ReleaseItem, read_freeze
from omibench.datasets.release.statistics import (
    PictureSizes,
    Statistic,
    ValueCount,
    compute_statistics,
    count_values,
    measure_printed,
)
from omibench.datasets.release.tables import PictureReader
from omibench.datasets.release_folder import ReleasedSource
from omibench.papers.catalogue import PaperItem, TableView, read_item_statistics
from omibench.papers.export.wide_tables import PageNumber, Place, WideTable
from omibench.stages.rationale.degenerate import count_words

_LOG = logging.getLogger("omibench")


def make_statistics_page(folder: Path, item: PaperItem) -> WideTable | None:
    """Measure the printed statistics of a dataset on frozen problems.

    Args:
        folder: The folder of `freeze`.
        item: A table or figure with `measures`.

    Returns:
        One row per printed number in the paper's order, with a column per group of problems; a
        number that the problems do not give is lacking, and a warning says why. Tokens are words,
        numbers, Chinese characters and signs, since no paper names its tokenizer. None without the
        folder.

    Raises:
        FileFormatError: The rows of the freeze do not match each other, or a picture is not the
            frozen one, broken or outside of the folder.
        MissingInputError: A file is missing.
    """
    if not (folder / "manifest.json").is_file():
        return None
    freeze = read_freeze(folder)
    source = ReleasedSource(name="", items=len(freeze.items), licence=None, redistribute=None)
    items = [ReleaseItem(*frozen, "", source) for frozen in freeze.items]
    printed = read_item_statistics(item)
    sizes = _read_sizes(freeze) if any("image_" in s.rule.statistic for s in printed) else {}

    def compute(
        members: Sequence[ReleaseItem],
    ) -> tuple[dict[str, Statistic], list[ValueCount]]:
        counts = [count for count in count_values(members) if count.value]
        return compute_statistics(members, sizes, count_words), counts

    simulated = freeze.manifest.synthetic is not None
    cells: dict[Place, PageNumber] = {}
    rows: list[tuple[str, ...]] = []
    for value in measure_printed(printed, items, compute):
        row = (value.statistic.replace("_", " ").capitalize(),)
        rows += [row] if row not in rows else []
        if value.measured is None:
            _LOG.warning("%s: %s", row[0], value.note)
            continue
        number = value.measured.value
        whole = float(number).is_integer() and not value.statistic.startswith("mean")
        cells[row, (value.group.capitalize() or "Number",)] = PageNumber(
            number, simulated=simulated, digits=0 if whole else None
        )
    columns = list(dict.fromkeys(column for _, column in cells))
    view = TableView(result="dataset", percent=False, best="none")
    return WideTable(view, ["statistic"], rows, columns, cells) if cells else None


def _read_sizes(freeze: FrozenFolder) -> PictureSizes:
    reader = PictureReader(freeze.folder)
    for frozen in freeze.items:
        for figure in frozen.question.images:
            if figure.sha256:  # else the benchmark lacks it
                reader.note_size(figure)
    return reader.sizes
