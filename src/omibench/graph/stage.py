"""Files given in parameters: prompts, files that models answer from, layouts of printed tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

from pydantic import BaseModel

from omibench.params.setting import Cell
from omibench.params.stages.analyze import LAYOUTS
from omibench.params.study import Study, list_settings


def prompt_file(prompt: str) -> str | None:
    """Return the path of a custom prompt; None for the name of a built-in prompt."""
    return prompt if "/" in prompt or Path(prompt).suffix else None


def model_files(study: Study, name: str | None, setting: str | None = None) -> list[str]:
    """Return the files that a model answers from, all or those for one setting.

    Args:
        study: Study that defines the model.
        name: Key of `models`, or None.
        setting: Key of `settings`.

    Returns:
        The `oracle` of a simulated model, the responses of a recorded one; empty for all others.
    """
    model = study.models.get(name or "")
    return model.files(study.data, setting) if model else []


def list_model_files(study: Study, names: Iterable[str]) -> list[str]:
    """List the files that some models answer from."""
    return [file for name in names for file in model_files(study, name)]


def list_layout_files(tables: Iterable[str]) -> list[str]:
    """List the `tables.yaml` files next to printed tables, each once."""
    folders = dict.fromkeys(Path(table).parent for table in tables)
    return [str(folder / LAYOUTS) for folder in folders if (folder / LAYOUTS).is_file()]


# Description of one stage in the graph: parameters, inputs, outputs and models.

Blocks = dict[str, Any]
"""Blocks of params.yaml as plain values, without defaults."""
Target = Literal["freeze", "infer", "score", "analyze"]
"""A stage of dvc.yaml, which `dvc repro` makes and tracks as a unit."""
AskedRole = Literal["respondent", "judges"]


class GraphJob(NamedTuple):
    """One job of the graph: its rule and its cell.

    A cell without a setting means all settings in which the rule calls the model.
    """

    rule: str
    cell: Cell | None = None

    def settings(self, study: Study) -> list[str]:
        """Names of the job's settings; empty for a job without a cell."""
        if self.cell is None:
            return []
        if self.cell.setting:
            return [self.cell.setting]
        return list_settings(study, self.rule, self.cell.model)


class ResultFile(NamedTuple):
    """One kind of file. `row` is the type of its rows, or None."""

    path: str
    """Path below the results folder; parts in braces differ from file to file."""
    row: type[BaseModel] | None
    meaning: str


def no_files(study: Study, job: GraphJob) -> Iterable[str | None]:
    """The parameters contain no file."""
    return ()


def whole_blocks(study: Study, job: GraphJob, blocks: Blocks) -> Blocks:
    """A job depends on all of its blocks."""
    return blocks


@dataclass(frozen=True)
class Stage:
    """One stage: the table entry that defines its jobs and their bookkeeping."""

    name: str
    """Name of its package, rule file, command and results folder."""
    target: Target
    """Stage of dvc.yaml that makes and tracks it."""
    params: tuple[str, ...]
    """Keys of params.yaml that it receives, in full or in part; their code is part of its hash."""
    outputs: tuple[ResultFile, ...]
    """Its files; the first one marks completion."""
    inputs: tuple[str, ...] = ()
    """Stages whose files it reads."""
    plugins: tuple[str, ...] = ()
    """Kinds of registered parts that it uses: the source of their plug-ins is part of its hash."""
    cells: Callable[[Study], Sequence[Cell]] | None = None
    """Cells that have a job; None for a stage with one job."""
    is_given_by_cell: bool = False
    """Whether the parameters of a job differ between cells."""
    more_rules: tuple[str, ...] = ()
    """Additional rules of the stage."""
    hashed_separately: tuple[str, ...] = ()
    """Modules of its package that only some studies or other commands use; a rule that uses one
    has a separate hash of it."""
    asks: AskedRole | None = None
    """Models that the job of a cell calls over an API; they determine its scheduler resources."""
    models: Callable[[Study, GraphJob], Iterable[str]] | None = None
    """Models that a job calls. None: it calls none and receives the model blocks."""
    narrows_models: bool = False
    """Whether a stage without model calls depends only on the model fields that change answers."""
    files: Callable[[Study, GraphJob], Iterable[str | None]] = no_files
    """Files in the parameters of a job."""
    select_blocks: Callable[[Study, GraphJob, Blocks], Blocks] = whole_blocks
    """Part of its blocks that a job depends on."""

    @property
    def rules(self) -> tuple[str, ...]:
        """Snakemake rules that make its files."""
        return (*self.more_rules, self.name)

    @property
    def writes_cells(self) -> bool:
        """Whether it writes a file per cell, which says what is done."""
        return self.outputs[0].path == f"{self.name}/{{model}}/{{setting}}.parquet"

    def jobs(self, study: Study) -> list[GraphJob]:
        """Return its jobs, one for each distinct set of parameters."""
        if self.cells is None or not self.is_given_by_cell:
            return [GraphJob(self.name)]
        return [GraphJob(self.name, cell) for cell in self.cells(study)]


def pick(block: Mapping[str, Any], keys: Iterable[str]) -> dict[str, Any]:
    """Return the given keys of a block, if present."""
    return {key: block[key] for key in keys if key in block}


def drop(block: Mapping[str, Any], keys: Iterable[str]) -> dict[str, Any]:
    """Return a block without the given keys."""
    return {key: value for key, value in block.items() if key not in keys}
