"""The tidy tables of a study, complete or restricted to one item of a paper."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterator, Mapping, Sequence, Set
from copy import copy
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, Self

import polars as pl

from omibench.errors import FileFormatError, MissingInputError, OmibenchError
from omibench.extras import require_extra
from omibench.files.locations import find_shipped
from omibench.files.outputs import made_folder, unmark_formula, write_frame_csv
from omibench.files.parquet import read_frame
from omibench.files.pictures import read_picture
from omibench.files.reading import Container, read_csv, read_json
from omibench.papers.catalogue import (
    Above,
    Among,
    Condition,
    Needs,
    PaperItem,
    Rows,
    TableView,
    find_paper,
)
from omibench.papers.export.overview import ExportedItem, Kind, list_results, write_overview
from omibench.papers.export.printed_tables import (
    make_statistics_page,
    render_latex,
    render_markdown,
    write_wide_csv,
)
from omibench.papers.export.wide_tables import Labels, WideTable, select_rows, widen_table
from omibench.results.load import JUDGE_RULES
from omibench.schemas.tables import write_text
from omibench.stages.analyze.figures import FIGURES
from omibench.stages.analyze.sentences import SIMULATED

_PLACES: Final = "printed-places"
"""The result with the cells of each item of the paper."""
_DESCRIBED: Final = {"models": "model", "settings": "setting"}
"""The results that describe models or settings, and their keys."""


class _Item(NamedTuple):
    """The scorers and cells of one item; no cells if the study does not define them."""

    rules: Sequence[str]
    cells: pl.DataFrame | None


_JUDGED: Final = (
    "prompt-differences", "thinking-gains", "accuracy-by-budget", "tokens-by-budget",
    "accuracy-by-parameters", "accuracy-by-active-parameters", "accuracy-by-k", "accuracy-by-shots",
)  # fmt: skip
"""Figures that papers draw by the judge (OMIBench, appendix H), and reports by the first scorer."""


class StudyTables:
    """The tidy tables in a results folder, each read on first use.

    Args:
        results: The results folder.

    Raises:
        MissingInputError: It contains no tables of results.
    """

    def __init__(self, results: Path) -> None:
        self.folder = results / "analyze" / "tables"
        self.names = sorted(path.stem for path in self.folder.glob("*.parquet"))
        if not self.names:
            raise MissingInputError(
                f"{results}: contains no tables of results (analyze/tables/*.parquet); run "
                "`omibench analyze` first, or give the results folder of a study"
            )
        self._main = results / "analyze" / "main.csv"
        self._frames: dict[str, pl.DataFrame] = {}
        self._item: _Item | None = None

    @property
    def dataset(self) -> str:
        """The name of the results' dataset."""
        frame = self._read(self.names[0])
        return str(frame["dataset"][0]) if frame.height else ""

    def table(self, name: str) -> pl.DataFrame:
        """Return the tidy table of a result; of an item, the rows for its scorers and cells.

        Raises:
            FileFormatError: The file cannot be read.
        """
        frame = self._read(name)
        if self._item is None:
            return frame
        rules, cells = self._item
        if name in _DESCRIBED:  # of the item's cells, else of any cell
            if cells is None and "accuracy" in self.names:
                cells = self._read("accuracy").select("model", "setting")
            return frame if cells is None else frame.join(cells, on=_DESCRIBED[name], how="semi")
        if frame["rules"].is_in(rules).any():
            frame = frame.filter(pl.col("rules").is_in([*rules, ""]))
        if cells is not None:
            about_cells = (pl.col("model") != "") & (pl.col("setting") != "")
            inside = cells.join(
                frame.filter(about_cells), on=["model", "setting"], maintain_order="left_right"
            ).select(frame.columns)
            if inside.height:  # in the paper's order
                frame = pl.concat([frame.filter(~about_cells), inside])
            about_models = (pl.col("model") != "") & (pl.col("setting") == "")
            frame = frame.filter(
                ~about_models | pl.col("model").is_in(cells["model"].unique().to_list())
            )
        return frame

    def _read(self, name: str) -> pl.DataFrame:
        if name not in self._frames:
            self._frames[name] = read_frame(self.folder / f"{name}.parquet")
        return self._frames[name]

    @cached_property
    def labels(self) -> Labels:
        """The names of models, groups and settings in the report; empty without their tables."""
        rows = [
            {column: unmark_formula(text) for column, text in row.items()}
            for row in (read_csv(self._main) if self._main.is_file() else [])
        ]
        frame = self._read("settings") if "settings" in self.names else None
        if frame is None or "label" not in frame.columns:  # of an earlier version
            settings = {}
        else:
            settings = dict(frame.select("setting", "label").iter_rows())
        return Labels(
            {row.get("model", ""): row.get("label", "") for row in rows},
            {row.get("model", ""): row.get("group", "") for row in rows},
            settings,
        )

    def restrict(self, rules: Sequence[str], key: str) -> Self:
        """Return the tables restricted to a paper's scorers, and to the cells of one item.

        Args:
            rules: Scorers; rows of others are dropped if a table has one of these.
            key: An item such as `table2`; `infer.printed` of the study defines its cells.
        """
        other = copy(self)
        other._item = _Item(rules, self._list_cells(key))
        return other

    def _list_cells(self, key: str) -> pl.DataFrame | None:
        """Return the cells of an item, or of its parts `figure 3a`, ...; None if undefined."""
        if _PLACES not in self.names:
            return None
        place = re.sub(r"^([a-z]+)([A-Z\d])", r"\1 \2", key)
        cells = self._read(_PLACES).filter(pl.col("value").str.contains(f"^{place}[a-z]?$"))
        chosen = cells.select("model", "setting").unique(maintain_order=True)
        return chosen if cells.height else None

    def meets(self, needs: Needs) -> bool:
        """Return whether the study contains what an item needs.

        Raises:
            FileFormatError: A table cannot be read.
        """
        if needs.listed and (self._item is None or self._item.cells is None):
            return False
        return all(
            name in self.names and _meets_all(self.table(name), conditions)
            for name, conditions in needs.tables.items()
        )


