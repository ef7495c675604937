"""The ready-made studies name the models and settings that papers print, and can be rehearsed."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
import yaml

from omibench.params.cells import choose_family
from omibench.params.study import Study, parse_study_file
from omibench.study.plan.rehearsal import rehearse

PRINTED = {
    "omibench": ("omibench_main", "omibench_thinking_vs_instruct"),
    "emma": ("emma_main",),
    "emma_mini": ("emma_main",),
    "usnco_v": ("usnco_v_proprietary", "usnco_v_open"),
    "mathreal": ("mathreal_main",),
}
CELLS = {"omibench": 96, "emma": 16, "emma_mini": 30, "usnco_v": 75, "mathreal": 129}
NO_MODELS = {"Random choice", "Human Expert"}
MINI_ALONE = {"QVQ-72B-Preview", "o1"}
"""Printed on EMMA-mini alone, because of rate limits."""


def ready_made(root: Path, name: str) -> Study:
    return parse_study_file(root / "studies" / f"{name}.yaml")


def labels(root: Path, name: str) -> set[str]:
    found = set()
    for table in PRINTED[name]:
        with (root / "published" / f"{table}.csv").open(encoding="utf-8") as file:
            found |= {row["model"] for row in csv.DictReader(file)}
    return found - NO_MODELS - (MINI_ALONE if name == "emma" else set())


@pytest.mark.parametrize("name", PRINTED)
def test_every_model_of_the_printed_tables_has_a_cell(root: Path, name: str) -> None:
    study = ready_made(root, name)
    evaluated = {study.models[cell.model].label for cell in study.cells}
    assert labels(root, name) <= evaluated


@pytest.mark.parametrize("name", PRINTED)
def test_every_cell_is_printed_and_no_setting_or_model_is_left_over(root: Path, name: str) -> None:
    study = ready_made(root, name)
    assert len(study.cells) == CELLS[name]
    assert all(study.infer.list_printed_places(*cell) for cell in study.cells)
    assert {cell.setting for cell in study.cells} == set(study.settings)
    helpers = {*study.judges("score"), *study.judges("judge")}
    helpers |= {
        n for c in study.cells for n in study.settings[c.setting].aggregate.name_judges(c.model)
    }
    helpers |= {n for c in study.cells for n in study.settings[c.setting].helpers}
    assert {cell.model for cell in study.cells} | helpers == set(study.models)


@pytest.mark.parametrize("name", PRINTED)
def test_no_key_stands_in_a_study_and_prices_have_a_day(root: Path, name: str) -> None:
    for model in ready_made(root, name).models.values():
        key = getattr(model, "key_env", "SOME_API_KEY")
        assert key.endswith("_API_KEY")
        price = getattr(model, "price", None)
        assert price is None or price.as_of.year >= 2024


def test_models_of_experts_say_how_much_of_them_works(root: Path) -> None:
    study = ready_made(root, "omibench")
    sizes = {n: (m.parameters_b, m.active_parameters_b) for n, m in study.models.items()}
    assert sizes["qwen3-vl-235b-a22b-instruct"] == (235, 22)
    assert sizes["internvl3-8b"] == (8, None)
    assert study.models["qwen3-vl-8b-instruct-mmdu"].base == "qwen3-vl-8b-instruct"


@pytest.mark.parametrize("name", ["emma_mini", "usnco_v"])
def test_a_rehearsal_keeps_cells_labels_and_sizes(
    root: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(root)
    study = ready_made(root, name)
    found = rehearse(study.model_copy(update={"simulated": True}))
    assert found.cells == study.cells
    assert {m.provider for m in found.models.values()} == {"simulated"}
    assert [m.label for m in found.models.values()] == [m.label for m in study.models.values()]


def laid_over(root: Path, base: str, overlay: str) -> Study:
    """A study with an overlay on it, as Snakemake lays one parameter file over another."""
    from snakemake.utils import update_config

    values, over = (
        yaml.safe_load((root / "studies" / file).read_text("utf-8"))
        for file in (f"{base}.yaml", f"overlays/{overlay}.yaml")
    )
    update_config(values, over)
    return Study.model_validate(values)


BUILDERS = {
    "omibench": {
        "filter.translation": ["google-translate"],
        "rationale": ["gemini-2.5-pro", "gpt-4o", "roberta"],
    },
    "emma": {
        "filter.captions.captioner": ["gpt-4o"],
        "filter.captions.models": ["llama-3-70b", "gpt-4o", "qwen2-72b"],
        "rationale": ["gpt-4o"],
    },
    "usnco_v": {"rationale": ["gpt-4o"]},
    "mathreal": {"filter.completeness": ["gpt-4o", "doubao-1.5-vision-pro", "qwen2.5-vl-72b"]},
}


@pytest.mark.parametrize("base", BUILDERS)
def test_the_building_protocol_of_a_paper_is_laid_over_its_study(root: Path, base: str) -> None:
    study = laid_over(root, base, f"{base}_build")
    found = dict(study.filter.list_references()) | {"rationale": study.rationale.models}
    assert study.benchmark.name == "papers"
    assert {role: sorted(found[role]) for role in BUILDERS[base]} == {
        role: sorted(names) for role, names in BUILDERS[base].items()
    }
    assert study.review.folder
    assert study.study.results == f"results/{base.replace('_', '-')}-build"
    assert study.cells == ready_made(root, base).cells
    rehearsed = rehearse(study.model_copy(update={"simulated": True}))
    assert rehearsed.cells == study.cells
    assert rehearsed.review.folder is None


def test_the_clean_pictures_of_mathreal_are_laid_over_its_study(root: Path) -> None:
    study = laid_over(root, "mathreal", "mathreal_clean")
    assert len(study.cells) == 24
    assert {cell.setting for cell in study.cells} == {"i"}
    assert study.benchmark.pictures == "clean"


def test_both_pictures_of_mathreal_are_compared_for_the_same_models(root: Path) -> None:
    study, clean = (laid_over(root, "mathreal", f"mathreal_{name}") for name in ("pairs", "clean"))
    assert study.cells == clean.cells
    assert study.benchmark.pictures == "both"
    assert study.study.results not in (clean.study.results, "results/mathreal")
    assert study.study.store == clean.study.store, "what was bought is not bought again"


def test_fine_tuned_models_are_laid_over_omibench(root: Path) -> None:
    """Table 9: two bases, each tuned on two sets, against itself."""
    study = laid_over(root, "omibench", "omibench_tune")
    assert {block.data for block in study.tune.values()} == {"cmmcot", "mmdu"}
    assert {cell.model for cell in study.cells} == {
        *study.tune,
        "internvl3.5-8b",
        "qwen3-vl-8b-instruct",
    }
    for name, block in study.tune.items():
        model, base = study.models[name], study.models[block.base]
        assert model.base == study.analyze.baselines.models[name] == block.base
        assert (model.id, model.adapter) == (base.id, f"{study.study.results}/tune/{name}")


def test_five_runs_are_laid_over_omibench(root: Path) -> None:
    study = laid_over(root, "omibench", "omibench_five_runs")
    single = {"five-runs", "zero-shot-five-runs", "three-shot-five-runs"}
    several = {"one-of-sixteen": "first", "sixteen-samples": "majority"}
    assert {cell.setting for cell in study.cells} == {*single, *several}
    assert {study.settings[name].decoding.samples for name in single} == {5}
    for name, how in several.items():
        setting = study.settings[name]
        assert (setting.aggregate.how, setting.aggregate.runs) == (how, 5)
        assert setting.samples_of_a_run == 16
    of_thinking = [cell.setting for cell in study.cells if cell.model.endswith("thinking")]
    assert of_thinking == ["five-runs"]
    baselines = study.analyze.baselines
    assert baselines.models["qwen3-vl-32b-thinking"] == "qwen3-vl-32b-instruct"
    assert baselines.settings["sixteen-samples"] == "one-of-sixteen"


def test_three_evaluators_are_laid_over_omibench(root: Path) -> None:
    """Tables 5 and 7: each of three judges marks the responses of the study itself."""
    study = laid_over(root, "omibench", "omibench_evaluators")
    assert study.score.judge is not None
    assert study.score.judge.models == ["gpt-4o-mini", "gpt-5-mini", "gemini-2.5-flash"]
    printed = {place for cell in study.cells for place in study.infer.list_printed_places(*cell)}
    assert {"table 5", "table 7"} <= printed
    base = ready_made(root, "omibench")
    assert set(study.cells) <= set(base.cells), "nothing is asked that the study has not"
    assert study.study.store == base.study.store


@pytest.mark.parametrize("name", PRINTED)
def test_endpoints_that_are_gone_are_marked(root: Path, name: str) -> None:
    gone = ("gemini-2.0", "chatgpt-4o-latest", "claude-3-5-sonnet", "gemini-3-pro-preview")
    for key, model in ready_made(root, name).models.items():
        if str(getattr(model, "id", "")).startswith(gone):
            assert model.retired, key


def test_marks_of_reasoning_are_laid_over_omibench(root: Path) -> None:
    assert set(ready_made(root, "omibench").judge.panels) == set()
    study = laid_over(root, "omibench", "omibench_reasoning")
    assert {name: panel.models for name, panel in study.judge.panels.items()} == {
        "quality": ["gpt-4o"],
        "alignment": ["gpt-4o"],
    }
    assert {cell.setting for cell in study.judged_cells} == {"cot"}


def test_saliency_is_laid_over_usnco_v_with_and_without_reasoning(root: Path) -> None:
    assert ready_made(root, "usnco_v").salient_cells == []
    study = laid_over(root, "usnco_v", "usnco_v_saliency")
    assert study.salient_cells == study.cells
    assert len(study.cells) == 4
    params = study.saliency
    assert (params.reading, params.max_pixels) == ("final_letter", None)
    assert (params.patch, params.stride, params.top) == (56, 28, 15)
    assert {study.models[cell.model].provider for cell in study.cells} == {"transformers"}


def test_the_rows_of_the_specialised_reward_model_are_of_mathematics(root: Path) -> None:
    study = ready_made(root, "emma_mini")
    cells = [cell for cell in study.cells if cell.setting == "best-of-16-math"]
    assert {study.models[cell.model].label for cell in cells} == {"GPT-4o", "Gemini 2.0 Flash"}
    setting = study.settings["best-of-16-math"]
    assert setting.where == {"subject": ["mathematics"]}
    assert setting.aggregate.captions == "gpt-4o"
    assert [*setting.aggregate.k, setting.decoding.samples] == [2, 4, 8, 16]
    reward = study.models[setting.aggregate.name_judges("gpt-4o")[0]]
    assert reward.gives_reward
    rehearsed = rehearse(study.model_copy(update={"simulated": True}))
    assert rehearsed.models["qwen2.5-math-rm-72b"].gives_reward
    assert rehearsed.cells == study.cells


@pytest.mark.parametrize("name", PRINTED)
def test_every_declared_comparison_has_cells(root: Path, name: str) -> None:
    """And of the models that one table compares none is left out of the headline's family."""
    study = ready_made(root, name)
    cells, declared = set(study.cells), study.analyze.baselines
    models = {cell.model for cell in cells}
    settings = {cell.setting for cell in cells}
    for setting, baseline in declared.settings.items():
        assert any((m, setting) in cells and (m, baseline) in cells for m in models), setting
    for model, baseline in declared.models.items():
        assert any((model, s) in cells and (baseline, s) in cells for s in settings), model
    family = choose_family(study.cells, study.analyze.reference_setting)
    assert set(family.settings) == set(study.analyze.reference_setting)


@pytest.mark.parametrize(
    ("study", "overlay"),
    [("mathreal", "mathreal_clean"), ("mathreal", "mathreal_pairs"),
     ("usnco_v", "usnco_v_saliency")],
)  # fmt: skip
def test_an_overlay_asks_a_part_of_the_models_and_settings(
    root: Path, study: str, overlay: str
) -> None:
    assert laid_over(root, study, overlay).cells
