"""Whatever states the accuracy of a cell states the same one: pages, files, commands, the API.

Files are found, not listed: a table that is added later is read here too. A command or a method of
the API that is added later fails the last test until it is among those that are compared.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.results.test_same_numbers import HOW, Surfaces, make_sampled_study
from typer.main import get_command
from typer.testing import CliRunner

import omibench
from command_line import app
from omibench.params.study import Study, parse_study
from omibench.results.study_record import record_study
from omibench.stages.analyze import analyze_study

ROUNDED = 5e-7 + 1e-9
"""Files have six digits, the API has all."""
LISTED = {"main.csv", "metrics.json", "accuracy.csv", "accuracy.parquet", "board.json"}
"""Files that have an accuracy of every cell, in the report's folder, an export or a board."""
PARTS = {"subject": "subject", "images": "n_images", "bin": "n_images", "outcome": "outcome"}
"""Columns with a part of a cell in tables that are not tidy -> the slice of tidy tables."""
PLACE = {"model", "setting", "rules", "slice", "value", "metric"}
DESCRIBED = {
    "result",
    "dataset",
    "label",
    "setting_label",
    "group",
    "source",
    "series",
    "benchmark",
}
"""Columns that describe a row and do not identify it."""
QUANTITIES = {
    "estimate": ("estimate", "acc", "share"), "low": ("low", "lo"), "high": ("high", "hi"),
    "n": ("n",),
}  # fmt: skip
FEWEST_SURFACES, FEWEST_QUANTITIES = 20, 10_000
Numbers = Mapping[tuple[str, str, str], float]
Key = tuple[Any, ...]
"""Metric, model, setting, scorer, slice, value, further words and k."""
Stated = tuple[Key, str, float]

pytestmark = pytest.mark.slow


class Written:
    """A study of which a setting and a block were removed, and everything that is written of it."""

    def __init__(self, folder: Path) -> None:
        made = make_sampled_study(folder / "results")
        values = made.study.model_dump(mode="json", exclude_defaults=True)
        values["infer"]["settings"] = ["cot", "direct"]
        self.study: Study = parse_study(values, "test")
        self.results = made.freeze.parent
        judged = self.results / "judge/sim-weak/cot.parquet"
        judged.parent.mkdir(parents=True)
        judged.write_bytes(b"of a block that was removed")
        record_study(self.study, self.results)
        headline = analyze_study(self.results, self.results / "analyze", self.study)
        self.headline = str(headline).replace("\N{NO-BREAK SPACE}", " ")
        self.surfaces = Surfaces(made._replace(study=self.study), folder / "out")
        self.export, self.board = folder / "export", folder / "board"
        for words in (
            ["export", str(self.results), "--out", str(self.export)],
            ["publish", str(self.results), "--out", str(self.board)],
        ):
            done = CliRunner().invoke(app, ["results", *words])
            assert done.exit_code == 0, done.output

    @property
    def files(self) -> list[Path]:
        """All tables and JSON files of the report, an export and a board."""
        folders = (self.results / "analyze", self.export, self.board)
        return sorted(
            path
            for folder in folders
            for pattern in ("*.csv", "*.parquet", "*.json")
            for path in folder.rglob(pattern)
            if "explorer" not in path.parts and not path.name.endswith(".vl.json")
        )


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Written:
    return Written(tmp_path_factory.mktemp("written"))


def read_file(path: Path) -> Iterator[Stated]:
    """What a file states of cells and their parts."""
    if path.suffix == ".json":
        yield from read_json(json.loads(path.read_text("utf-8")))
    else:
        yield from read_frame(
            pl.read_parquet(path) if path.suffix == ".parquet" else pl.read_csv(path)
        )


def read_frame(frame: pl.DataFrame) -> Iterator[Stated]:
    """The rows of a tidy table, of `main.csv` and its kind, of a plot or of a board."""
    columns = set(frame.columns)
    if not {"model", "setting"} <= columns:
        return
    is_tidy = {"metric", "slice", "value"} <= columns
    for row in frame.rows(named=True):
        words = tuple(
            (name, value)
            for name, value in row.items()
            if is_tidy and name not in {*DESCRIBED, *PLACE} and isinstance(value, str) and value
        )
        part = next(((slice_, row[name]) for name, slice_ in PARTS.items() if row.get(name)), None)
        slice_, value = (row["slice"] or "", row["value"] or "") if is_tidy else part or ("", "")
        slice_, value = ("", "") if value == "total" else (slice_, value)
        metric = row["metric"] if is_tidy else "accuracy"
        key = (
            "accuracy" if metric == "gptscore" else metric, row["model"], row["setting"],
            row.get("rules", "robust"), slice_, value, words, row.get("k"),
        )  # fmt: skip
        for name, names in QUANTITIES.items():
            found = next((row[name] for name in names if row.get(name) is not None), None)
            if found is not None and row["model"] and row["setting"]:
                yield key, name, float(found)


def read_json(document: object) -> Iterator[Stated]:
    """The values of `metrics.json`, by model and setting, or the rows of a board."""
    if isinstance(document, dict) and isinstance(document.get("rows"), list):
        yield from read_frame(pl.DataFrame(document["rows"], infer_schema_length=None))
    elif isinstance(document, dict):
        for model, settings in document.items():
            for setting, cell in settings.items() if isinstance(settings, dict) else ():
                if isinstance(cell, dict) and isinstance(cell.get("rules"), dict):
                    yield from read_metrics(model, setting, cell)


