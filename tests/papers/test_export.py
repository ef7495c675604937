"""Folders of tables and figures: what a user finds in them, and what is said of the rest."""

from __future__ import annotations

import csv
import json
import subprocess
from pathlib import Path
from shutil import which

import polars as pl
import pytest
from typer.testing import CliRunner

from command_line import app
from omibench.errors import ArgumentError, FileFormatError, MissingInputError
from omibench.papers.catalogue import Rows, TableView, find_paper, read_catalogue
from omibench.papers.export.folder import ExportOptions, export_paper, export_results
from omibench.papers.export.plots import draw_page
from omibench.papers.export.printed_tables import (
    escape_latex,
    render_latex,
    render_markdown,
)
from omibench.papers.export.wide_tables import Labels, select_rows, widen_table
from omibench.stages.analyze.results.result import complete_table, write_table
from small_freeze import make_picture, write_freeze

HOSTILE = r"\input{/etc/passwd} | <script>alert(1)</script> $x$ & 5% #_{}~^"


def make_results(folder: Path, *, simulated: bool = False) -> Path:
    """A results folder that holds one table: two models in two subjects and in total."""
    rows = [
        ("a", "", "", 0.5), ("a", "subject", "biology", 0.25), ("a", "subject", "physics", 0.75),
        ("b", "", "", 0.4), ("b", "subject", "biology", 0.5),
    ]  # fmt: skip
    frame = pl.DataFrame(
        [
            {
                "model": model, "setting": "cot", "rules": "robust", "slice": cut, "value": value,
                "metric": "accuracy", "estimate": estimate, "low": estimate - 0.1,
                "high": estimate + 0.1, "n": 10, "clusters": 10, "simulated": simulated,
            }
            for model, cut, value, estimate in rows
        ]
    )  # fmt: skip
    write_table(complete_table(frame, "accuracy", "set"), folder / "analyze/tables", "accuracy")
    (folder / "analyze/main.csv").write_text("model,label\na,Model A\nb,Model B\n")
    return folder


def view(**changes: object) -> TableView:
    values: dict[str, object] = {"result": "accuracy", "rows": ["model"], "columns": ["value"]}
    return TableView.model_validate(values | changes)


def table_of(results: Path) -> pl.DataFrame:
    return pl.read_parquet(results / "analyze/tables/accuracy.parquet")


def test_a_page_has_total_last_and_names_models_by_their_labels(tmp_path: Path) -> None:
    page = widen_table(table_of(make_results(tmp_path)), view(), Labels({"a": "Model A"}))
    assert page.rows == [("Model A",), ("b",)]
    assert page.columns == [("biology",), ("physics",), ("Total",)]
    assert page.cells[("b",), ("Total",)].estimate == 0.4
    assert (("b",), ("physics",)) not in page.cells


def test_names_keep_together_and_numbers_go_by_size(tmp_path: Path) -> None:
    rows = [("16", "x"), ("2", "x"), ("4", "x"), ("2", "y")]
    frame = pl.DataFrame(
        [
            {"model": model, "metric": "majority", "value": k, "estimate": 0.5, "low": None,
             "high": None, "simulated": False}
            for k, model in rows
        ]
    )  # fmt: skip
    page = widen_table(frame, view(columns=["value"]))
    assert page.columns == [("2",), ("4",), ("16",)]
    parts = pl.DataFrame(
        [
            {"model": model, "metric": metric, "value": value, "estimate": 0.5, "low": None,
             "high": None, "simulated": False}
            for model in ("x", "y") for value in ("", "b", "a") for metric in ("acc", "gpt")
        ]
    )  # fmt: skip
    page = widen_table(parts, view(columns=["metric", "value"]))
    assert page.columns == [
        ("acc", "b"), ("acc", "a"), ("acc", "Total"), ("gpt", "b"), ("gpt", "a"), ("gpt", "Total"),
    ]  # fmt: skip
    page = widen_table(parts, view(columns=["value", "metric"]))
    assert [first for first, _ in page.columns] == ["b", "b", "a", "a", "Total", "Total"]


