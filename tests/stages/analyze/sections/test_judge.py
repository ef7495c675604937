"""The report says which variant of GPTScore was asked for, by the words that judges were given."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from tests.stages.analyze.conftest import Folders, analysis_of

from omibench.answers.judges.gptscore import VARIANTS
from omibench.answers.judges.instrument import build_prompt
from omibench.params.stages.score import GptscorePanel
from omibench.results.load import Results
from omibench.stages.analyze.sections.judges import JudgeSection, describe_variant
from omibench.stages.analyze.sections.provenance import describe_provenance


@pytest.fixture
def results(made: Folders) -> Results:
    return made.load()


def describe(results: Results) -> str:
    view = JudgeSection(analysis_of(results)).view()
    assert view is not None
    return str(view["sentence"])


@pytest.mark.parametrize(
    ("prompts", "words"),
    [
        (["justified"], "variant justified: a conclusion without reasoning"),
        (["bare-answers"], "variant bare-answers: a response that gives only its final answer"),
        (["justified", "bare-answers"], "variant justified"),
        ([], "by the study's custom wording"),
    ],
)
def test_the_variant_is_named(results: Results, prompts: list[str], words: str) -> None:
    hashes = [build_prompt(i).sha256 for name, i in VARIANTS.items() if name in prompts]
    judged = pl.col("prompt_sha256").is_not_null()
    second = pl.col("id").str.ends_with("1")
    verdicts = results.verdicts
    for sha256, rows in zip(hashes, (judged, judged & second), strict=False):
        verdicts = verdicts.with_columns(
            prompt_sha256=pl.when(rows).then(pl.lit(sha256)).otherwise("prompt_sha256")
        )
    changed = replace(results, verdicts=verdicts)
    assert words in describe_variant(changed)
    assert all(f"variant {name}" in describe_variant(changed) for name in prompts)
    assert words in describe(changed)
    assert words in dict(describe_provenance(changed))["GPTScore"]


def test_literal_words_are_named_and_marked(results: Results, tmp_path: Path) -> None:
    file = tmp_path / "gptscore.txt"
    file.write_text("[[literal]]\n{official_answer} {response}")
    verdicts = results.verdicts.with_columns(literal=pl.col("prompt_sha256").is_not_null())
    judge = GptscorePanel(models=["judge"], prompt=str(file))
    score = results.study.score.model_copy(update={"judge": judge})
    study = results.study.model_copy(update={"score": score})
    literal = replace(results, verdicts=verdicts, study=study, full_study=study)
    said = "no fences keep a response from addressing the judge"
    assert said in describe(literal)
    assert said not in describe(results)
    words = dict(describe_provenance(literal))["Wording of score.judge.prompt"]
    assert words.startswith(f"{file}, LITERAL")
    assert not [name for name, _ in describe_provenance(results) if name.startswith("Wording of")]
