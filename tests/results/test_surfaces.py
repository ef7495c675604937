"""Whatever states the accuracy of a cell states the same one: pages, files, commands, the API.

Files are found, not listed: a table that is added later is read here too. A command or a method of
the API that is added later fails the last test until it is among those that are compared.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import polars as pl
import pytest
from tests.results.test_same_numbers import HOW, Surfaces, make_sampled_study
from typer.main import get_command
from typer.testing import CliRunner

import omibench
from omibench.cli.main import app
from omibench.params.study import Study, parse_study
from omibench.results.study_record import record_study
from omibench.stages.analyze import analyze_study

ROUNDED = 5e-7 + 1e-9
"""Files have six digits."""
SCORES = ("accuracy", "gptscore")
LISTED = {"main.csv", "metrics.json", "accuracy.csv", "accuracy.parquet", "board.json"}
"""Files that have an accuracy of every cell, in the report's folder, an export or a board."""
PARTS = {"bin", "images", "n_images"}
"""Columns of tables with a row for each part of a cell."""
Numbers = Mapping[tuple[str, str, str], float]
Key = tuple[str, str, str]


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


def read_file(path: Path) -> list[tuple[Key, float]]:
    """The accuracies of whole cells that a file states."""
    if path.suffix == ".json":
        return list(read_json(json.loads(path.read_text("utf-8"))))
    frame = pl.read_parquet(path) if path.suffix == ".parquet" else pl.read_csv(path)
    return list(read_frame(frame))


def read_frame(frame: pl.DataFrame) -> Iterator[tuple[Key, float]]:
    columns = set(frame.columns)
    if {"model", "setting", "rules", "metric", "slice", "estimate"} <= columns:
        is_whole = pl.col("metric").is_in(SCORES) & (pl.col("slice").fill_null("") == "")
        rows = frame.filter(is_whole, pl.col("model") != "", pl.col("setting") != "")
        for name in {"method", "bin"} & columns:
            rows = rows.filter(pl.col(name).cast(pl.String).is_in(["", "all", "first", "majority"]))
        values = rows.select("model", "setting", "rules", "estimate").rows()
    elif {"model", "setting"} <= columns and len(named := {"acc", "estimate"} & columns) == 1:
        rows = frame.filter(subject="total") if "subject" in columns else frame
        rows = rows if "rules" in columns else rows.with_columns(rules=pl.lit("robust"))
        is_part = not columns.isdisjoint(PARTS)
        values = [] if is_part else rows.select("model", "setting", "rules", *named).rows()
    else:
        values = []
    for model, setting, rules, value in values:
        if model and setting and value is not None:
            yield (model, setting, rules), float(value)


def read_json(document: object) -> Iterator[tuple[Key, float]]:
    """The values of `metrics.json`, by model and setting, or the rows of a board."""
    if isinstance(document, dict) and isinstance(document.get("rows"), list):
        yield from read_frame(pl.DataFrame(document["rows"], infer_schema_length=None))
    elif isinstance(document, dict):
        for model, settings in document.items():
            for setting, cell in settings.items() if isinstance(settings, dict) else ():
                if isinstance(cell, dict) and isinstance(cell.get("rules"), dict):
                    yield (model, setting, "robust"), cell["acc"]
                    yield (model, setting, "gptscore"), cell["gptscore"]
                    for rules, value in cell["rules"].items():
                        yield (model, setting, rules), value


def test_every_file_states_the_accuracies_of_the_report(written: Written) -> None:
    expected = compute_expected(written)
    stated = {path: read_file(path) for path in written.files}
    for path, values in stated.items():
        for key, value in values:
            assert key in expected, f"{path}: {key} is not a cell of the study"
            assert value == pytest.approx(expected[key], abs=ROUNDED), f"{path}: {key}"
    whole = {path.name for path, values in stated.items() if set(dict(values)) >= set(expected)}
    assert whole >= LISTED
    assert sum(bool(values) for values in stated.values()) >= 2 * len(LISTED)


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
        "responses", "result_names", "result_table", "saliency", "slice", "verdicts",
    }  # fmt: skip