def _meets_all(frame: pl.DataFrame, conditions: Mapping[str, Condition]) -> bool:
    return frame.height > 0 and all(
        column in frame.columns and _meets(frame[column].drop_nulls(), condition)
        for column, condition in conditions.items()
    )


def _meets(values: pl.Series, condition: Condition) -> bool:
    present = {str(value) for value in values.unique() if str(value)}
    if isinstance(condition, Above):
        return bool((values > condition.above).any())
    if isinstance(condition, Among):
        return not present.isdisjoint(condition.among)
    if isinstance(condition, list):
        return present >= {*condition}
    return len(present) >= (1 if condition == "stated" else condition)


# Exports a study's tables and figures: all of them, or those of one paper by its numbering.

PictureKind = Literal["svg", "pdf", "png"]
PICTURE_KINDS: Final[tuple[PictureKind, ...]] = ("svg", "pdf", "png")
PAPER: Final = "white"
"""Background of a figure, since a transparent one is illegible in a dark viewer."""
PNG_SCALE: Final = 3
"""Pixels of a PNG file per point of the drawing: about 216 dpi."""
_LOG = logging.getLogger("omibench")
_WORDS: Final = ("model", "setting", "rules", "slice", "value", "metric")
_NUMBERS: Final = frozenset(
    {"result", "dataset", "estimate", "low", "high", "n", "clusters", "simulated", "partial"}
)
_SIDES: Final = ("model", "setting", "baseline_model", "baseline_setting")
"""The columns that identify both sides of a comparison."""


class ExportOptions(NamedTuple):
    """The files written in addition to CSV, Markdown, LaTeX, SVG and Vega-Lite."""

    intervals: bool = False
    pictures: Sequence[PictureKind] = ("svg",)


class Exported(NamedTuple):
    """The written files, and the errors of the rest."""

    entries: list[ExportedItem]
    errors: list[OmibenchError]


def export_paper(results: Sequence[Path], name: str, out: Path, options: ExportOptions) -> Exported:
    """Write the tables and figures of a paper from its studies, by the paper's numbering.

    Args:
        results: Results folders of analyzed studies. Each item is made from the first that has
            what it needs; a table over several datasets is made from all of them.
        name: The paper: `omibench`, `emma`, `usnco-v` or `mathreal`.
        out: Output folder: `tableN.csv`, `.md`, `.tex`, `figureN.csv`, `.svg`, `.vl.json`, printed
            numbers as `*_printed.csv`, and README.md.
        options: Intervals, and further formats of figures.

    Returns:
        An entry for each table and figure of the paper; errors of single items do not stop the
        rest.

    Raises:
        ArgumentError: The paper does not exist.
        MissingInputError: The folder contains no results.
        OutputError: The folder cannot be written.
    """
    paper = find_paper(name)
    studies = [StudyTables(folder) for folder in results]
    for folder, study in zip(results, studies, strict=True):
        if not study.dataset.startswith(paper.dataset):
            _LOG.warning(
                "%s: contains results on the dataset %r, but the tables of %s are about %s...; "
                "these files will differ from the paper",
                folder, study.dataset, name, paper.dataset,
            )  # fmt: skip
    writer, done = _Writer(made_folder(out), options), Exported([], [])
    for key, item in paper.items.items():
        restricted = [study.restrict(item.rules or paper.rules, key) for study in studies]
        try:
            done.entries.append(writer.write_item(restricted, key, item))
        except OmibenchError as error:
            done.errors.append(error)
            done.entries.append(ExportedItem(key, item.title, "missing", str(error), []))
    datasets = ", ".join(dict.fromkeys(study.dataset for study in studies))
    write_overview(out / "README.md", paper.title, datasets, done.entries)
    return done


