"""Judges of reasoning against the labels of people: types of errors, and marks of rationales."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from omibench.errors import FileFormatError, MissingInputError
from omibench.judges.taxonomies import NO_ERROR, taxonomy_of
from omibench.results.four_way import RESPONSE
from omibench.results.judgements import ALIGNMENT, read_all_judgements
from omibench.results.load import Results
from omibench.schemas.certificate import Confusion, MarkQuality, Measure, ReasoningCertificate
from omibench.schemas.validation import suggest_name
from omibench.stages.certify.instrument import identities, one_value
from omibench.stages.certify.labels import MARKS
from omibench.stages.certify.matching import Matched, Place
from omibench.statistics.agreement import kappa_measure, share_measure, spearman_measure
from omibench.statistics.intervals import clustered_wilson

if TYPE_CHECKING:
    import polars as pl

INSTRUMENTS: dict[str, tuple[str, ...]] = {
    "error_type": ("error_type",), "quality": MARKS, "alignment": (ALIGNMENT,),
}  # fmt: skip
"""Instrument -> the columns of labels that are of it."""


def certify_reasoning(
    matched: Matched, results: Results, folder: Path, labels_sha256: str
) -> list[ReasoningCertificate]:
    """A certificate of every judge of reasoning that people labelled; `folder` is that of `judge`.

    Raises MissingInputError where nothing was judged for which there are labels, FileFormatError
    for a type that the taxonomy lacks, for labels that contradict each other, and where none is of
    a response that was judged.
    """
    found = []
    for instrument, columns in INSTRUMENTS.items():
        said = {name: values for name in columns if (values := matched.column(name))}
        if not said:
            continue
        if instrument not in results.study.judge.panels:
            raise MissingInputError(
                f"{matched.file}: labels {', '.join(said)}, and `judge` names no judge of "
                f"{instrument.replace('_', ' ')}"
            )
        rows = read_all_judgements(results, folder).filter(instrument=instrument)
        found.append(_certificate(instrument, said, rows, matched, results, folder, labels_sha256))
    return found


def _certificate(  # noqa: PLR0913, PLR0917 (what a certificate says)
    instrument: str,
    said: Mapping[str, Mapping[Place, Any]],
    rows: pl.DataFrame,
    matched: Matched,
    results: Results,
    folder: Path,
    labels_sha256: str,
) -> ReasoningCertificate:
    places = {place for values in said.values() for place in values}
    told = {tuple(row[name] for name in RESPONSE): row for row in rows.iter_rows(named=True)}
    by_judge = {place: told[place] for place in places if place in told and told[place]["judge"]}
    scored = {place: row for place, row in by_judge.items() if row["outcome"] == "scored"}
    if not scored:
        raise FileFormatError(
            f"{matched.file}: holds no label of a response on which the judge of "
            f"{instrument.replace('_', ' ')} gave a verdict, and {len(places)} of others"
        )
    judge, study = one_value(rows, "judge", folder), results.study
    confidence = study.analyze.confidence
    base: dict[str, Any] = {
        "instrument": instrument, "judge": judge, "identity": identities(study, judge),
        "prompt_sha256": one_value(rows, "prompt_sha256", folder),
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
        _check_types(said["error_type"], name, matched)
        base |= {"taxonomy": name} | _types(said["error_type"], scored, confidence)
    else:
        base["marks"] = {
            name: _mark(name, values, scored, confidence) for name, values in said.items()
        }
    return ReasoningCertificate(**base)


def _check_types(said: Mapping[Place, str], taxonomy: str, matched: Matched) -> None:
    known = [*taxonomy_of(taxonomy).types, NO_ERROR]
    for number, row, place in matched.labels:
        if place in said and row.error_type and row.error_type not in known:
            hint = suggest_name(row.error_type, known)
            raise FileFormatError(
                f"{matched.file}, row {number}: column 'error_type': {row.error_type!r} is no type "
                f"of the taxonomy {taxonomy}{hint}; it has {', '.join(known)}"
            )


def _types(
    said: Mapping[Place, str], scored: Mapping[Place, Any], confidence: float
) -> dict[str, Any]:
    """Agreement and kappa over all types, `no_error` among them, and who is taken for whom."""
    places = [place for place in said if place in scored]
    people, judge = [said[p] for p in places], [scored[p]["error_type"] for p in places]
    clusters = [scored[p]["cluster"] for p in places]
    same = [float(a == b) for a, b in zip(people, judge, strict=True)]
    agreement = clustered_wilson(same, clusters, confidence)
    return {
        "agreement": share_measure(agreement),
        "kappa": kappa_measure(agreement, people, judge),
        "confusion": list(_confusion(people, judge, clusters, confidence)),
    }


def _confusion(
    people: Sequence[str], judge: Sequence[str], clusters: Sequence[str], confidence: float
) -> Iterator[Confusion]:
    counts = Counter(zip(people, judge, strict=True))
    for label in sorted(set(people)):
        own = [(said, c) for a, said, c in zip(people, judge, clusters, strict=True) if a == label]
        for other in sorted({said for said, _ in own} | {label}):
            hits = [float(said == other) for said, _ in own]
            share = clustered_wilson(hits, [c for _, c in own], confidence)
            yield Confusion(
                label=label, judge=other, count=counts[label, other], share=share_measure(share)
            )


def _mark(
    name: str, said: Mapping[Place, float], scored: Mapping[Place, Any], confidence: float
) -> MarkQuality:
    places = [p for p in said if p in scored and scored[p][name] is not None]
    people, judge = [said[p] for p in places], [float(scored[p][name]) for p in places]
    clusters = [scored[p]["cluster"] for p in places]
    apart = [abs(a - b) for a, b in zip(people, judge, strict=True)]

    def within(most: float) -> Measure:
        near = [float(distance <= most) for distance in apart]
        return share_measure(clustered_wilson(near, clusters, confidence))

    return MarkQuality(
        spearman=spearman_measure(people, judge, clusters, confidence),
        within_one=within(1.0),
        exact=within(0.0),
    )
