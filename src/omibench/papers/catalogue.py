"""The sources of each paper's tables and figures: `published/papers.yaml`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Literal, NamedTuple, Self

from pydantic import Field, ValidationError, model_validator

from omibench.errors import ArgumentError, FileFormatError
from omibench.files.locations import find_local_or_shipped, find_shipped
from omibench.files.reading import read_csv
from omibench.files.yaml_file import read_yaml
from omibench.params.blocks import Block
from omibench.plugins.registry import known_names
from omibench.schemas.validation import explain, suggest_name

CATALOGUE = "published/papers.yaml"
Column = Literal[
    "model", "setting", "rules", "dataset", "slice", "value", "metric", "baseline", "k", "group",
]  # fmt: skip


class TableView(Block):
    """A printed table, made from the tidy table of a result."""

    result: str
    """The result's name."""
    where: dict[str, list[str]] = {}
    """Column -> the values to keep; default: all."""
    rows: list[str] = ["model", "setting"]
    """The columns that label a row."""
    columns: list[str] = ["value", "metric"]
    """The columns that label a printed column."""
    more: list[str] = []
    """Results whose rows are added, such as `accuracy` for the numbers over all items."""
    percent: bool = True
    """Whether the numbers are shares, shown in per cent."""
    digits: Annotated[int, Field(ge=0, le=4)] = 2
    best: Literal["highest", "lowest", "none"] = "highest"
    """Which number of a column is marked as the best."""


class Among(Block):
    """Some row has one of these values."""

    among: list[str]


class Above(Block):
    """Some row has a number above this one."""

    above: float


Condition = Literal["stated"] | Annotated[int, Field(ge=2)] | list[str] | Among | Above
"""What some rows of a column must hold: any value; so many different ones; all of a list."""


class Needs(Block):
    """What a study must contain for a table or figure; checked before one is made."""

    words: str
    """The requirement in our words: `the study lacks {words}`."""
    tables: dict[str, dict[str, Condition]] = {}
    """Result -> column -> condition on its rows; a result without conditions must have rows. Of
    `models` and `settings`, only those of the item's cells count."""
    listed: bool = False
    """Whether only `infer.printed` of the study can say which cells are meant."""

    @model_validator(mode="after")
    def _can_be_checked(self) -> Self:
        if not self.tables and not self.listed:
            raise ValueError("set `tables` or `listed`, so that it can be checked")
        return self


class MeasureRule(Block):
    """How to measure a printed number of a dataset, or the reason why it cannot be measured."""

    statistic: str = ""
    """The statistic of a release that it is."""
    attribute: str = ""
    """It is the number of items with `value` of this attribute."""
    value: str = ""
    """`*` counts items with any value, an empty one those without."""
    reason: str = ""
    """Why it cannot be measured from the items."""
    note: str = ""


class PaperItem(Block):
    """One table or figure of a paper."""

    title: str
    """Its content, in our words."""
    table: TableView | None = None
    """The printed table that is made from a study's results."""
    figures: list[str] = []
    """The figures that are drawn for it, `a`, `b`, ... if there are several."""
    printed: str | None = None
    """The file in `published/` with its printed numbers."""
    measures: dict[str, MeasureRule] | None = None
    """How the numbers in `printed` are measured, if they describe the dataset; a number that is
    not listed is the statistic of its name."""
    by: str = ""
    """The attribute whose values are the columns of `printed`; without one, `value` is all items.
    """
    made: str = ""
    """The part made from published data; the rest was run only with simulated models."""
    needs: Needs | None = None
    """Requirements on a study."""
    impossible: str = ""
    """Why it cannot be made: what was never published."""
    no_numbers: str = ""
    """Its content without numbers: an example, a drawing of a pipeline."""

    @model_validator(mode="after")
    def _is_made_or_says_why_not(self) -> Self:
        made = self.table is not None or bool(self.figures)
        if not (made or self.printed or self.impossible or self.no_numbers):
            raise ValueError("set `table`, `figures`, `printed`, `impossible` or `no_numbers`")
        if self.measures is not None and not self.printed:
            raise ValueError("measures: set `printed`, the file with the numbers")
        return self


