"""Ways of choosing among samples, by how many there are (EMMA, table 3)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.stages.analyze.conftest import (
    Folders,
    analysis_of,
    forget_origins,
    make_params,
    make_study,
    study_values,
    table_of,
)

from omibench.params.setting import Setting
from omibench.params.study import parse_study
from omibench.schemas.tables import AggregateRow, VerdictRow, read_parquet, write_parquet
from omibench.stages.analyze.analysis import Analysis
from omibench.stages.analyze.results.methods import describe_presentation

DRAWN = {"samples": 4, "temperature": 0.7}
SETTINGS: dict[str, Any] = {
    "cot": {"prompt": "cot"},
    "direct": {"prompt": "cot", "decoding": DRAWN, "aggregate": {"how": "majority", "k": [2]}},
    "first-image": {
        "prompt": "cot", "decoding": {**DRAWN, "samples": 2},
        "aggregate": {"how": "best-of-n", "judge": "judge", "marking": "joint"},
    },
}  # fmt: skip
"""`cot` asks the same question once; the two others draw from the same samples."""


def write_choices(folder: Path, model: str, setting: str, method: str, ks: list[int]) -> None:
    """The file of the stage: choices that are right where the cell's verdict is, for every k."""
    verdicts = read_parquet(folder / f"score/{model}/{setting}.parquet", VerdictRow)
    rows = [
        AggregateRow(
            id=row["id"], rules=row["rules"], metric=metric, k=k,
            value=row["verdict"] if metric == method else 0.75, simulated=True,
            judge="judge" if metric == "best-of-n" else None,
        )
        for row in verdicts.rows(named=True)
        for k in ks
        for metric in (method, "pass", "consistency")
    ]  # fmt: skip
    write_parquet(folder / f"aggregate/{model}/{setting}.parquet", rows, AggregateRow)


@pytest.fixture(scope="module")
def analysis(tmp_path_factory: pytest.TempPathFactory) -> Analysis:
    folder = tmp_path_factory.mktemp("methods")
    folders: Folders = make_study(folder)
    study = make_params({"settings": SETTINGS})
    for model in study.infer.models:
        write_choices(folder, model, "direct", "majority", [2, 4])
        write_choices(folder, model, "first-image", "best-of-n", [1, 2])
    forget_origins(folder)
    # The made study holds one sample of each problem, so the choices above are of none of them.
    kept = {
        name: setting.model_copy(
            update={"aggregate": setting.aggregate.model_copy(update={"how": "mean"})}
        )
        for name, setting in study.settings.items()
    }
    plain = study.model_copy(update={"settings": kept})
    results = folders.load(plain)
    return Analysis(study, replace(results, study=study), folder, folders.out / "report.html")


def test_each_method_has_a_row_for_each_number_of_samples(analysis: Analysis) -> None:
    table = table_of(analysis, "methods")
    rows = table.filter(model="sim-weak", rules="robust", slice="")
    places = rows.select("method", "k", "setting", "metric", "marking", "judge").sort("method", "k")
    assert places.rows() == [
        ("best-of-n", 1, "first-image", "accuracy", "joint", "judge"),
        ("best-of-n", 2, "first-image", "accuracy", "joint", "judge"),
        ("majority", 2, "direct", "accuracy", "", None),
        ("majority", 4, "direct", "accuracy", "", None),
        ("pass", 1, "direct", "pass@k", "", None),
        ("pass", 2, "direct", "pass@k", "", None),
        ("pass", 4, "direct", "pass@k", "", None),
        ("single", 1, "cot", "accuracy", "", None),
    ]
    assert rows["n"].unique().to_list() == [28]
    assert rows["simulated"].all()


def test_estimates_are_means_of_what_was_chosen(analysis: Analysis) -> None:
    table = table_of(analysis, "methods")
    place = {"model": "sim-weak", "rules": "robust"}
    verdicts = analysis.results.verdicts.filter(**place)
    for method, setting in (("single", "cot"), ("majority", "direct")):
        part = verdicts.filter(setting=setting)
        (whole,) = table.filter(
            **place, method=method, slice="", k=1 if method == "single" else 4
        ).rows(named=True)
        assert whole["estimate"] == pytest.approx(part["verdict"].mean(), abs=1e-6)
        physics = table.filter(
            **place, method=method, slice="subject", value="physics", k=whole["k"]
        )
        expected = part.filter(subject="physics")["verdict"].mean()
        assert physics["estimate"].to_list() == pytest.approx([expected], abs=1e-6)
    passed = table.filter(method="pass")["estimate"].unique().to_list()
    assert passed == [0.75]
    judged = table.filter(rules="gptscore", method="majority")["metric"].unique().to_list()
    assert judged == ["gptscore"]


def test_settings_that_show_the_same_are_known_by_what_they_show() -> None:
    cot = Setting.model_validate(SETTINGS["cot"])
    assert describe_presentation(cot) == describe_presentation(
        Setting.model_validate(SETTINGS["direct"] | {"label": "Votes"})
    )
    bare = cot.model_copy(update={"prompt": "direct"})
    assert describe_presentation(cot) != describe_presentation(bare)


# Settings that differ only in the wording of their instruction.


def test_settings_that_differ_in_wording_alone_are_prompts_of_one_kind(made: Folders) -> None:
    assert made.open().table("prompts") is None
    values = study_values()
    values["settings"] = {
        "cot": {"prompt": "cot", "label": "Chain of thought"},
        "direct": {"prompt": "direct"},
        "first-image": {"prompt": "plan-and-solve"},
    }
    study = parse_study(values, "test")
    analysis = analysis_of(replace(made.load(), study=study))
    table = table_of(analysis, "prompts")
    assert table["model"].unique().sort().to_list() == ["sim-middle", "sim-strong", "sim-weak"]
    assert table["value"].unique().to_list() == ["cot, direct, first-image"]
    assert table["simulated"].all()
    (row,) = table.filter(model="sim-strong", rules="robust").to_dicts()
    means = [
        float(part["verdict"].mean())
        for _, part in analysis.item_values.filter(model="sim-strong", rules="robust").group_by(
            "setting"
        )
    ]
    assert row["estimate"] == pytest.approx(sum(means) / 3)
    assert (row["lowest"], row["highest"]) == pytest.approx((min(means), max(means)))
    assert (row["prompts"], row["n"], row["metric"]) == (3, 28, "accuracy")
    assert 0 <= row["new_low"] <= row["low"] < row["estimate"] < row["high"] <= row["new_high"]
    assert row["sd"] > 0
