"""Thinking models against instruct models, and prompts against the prompt of reference."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.stages.analyze.results.curves.made import (
    SIMULATED,
    Draw,
    make_analysis,
    make_answers,
)

from omibench.params.study import parse_study, parse_study_file
from omibench.stages.analyze.results.setting_curves import pair_variants

PROBLEMS = 12


def make_model(variant: str, size: float, family: str = "F", **more: Any) -> dict[str, Any]:
    return {**SIMULATED, "family": family, "variant": variant, "parameters_b": size, **more}


def test_models_of_one_family_and_size_are_a_pair_whatever_their_names() -> None:
    models = {
        "a": make_model("thinking", 8),
        "b": make_model("instruct", 8),
        "moe": make_model("instruct", 8, active_parameters_b=1),
        "small": make_model("thinking", 2),
        "other": make_model("instruct", 2, "G"),
        "unsized": {**SIMULATED, "family": "H", "variant": "thinking"},
        "plain": {**SIMULATED, "family": "H", "variant": "instruct"},
    }
    study = parse_study({"models": models}, "test", whole_study=False)
    assert list(pair_variants(study.models)) == [("a", "b"), ("unsized", "plain")]


@pytest.mark.parametrize(("study", "pairs"), [("omibench", 6), ("mathreal", 3), ("usnco_v", 0)])
def test_the_pairs_of_the_papers_studies(study: str, pairs: int) -> None:
    found = list(pair_variants(parse_study_file(f"studies/{study}.yaml").models))
    assert len(found) == pairs
    assert all("thinking" in thinking for thinking, _ in found)


def test_the_gain_is_over_the_same_items_in_total_and_by_subject(tmp_path: Path) -> None:
    models = {"think": make_model("thinking", 8), "plain": make_model("instruct", 8)}
    answers = [
        answer.model_copy(update={"subject": "physics" if i % 2 else "biology"})
        for i, answer in enumerate(make_answers(PROBLEMS))
    ]
    draws = [Draw("think", "cot", f"p{i}", float(i < 9)) for i in range(PROBLEMS)]
    draws += [Draw("plain", "cot", f"p{i}", float(i < 4)) for i in range(PROBLEMS - 2)]
    infer = {"models": [*models], "settings": ["cot"]}
    study = {"settings": {"cot": {}}, "infer": infer, "models": models}
    table = make_analysis(tmp_path, study, answers, draws).table("thinking-gains")
    assert table is not None
    (row,) = table.filter(slice="").to_dicts()
    assert (row["model"], row["baseline"], row["metric"]) == ("think", "plain", "difference")
    assert row["n"] == PROBLEMS - 2
    assert (row["score"], row["baseline_score"], row["estimate"]) == (0.9, 0.4, 0.5)
    assert (row["series"], row["parameters_b"], row["setting"]) == ("F", 8, "cot")
    assert 0 < row["p"] <= row["p_holm"] < 0.2
    assert set(table.filter(slice="subject")["value"]) == {"biology", "physics"}


def test_prompts_are_compared_with_the_setting_of_reference(tmp_path: Path) -> None:
    settings = {
        "cot": {},
        "direct": {"prompt": "direct", "decoding": {"max_tokens": 256}},
        "plan": {"prompt": "plan-and-solve"},
        "first": {"images": "first"},
    }
    right = {"cot": 6, "direct": 3, "plan": 7, "first": 1}
    draws = [
        Draw("m", setting, f"p{i}", float(i < count))
        for setting, count in right.items()
        for i in range(PROBLEMS)
    ]
    study = {"settings": settings, "infer": {"models": ["m"], "settings": [*settings]}}
    table = make_analysis(tmp_path / "a", study, make_answers(PROBLEMS), draws).table(
        "prompt-differences"
    )
    assert table is not None
    total = table.filter(slice="")
    rows = {r["setting"]: r for r in total.iter_rows(named=True)}
    assert set(rows) == {"direct", "plan"}
    assert rows["plan"]["estimate"] == pytest.approx(1 / 12, abs=1e-6)
    assert (rows["plan"]["prompt"], rows["plan"]["baseline_prompt"]) == ("plan-and-solve", "cot")
    assert rows["direct"]["baseline"] == "cot"
    reference = study | {"analyze": {"reference_setting": "direct"}}
    other = make_analysis(tmp_path / "b", reference, make_answers(PROBLEMS), draws).table(
        "prompt-differences"
    )
    assert other is not None
    assert set(other["baseline"]) == {"direct"}


def test_a_study_without_pairs_or_prompts_has_no_such_tables(tmp_path: Path) -> None:
    study = {"settings": {"cot": {}}, "infer": {"models": ["m"], "settings": ["cot"]}}
    analysis = make_analysis(tmp_path, study, make_answers(1), [Draw("m", "cot", "p0", 1.0)])
    assert analysis.table("thinking-gains") is None
    assert analysis.table("prompt-differences") is None