def test_a_column_that_is_not_there_and_two_numbers_for_one_place_are_one_line(
    tmp_path: Path,
) -> None:
    frame = table_of(make_results(tmp_path))
    with pytest.raises(ArgumentError, match=r"no column 'modle'; did you mean 'model'"):
        widen_table(frame, view(rows=["modle"]))
    with pytest.raises(ArgumentError, match="two numbers for"):
        widen_table(frame, view(columns=["metric"]))


def parts(*rows: tuple[str, str, str, float]) -> pl.DataFrame:
    """Rows of model, setting, value and estimate, as those of a tidy table."""
    names = ["model", "setting", "value", "estimate"]
    frame = pl.DataFrame(rows, schema=names, orient="row").with_columns(metric=pl.lit("accuracy"))
    return frame.with_columns(low=pl.lit(None, pl.Float64), high=pl.lit(None, pl.Float64),
                              simulated=pl.lit(value=False), p=pl.lit(0.0004))  # fmt: skip


def test_names_give_the_printed_order_and_label_on_both_sides() -> None:
    frame = parts(("a", "x", "", 0.1), ("a", "x", "phys", 0.2), ("b", "y", "chem", 0.3))
    names = {"value": {"chem": "Chem.", "": "Overall"}, "setting": {"y": "Direct", "x": "CoT"}}
    page = widen_table(frame, view(rows=["setting"], names=names))
    assert page.columns == [("Chem.",), ("Overall",), ("phys",)]
    assert page.rows == [("Direct",), ("CoT",)]


def test_rows_are_in_groups_by_the_numbers_of_a_column_and_bold_is_best_in_each() -> None:
    frame = parts(
        ("a", "x", "", 0.1), ("b", "x", "", 0.4), ("c", "x", "", 0.3), ("d", "x", "", 0.2)
    )
    labels = Labels({"a": "A"}, {"a": "open", "b": "closed", "c": "open", "d": "open"})
    form = view(groups=True, sort=["Total"], ranked=True, names={"group": {"open": "Open models"}})
    page = widen_table(frame, form, labels)
    assert page.rows == [("A",), ("d",), ("c",), ("b",)]
    latex = render_latex(page, "T", "tab:t")
    assert r"\multicolumn{2}{l}{\textit{Open models}}" in latex
    assert r"c & \textbf{30.00}$^{2}$ \\" in latex
    assert r"d & \underline{20.00}$^{3}$ \\" in latex
    assert "| *closed* | |" in render_markdown(page, "T")


def test_a_change_is_printed_after_its_number_and_people_bear_no_mark() -> None:
    frame = parts(("People", "", "", 0.9), ("a", "cot", "", 0.5), ("a", "direct", "", 0.6))
    change = parts(("a", "cot", "", -0.1))
    form = view(rows=["model", "setting"], unmarked=["People"], digits=1)
    text = render_markdown(widen_table(frame, form, changes=change), "T")
    assert "| People |  | 90.0 |" in text
    assert "| a | cot | *50.0 \\(↓ 10.0\\)* |" in text
    assert "| a | direct | **60.0** |" in text


def test_a_relative_change_follows_its_difference_with_sign_and_per_cent() -> None:
    """USNCO-V, figure 6: points, and per cent of the baseline; drawn as in the table."""
    frame = parts(("a", "cot", "", -0.309), ("b", "cot", "", 0.01))
    change = Rows(result="accuracy", number="relative")
    form = view(rows=["model"], change=change, digits=1, best="none")
    changes = parts(("a", "cot", "", -0.66), ("b", "cot", "", 0.02))
    page = widen_table(frame, form, changes=changes)
    text = render_markdown(page, "T")
    assert "−30.9 \\(−66.0 %\\)" in text
    assert "+1.0 \\(+2.0 %\\)" in text
    assert r"$-$30.9 ($-$66.0 \%)" in render_latex(page, "T", "t")
    drawn = draw_page(page, "T", "differences").to_dict()
    texts = [row["text"] for row in drawn["datasets"][drawn["data"]["name"]]]
    assert texts == ["−30.9 (−66.0 %)", "+1.0 (+2.0 %)"]
    assert "per cent of the baseline" in drawn["title"]["subtitle"][0]