class PaperItems(Block):
    """A paper, and its tables and figures in order."""

    title: str
    dataset: str = ""
    """The common start of its datasets' names."""
    rules: list[str] = []
    """The scorers of its numbers; if a study has none of them, all of its scorers."""
    items: dict[Annotated[str, Field(pattern="^(table[0-9]+|figure[0-9]+[a-z]?)$")], PaperItem]


def read_catalogue(path: Path | None = None) -> dict[str, PaperItems]:
    """Read the sources of the papers' tables and figures.

    Args:
        path: The file; default: the one that ships with omibench.

    Returns:
        Papers by name: `omibench`, `emma`, `usnco-v`, `mathreal`.

    Raises:
        MissingInputError: The file does not exist.
        FileFormatError: It is invalid, or contains a result or figure that does not exist.
    """
    file = path or find_shipped(CATALOGUE)
    values = read_yaml(file)
    if not isinstance(values, dict):
        raise FileFormatError(f"{file}: contains no papers; give name -> title and items")
    papers = {}
    for name, entry in values.items():
        try:
            papers[str(name)] = PaperItems.model_validate(entry)
        except ValidationError as error:
            raise FileFormatError(f"{file}: {name}: {explain(error, PaperItems)}") from None
        _check_names(file, str(name), papers[str(name)])
    return papers


def find_paper(name: str) -> PaperItems:
    """Return a paper of the catalogue.

    Raises:
        ArgumentError: It does not exist.
    """
    papers = read_catalogue()
    if name not in papers:
        hint = suggest_name(name, list(papers))
        raise ArgumentError(f"--paper: unknown paper {name!r}{hint}")
    return papers[name]


def _check_names(file: Path, name: str, paper: PaperItems) -> None:
    for key, item in paper.items.items():
        named = [
            ("results", [item.table.result, *item.table.more] if item.table else []),
            ("figures", item.figures),
            ("results", list(item.needs.tables) if item.needs else []),
        ]
        for kind, parts in named:
            for part in parts:
                if part not in known_names(kind):
                    hint = suggest_name(part, known_names(kind))
                    raise FileFormatError(
                        f"{file}: {name}.items.{key}: unknown {kind[:-1]} {part!r}{hint}"
                    )


# Printed statistics of datasets, and how each is measured from the items of a release.


class PrintedStatistic(NamedTuple):
    """A printed number of a dataset."""

    name: str
    group: str
    """The value of the attribute `by` that its items have; empty for all items."""
    by: str
    """An attribute; empty for any."""
    text: str
    """The number as printed."""
    rule: MeasureRule


def list_described() -> dict[str, list[PaperItem]]:
    """Return the papers that print statistics of their dataset, each with these items."""
    papers = {
        name.replace("-", "_"): [i for i in paper.items.values() if i.measures is not None]
        for name, paper in read_catalogue().items()
    }
    return {name: items for name, items in papers.items() if items}


def read_statistics(name: str) -> list[PrintedStatistic]:
    """Read the printed statistics of a dataset, in the published order.

    Args:
        name: A paper of `list_described`, or a CSV file with the columns `statistic` and, for all
            items (`value`) or for the items with a value of any attribute, further columns.

    Raises:
        FileFormatError: A file lacks the column `statistic`.
        MissingInputError: A file does not exist.
    """
    items = list_described().get(name)
    if items is None:
        return list(_read_file(Path(name), PaperItem(title=name, printed=name)))
    return [
        statistic
        for item in items
        for statistic in _read_file(find_local_or_shipped(f"published/{item.printed}"), item)
    ]


def _read_file(path: Path, item: PaperItem) -> Iterator[PrintedStatistic]:
    rules = item.measures or {}
    for row in read_csv(path):
        if "subject" in row and "sources" in row:
            cells = {"value": row["sources"]}
            name = f"sources_{row['subject']}"
        elif "statistic" not in row:
            raise FileFormatError(f"{path}: lacks the column 'statistic'")
        else:
            cells = {c: text for c, text in row.items() if c not in ("statistic", "percent")}
            name = row["statistic"]
        rule = rules.get(name, MeasureRule(statistic=name))
        for column, text in cells.items():
            if text or "statistic" not in row:
                group = "" if column == "value" else column
                yield PrintedStatistic(name, group, item.by, text, rule)
