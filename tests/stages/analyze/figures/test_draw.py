from __future__ import annotations

import polars as pl

from omibench.stages.analyze.figures.figure import label_cells

SETTINGS = {"cot": "Chain of thought"}
LABELS = {"strong": "Strong", "weak": "Weak", "old": "GPT", "new": "GPT"}


def test_models_and_settings_stand_under_their_labels_in_every_column_that_holds_them() -> None:
    table = pl.DataFrame(
        {
            "model": ["strong", "weak", ""],
            "baseline_model": ["weak", "strong", "print"],
            "kind": ["model", "setting", "model"],
            "baseline": ["weak", "cot", None],
            "setting": ["weak", "cot", "cot"],
        }
    )
    assert label_cells(table, LABELS, SETTINGS).to_dict(as_series=False) == {
        "model": ["Strong", "Weak", ""],
        "baseline_model": ["Weak", "Strong", "print"],
        "kind": ["model", "setting", "model"],
        "baseline": ["Weak", "Chain of thought", None],
        "setting": ["weak", "Chain of thought", "Chain of thought"],
    }


def test_two_models_of_one_label_stay_apart() -> None:
    table = pl.DataFrame({"model": ["old", "new"]})
    assert label_cells(table, LABELS, SETTINGS)["model"].to_list() == [
        "GPT (old)",
        "GPT (new)",
    ]


def test_a_table_without_models_is_as_it_was() -> None:
    table = pl.DataFrame({"value": ["strong"], "estimate": [0.5]})
    assert label_cells(table, LABELS, SETTINGS).equals(table)


def test_a_baseline_without_a_kind_is_a_setting() -> None:
    table = pl.DataFrame({"setting": ["direct", ""], "baseline": ["cot", "cot"]})
    labels = {"cot": "Plain", "direct": "Plain"}
    assert label_cells(table, {}, labels).to_dict(as_series=False) == {
        "setting": ["Plain (direct)", ""],
        "baseline": ["Plain (cot)", "Plain (cot)"],
    }