def test_the_mean_of_a_table_is_drawn_as_a_bar_with_its_number() -> None:
    """OMIBench, figure 3b: the pooled row of eq. 10 is the same in table and picture."""
    frame = parts(("a", "cot", "2", 0.5), ("b", "cot", "2", 0.3), ("a", "cot", "3", 0.2))
    page = widen_table(frame, view(mean="All models"))
    assert page.rows[0] == ("All models",)
    drawn = draw_page(page, "T", "means").to_dict()
    bars, points, texts = (drawn["datasets"][layer["data"]["name"]] for layer in drawn["layer"])
    assert [(row["column"], row["estimate"], row["text"]) for row in bars] == [
        ("2", pytest.approx(40), "40.00"), ("3", pytest.approx(20), "20.00"),
    ]  # fmt: skip
    assert texts == bars
    assert [row["row"] for row in points] == ["a", "a", "b"]
    assert drawn["title"]["subtitle"] == [
        "bars: All models; points: each of the 2 rows of the table"
    ]


def test_a_p_beside_shares_is_no_share_in_per_cent() -> None:
    frame = parts(("a", "x", "", 0.5), ("b", "x", "", 0.6))
    frame = frame.with_columns(p_paired=pl.Series([0.02, 0.004]))
    number = Rows(result="accuracy", number="p_paired", per_cent=True, values={"metric": "p"})
    rows = [select_rows(frame, view()), select_rows(frame, number)]
    page = widen_table(pl.concat(rows), view(columns=["metric"], best="none"))
    text = render_markdown(page, "T")
    assert "| a | 50.00 | 0.02 |" in text
    assert r"| b | 60.00 | \<0.01 |" in text


def test_the_best_of_each_model_is_marked_with_what_was_added_to_it() -> None:
    """OMIBench, tables 9 and 10: bold is the best of a model's rows, and no second is marked."""
    rows = [("A", 0.1), ("A + X", 0.3), ("A + Y", 0.2), ("B", 0.9), ("B + X", 0.5)]
    frame = parts(*((model, "", "", share) for model, share in rows))
    text = render_markdown(widen_table(frame, view(by_model=True, second=False)), "T")
    assert [line for line in text.splitlines() if "*" in line] == [
        "| A + X | **30.00** |", "| B | **90.00** |",
    ]  # fmt: skip


def test_a_negative_number_has_a_minus_sign_and_no_hyphen() -> None:
    frame = parts(("a-b", "", "", -0.083), ("c", "", "", 0.1))
    page = widen_table(frame, view(best="none"))
    assert "| a-b | −8.30 |" in render_markdown(page, "T")
    assert r"a-b & $-$8.30 \\" in render_latex(page, "T", "t")


def test_two_changes_for_one_place_are_one_line() -> None:
    frame = parts(("a", "cot", "", 0.5), ("b", "cot", "", 0.6))
    changes = parts(("a", "cot", "", -0.1), ("a", "direct", "", 0.2))
    with pytest.raises(ArgumentError, match="'accuracy': has two numbers for a") as error:
        widen_table(frame, view(rows=["model", "setting"]), changes=changes)
    assert error.value.lines == [str(error.value)]
    with pytest.raises(ArgumentError, match="has no column 'model'"):
        widen_table(frame, view(), changes=changes.drop("model"))


