"""What `infer.adaptive` is expected to save, and what it saves on models as able as print says."""

from __future__ import annotations

from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
import pytest
import yaml

from omibench.models.simulated.answers import load_oracle, probability_correct
from omibench.params.models.providers import SimulatedModel
from omibench.params.study import Study, parse_study
from omibench.results.statistics.sequential import LookPlan, hold_looks
from omibench.schemas.tables import write_jsonl
from omibench.settings.tasks import load_questions
from omibench.stages.infer.looks import order_problems
from omibench.study.plan.build import expect_looks, plan_study
from omibench.study.plan.rehearsal import WITHOUT_ANSWER, made_up_questions, rehearse
from omibench.study.plan.text import render

TENTHS = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1]


def read_table_2(root: Path, models: int | None = None, **adaptive: Any) -> Study:
    """The rehearsal of OMIBench's table 2, or of some of its models, with looks."""
    values = yaml.safe_load((root / "studies/omibench.yaml").read_text("utf-8"))
    names = values["infer"]["printed"]["table 2"]["models"][:models]
    return parse_study(
        {
            "simulated": True,
            "study": {"name": "omibench"},
            "benchmark": values["benchmark"],
            "models": {name: values["models"][name] for name in names},
            "settings": {"cot": values["settings"]["cot"]},
            "infer": {"models": names, "settings": ["cot"], "adaptive": adaptive},
            "analyze": {"published": [str(root / "published/omibench_main.csv")]},
        },
        "test",
    )


@pytest.mark.slow
def test_the_plan_names_requests_and_share_and_leaves_out_models_to_keep(
    root: Path, tmp_path: Path
) -> None:
    study = read_table_2(root, 6, looks=[0.5, 1], keep=["internvl3-1b"])
    with made_up_questions(study) as (_, path):
        questions = load_questions(path)[:200]
        few = tmp_path / "questions.jsonl"
        write_jsonl(few, questions)
    simulated = rehearse(study)
    looks = expect_looks(simulated, questions)
    assert looks.low <= looks.share <= looks.high <= 1
    assert looks.low >= 0.5, "a cell stops before the first look"
    plan = plan_study(simulated, few, papers=False)
    assert plan.looks == looks
    text = " ".join(render(plan).split())
    sent = 200 + 5 * 200 * looks.share
    assert f"infer.adaptive: about {sent:,.0f} of the 1,200 requests" in text
    assert f"{looks.share:.0%} of those that can stop" in text
    everything = simulated.model_copy(
        update={"infer": simulated.infer.model_copy(update={"adaptive": None})}
    )
    assert expect_looks(everything, questions) is None


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.timeout(600)
def test_the_plan_is_within_ten_points_of_the_looks_at_published_abilities(root: Path) -> None:
    """Answers of the simulated models of `studies/omibench.yaml`, 20 draws, with stems and guessed
    options."""
    study = read_table_2(root, looks=TENTHS)
    with made_up_questions(study) as (like, path):
        questions = load_questions(path)
    simulated = rehearse(study)
    expected = expect_looks(simulated, questions)
    adaptive = simulated.infer.adaptive
    order = order_problems(questions, adaptive, simulated.study.seed)
    oracle = load_oracle(f"synthetic:{like}")
    models = [simulated.models[cell.model] for cell in simulated.cells]
    assert len(models) == 31
    chances = np.array(
        [
            [
                probability_correct(model, oracle.rows[id], "cot") * (1 - WITHOUT_ANSWER)
                for model in models
                if isinstance(model, SimulatedModel)
            ]
            for id in order.ids
        ]
    )
    best = int(chances.mean(axis=0).argmax())
    rule = LookPlan(order.looks, adaptive.alpha, adaptive.spending)
    results = [
        hold_looks(
            (np.random.default_rng(seed).random(chances.shape) < chances) * 1.0, order.groups, rule
        )
        for seed in range(20)
    ]
    shares = [fmean(result.asked) / len(order.ids) for result in results]
    print(f"plan {expected.share:.3f}, looks {fmean(shares):.3f}: {min(shares)} to {max(shares)}")
    assert fmean(shares) == pytest.approx(expected.share, abs=0.1)
    assert all(best in result.left for result in results)
