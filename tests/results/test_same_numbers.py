"""Every surface gives the same accuracy of a cell, whichever of its samples count."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path

import polars as pl
import pytest
from tests.eval_logs.conftest import open_writer
from tests.stages.analyze.conftest import (
    Folders,
    make_study,
    repeat_samples,
    rewrite_cells,
    study_values,
)

import omibench
from omibench.explore.filters import compute_grid
from omibench.explore.item import CellItems, list_outcomes
from omibench.explore.run import open_run, read_items
from omibench.explore.selection import Study
from omibench.params.setting import Cell
from omibench.params.study import parse_study
from omibench.results.comparison.compare import compare_run_folders
from omibench.stages.aggregate import aggregate_cell
from omibench.stages.analyze.stage import load_analysis, make_sections, write_tables

K = 4
HOW = {"cot": "first", "direct": "majority", "first-image": "mean"}
RULES = ("robust", "gptscore")
Numbers = Mapping[tuple[str, str, str], float]


def make_sampled_study(folder: Path, how: Mapping[str, str] = HOW) -> Folders:
    """A study of four samples a problem; the later ones are wrong where the number is odd."""
    folders = make_study(folder)

    def repeat(frame: pl.DataFrame) -> pl.DataFrame:
        index = pl.col("index")
        grown = repeat_samples(frame, K)
        if "rules" not in grown.columns:
            return grown
        later = (index > 0) & (pl.col("outcome") == "scored")
        later &= pl.col("id").str.contains("[13579]$")
        return grown.with_columns(
            verdict=pl.when(later).then(0.0).otherwise("verdict"),
            extracted=pl.when(later).then(pl.lit("31415")).otherwise("extracted"),
        )

    rewrite_cells(folders, repeat)
    values = study_values()
    settings: dict[str, dict[str, object]] = values["settings"]  # type: ignore[assignment]
    for name, rule in how.items():
        settings[name] |= {"decoding": {"samples": K}, "aggregate": rule}
    study = parse_study(values, "test")
    root = folders.freeze.parent
    for cell in study.cells:
        out = root / "aggregate" / cell.model / f"{cell.setting}.parquet"
        aggregate_cell(root, out, study, cell)
    return folders._replace(study=study)


class Surfaces:
    """The accuracies of a study by model, setting and scorer, as each surface states them."""

    def __init__(self, folders: Folders, out: Path) -> None:
        self.folders, self.out = folders, out
        self.results = folders.freeze.parent

    @cached_property
    def report(self) -> Numbers:
        """The report's own."""
        folders = self.folders
        results = folders.load()
        return {
            (*cell, rules): _mean(results.select_verdicts(rules, cell))
            for cell in results.cells
            for rules in RULES
        }

    def read_main(self) -> Numbers:
        """`main.csv`, rounded to six digits."""
        analysis = load_analysis(self.results, self.out / "report.html", self.folders.study)
        write_tables(self.out, analysis, make_sections(analysis))
        table = pl.read_csv(self.out / "main.csv").filter(subject="total")
        return dict(
            zip(table.select("model", "setting", "rules").rows(), table["acc"], strict=True)
        )

    def read_api(self) -> Numbers:
        tables = omibench.load_results(self.results)
        return {key: tables.estimate_accuracy(*key[:2], rules=key[2]).mean for key in self.report}

    def read_slices(self) -> Numbers:
        """Slices by subject, of which every problem has one."""
        key = ["model", "setting", "rules"]
        table = omibench.load_results(self.results).slice(by="subject")
        rows = table.filter(pl.col("metric").is_in(["accuracy", "gptscore"]))
        mean = (pl.col("estimate") * pl.col("n")).sum() / pl.col("n").sum()
        return {tuple(row[:3]): row[3] for row in rows.group_by(key).agg(mean).rows()}

    def read_explorer(self) -> Numbers:
        items, run = read_items(self.folders.freeze), open_run(self.results)
        return {
            (*cell, rules): float(grid.values[:, column].astype(float).mean())
            for rules in RULES
            for grid in [compute_grid(items, run, rules)]
            for column, cell in enumerate(run.cells)
        }

    def read_logs(self) -> Numbers:
        writer = open_writer(self.results, self.out / "store")
        numbers = {}
        for log in writer.write_all(self.out / "logs"):
            cell = (log.path.parent.name, log.path.stem)
            for score in json.loads(zipfile.ZipFile(log.path).read("header.json"))["results"][
                "scores"
            ]:
                numbers[*cell, score["name"]] = score["metrics"]["accuracy"]["value"]
        return {key: numbers[key] for key in self.report}