def test_rows_of_a_result_take_another_number_and_another_place() -> None:
    part = TableView(result="r", number="p", where={"model": ["a"]}, values={"metric": "p-value"})
    rows = select_rows(parts(("a", "x", "", 0.1), ("b", "x", "", 0.4)), part.own)
    assert rows.select("model", "metric", "estimate").rows() == [("a", "p-value", 0.0004)]
    page = widen_table(rows, view(columns=["metric"], percent=False, digits=3))
    assert "<0.001" in page.format(page.cells[("a",), ("p-value",)], intervals=False)
    with pytest.raises(ArgumentError, match="no column 'modle'"):
        select_rows(rows, TableView(result="r", where={"modle": ["a"]}).own)


def test_latex_marks_the_best_and_the_second_best_of_each_column(tmp_path: Path) -> None:
    table = table_of(make_results(tmp_path))
    text = render_latex(widen_table(table, view(digits=1)), "Accuracy", "tab:one")
    assert r"a & \underline{25.0} & 75.0 & \textbf{50.0} \\" in text
    assert r"b & \textbf{50.0} & -- & \underline{40.0} \\" in text
    page = widen_table(table, view(digits=1, best="lowest"))
    lowest = render_latex(page, "Accuracy", "tab:one")
    assert r"a & \textbf{25.0} & 75.0 & \underline{50.0} \\" in lowest


def make_table_of_columns(count: int) -> str:
    """A LaTeX table of two models under so many pairs of heads, with hostile names."""
    rows = [
        {
            "model": model, "value": f"Subject {n}", "metric": metric, "estimate": n / 20,
            "low": None, "high": None, "simulated": False,
        }
        for model in ("A model", "$x$ & 5% #_{}~^")
        for n in range(count)
        for metric in ("accuracy", "gptscore")
    ]  # fmt: skip
    form = view(columns=["value", "metric"], digits=2)
    return render_latex(widen_table(pl.DataFrame(rows), form), HOSTILE, "tab:wide")


def test_a_table_wider_than_a_column_of_text_spans_the_page_in_a_smaller_font() -> None:
    narrow, wide = make_table_of_columns(1), make_table_of_columns(5)
    assert r"\begin{table}" in narrow
    assert "tabcolsep" not in narrow
    assert r"\begin{table*}" in wide
    assert r"\end{table*}" in wide
    assert "\\scriptsize\n\\setlength{\\tabcolsep}{3pt}\n" in wide


@pytest.mark.skipif(which("pdflatex") is None, reason="no pdflatex: install TeX with booktabs")
@pytest.mark.parametrize("count", [1, 3, 5])
def test_latex_compiles_with_booktabs_alone_and_fits_the_page(tmp_path: Path, count: int) -> None:
    head = r"\documentclass[twocolumn]{article}\usepackage{booktabs}\begin{document}"
    text = make_table_of_columns(count)
    (tmp_path / "page.tex").write_text(rf"{head}{text}\end{{document}}", "utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "page.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:]
    assert "Overfull" not in done.stdout


def test_markdown_has_intervals_where_they_are_asked_for(tmp_path: Path) -> None:
    page = widen_table(table_of(make_results(tmp_path)), view(digits=0, best="none"))
    text = render_markdown(page, "Accuracy", intervals=True)
    assert "| a | 25 \\[15, 35\\] | 75 \\[65, 85\\] | 50 \\[40, 60\\] |" in text


def test_hostile_names_are_text_in_every_format(tmp_path: Path) -> None:
    frame = table_of(make_results(tmp_path)).with_columns(pl.lit(HOSTILE).alias("model"))
    page = widen_table(frame.filter(slice="").head(1), view(rows=["model"]).model_copy(), None)
    latex = render_latex(page, HOSTILE, "tab:x")
    assert r"\input{" not in latex
    assert "<script>" not in render_markdown(page, HOSTILE)
    assert escape_latex("a_b & 5%") == r"a\_b \& 5\%"