def export_results(results: Path, out: Path, options: ExportOptions) -> Exported:
    """Write every table of a study's results as CSV, Parquet, Markdown and LaTeX, and its figures.

    Args:
        results: Results folder of an analyzed study.
        out: Output folder.
        options: Intervals, and further formats of figures.

    Returns:
        An entry for each; errors of single ones do not stop the rest.

    Raises:
        MissingInputError: The folder contains no results.
        OutputError: The folder cannot be written.
    """
    from omibench.stages.analyze.results import RESULTS

    study = StudyTables(results)
    writer, done = _Writer(made_folder(out), options), Exported([], [])
    for name in study.names:
        title = RESULTS.get(name).title if name in RESULTS.names else name
        try:
            done.entries.append(writer.write_result(study, name, title))
        except OmibenchError as error:
            done.errors.append(error)
    for name in FIGURES.names:
        figure, key = FIGURES.get(name), f"figure-{name}"
        try:
            files = writer.write_figure(study, name, key, f"{key}.csv")
        except OmibenchError as error:
            done.errors.append(error)
            continue
        if files:
            origin = _find_origin(study, figure.table)
            done.entries.append(ExportedItem(key, figure.title, origin, "", files))
    drawn = {entry.key for entry in done.entries}
    done.entries.extend(writer.write_section_figures(results, drawn))
    write_overview(out / "README.md", "All results", study.dataset, done.entries)
    return done


