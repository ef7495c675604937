"""The stage `certify`: labels of people in, a certificate and disagreements to read out."""

from __future__ import annotations

import logging
from collections import Counter
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from omibench.analyze.calibration import CERTIFICATE
from omibench.analyze.fourway import RESPONSE, four_way, side_by_side
from omibench.analyze.intervals import Estimate
from omibench.analyze.load import JUDGE_RULES, Results, load_results
from omibench.analyze.tables import estimate
from omibench.certificate import ALL, Certificate, JudgeQuality, identity_of
from omibench.certify.agreement import judge_quality
from omibench.certify.disagreement import disagreements
from omibench.certify.labels import LabelRow, read_labels
from omibench.errors import FileFormatError, MissingInputError
from omibench.study import Study
from omibench.tables import write_json, write_jsonl

if TYPE_CHECKING:
    import polars as pl

DISAGREEMENTS = "disagreements.jsonl"
_LOG = logging.getLogger("omibench")


def certify(labels: Path, results: Path, out: Path, study: Study) -> Certificate:
    """Hold the judge of a study against a file of labels; write both files into the folder `out`.

    The four-way table and the disagreements are those of the main rules and the judge over all
    responses of the study. Raises MissingInputError where nothing was judged, FileFormatError where
    no label fits, one fits several responses or two contradict each other, and as `load_results`
    does.
    """
    rows = read_labels(labels)
    found = load_results(results / "freeze", results / "infer", results / "score", study)
    if JUDGE_RULES not in found.rules:
        raise MissingInputError(
            f"{results / 'score'}: holds no judgement; name a judge in score.judge, score again"
        )
    judged = found.of(JUDGE_RULES)
    matched, left_out = _matched(rows, found, labels)
    compared = side_by_side(found, _rules(found)).join(
        matched, on=RESPONSE, how="left", maintain_order="left"
    )
    labelled = compared.filter(_col("label").is_not_null())
    outcomes = judged.join(matched, on=RESPONSE, how="inner")["outcome"]
    failed = int((outcomes == "judge_failed").sum())
    if labelled.is_empty():
        raise FileFormatError(
            f"{labels}: holds no label of a response that the judge scored: of {len(rows)}, "
            f"{left_out['unknown']} are of responses that this study does not have and "
            f"{left_out['stale']} of responses that are other ones by now"
        )
    certificate = Certificate(
        judge=_one(judged, "judge", results),
        identity=_identities(study, _one(judged, "judge", results)),
        prompt_sha256=_one(judged, "prompt_sha256", results),
        labels=labels.name,
        labels_sha256=sha256(labels.read_bytes()).hexdigest(),
        n=labelled.height,
        problems=labelled["id"].n_unique(),
        judge_failed=failed,
        not_judged=matched.height - labelled.height - failed,
        stale=left_out["stale"],
        unknown=left_out["unknown"],
        confidence=study.analyze.confidence,
        quality=_quality(labelled, judged, study.analyze.confidence),
        rules=_rules(found),
        four_way=four_way(compared),
        simulated=found.judge_simulated or any(row.simulated for row in rows),
        study=study.study.name,
    )
    write_json(out / CERTIFICATE, certificate)
    drawn = disagreements(found, compared, study.certify.disagreements)
    write_jsonl(out / DISAGREEMENTS, drawn)
    return certificate


def _quality(
    labelled: pl.DataFrame, judged: pl.DataFrame, confidence: float
) -> dict[str, JudgeQuality]:
    kinds = [ALL, *sorted(labelled["answer_type"].unique())]
    return {
        kind: _of_kind(
            labelled if kind == ALL else labelled.filter(answer_type=kind),
            judged if kind == ALL else judged.filter(answer_type=kind),
            confidence,
        )
        for kind in kinds
    }


def _of_kind(labelled: pl.DataFrame, judged: pl.DataFrame, confidence: float) -> JudgeQuality:
    every: Estimate = estimate(judged.filter(_col("outcome") == "scored"), confidence)
    return judge_quality(
        labelled["label"].to_list(),
        labelled["by_judge"].to_list(),
        labelled["cluster"].to_list(),
        every,
        confidence,
    )


def _matched(
    rows: list[LabelRow], results: Results, labels: Path
) -> tuple[pl.DataFrame, Counter[str]]:
    """One row a labelled response, with `label`; and how many labels are `stale` or `unknown`."""
    import polars as pl

    responses: dict[str, list[dict[str, Any]]] = {}
    for response in results.responses.select(*RESPONSE, "text").iter_rows(named=True):
        responses.setdefault(response["id"], []).append(response)
    found: dict[tuple[Any, ...], float] = {}
    left_out: Counter[str] = Counter()
    for number, row in enumerate(rows, 1):
        meant = _meant(row, responses.get(row.id, []), f"{labels}, row {number}")
        if meant is None:
            left_out["unknown"] += 1
            continue
        if row.response_sha256 not in (None, sha256(meant["text"].encode()).hexdigest()):
            left_out["stale"] += 1
            continue
        place = tuple(meant[name] for name in RESPONSE)
        if found.setdefault(place, row.label) != row.label:
            raise FileFormatError(
                f"{labels}, row {number}: problem {row.id!r} of {meant['model']} under "
                f"{meant['setting']} has two labels, {found[place]:g} and {row.label:g}; keep one"
            )
    if left_out:
        _LOG.warning(
            "certify: of %d labels in %s, %d are of responses that this study does not have and %d "
            "of responses that are other ones by now",
            len(rows), labels, left_out["unknown"], left_out["stale"],
        )  # fmt: skip
    schema = {"model": pl.String, "setting": pl.String, "id": pl.String, "index": pl.Int64}
    places = pl.DataFrame(list(found), schema=schema, orient="row")
    return places.with_columns(label=pl.Series(list(found.values()), dtype=pl.Float64)), left_out


def _meant(row: LabelRow, known: list[dict[str, Any]], where: str) -> dict[str, Any] | None:
    """The response that a label is of; None where this study has no such response."""
    wanted = {"model": row.model, "setting": row.setting, "index": row.index}
    asked = {name: value for name, value in wanted.items() if value is not None}
    found = [r for r in known if all(r[name] == value for name, value in asked.items())]
    if len(found) < 2:
        return found[0] if found else None
    which = ", ".join([f"id {row.id!r}", *(f"{n} {v!r}" for n, v in asked.items())])
    missing = ", ".join(name for name in wanted if name not in asked) or "nothing more"
    raise FileFormatError(f"{where}: {len(found)} responses have {which}; give {missing} too")


def _rules(results: Results) -> str:
    main = results.main_rules
    return main if main != JUDGE_RULES else results.study.score.rules[0]


def _one(judged: pl.DataFrame, column: str, results: Path) -> str:
    """The only value of a column: a certificate is of one instrument."""
    values = judged[column].drop_nulls().unique().sort().to_list()
    if len(values) == 1:
        return str(values[0])
    raise FileFormatError(
        f"{results / 'score'}: the judgements have {len(values)} values of {column!r}; "
        "score all cells by one judge with one prompt"
    )


def _identities(study: Study, judge: str) -> list[dict[str, Any]]:
    names = judge.split("+")
    lost = [name for name in names if name not in study.models]
    if lost:
        raise MissingInputError(f"models: {lost[0]!r} judged these responses and is not defined")
    return [identity_of(study.models[name]) for name in names]


def _col(name: str) -> pl.Expr:
    import polars as pl

    return pl.col(name)