def _mean(rows: pl.DataFrame) -> float:
    means = rows.group_by("id").agg(pl.col("verdict").mean())["verdict"]
    return float(means.sum()) / means.len()


@pytest.fixture(scope="module")
def surfaces(tmp_path_factory: pytest.TempPathFactory) -> Surfaces:
    folder = tmp_path_factory.mktemp("same")
    return Surfaces(make_sampled_study(folder / "results"), folder / "out")


def test_the_settings_differ_in_what_they_choose(surfaces: Surfaces) -> None:
    numbers = surfaces.report
    assert len({numbers["sim-middle", name, "robust"] for name in HOW}) == len(HOW)
    chosen = pl.read_parquet(surfaces.results / "aggregate/sim-middle/cot.parquet").filter("counts")
    assert set(chosen.select("metric", "k", "index").iter_rows()) == {("first", K, 0)}


@pytest.mark.parametrize(
    ("surface", "digits"),
    [("main", 1e-6), ("api", 1e-9), ("slices", 1e-6), ("explorer", 1e-9), ("logs", 1e-9)],
)
def test_a_surface_gives_the_accuracy_of_the_report(
    surfaces: Surfaces, surface: str, digits: float
) -> None:
    read: Numbers = getattr(surfaces, f"read_{surface}")()
    assert {key: read[key] for key in surfaces.report} == pytest.approx(surfaces.report, abs=digits)


def test_two_runs_with_equal_totals_do_not_differ(surfaces: Surfaces, tmp_path: Path) -> None:
    """A run that draws four samples and takes the first, and one that draws a single one."""
    once = make_study(tmp_path / "once")
    comparison = compare_run_folders(once.freeze.parent, surfaces.results)
    cells = {(cell.model, cell.setting): cell for cell in comparison.cells}
    cot = cells["sim-middle", "cot"]
    assert cot.accuracy_b == pytest.approx(surfaces.report["sim-middle", "cot", "robust"])
    assert cot.difference == 0
    assert sum(total.change for total in cot.causes) == pytest.approx(0)


def test_the_item_view_marks_the_samples_that_do_not_count(surfaces: Surfaces) -> None:
    run = open_run(surfaces.results)
    for name, left_out in (("cot", [False] + [True] * (K - 1)), ("first-image", [False] * K)):
        items = CellItems(run, Cell("sim-middle", name), ["physics_05"])
        column = items.describe("physics_05", lambda _: None, lambda *_: None)
        assert [sample["left_out"] for sample in column["samples"]] == left_out
        lines = list_outcomes(
            Study(read_items(surfaces.results / "freeze"), run), "physics_05", "robust"
        )
        line = next(x for x in lines if (x["model"], x["setting"]) == ("sim-middle", name))
        assert len(line["outcomes"]) == left_out.count(False)


def test_a_log_scores_only_the_samples_that_count(surfaces: Surfaces, tmp_path: Path) -> None:
    writer = open_writer(surfaces.results, tmp_path)
    for name, reducer in (("cot", "mean"), ("direct", "mode"), ("first-image", "mean")):
        log = zipfile.ZipFile(writer.write(Cell("sim-middle", name), tmp_path / name).path)
        score = json.loads(log.read("header.json"))["results"]["scores"][0]
        assert (score["reducer"], score["metadata"]) == (reducer, {"aggregate": HOW[name]})
        samples = [
            json.loads(log.read(f"samples/physics_05_epoch_{epoch}.json"))
            for epoch in range(1, K + 1)
        ]
        scored = [bool(sample["scores"]) for sample in samples]
        assert sum(scored) == (K if name == "first-image" else 1)
        others = ["verdicts_that_do_not_count" in sample["metadata"] for sample in samples]
        assert others == [not value for value in scored]