class _Writer:
    """Writes tables and figures into a folder; each method returns what it has written."""

    def __init__(self, out: Path, options: ExportOptions) -> None:
        require_extra("report", "results export: drawing figures")
        self.out, self.options = out, options

    def write_item(self, studies: Sequence[StudyTables], key: str, item: PaperItem) -> ExportedItem:
        """Write a table or figure of a paper from the studies that have what it needs."""
        printed = [self.copy_printed(item.printed, key)] if item.printed else []

        def lack(kind: Kind, reason: str) -> ExportedItem:
            return ExportedItem(key, item.title, kind, reason, printed)

        from omibench.papers.export.plots import draw_page
        from omibench.stages.analyze.figures.theme import describe_chart

        absence: Kind = "printed" if printed else "missing"
        if item.no_numbers:
            return lack("no numbers", item.no_numbers)
        if item.impossible:
            return lack("printed" if printed else "impossible", item.impossible)
        fitting = [study for study in studies if not item.needs or study.meets(item.needs)]
        if item.needs and not fitting:
            return lack(absence, f"the study lacks {item.needs.words}")
        files, origins = [], []
        page = self.measure_dataset(fitting, item)
        if page is None and item.table:
            page = _make_page(fitting, item.table)
        if item.awaits and (page is None or page.is_simulated):
            return lack(absence, item.awaits)
        if page:
            copies = self.copy_pictures(fitting[0], item, key)
            write_wide_csv(self.out / f"{key}.csv", page, intervals=self.options.intervals)
            files += [f"{key}.csv", *self.write_page(key, page, item.title), *copies]
            origins.append("simulated" if page.is_simulated else "measured")
            if item.plot:
                files += self.write_drawing(
                    describe_chart(draw_page(page, item.title, item.plot)), key
                )
        for number, name in enumerate(item.figures, start=1):
            suffix = f"_{number}" if len(item.figures) > 1 else ""
            data = f"{key}{suffix}_data.csv" if page and not suffix else f"{key}{suffix}.csv"
            for study in fitting:
                where = {"rules": [JUDGE_RULES], **item.drawn} if name in _JUDGED else item.drawn
                drawn = self.write_figure(study, name, f"{key}{suffix}", data, where)
                if drawn:
                    files += drawn
                    origins.append(_find_origin(study, FIGURES.get(name).table))
                    break
        if not files:
            known = {name for study in fitting for name in study.names}
            absent = [name for name in list_results(item) if name not in known]
            return lack(absence, f"the study lacks {_describe_lack(item, absent)}")
        kind: Kind = "simulated" if "simulated" in origins else "measured"
        return ExportedItem(key, item.title, kind, "", [*files, *printed])

    def write_result(self, study: StudyTables, name: str, title: str) -> ExportedItem:
        """Write the table of a result."""
        frame = study.table(name)
        write_frame_csv(self.out / f"{name}.csv", frame)
        frame.write_parquet(self.out / f"{name}.parquet")
        sides = _SIDES if {*_SIDES} <= {*frame.columns} else ()
        view = _list_view(name, frame)
        page = widen_table(select_rows(frame, view.own), view, study.labels, sides)
        files = [f"{name}.csv", f"{name}.parquet", *self.write_page(name, page, title)]
        return ExportedItem(name, title, _find_origin(study, name), "", files)

    def write_page(self, key: str, page: WideTable, title: str) -> list[str]:
        """Write a printed table as Markdown and LaTeX."""
        intervals = self.options.intervals
        write_text(self.out / f"{key}.md", render_markdown(page, title, intervals=intervals))
        latex = render_latex(page, title, f"tab:{key}", intervals=intervals)
        write_text(self.out / f"{key}.tex", latex)
        return [f"{key}.md", f"{key}.tex"]

    def write_figure(
        self,
        study: StudyTables,
        name: str,
        key: str,
        data: str,
        where: Mapping[str, Sequence[str]] | None = None,
    ) -> list[str]:
        """Draw a figure from its table, which is written next to it; nothing if it lacks rows.

        A whole figure is the one of the report, if that is there.

        Args:
            study: The study.
            name: The figure.
            key: The start of its files' names.
            data: The name of the file of its table.
            where: Column -> the values that it shows, where its table has the column.
        """
        from omibench.stages.analyze.figures.figure import label_cells
        from omibench.stages.analyze.figures.theme import describe_chart

        figure = FIGURES.get(name)
        if figure.table not in study.names:
            return []
        table = study.table(figure.table)
        for column, values in (where or {}).items():
            if column in table.columns:
                kept = table.filter(pl.col(column).cast(pl.String).is_in(values))
                # A study without a judge is drawn by its first scorer.
                table = table if column == "rules" and kept.is_empty() else kept
        drawn = study.folder.parent / "figures" / f"{name}.vl.json"
        if where is None and drawn.is_file():
            specification = _read_drawn(drawn)
        else:
            with FIGURES.calling(name):
                chart = figure.draw(label_cells(table, study.labels.models, study.labels.settings))
            if chart is None:
                return []
            specification = describe_chart(chart)
        write_frame_csv(self.out / data, table)
        return [data, *self.write_drawing(specification, key)]

    def write_section_figures(self, results: Path, drawn: Set[str]) -> Iterator[ExportedItem]:
        """Write the figures in the report that have no table: of plug-ins and earlier versions.

        Args:
            results: The results folder.
            drawn: Keys of the figures drawn from tables.
        """
        for path in sorted((results / "analyze" / "figures").glob("*.vl.json")):
            key = f"figure-{path.name.removesuffix('.vl.json')}"
            if key not in drawn:
                specification = _read_drawn(path)
                heading = specification["title"]["text"]
                files = self.write_drawing(specification, key)
                origin: Kind = "simulated" if heading.startswith(SIMULATED) else "measured"
                yield ExportedItem(key, heading, origin, "", files)

    def write_drawing(self, specification: dict[str, Any], key: str) -> list[str]:
        """Write a figure as Vega-Lite, as SVG and in the requested formats."""
        import vl_convert

        from omibench.stages.analyze.figures.theme import render_specification

        specification["config"]["background"] = PAPER
        text = json.dumps(specification, indent=1, sort_keys=True, ensure_ascii=False)
        write_text(self.out / f"{key}.vl.json", text + "\n")
        write_text(self.out / f"{key}.svg", render_specification(specification))
        files = [f"{key}.svg", f"{key}.vl.json"]
        if "pdf" in self.options.pictures:
            (self.out / f"{key}.pdf").write_bytes(vl_convert.vegalite_to_pdf(specification))
            files.append(f"{key}.pdf")
        if "png" in self.options.pictures:
            picture = vl_convert.vegalite_to_png(specification, scale=PNG_SCALE)
            (self.out / f"{key}.png").write_bytes(picture)
            files.append(f"{key}.png")
        return files

    def measure_dataset(self, studies: Sequence[StudyTables], item: PaperItem) -> WideTable | None:
        """Return the printed statistics of the dataset, as measured on the first study's."""
        if item.measures is None or not studies:
            return None
        return make_statistics_page(studies[0].folder.parents[1] / "freeze", item)

    def copy_pictures(self, study: StudyTables, item: PaperItem, key: str) -> list[str]:
        """Copy the pictures that the rows of a table name: `figure7f_1.png`, ...

        Raises:
            FileFormatError: A name leads out of the results folder, or is not of a picture.
            MissingInputError: A picture cannot be read.
        """
        if item.table is None or not item.pictures:
            return []
        container, files = Container(study.folder.parents[1]), []
        for number, name in enumerate(_select(study, item.table.own)[item.pictures], start=1):
            picture = read_picture(container.path(str(name)))
            files.append(f"{key}_{number}.{picture.suffix}")
            (self.out / files[-1]).write_bytes(picture.data)
        return files

    def copy_printed(self, file: str, key: str) -> str:
        """Copy the printed numbers of an item."""
        text = find_shipped(f"published/{file}").read_text("utf-8")
        write_text(self.out / f"{key}_printed.csv", text)
        return f"{key}_printed.csv"


