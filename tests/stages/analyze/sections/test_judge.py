"""The report says which variant of GPTScore was asked for, by the words that judges were given."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest
from tests.stages.analyze.conftest import Folders

from omibench.judges.gptscore import VARIANTS
from omibench.judges.instrument import build_prompt
from omibench.results.load import Results, load_results
from omibench.stages.analyze.sections.judge import describe_judge, describe_variant
from omibench.stages.analyze.sections.provenance import describe_provenance
from omibench.stages.analyze.tables.accuracy import scores


@pytest.fixture
def results(made: Folders) -> Results:
    return load_results(made.freeze, made.infer, made.score, made.study)


@pytest.mark.parametrize(
    ("prompts", "words"),
    [
        (["justified"], "variant justified: a conclusion without reasoning"),
        (["bare-answers"], "variant bare-answers: a response that gives only its final answer"),
        (["justified", "bare-answers"], "variant justified"),
        ([], "by words of the study's own"),
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
    assert words in describe_judge(changed, scores(changed))["sentence"]
    assert words in dict(describe_provenance(changed))["GPTScore"]