def test_a_folder_of_all_results(tmp_path: Path) -> None:
    results = make_results(tmp_path / "results", simulated=True)
    done = export_results(results, tmp_path / "out", ExportOptions())
    assert not done.errors
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert {"README.md", "accuracy.csv", "accuracy.parquet", "accuracy.md", "accuracy.tex"} <= names
    overview = (tmp_path / "out/README.md").read_text()
    assert "SIMULATED" in overview
    assert "SIMULATED" in (tmp_path / "out/accuracy.tex").read_text()


def test_an_exported_comparison_has_both_models_and_intervals(tmp_path: Path) -> None:
    results = make_results(tmp_path / "results")
    pair = {
        "model": "a", "setting": "cot", "metric": "difference", "estimate": 0.1, "low": 0.02,
        "high": 0.18, "baseline_model": "b", "baseline_setting": "cot", "p_holm": "0.01",
    }  # fmt: skip
    frame = pl.DataFrame([{**pair, "rules": rules} for rules in ("robust", "emma")])
    frame = frame.with_columns(simulated=False)
    write_table(complete_table(frame, "pairs", "set"), results / "analyze/tables", "pairs")
    export_results(results, tmp_path / "out", ExportOptions(intervals=True))
    latex = (tmp_path / "out/pairs.tex").read_text()
    assert "Baseline model" in latex
    assert r" & Difference \\" in latex
    assert "Model A & cot & robust & " in latex
    assert r"0.1000 [0.0200, 0.1800] \\" in latex


def test_every_item_of_a_paper_is_made_or_says_why_not(tmp_path: Path) -> None:
    results = make_results(tmp_path / "results")
    for name, paper in read_catalogue().items():
        out = tmp_path / name
        done = export_paper([results], name, out, ExportOptions())
        assert [entry.key for entry in done.entries] == list(paper.items)
        overview = (out / "README.md").read_text()
        for entry in done.entries:
            assert f"| {entry.key} |" in overview
            assert entry.files or entry.reason
            for file in entry.files:
                assert (out / file).stat().st_size > 0


GENERIC = ["table4", "table6", "table9", "table10", "figure6c"]
"""Tables of OMIBench that are cut from the same result as its main table."""
PLAIN = {"images": "all", "tools": None, "samples": 1, "shots": 0, "budget": 4096, "prompt": "cot"}


def make_plain_study(
    folder: Path, model: dict[str, object], setting: dict[str, object], printed: str = ""
) -> Path:
    """Two models under two settings; one model and one setting have the given attributes."""
    cells = [(model, setting) for model in "ab" for setting in ("cot", "other")]
    rows = [
        {"model": m, "setting": s, "rules": "omibench", "slice": cut, "value": value,
         "metric": "accuracy", "estimate": 0.5, "n": 10, "clusters": 10}
        for m, s in cells for cut, value in (("", ""), ("subject", "physics"))
    ]  # fmt: skip
    stated = {"variant": None, "base": None, "family": None, "parameters_b": None}
    frames = {
        "accuracy": [row for row in rows if not row["slice"]],
        "slices": [row for row in rows if row["slice"]],
        "models": [{"model": "a"} | stated | model, {"model": "b"} | stated],
        "settings": [{"setting": "cot"} | PLAIN, {"setting": "other"} | PLAIN | setting],
    }
    if printed:
        frames["printed-places"] = [{"model": m, "setting": s, "value": printed} for m, s in cells]
    for name, table in frames.items():
        frame = pl.DataFrame(table, infer_schema_length=None).with_columns(simulated=False)
        nothing = [column for column in frame.columns if frame[column].dtype == pl.Null]
        frame = frame.with_columns(pl.col(nothing).cast(pl.String))
        write_table(complete_table(frame, name, "omibench"), folder / "analyze/tables", name)
    (folder / "analyze/main.csv").write_text("model,label\n")
    return folder


