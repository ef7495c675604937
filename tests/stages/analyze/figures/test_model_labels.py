from __future__ import annotations

import polars as pl

from omibench.stages.analyze.figures.model_labels import label_models

LABELS = {"strong": "Strong", "weak": "Weak", "old": "GPT", "new": "GPT"}


def test_models_stand_under_their_labels_in_every_column_that_holds_them() -> None:
    table = pl.DataFrame(
        {
            "model": ["strong", "weak", ""],
            "baseline_model": ["weak", "strong", "print"],
            "kind": ["model", "setting", "model"],
            "baseline": ["weak", "weak", None],
            "setting": ["weak", "cot", "cot"],
        }
    )
    assert label_models(table, LABELS).to_dict(as_series=False) == {
        "model": ["Strong", "Weak", ""],
        "baseline_model": ["Weak", "Strong", "print"],
        "kind": ["model", "setting", "model"],
        "baseline": ["Weak", "weak", None],
        "setting": ["weak", "cot", "cot"],
    }


def test_two_models_of_one_label_stay_apart() -> None:
    table = pl.DataFrame({"model": ["old", "new"]})
    assert label_models(table, LABELS)["model"].to_list() == ["GPT (old)", "GPT (new)"]


def test_a_table_without_models_is_as_it_was() -> None:
    table = pl.DataFrame({"value": ["strong"], "estimate": [0.5]})
    assert label_models(table, LABELS).equals(table)
