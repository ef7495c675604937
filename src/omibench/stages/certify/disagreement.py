"""Responses on which rules and judge disagree, drawn for annotators (OMIBench, C.3)."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

import polars as pl

from omibench.results.four_way import DISAGREE, RESPONSE
from omibench.results.load import Results
from omibench.schemas.certificate import DisagreementRow
from omibench.stages.certify.matching import hash_text

Texts = dict[tuple[Any, ...], str]


def draw_disagreements(
    results: Results, rows: pl.DataFrame, limit: int
) -> Iterator[DisagreementRow]:
    """Draw at most `limit` responses of each model with the study's seed, in their order.

    `rows` are from `fourway.side_by_side`.
    """
    texts: Texts = {
        tuple(row[name] for name in RESPONSE): row["text"]
        for row in results.read_responses().select(*RESPONSE, "text").iter_rows(named=True)
    }

    disagree = rows.filter(pl.col("quadrant").is_in(DISAGREE))
    for model in disagree["model"].unique(maintain_order=True).to_list():
        candidates = list(disagree.filter(model=model).iter_rows(named=True))
        rng = Random(f"{results.study.study.seed}\0{model}")  # noqa: S311
        drawn = rng.sample(range(len(candidates)), min(limit, len(candidates)))
        yield from (_make_row(results, candidates[place], texts) for place in sorted(drawn))


def _make_row(results: Results, row: dict[str, Any], texts: Texts) -> DisagreementRow:
    answer, question = results.answers[row["id"]], results.questions.get(row["id"])
    text = texts.get(tuple(row[name] for name in RESPONSE), "")
    return DisagreementRow(
        id=row["id"],
        model=row["model"],
        setting=row["setting"],
        index=row["index"],
        disagreement=row["quadrant"],
        question=question.question if question else "",
        gold=answer.answer,
        response=text,
        extracted=row["extracted"],
        by_rules=row["by_rules"],
        method=row["method"],
        by_judge=row["by_judge"],
        judge_key=row["judge_key"],
        response_sha256=hash_text(text),
    )