@pytest.mark.parametrize(
    ("model", "setting", "printed", "made"),
    [
        ({}, {}, "", None),
        ({"variant": "thinking"}, {}, "", None),
        ({"base": "b"}, {}, "", "table9"),
        ({}, {"tools": "sketch"}, "", "table10"),
        ({}, {"images": "composite"}, "", "table6"),
        ({}, {}, "figure 6c", "figure6c"),
        ({}, {}, "table 10", None),
    ],
)
def test_a_table_is_made_only_of_a_study_that_has_what_it_needs(
    tmp_path: Path, model: dict[str, object], setting: dict[str, object], printed: str,
    made: str | None,
) -> None:  # fmt: skip
    results = make_plain_study(tmp_path / "results", model, setting, printed)
    entries = export_paper([results], "omibench", tmp_path / "out", ExportOptions()).entries
    kinds = {entry.key: entry.kind for entry in entries}
    assert kinds["table2"] == "measured"
    assert {key for key in GENERIC if kinds[key] == "measured"} == {made} - {None}
    absent = next(e for e in entries if e.key == ("table9" if made != "table9" else "table4"))
    assert absent.reason.startswith("the study lacks ")
    assert absent.files == [f"{absent.key}_printed.csv"]


def test_what_omibench_lacks_is_made_of_real_results_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paper = find_paper("omibench")
    awaiting = paper.items["table10"].model_copy(update={"awaits": "a server"})
    lacking = paper.model_copy(update={"items": paper.items | {"table10": awaiting}})
    monkeypatch.setattr("omibench.papers.export.folder.find_paper", lambda _: lacking)
    results = make_plain_study(tmp_path / "results", {}, {"tools": "sketch"})
    path = results / "analyze/tables/slices.parquet"
    pl.read_parquet(path).with_columns(simulated=pl.lit(value=True)).write_parquet(path)
    entries = export_paper([results], "omibench", tmp_path / "out", ExportOptions()).entries
    (entry,) = [entry for entry in entries if entry.key == "table10"]
    assert (entry.kind, entry.reason) == ("printed", "a server")


def test_an_item_is_made_of_the_first_study_that_has_what_it_needs(tmp_path: Path) -> None:
    studies = [
        make_plain_study(tmp_path / "first", {}, {}),
        make_plain_study(tmp_path / "second", {}, {"images": "composite"}),
    ]
    entries = export_paper(studies, "omibench", tmp_path / "out", ExportOptions()).entries
    kinds = {entry.key: entry.kind for entry in entries}
    assert (kinds["table2"], kinds["table6"], kinds["table9"]) == (
        "measured",
        "measured",
        "printed",
    )


def test_no_two_items_of_a_plain_study_are_equal(tmp_path: Path) -> None:
    results = make_plain_study(tmp_path / "results", {}, {})
    for name in read_catalogue():
        done = export_paper([results], name, tmp_path / name, ExportOptions())
        made = [entry.key for entry in done.entries if entry.kind == "measured"]
        texts = [(tmp_path / name / f"{key}.csv").read_text() for key in made]
        assert len(set(texts)) == len(texts), made


def make_map_study(folder: Path, file: str) -> Path:
    """Results on USNCO-V with a heat map of a problem, in `file` of the results folder."""
    make_results(folder)
    rows = {
        "model": ["a"], "setting": ["cot"], "metric": ["impact"], "estimate": [0.5],
        "panel": ["f"], "id": ["1"], "option": ["A"], "file": [file], "simulated": [False],
    }  # fmt: skip
    table = complete_table(pl.DataFrame(rows), "saliency-maps", "usnco-v")
    write_table(table, folder / "analyze/tables", "saliency-maps")
    return folder


