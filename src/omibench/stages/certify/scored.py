"""Certification without a study: verdicts of `omibench score` and labels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random

import polars as pl

from omibench.errors import FileFormatError
from omibench.files.hashes import hash_file
from omibench.params.identity import certificate_identity
from omibench.params.stage_params import CertifyStageParams
from omibench.results.four_way import DISAGREE, RESPONSE, four_way, with_quadrants
from omibench.results.load import JUDGE_RULES
from omibench.schemas.certificate import (
    CERTIFICATE_FILE,
    DISAGREEMENTS_FILE,
    Certificate,
    DisagreementRow,
)
from omibench.schemas.tables import write_json, write_jsonl
from omibench.stages.certify.labels import read_labels
from omibench.stages.certify.matching import (
    STALE,
    UNKNOWN,
    MatchedLabels,
    hash_text,
    match_labels,
)
from omibench.stages.certify.quality import quality_by_kind
from omibench.stages.certify.verdict_file import SCHEMA, Row, read_verdicts

LABELS = "labels"
"""Name in place of the scorer in the four-way table if the file has no judge."""


def certify_scored(
    labels: Path, scored: Path, out: Path, study: CertifyStageParams, rules: str | None = None
) -> Certificate:
    """Compare the verdicts of a file with labels; write into the folder `out`.

    The judge of the file (`gptscore`) is certified, and compared with its scorer. Without a judge,
    the scorer is certified, and its disagreements with people are drawn. `rules` selects the scorer
    of a file with several.

    Raises:
        MissingInputError: The file does not exist or lacks the scorer.
        FileFormatError: The file has no verdicts, or no label matches.
    """
    rows = read_verdicts(scored, rules)
    judged = any(row["judge"] for row in rows)
    frame = pl.DataFrame(rows, schema=SCHEMA, orient="row")
    label_rows = read_labels(labels)
    matched = match_labels(label_rows, frame, labels)
    values = matched.column("label")
    if not values:
        raise FileFormatError(f"{labels}: no label is of a response in {scored}")
    places = pl.DataFrame(
        [(*place, float(label)) for place, label in values.items()],
        schema={**{name: SCHEMA[name] for name in RESPONSE}, "label": pl.Float64},
        orient="row",
    )
    joined = frame.join(places, on=RESPONSE, how="left", maintain_order="left")
    if not judged:  # the scorer is certified, with people in its place
        joined = joined.with_columns(by_judge=pl.col("by_rules"), by_rules=pl.col("label"))
    compared = with_quadrants(joined.filter(pl.col("judge_outcome") == "scored"))
    compared = compared if judged else compared.filter(pl.col("label").is_not_null())
    certificate = _make_certificate(compared, joined, matched, study, labels)
    write_json(out / CERTIFICATE_FILE, certificate)
    drawn = _draw_disagreements(compared, rows, study)
    write_jsonl(out / DISAGREEMENTS_FILE, drawn)
    return certificate


def _make_certificate(
    compared: pl.DataFrame,
    joined: pl.DataFrame,
    matched: MatchedLabels,
    study: CertifyStageParams,
    labels: Path,
) -> Certificate:
    labelled = compared.filter(pl.col("label").is_not_null())
    if labelled.is_empty():
        raise FileFormatError(f"{labels}: no label is of a response that the judge scored")
    judge = _get_only_value(joined, "judge") or _get_only_value(joined, "rules") or JUDGE_RULES
    by_judge = joined["judge"].is_not_null().any()
    outcomes = joined.filter(pl.col("label").is_not_null())["judge_outcome"]
    failed = int((outcomes == "judge_failed").sum())
    every = (compared if by_judge else joined).with_columns(verdict=pl.col("by_judge"))
    return Certificate(
        judge=judge,
        identity=_list_identities(study, judge, joined) if by_judge else [_identify_rules(joined)],
        prompt_sha256=_get_only_value(joined, "prompt_sha256") or "",
        labels=matched.file.name,
        labels_sha256=hash_file(labels),
        n=labelled.height,
        problems=labelled["cluster"].n_unique(),
        judge_failed=failed,
        not_judged=len(outcomes) - labelled.height - failed,
        stale=matched.count(STALE),
        unknown=matched.count(*UNKNOWN),
        left_out=matched.left_out,
        confidence=study.analyze.confidence,
        quality=quality_by_kind(labelled, every, study.analyze.confidence),
        rules=(_get_only_value(joined, "rules") or "rules") if by_judge else LABELS,
        four_way=four_way(compared),
        simulated=any(label.row.simulated for label in matched.labels),
        study=study.study.name,
    )


def _get_only_value(joined: pl.DataFrame, column: str) -> str | None:
    values = joined[column].drop_nulls().unique().to_list()
    if len(values) > 1:
        raise FileFormatError(
            f"the file of verdicts has {len(values)} values of {column!r}; certify one at a time"
        )
    return str(values[0]) if values else None


def _list_identities(study: CertifyStageParams, judge: str, joined: pl.DataFrame) -> list[Row]:
    """Return the judge models with their configuration, if the params define them."""
    names = judge.split("+")
    if all(name in study.models for name in names):
        return [certificate_identity(study.models[name]) for name in names]
    return [{"name": name} for name in names]


def _identify_rules(joined: pl.DataFrame) -> Row:
    return {
        "rules": _get_only_value(joined, "rules"),
        "version": _get_only_value(joined, "version"),
    }


def _draw_disagreements(
    compared: pl.DataFrame, rows: Sequence[Row], study: CertifyStageParams
) -> Iterator[DisagreementRow]:
    """Draw at most `certify.disagreements` responses of each model with the study's seed."""
    rows_by_response = {tuple(row[name] for name in RESPONSE): row for row in rows}
    disagree = compared.filter(pl.col("quadrant").is_in(DISAGREE))
    for model in disagree["model"].unique(maintain_order=True).to_list():
        candidates = list(disagree.filter(model=model).iter_rows(named=True))
        rng = Random(f"{study.study.seed}\0{model}")  # noqa: S311
        drawn = rng.sample(
            range(len(candidates)), min(study.certify.disagreements, len(candidates))
        )
        for place in sorted(drawn):
            comparison = candidates[place]
            row = rows_by_response[tuple(comparison[name] for name in RESPONSE)]
            yield DisagreementRow(
                id=row["id"], model=row["model"], setting=row["setting"], index=row["index"],
                disagreement=comparison["quadrant"], question=row["question"], gold=row["gold"],
                response=row["text"], extracted=row["extracted"], by_rules=comparison["by_rules"],
                method=row["method"], by_judge=comparison["by_judge"], judge_key=row["judge_key"],
                label=comparison["label"], response_sha256=hash_text(row["text"]),
            )  # fmt: skip
