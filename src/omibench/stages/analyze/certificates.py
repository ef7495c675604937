"""The certificates of judges, and scores corrected by that of the main judge."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple, TypeVar

import polars as pl

from omibench.errors import MissingInputError, OmibenchError
from omibench.files.reading import read_json
from omibench.params.setting import Cell
from omibench.params.stages.analyze import is_certified
from omibench.results.load import JUDGE_RULES, Results
from omibench.results.statistics.agreement import Corrected, Share, combine_parts, rogan_gladen
from omibench.results.statistics.intervals import clustered_wilson
from omibench.schemas.certificate import (
    ALL_TYPES,
    CERTIFICATE_FILE,
    REASONING_FILE,
    Certificate,
    JudgeQuality,
    ReasoningCertificate,
    ReasoningCertificates,
)
from omibench.schemas.tables import read_typed_json
from omibench.stages.certify.labels import MatchedLabels, match_labels, read_labels

AnyCertificate = TypeVar("AnyCertificate", Certificate, ReasoningCertificate)
CALIBRATED, UNCALIBRATED = "calibrated", "uncalibrated"
ENOUGH = 10
"""The minimum number of right and of wrong labels of an answer type to use its own error rates."""
ENOUGH_OF_MODEL = 30
"""The same for a model: one rate from fewer labels would make its rank a matter of chance."""
OWN = "model"
"""In place of an answer type: the labels of the model's responses."""
KNOWN_WRONG = Corrected(0.0, 0.0, 0.0)
"""Responses not sent to the judge, or without its verdict, count as wrong in any case."""


def add_certificates(results: Results, folder: Path) -> Results:
    """Return the results with the certificates of their judges, if any.

    `folder` is the folder of the stage `certify`, read if the study has labels; further
    certificates come from `certify.certificates`. Raises MissingInputError if one is missing, and
    FileFormatError if one is invalid.
    """
    params = results.study.certify
    own_files = [folder / CERTIFICATE_FILE, folder / REASONING_FILE] if params.labels else []
    if own_files and not any(file.is_file() for file in own_files):
        raise MissingInputError(
            f"{own_files[0]}: the file does not exist; run `omibench certify` first"
        )
    scores: list[Certificate] = []
    reasoning: list[ReasoningCertificate] = []
    for file in [*filter(Path.is_file, own_files), *map(Path, params.certificates)]:
        if _has_reasoning_certificates(file):
            reasoning += read_typed_json(file, ReasoningCertificates).certificates
        else:
            scores.append(read_typed_json(file, Certificate))
    return replace(
        results,
        certificate=match_certificate(results, scores),
        reasoning_certificates=tuple(reasoning),
    )


def _has_reasoning_certificates(file: Path) -> bool:
    """Return whether a file is a certificate of judges of reasoning; False if it is unreadable."""
    try:
        content = read_json(file)
    except OmibenchError:
        return False
    return isinstance(content, dict) and "certificates" in content


def match_certificate(results: Results, candidates: Sequence[Certificate]) -> Certificate | None:
    """Return the first certificate of this judge: same models by identity, same prompt."""
    return _match_judge(results, results.select_verdicts(JUDGE_RULES), candidates)


def find_certificate(results: Results, rows: pl.DataFrame) -> ReasoningCertificate | None:
    """Return the certificate of the judge behind these judgements of one instrument, if any.

    It has the same models by identity and the same prompt.
    """
    names = rows["instrument"].drop_nulls().unique().to_list()
    own = [c for c in results.reasoning_certificates if [c.instrument] == names]
    return _match_judge(results, rows, own)


def _match_judge(
    results: Results, rows: pl.DataFrame, candidates: Iterable[AnyCertificate]
) -> AnyCertificate | None:
    """Return the first certificate of the judge of rows, if they are of one judge and prompt."""
    judges, prompts = (
        rows[column].drop_nulls().unique().to_list() for column in ("judge", "prompt_sha256")
    )
    if len(judges) != 1 or len(prompts) != 1:
        return None
    named = [results.study.models.get(name) for name in judges[0].split("+")]
    models = [model for model in named if model]
    matching = (c for c in candidates if c.prompt_sha256 == prompts[0])
    return next((c for c in matching if is_certified(c.identity, models)), None)