def test_pictures_of_a_table_are_copied(tmp_path: Path) -> None:
    results = make_map_study(tmp_path / "results", "saliency/map.png")
    (results / "saliency").mkdir()
    (results / "saliency/map.png").write_bytes(make_picture(1))
    done = export_paper([results], "usnco-v", tmp_path / "out", ExportOptions())
    (entry,) = [entry for entry in done.entries if entry.key == "figure7f"]
    assert (entry.kind, entry.files[-1]) == ("measured", "figure7f_1.png")
    assert (tmp_path / "out/figure7f_1.png").read_bytes() == make_picture(1)


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("{folder}/outside.png", make_picture(1), "leads out of this folder"),
        ("../outside.png", make_picture(1), "leads out of this folder"),
        ("link.png", make_picture(1), "leads out of this folder by a link"),
        ("absent.png", None, "absent.png: cannot be read"),
        ("map.png", b"secret", "is not a picture"),
        ("map.png", make_picture(1)[:40], "is a damaged picture"),
        ("map.png", b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 8 8\n", "is not a picture"),
    ],
    ids=["absolute", "above", "link", "absent", "text", "truncated", "PostScript"],
)
def test_a_wrong_picture_of_a_table_stops_only_its_item(
    tmp_path: Path, file: str, content: bytes | None, message: str
) -> None:
    results = make_map_study(tmp_path / "results", file.format(folder=tmp_path))
    (tmp_path / "outside.png").write_bytes(make_picture(1))
    (results / "link.png").symlink_to(tmp_path / "outside.png")
    if content and file == "map.png":
        (results / file).write_bytes(content)
    done = export_paper([results], "usnco-v", tmp_path / "out", ExportOptions())
    assert [message in str(error) for error in done.errors] == [True]
    assert {entry.key for entry in done.entries} == {*find_paper("usnco-v").items}
    assert not [*(tmp_path / "out").glob("figure7f*")]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "cannot be read"),
        (b"secret", "does not match its SHA-256"),
        (make_picture(99), "does not match its SHA-256"),
    ],
    ids=["absent", "text", "another"],
)
def test_a_wrong_picture_of_the_dataset_stops_only_its_statistics(
    tmp_path: Path, content: bytes | None, message: str
) -> None:
    results = make_results(tmp_path / "results")
    freeze = write_freeze(results / "freeze")
    done = export_paper([results], "usnco-v", tmp_path / "out", ExportOptions())
    assert done.errors == []
    assert "mean image width" in (tmp_path / "out/table3.csv").read_text("utf-8").lower()
    picture = min((freeze / "images").iterdir())
    picture.unlink()
    if content:
        picture.write_bytes(content)
    done = export_paper([results], "usnco-v", tmp_path / "again", ExportOptions())
    assert [message in str(error) for error in done.errors] == [True]
    (entry,) = [entry for entry in done.entries if entry.key == "table3"]
    assert (entry.kind, message in entry.reason) == ("missing", True)


