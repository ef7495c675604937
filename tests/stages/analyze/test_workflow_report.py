"""What `snakemake --report` says of figures and tables."""

from __future__ import annotations

from pathlib import Path

from tests.stages.analyze.conftest import Folders

from omibench.stages.analyze.workflow_report import label_figure, label_table, number_category


def test_categories_are_the_parts_of_the_report_in_its_order() -> None:
    assert number_category("main") == "01 Leaderboard"
    assert number_category("images") == "03 What hurts"
    assert number_category("main") < number_category("samples") < number_category("images")
    assert number_category("of-a-plug-in").endswith(" More")


def test_a_figure_is_labelled_by_its_marked_title_and_what_it_says(reported: Folders) -> None:
    folder = str(reported.out / "figures")
    for name in ("ranks", "images"):
        label = label_figure(folder, name)
        assert label["figure"].startswith("SIMULATED · ")
        assert label["finding"].endswith(".")
    assert "allow the first rank for" in label_figure(folder, "ranks")["finding"]


def test_a_figure_of_a_plug_in_without_vega_lite_has_its_name(tmp_path: Path) -> None:
    assert label_figure(str(tmp_path), "mine") == {"figure": "mine", "finding": ""}


def test_a_table_is_labelled_by_the_title_of_its_result() -> None:
    assert label_table("ranks")["contents"]
    assert label_table("of-a-plug-in") == {"table": "of-a-plug-in", "contents": ""}
