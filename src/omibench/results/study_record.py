"""Writes the record of a study, and finds the files of cells that it no longer has."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from omibench.errors import FileFormatError, OutputError, reason_of
from omibench.graph.provenance import drop_removed_files
from omibench.graph.stages import STAGES
from omibench.results.study_files import RECORD, read_record
from omibench.schemas.certificate import StudyRecord
from omibench.schemas.tables import write_json

if TYPE_CHECKING:
    from omibench.params.setting import Cell
    from omibench.params.study import Study


def _list_cell_stages() -> Mapping[str, Callable[[Study], Sequence[Cell]]]:
    """Return the stages that write a file per cell, with the cells that each has in a study."""
    return {stage.name: stage.cells for stage in STAGES if stage.writes_cells and stage.cells}


def describe_study(study: Study) -> StudyRecord:
    """Return the record of a study."""
    blocks = [(study.models, cell.model) for cell in study.cells]
    blocks += [(study.settings, cell.setting) for cell in study.cells]  # type: ignore[misc]
    rules = {
        cell.setting: study.settings[cell.setting].aggregate.how for cell in study.aggregated_cells
    }
    return StudyRecord(
        cells={
            name: [(cell.model, cell.setting) for cell in cells(study)]
            for name, cells in _list_cell_stages().items()
        },
        aggregates={name: how for name, how in rules.items() if how != "mean"},
        labels={name: label for named, name in blocks if (label := named[name].label)},
        main_rules=study.analyze.main_scorer or next(iter(study.score.scorers), None),
    )


def record_study(study: Study, results: Path) -> None:
    """Note the current cells of a study in its results folder.

    Args:
        study: The study.
        results: Its results folder. For a study without cells nothing is written.

    Raises:
        OutputError: The file cannot be written.
    """
    record = describe_study(study)
    try:
        is_noted = read_record(results) == record
    except FileFormatError:
        is_noted = False
    if study.cells and not is_noted:
        write_json(results / RECORD, record)


def list_leftovers(results: Path, record: StudyRecord) -> list[Path]:
    """Return the files and folders of cells that a study no longer has.

    Args:
        results: The results folder.
        record: The study. A stage that it does not name has no cells.

    Returns:
        Files of cells, and folders of heat maps, by stage and name; nothing behind a symbolic link.
    """
    found = []
    for stage in _list_cell_stages():
        current = set(record.cells.get(stage, []))
        for path in sorted((results / stage).glob("*/*")):
            if path.parent.is_symlink():
                continue
            is_cell = path.suffix == ".parquet" and path.is_file()
            is_maps = stage == "saliency" and path.is_dir() and not path.is_symlink()
            name = path.stem if is_cell else path.name
            if (is_cell or is_maps) and (path.parent.name, name) not in current:
                found.append(path)
    return found


def remove_leftovers(paths: Iterable[Path]) -> None:
    """Remove what `list_leftovers` returned, with its provenance and empty folders of models.

    Raises:
        OutputError: A file cannot be removed.
        FileFormatError: The provenance of a stage cannot be read.
    """
    stages = set()
    for path in paths:
        stages.add(path.parents[1])
        try:
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink()
            if not any(path.parent.iterdir()):
                path.parent.rmdir()
        except OSError as error:
            raise OutputError(f"{path}: cannot be removed: {reason_of(error)}") from None
    for stage in sorted(stages):
        drop_removed_files(stage)