def test_results_on_another_dataset_are_warned_of(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    results = make_results(tmp_path / "results")
    export_paper([results], "mathreal", tmp_path / "out", ExportOptions())
    assert "contains results on the dataset 'set', but the tables of mathreal" in caplog.text


def test_printed_numbers_lie_beside_ours(tmp_path: Path) -> None:
    results = make_results(tmp_path / "results")
    export_paper([results], "omibench", tmp_path / "out", ExportOptions())
    with (tmp_path / "out/table2_printed.csv").open() as file:
        assert len(list(csv.DictReader(file))) > 20


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[]", "contains no papers"),
        ("p: {title: P, items: {table1: {title: T}}}", "p: items.table1: .*set `table`"),
        ("p: {title: P, items: {chart1: {title: T, impossible: x}}}", "p: items.chart1"),
        (
            "p: {title: P, items: {table1: {title: T, table: {result: acuracy}}}}",
            "p.items.table1: unknown result 'acuracy'.*accuracy",
        ),
        (
            "p: {title: P, items: {table1: {title: T, printed: x, needs: {words: w}}}}",
            "p: items.table1.needs: .*set `tables` or `listed`",
        ),
        (
            "p: {title: P, items: {table1: {title: T, printed: x, needs: "
            "{words: w, tables: {modles: {}}}}}}",
            "p.items.table1: unknown result 'modles'.*models",
        ),
        (
            "p: {title: P, items: {table1: {title: T, impossible: x, measures: {}}}}",
            "p: items.table1: .*measures: set `printed`",
        ),
    ],
)
def test_a_wrong_catalogue_is_one_line(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "papers.yaml"
    file.write_text(text)
    with pytest.raises(FileFormatError, match=message):
        read_catalogue(file)


def test_figures_name_models_as_the_report_does(tmp_path: Path) -> None:
    results = make_results(tmp_path / "results")
    ranks = pl.DataFrame(
        [
            {
                "model": model, "setting": "cot", "rules": "robust", "metric": "rank",
                "estimate": rank, "low": 1, "high": 3, "cells": 3, "family": 3, "simulated": False,
            }
            for rank, model in enumerate("abc", 1)
        ]
    )  # fmt: skip
    write_table(complete_table(ranks, "ranks", "set"), results / "analyze/tables", "ranks")
    export_results(results, tmp_path / "out", ExportOptions())
    (data,) = json.loads((tmp_path / "out/figure-ranks.vl.json").read_text())["datasets"].values()
    assert [row["name"] for row in data] == ["Model A", "Model B", "c"]


def test_an_unknown_paper_is_one_line_that_lists_the_papers_once() -> None:
    with pytest.raises(ArgumentError) as caught:
        find_paper("bogus")
    assert str(caught.value) == (
        "--paper: unknown paper 'bogus'; known: omibench, emma, usnco-v, mathreal"
    )


def test_the_command_names_what_it_wrote_and_what_is_wrong(tmp_path: Path) -> None:
    results = make_results(tmp_path / "results")
    run = CliRunner()
    out = str(tmp_path / "out")
    done = run.invoke(app, ["results", "export", str(results), "--paper", "omibench", "--out", out])
    assert done.exit_code == 0
    assert "README.md: " in done.stderr
    for arguments, error in (
        ([str(tmp_path)], MissingInputError),
        ([str(results), "--paper", "omibnech"], ArgumentError),
        ([str(results), "--pictures", "gif"], ArgumentError),
        ([str(results), "--with", str(results)], ArgumentError),
        ([str(results), "--out", str(results / "analyze/mine")], ArgumentError),
    ):
        failed = run.invoke(app, ["results", "export", "--out", out, *arguments])
        assert isinstance(failed.exception, error) or failed.exit_code == 2, failed.output


@pytest.mark.parametrize("name", ["my-section", "failures"])
def test_figures_without_a_table_are_exported_in_every_format(tmp_path: Path, name: str) -> None:
    results = make_results(tmp_path / "results")
    specification = {
        "$schema": "https://vega.github.io/schema/vega-lite/v6.json", "config": {},
        "title": {"text": "SIMULATED · Failures"}, "description": "None.", "mark": "bar",
        "data": {"values": [{"x": 1}]}, "encoding": {"x": {"field": "x", "type": "quantitative"}},
    }  # fmt: skip
    drawn = results / f"analyze/figures/{name}.vl.json"
    drawn.parent.mkdir()
    drawn.write_text(json.dumps(specification))
    options = ExportOptions(pictures=("svg", "pdf", "png"))
    entries = export_results(results, tmp_path / "out", options).entries
    entry = next(entry for entry in entries if entry.key == f"figure-{name}")
    assert entry.kind == "simulated"
    assert {path.suffix for path in (tmp_path / "out").glob(f"figure-{name}.*")} == {
        ".svg", ".json", ".pdf", ".png",
    }  # fmt: skip


@pytest.mark.parametrize("data", ['{"mark": "bar"}', '{"data": {"url": "file:///etc/passwd"}}'])
def test_what_is_no_figure_of_ours_is_not_drawn(tmp_path: Path, data: str) -> None:
    results = make_results(tmp_path / "results")
    drawn = results / "analyze/figures/my-section.vl.json"
    drawn.parent.mkdir()
    drawn.write_text(data)
    with pytest.raises(FileFormatError, match=r"my-section\.vl\.json: is not a figure"):
        export_results(results, tmp_path / "out", ExportOptions())
