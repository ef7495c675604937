"""The sources of each paper's tables and figures: `published/papers.yaml`."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Literal, NamedTuple, Self

from pydantic import BaseModel, Field, ValidationError, model_validator

from omibench.errors import ArgumentError, FileFormatError
from omibench.files.locations import find_local_or_shipped, find_shipped
from omibench.files.reading import read_csv
from omibench.files.yaml_file import read_yaml
from omibench.params.blocks import Block
from omibench.plugins.registry import known_names
from omibench.schemas.tables import read_typed_json
from omibench.schemas.validation import explain, suggest_name

CATALOGUE = "published/papers.yaml"
RECORD = "published/rehearsed.json"
ITEM_KEY = "^(table[0-9]+|figure[0-9]+[a-z]?|appendix[A-Z])$"
"""`table2`, `figure3a`; `appendixJ` is a comparison that the text of an appendix reports."""
Column = Literal[
    "model", "setting", "rules", "dataset", "slice", "value", "metric", "baseline", "k", "group",
]  # fmt: skip


class Rows(Block):
    """Rows of a result, as numbers of a printed table."""

    result: str
    """The result's name."""
    where: dict[str, list[str]] = {}
    """Column -> the values to keep; default: all."""
    number: str = "estimate"
    """The column with the printed numbers; only `estimate` has an interval."""
    per_cent: bool = False
    """Whether the number is in per cent already."""
    values: dict[str, str] = {}
    """Column -> its value in these rows, instead of the result's: their place in the table."""


class TableView(Rows):
    """A printed table, made from the tidy tables of results."""

    rows: list[str] = ["model", "setting"]
    """The columns that label a row."""
    columns: list[str] = ["value", "metric"]
    """The columns that label a printed column."""
    before: list[Rows] = []
    """Rows that are printed above the others, such as those of people."""
    more: list[str | Rows] = []
    """Further rows: those of a result with the same `where` (`accuracy` has the numbers over all
    items), or others."""
    names: dict[str, dict[str, str]] = {}
    """Column -> value -> its printed name, in the printed order; others come after, with their
    labels in the study."""
    mean: str = ""
    """The name of a first row with the means of the columns; empty for none."""
    groups: bool = False
    """Whether the models are printed in the groups of the study. Bold is then best in a group."""
    in_order: bool = False
    """Whether the rows keep the order of the study's list, instead of being grouped by their first
    label."""
    sort: list[str] = []
    """The printed names of the column by which the rows are ordered; default: the paper's order."""
    descending: bool = False
    change: Rows | None = None
    """Differences that are printed after the numbers in the same places: an arrow and the size; of
    the number `relative`, its sign and per cent."""
    interval_of: list[str] = []
    """Metrics whose intervals are always printed."""
    percent: bool = True
    """Whether the numbers are shares, shown in per cent."""
    digits: Annotated[int, Field(ge=0, le=4)] = 2
    best: Literal["highest", "lowest", "none"] = "highest"
    """Which number of a column is marked as the best."""
    second: bool = True
    """Whether the second best is marked too."""
    by_model: bool = False
    """Whether the best is marked of the rows of each model, with those that add to it (`MODEL +
    DATA`)."""
    unmarked: list[str] = []
    """Printed names of rows and columns without marks, such as people."""
    ranked: bool = False
    """Whether the first three numbers of a column bear their rank."""

    @property
    def parts(self) -> list[Rows]:
        """All rows, in the printed order; the table's own are the first without `before`."""
        more = [
            Rows(result=name, where=self.where) if isinstance(name, str) else name
            for name in self.more
        ]
        return [*self.before, self.own, *more]

    @property
    def own(self) -> Rows:
        """The rows of the table's own result."""
        return Rows(**{key: getattr(self, key) for key in Rows.model_fields})


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
    """The figures that are drawn for it, numbered if there are several."""
    plot: Literal["", "dots", "differences", "means"] = ""
    """How the printed table itself is drawn: a dot for each number, a heat map of signs, or a bar
    for each mean of the table's first row."""
    pictures: str = ""
    """The column of its table's result with pictures in the results folder, which are copied."""
    rules: list[str] = []
    """The scorers of its numbers; default: those of the paper."""
    drawn: dict[str, list[str]] = {}
    """Column -> the values that the figures show, where their tables have it; default: all."""
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
    awaits: str = ""
    """What omibench lacks for it, so that only real results make it, and no rehearsal."""
    impossible: str = ""
    """Why it cannot be made: what was never published."""
    no_numbers: str = ""
    """Its content without numbers: an example, a drawing of a pipeline."""

    @property
    def results(self) -> list[str]:
        """The results that its table is made from."""
        change = [self.table.change] if self.table and self.table.change else []
        parts = [*self.table.parts, *change] if self.table else []
        return list(dict.fromkeys(part.result for part in parts))

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
    items: dict[Annotated[str, Field(pattern=ITEM_KEY)], PaperItem]


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


class RehearsalItem(BaseModel):
    """What became of a table or figure in the rehearsal of its paper's studies."""

    kind: str
    reason: str = ""


class RehearsalRecord(BaseModel):
    """The newest rehearsal of all papers' studies (benchmarks/paper_studies.py)."""

    date: str
    commit: str
    """The commit that it ran on."""
    catalogue: str
    """`hash_catalogue` of the catalogue that it made."""
    items: dict[str, dict[str, RehearsalItem]]
    """Paper -> table or figure -> what became of it."""


def read_rehearsal() -> RehearsalRecord:
    """Read the newest rehearsal of all papers' studies.

    Raises:
        MissingInputError: The record does not exist.
        FileFormatError: It is invalid.
    """
    return read_typed_json(find_shipped(RECORD), RehearsalRecord)


def hash_catalogue() -> str:
    """Return the SHA-256 of the catalogue that ships with omibench."""
    return sha256(find_shipped(CATALOGUE).read_bytes()).hexdigest()


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
            ("results", item.results),
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
    return [statistic for item in items for statistic in read_item_statistics(item)]


def read_item_statistics(item: PaperItem) -> list[PrintedStatistic]:
    """Read the printed statistics of an item with `measures`, in the published order.

    Raises:
        FileFormatError: Its file lacks the column `statistic`.
        MissingInputError: Its file does not exist.
    """
    return [*_read_file(find_local_or_shipped(f"published/{item.printed}"), item)]


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
