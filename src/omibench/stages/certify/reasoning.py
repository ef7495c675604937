"""Certificates of judges of reasoning: error types, and marks of rationales."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from omibench.answers.judges.taxonomies import load_taxonomy
from omibench.errors import FileFormatError, MissingInputError
from omibench.params.stages.analyze import certificate_identity
from omibench.results.judgements import RESPONSE, read_all_judgements
from omibench.results.load import Results
from omibench.results.statistics.agreement import kappa_measure, share_measure, spearman_measure
from omibench.results.statistics.intervals import clustered_wilson
from omibench.schemas.certificate import Confusion, MarkQuality, Measure, ReasoningCertificate
from omibench.schemas.validation import suggest_name
from omibench.schemas.verdict import MARKS_BY_INSTRUMENT
from omibench.stages.certify.labels import MatchedLabels, Place

if TYPE_CHECKING:
    from omibench.params.study import Study


def get_only_value(judged: pl.DataFrame, column: str, folder: Path) -> str:
    """Return the only value of a column.

    Raises:
        FileFormatError: There are several values; the message gives the folder.
    """
    values = judged[column].drop_nulls().unique().sort().to_list()
    if len(values) == 1:
        return str(values[0])
    raise FileFormatError(
        f"{folder}: the judgements have {len(values)} values of {column!r}; {folder.name} all "
        "cells by one judge with one prompt"
    )


def list_identities(study: Study, judge: str) -> list[dict[str, Any]]:
    """Return the configuration of a judge's models, joined by +, that affects answers.

    Raises:
        MissingInputError: The study does not define a model.
    """
    names = judge.split("+")
    lost = [name for name in names if name not in study.models]
    if lost:
        raise MissingInputError(f"models: {lost[0]!r} judged these responses and is not defined")
    return [certificate_identity(study.models[name]) for name in names]


# Judges of reasoning compared with human labels: error types, and marks of rationales.

INSTRUMENTS = {"error_type": ("error_type",), **MARKS_BY_INSTRUMENT}
"""Instrument -> its columns of labels."""
_HINTS = {"error_type": "; set `judge.errors.labels` if only people label the types"}


def certify_reasoning(
    matched: MatchedLabels, results: Results, folder: Path, labels_sha256: str
) -> list[ReasoningCertificate]:
    """Return a certificate of every judge of reasoning with labels; `folder` is that of `judge`.

    Raises:
        MissingInputError: Labels exist, but no judgements.
        FileFormatError: A type is not in the taxonomy, labels contradict each other, or none is of
            a judged response.
    """
    certificates = []
    for instrument, columns in INSTRUMENTS.items():
        labels = {name: values for name in columns if (values := matched.column(name))}
        if not labels:
            continue
        if instrument not in results.study.judge.panels:
            if instrument == "error_type" and results.study.judge.errors:
                continue  # only people label: there is no judge to certify
            raise MissingInputError(
                f"{matched.file}: labels {', '.join(labels)}, but `judge` has no judge of "
                f"{instrument.replace('_', ' ')}" + _HINTS.get(instrument, "")
            )
        rows = read_all_judgements(results, folder).filter(instrument=instrument)
        certificates.append(
            _make_certificate(instrument, labels, rows, matched, results, folder, labels_sha256)
        )
    return certificates


def _make_certificate(  # noqa: PLR0913, PLR0917 (what a certificate says)
    instrument: str,
    labels: Mapping[str, Mapping[Place, Any]],
    rows: pl.DataFrame,
    matched: MatchedLabels,
    results: Results,
    folder: Path,
    labels_sha256: str,
) -> ReasoningCertificate:
    places = {place for values in labels.values() for place in values}
    judgements = {tuple(row[name] for name in RESPONSE): row for row in rows.iter_rows(named=True)}
    by_judge = {
        place: judgements[place]
        for place in places
        if place in judgements and judgements[place]["judge"]
    }
    scored = {place: row for place, row in by_judge.items() if row["outcome"] == "scored"}
    if not scored:
        raise FileFormatError(
            f"{matched.file}: no label is of a response with a verdict of the judge of "
            f"{instrument.replace('_', ' ')}, {len(places)} are of others"
        )
    judge, study = get_only_value(rows, "judge", folder), results.study
    confidence = study.analyze.confidence
    base: dict[str, Any] = {
        "instrument": instrument, "judge": judge, "identity": list_identities(study, judge),
        "prompt_sha256": get_only_value(rows, "prompt_sha256", folder),
        "labels": matched.file.name, "labels_sha256": labels_sha256,
        "n": len(scored), "problems": len({row["id"] for row in scored.values()}),
        "judge_failed": sum(row["outcome"] == "judge_failed" for row in by_judge.values()),
        "not_judged": len(places) - len(by_judge)
        + sum(row["outcome"] not in ("scored", "judge_failed") for row in by_judge.values()),
        "left_out": matched.left_out, "confidence": confidence, "study": study.study.name,
        "simulated": any(row["simulated"] for row in scored.values())
        or any(label.row.simulated for label in matched.labels),
    }  # fmt: skip
    if instrument == "error_type":
        name = study.judge.errors.taxonomy if study.judge.errors else "omibench"
        check_error_types(matched, name)
        base |= {"taxonomy": name} | _compare_types(labels["error_type"], scored, confidence)
    else:
        base["marks"] = {
            name: _compare_marks(name, values, scored, confidence)
            for name, values in labels.items()
        }
    return ReasoningCertificate(**base)


def check_error_types(matched: MatchedLabels, taxonomy: str) -> None:
    """Check that human error types are in the taxonomy.

    Raises:
        FileFormatError: A type is not; the message gives file, row and type of the first.
    """
    types = load_taxonomy(taxonomy).names
    for number, row, _ in matched.labels:
        if row.error_type and row.error_type not in types:
            hint = suggest_name(row.error_type, types)
            raise FileFormatError(
                f"{matched.file}, row {number}: column 'error_type': {row.error_type!r} is not in "
                f"the taxonomy {taxonomy}{hint}"
            )


def _compare_types(
    labels: Mapping[Place, str], scored: Mapping[Place, Any], confidence: float
) -> dict[str, Any]:
    """Return agreement and kappa over all types, including `no_error`, and the confusions."""
    places = [place for place in labels if place in scored]
    people, judge = [labels[p] for p in places], [scored[p]["error_type"] for p in places]
    clusters = [scored[p]["cluster"] for p in places]
    hits = [float(a == b) for a, b in zip(people, judge, strict=True)]
    agreement = clustered_wilson(hits, clusters, confidence)
    return {
        "agreement": share_measure(agreement),
        "kappa": kappa_measure(agreement, people, judge),
        "confusion": list(_count_confusions(people, judge, clusters, confidence)),
    }


def _count_confusions(
    people: Sequence[str], judge: Sequence[str], clusters: Sequence[str], confidence: float
) -> Iterator[Confusion]:
    counts = Counter(zip(people, judge, strict=True))
    for label in sorted(set(people)):
        pairs = [
            (verdict, c)
            for a, verdict, c in zip(people, judge, clusters, strict=True)
            if a == label
        ]
        for chosen in sorted({verdict for verdict, _ in pairs} | {label}):
            hits = [float(verdict == chosen) for verdict, _ in pairs]
            share = clustered_wilson(hits, [c for _, c in pairs], confidence)
            yield Confusion(
                label=label, judge=chosen, count=counts[label, chosen], share=share_measure(share)
            )


def _compare_marks(
    name: str, labels: Mapping[Place, float], scored: Mapping[Place, Any], confidence: float
) -> MarkQuality:
    places = [p for p in labels if p in scored and scored[p][name] is not None]
    people, judge = [labels[p] for p in places], [float(scored[p][name]) for p in places]
    clusters = [scored[p]["cluster"] for p in places]
    apart = [abs(a - b) for a, b in zip(people, judge, strict=True)]

    def measure_share(limit: float) -> Measure:
        near = [float(distance <= limit) for distance in apart]
        return share_measure(clustered_wilson(near, clusters, confidence))

    return MarkQuality(
        spearman=spearman_measure(people, judge, clusters, confidence),
        within_one=measure_share(1.0),
        exact=measure_share(0.0),
    )