class CorrectedAccuracy(NamedTuple):
    """A corrected accuracy with its interval, all in [0, 1], and the labels of its error rates."""

    value: float
    lo: float
    hi: float
    by: str
    """`model` (labels of this model), `answer_type`, `all`, or several, joined by +."""


def correct_accuracy(results: Results, cell: Cell) -> CorrectedAccuracy | None:
    """Return the accuracy of a cell by the judge, corrected for its errors; None without a
    certificate.

    A model is corrected by the error rates on its own responses if this study's certificate has
    enough labels of them. Otherwise each answer type is corrected by its own error rates if it has
    enough labels, or by those of all labels. Types that share error rates are corrected together,
    since an error of these rates affects them all. The parts are weighted by their number of
    responses.
    """
    certificate = results.certificate
    if certificate is None:
        return None

    rows = results.select_verdicts(JUDGE_RULES, cell)
    scored = rows.filter(pl.col("outcome") == "scored")
    parts = [(float(rows.height - scored.height), KNOWN_WRONG)]
    own = find_own_rates(certificate, results.study.study.name, cell.model)
    qualities = certificate.quality | ({OWN: own} if own else {})
    names = {
        kind: OWN if own else _rates(certificate, kind) for kind in scored["answer_type"].unique()
    }
    rates = scored["answer_type"].replace_strict(names, return_dtype=pl.String)
    for (name,), part in (
        scored.with_columns(rates=rates).partition_by("rates", as_dict=True).items()
    ):
        judged = clustered_wilson(
            part["verdict"].to_list(), part["cluster"].to_list(), certificate.confidence
        )
        share = Share(judged.mean, judged.n_eff)
        corrected = correct_share(share, qualities[str(name)], certificate.confidence)
        parts.append((float(part.height), corrected))
    used = {name if name in (OWN, ALL_TYPES) else "answer_type" for name in names.values()}
    return CorrectedAccuracy(*combine_parts(parts), "+".join(sorted(used)))


def find_own_rates(certificate: Certificate, study: str, model: str) -> JudgeQuality | None:
    """Return the judge's quality on the responses of a model; None if its labels are too few.

    Args:
        certificate: The judge's certificate.
        study: The study of the model; in another one its name can be that of another model.
        model: Its key in the params.
    """
    quality = certificate.by_model.get(model) if certificate.study == study else None
    return quality if quality and _has_enough(quality, ENOUGH_OF_MODEL) else None


def _rates(certificate: Certificate, kind: str) -> str:
    """Return the error rates for an answer type: its own, or those of all types."""
    quality = certificate.quality.get(kind)
    return kind if quality and _has_enough(quality, ENOUGH) else ALL_TYPES


def _has_enough(quality: JudgeQuality, labels: int) -> bool:
    return min(quality.tpr.n, quality.fpr.n) >= labels


def correct_share(judged: Share, quality: JudgeQuality, confidence: float) -> Corrected:
    """Correct a share of responses that the judge accepts by its error rates (`rogan_gladen`)."""
    tpr, fpr = (
        Share(m.value or 0.0, m.n_eff or float(m.n) if m.value is not None else 0.0)
        for m in (quality.tpr, quality.fpr)
    )
    return rogan_gladen(judged, tpr, fpr, confidence)


def match_column(results: Results, file: str | None, column: str) -> MatchedLabels | None:
    """Return the labels of one column in a file with their responses; None if there are none.

    Raises:
        FileFormatError: A label cannot be read or fits several responses.
        MissingInputError: The file does not exist.
    """
    read = read_labels(Path(file)) if file else []
    rows = [row for row in read if row.labels.get(column, "") != ""]
    if file is None or not rows:
        return None
    return match_labels(rows, results.read_responses(), Path(file), "analyze")
