"""What the graph knows of one stage: what it is given, reads, writes and asks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from pydantic import BaseModel

from omibench.params.cell import Cell
from omibench.params.study import Study, list_settings

Blocks = dict[str, Any]
"""Blocks of params.yaml as plain values, without what is left at its default."""
Target = Literal["freeze", "infer", "score", "analyze"]
"""A stage of dvc.yaml: what `dvc repro` makes and records together."""
AskedRole = Literal["respondent", "judges"]


class GraphJob(NamedTuple):
    """One job of the graph: its rule, and the cell that it is about.

    A cell without a setting means all settings under which the rule asks the model.
    """

    rule: str
    cell: Cell | None = None

    def settings(self, study: Study) -> list[str]:
        """The names of the settings that the job is about; none for a job without a cell."""
        if self.cell is None:
            return []
        if self.cell.setting:
            return [self.cell.setting]
        return list_settings(study, self.rule, self.cell.model)


class ResultFile(NamedTuple):
    """One kind of file. `row` is the type of its rows, None where they have none of ours."""

    path: str
    """Below the results folder; what stands in braces differs from file to file."""
    row: type[BaseModel] | None
    meaning: str


def no_files(study: Study, job: GraphJob) -> Iterable[str | None]:
    """The parameters name no file."""
    return ()


def whole_blocks(study: Study, job: GraphJob, blocks: Blocks) -> Blocks:
    """A job depends on all of its blocks."""
    return blocks


@dataclass(frozen=True)
class Stage:
    """One stage: the row of the table from which its jobs and their bookkeeping are made."""

    name: str
    """That of its package, rule file, command and results folder."""
    target: Target
    """The stage of dvc.yaml that makes and records it."""
    params: tuple[str, ...]
    """The keys of params.yaml that it is given, whole or in part, and whose code is part of its."""
    outputs: tuple[ResultFile, ...]
    """Its files; the first one says whether it is done."""
    inputs: tuple[str, ...] = ()
    """The stages whose files it reads."""
    plugins: tuple[str, ...] = ()
    """The kinds of registered parts that it uses: their plug-ins' source is part of its code."""
    cells: Callable[[Study], Sequence[Cell]] | None = None
    """The cells that it has a job for; None for a stage of one job."""
    is_given_by_cell: bool = False
    """Whether what a job depends on differs from cell to cell."""
    more_rules: tuple[str, ...] = ()
    """Rules besides its own that work for it."""
    apart: tuple[str, ...] = ()
    """Modules of its package that only some studies use: a hash of their own is in the rule."""
    asks: AskedRole | None = None
    """Whom the job of a cell asks over an API: what it asks of the scheduler follows from that."""
    models: Callable[[Study, GraphJob], Iterable[str]] | None = None
    """The models that a job asks. None: it asks none, and is given the blocks that it names."""
    narrows_models: bool = False
    """Whether a stage that asks no model depends only on what of the models changes answers."""
    files: Callable[[Study, GraphJob], Iterable[str | None]] = no_files
    """The files that the parameters name for a job."""
    narrow: Callable[[Study, GraphJob, Blocks], Blocks] = whole_blocks
    """The part of its blocks that a job depends on."""

    @property
    def rules(self) -> tuple[str, ...]:
        """The rules of Snakemake that make its files."""
        return (*self.more_rules, self.name)

    def jobs(self, study: Study) -> list[GraphJob]:
        """Its jobs as far as their parameters differ."""
        if self.cells is None or not self.is_given_by_cell:
            return [GraphJob(self.name)]
        return [GraphJob(self.name, cell) for cell in self.cells(study)]


def pick(block: Mapping[str, Any], keys: Iterable[str]) -> dict[str, Any]:
    """Those keys of a block that it has."""
    return {key: block[key] for key in keys if key in block}


def drop(block: Mapping[str, Any], keys: Iterable[str]) -> dict[str, Any]:
    """A block without some keys."""
    return {key: value for key, value in block.items() if key not in keys}