def _make_page(studies: Sequence[StudyTables], view: TableView) -> WideTable | None:
    """Return the printed table of a view; None without rows of its own result.

    It is made from the first study that has such rows; if datasets are its columns, from all.
    """
    own = [s for s in studies if view.result in s.names and _select(s, view.own).height]
    together = own if "dataset" in view.columns else own[:1]
    frames = [
        _select(study, part)
        for part in view.parts
        for study in together
        if part.result in study.names
    ]
    if not frames:
        return None
    changes = [
        _select(study, view.change)
        for study in together
        if view.change and view.change.result in study.names
    ]
    frame = pl.concat(frames, how="diagonal_relaxed")
    view = _label_cells(frame, view)
    labels = Labels(*(_merge(maps) for maps in zip(*(s.labels for s in together), strict=True)))
    return widen_table(
        frame,
        view,
        labels,
        changes=pl.concat(changes, how="diagonal_relaxed") if changes else None,
    )


def _label_cells(frame: pl.DataFrame, view: TableView) -> TableView:
    """Return the view with rows labelled by model and setting, if its labels do not identify them.

    The paper's own cells are identified; those of a study that does not list them may not be.
    """
    given = {*view.rows, *view.columns} & {"model", "setting"}
    if len(given) != 1 or not {"model", "setting"} <= {*frame.columns}:
        return view
    (other,) = {"model", "setting"} - given
    labels = [*view.rows, *view.columns]
    counts = frame.filter(pl.col(other) != "").group_by(labels).agg(pl.col(other).n_unique())
    is_missing = bool((counts[other] > 1).any())
    return view.model_copy(update={"rows": [*view.rows, other]}) if is_missing else view


def _select(study: StudyTables, part: Rows) -> pl.DataFrame:
    return select_rows(study.table(part.result), part)


def _merge(maps: Sequence[Mapping[str, str]]) -> dict[str, str]:
    return {key: value for names in reversed(maps) for key, value in names.items()}


def _describe_lack(item: PaperItem, absent: Sequence[str]) -> str:
    """Describe the missing results: whole tables, or the rows of a printed one."""
    if absent or item.table is None:
        return f"the results {', '.join(absent)}" if absent else "the data of its figures"
    kept = "; ".join(f"{name} {', '.join(values)}" for name, values in item.table.where.items())
    return f"rows of the result {item.table.result} with {kept}"


def _read_drawn(path: Path) -> dict[str, Any]:
    """Read Vega-Lite of `analyze`: with its data inside, and nothing to download."""
    drawn: dict[str, Any] = read_json(path)
    is_ours = (
        isinstance(drawn, dict)
        and isinstance(drawn.get("config"), dict)
        and isinstance(drawn.get("title"), dict)
        and isinstance(drawn["title"].get("text"), str)
        and '"url"' not in json.dumps(drawn)
    )
    if not is_ours:
        raise FileFormatError(
            f"{path}: is not a figure of `omibench analyze`; run that command again"
        )
    return drawn


def _find_origin(study: StudyTables, name: str) -> Literal["simulated", "measured"]:
    return "simulated" if study.table(name)["simulated"].any() else "measured"


def _list_view(name: str, frame: pl.DataFrame) -> TableView:
    """Return a printed view of a tidy table with one row per number."""
    more = [column for column in frame.columns if column not in {*_WORDS, *_NUMBERS}]
    head = "metric" if frame["metric"].n_unique() == 1 else "result"
    return TableView(
        result=name, rows=[*_WORDS, *more], columns=[head], percent=False, digits=4, best="none"
    )