def read_metrics(model: str, setting: str, cell: dict[str, Any]) -> Iterator[Stated]:
    for rules, values in {
        "robust": {"estimate": "acc", "low": "lo", "high": "hi", "n": "n"},
        "gptscore": {"estimate": "gptscore", "low": "gptscore_lo", "high": "gptscore_hi"},
    }.items():
        for name, key in values.items():
            yield name_cell(model, setting, rules), name, cell[key]
    for rules, value in cell["rules"].items():
        yield name_cell(model, setting, rules), "estimate", value


def name_cell(model: str, setting: str, rules: str) -> Key:
    return ("accuracy", model, setting, rules, "", "", (), None)


def read_api(written: Written) -> Iterator[Stated]:
    """Estimates of cells, slices and differences by the Python API."""
    results = omibench.load_results(written.results)
    yield from read_frame(results.slice("subject"))
    cells = results.verdicts.select("model", "setting", "rules").unique().rows()
    for cell in cells:
        estimate = results.estimate_accuracy(*cell[:2], rules=cell[2])
        for name, value in zip(("estimate", "low", "high", "n"), estimate, strict=False):
            yield name_cell(*cell), name, value
    pairs = pl.read_parquet(written.results / "analyze/tables/pairs.parquet")
    for row in pairs.rows(named=True):
        difference = results.compare_models(
            row["model"], row["baseline_model"], setting=row["setting"], rules=row["rules"]
        )
        words = tuple((name, row[name]) for name in ("baseline_model", "baseline_setting"))
        key = ("difference", row["model"], row["setting"], row["rules"], "", "", words, None)
        for name, value in zip(("estimate", "low", "high", "n"), difference, strict=False):
            yield key, name, value


def test_whatever_two_surfaces_state_is_equal(written: Written) -> None:
    surfaces: dict[str, list[Stated]] = {
        path.relative_to(written.results.parent).as_posix(): list(read_file(path))
        for path in written.files
    }
    surfaces["api"] = list(read_api(written))
    values: dict[tuple[Key, str], dict[str, float]] = defaultdict(dict)
    for surface, stated in surfaces.items():
        for key, name, value in stated:
            values[key, name][surface] = value
    shared = {place: by for place, by in values.items() if len(by) > 1}
    for place, by in shared.items():
        first = next(iter(by.values()))
        assert by == pytest.approx(dict.fromkeys(by, first), abs=ROUNDED), place
    assert {key[2] for key, _ in values} == {"cot", "direct"}, "a setting was removed"
    # A cell is in main.csv, metrics.json, two tables, four exported files, a board and the API.
    cell = shared[name_cell("sim-weak", "cot", "robust"), "low"]
    assert len(cell) >= FEWEST_SURFACES, sorted(cell)
    kinds = {key[0] for (key, _), by in shared.items() if "api" in by}
    assert kinds >= {"accuracy", "difference"}
    assert len(shared) > FEWEST_QUANTITIES


def test_every_file_states_the_accuracies_of_the_report(written: Written) -> None:
    expected = compute_expected(written)
    for path in written.files:
        stated = {
            key[1:4]: value
            for key, name, value in read_file(path)
            if name == "estimate" and key == name_cell(*key[1:4])
        }
        assert stated == pytest.approx({key: expected[key] for key in stated}, abs=ROUNDED), path
        assert path.name not in LISTED or set(stated) >= set(expected), path


def compute_expected(written: Written) -> Numbers:
    """The mean of the verdicts that count, by model, setting and scorer."""
    verdicts = omibench.load_results(written.results).verdicts.filter("counts")
    key = ["model", "setting", "rules"]
    by_problem = verdicts.group_by(*key, "id").agg(pl.mean("verdict"))
    return {row[:3]: row[3] for row in by_problem.group_by(key).agg(pl.mean("verdict")).rows()}


def test_the_page_and_the_headline_state_the_accuracies_of_the_report(written: Written) -> None:
    expected = compute_expected(written)
    page = (written.results / "analyze/report.html").read_text("utf-8")
    rows = re.findall(r'<a href="explorer/cells/([\w-]+)@([\w-]+)\.html">([\d.]+)</a>', page)
    shown = {(model, setting): float(value) for model, setting, value in rows}
    robust = {key[:2]: 100 * value for key, value in expected.items() if key[2] == "robust"}
    assert shown == pytest.approx(robust, abs=0.0501)
    best = max(value for (_, setting), value in robust.items() if setting == "cot")
    assert f"highest accuracy, {best:.1f} % of 28 problems right" in written.headline
    assert f"highest accuracy, {max(robust.values()):.1f} %." in written.headline


@pytest.mark.parametrize("surface", ["api", "explorer", "logs", "slices"])
def test_a_surface_that_reads_the_results_states_the_same(written: Written, surface: str) -> None:
    read: Numbers = getattr(written.surfaces, f"read_{surface}")()
    expected = {k: v for k, v in compute_expected(written).items() if k in written.surfaces.report}
    assert {key: read[key] for key in expected} == pytest.approx(expected, abs=1e-6)
    assert {setting for _, setting, _ in read} == {"cot", "direct"} < set(HOW)


def test_no_surface_is_left_out() -> None:
    """What is added here states no accuracy of a cell, or is compared above."""
    commands = get_command(app).commands["results"].commands  # type: ignore[attr-defined]
    assert set(commands) == {"export", "publish", "slice", "leftovers", "audit", "compare"}
    public = {name for name in dir(omibench.ResultTables) if not name.startswith("_")}
    assert public == {
        "aggregates", "compare_models", "compare_settings", "estimate_accuracy",
        "judgements", "problems", "report_table", "report_tables",
        "responses", "result_names", "result_table", "saliency", "slice", "tags", "verdicts",
    }  # fmt: skip
