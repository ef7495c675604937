"""The stage `certify`: labels of people in, certificates and disagreements to read out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from omibench.errors import FileFormatError, MissingInputError
from omibench.files.hashes import hash_file
from omibench.params.study import Study
from omibench.results.four_way import RESPONSE, four_way, side_by_side
from omibench.results.load import JUDGE_RULES, Results, load_results
from omibench.schemas.certificate import (
    CERTIFICATE_FILE,
    REASONING_FILE,
    Certificate,
    ReasoningCertificate,
    ReasoningCertificates,
)
from omibench.schemas.tables import write_json, write_jsonl
from omibench.stages.certify.disagreement import disagreements
from omibench.stages.certify.instrument import identities, one_value
from omibench.stages.certify.labels import read_labels
from omibench.stages.certify.matching import STALE, UNKNOWN, Matched, describe_left_out, match
from omibench.stages.certify.quality import quality_by_kind
from omibench.stages.certify.reasoning import certify_reasoning

if TYPE_CHECKING:
    pass

DISAGREEMENTS = "disagreements.jsonl"


class Certified(NamedTuple):
    """The certificates that a file of labels makes: of scores, and of reasoning."""

    scores: Certificate | None
    reasoning: list[ReasoningCertificate]


def certify_judges(labels: Path, results: Path, out: Path, study: Study) -> Certified:
    """Hold the judges of a study against a file of labels; write into the folder `out`.

    `certificate.json` and `disagreements.jsonl` are made where the file says what is right;
    `reasoning.json` always, with a certificate of each judge of reasoning that the file has labels
    for. Raises MissingInputError where nothing was judged, FileFormatError where no label fits, one
    fits several responses or two contradict each other, and as `load_results` does.
    """
    rows = read_labels(labels)
    found = load_results(results / "freeze", results / "infer", results / "score", study)
    matched = match(rows, found.responses, labels)
    digest = hash_file(labels)
    scores, judged_by_label = None, any(row.label is not None for row in rows)
    if judged_by_label and JUDGE_RULES not in found.rules:
        raise MissingInputError(
            f"{results / 'score'}: holds no judgement; name a judge in score.judge, score again"
        )
    if not matched.labels:
        raise FileFormatError(
            f"{labels}: holds no label of a response of this study; {_why(matched)}"
        )
    reasoning = certify_reasoning(matched, found, results / "judge", digest)
    if judged_by_label:
        scores = _scores(matched, found, results, out, digest)
        write_json(out / CERTIFICATE_FILE, scores)
    write_json(out / REASONING_FILE, ReasoningCertificates(certificates=reasoning))
    return Certified(scores, reasoning)


def _scores(
    matched: Matched, found: Results, results: Path, out: Path, labels_sha256: str
) -> Certificate:
    """The certificate of the judge of scores; the disagreements of main rules and judge on file."""
    import polars as pl

    study, judges = found.study, results / "score"
    judged, said = found.select_verdicts(JUDGE_RULES), matched.column("label")
    schema = {"model": pl.String, "setting": pl.String, "id": pl.String, "index": pl.Int64}
    places = pl.DataFrame(list(said), schema=schema, orient="row").with_columns(
        label=pl.Series(list(said.values()), dtype=pl.Float64)
    )
    compared = side_by_side(found, _rules(found)).join(
        places, on=RESPONSE, how="left", maintain_order="left"
    )
    labelled = compared.filter(pl.col("label").is_not_null())
    outcomes = judged.join(places, on=RESPONSE, how="inner")["outcome"]
    failed = int((outcomes == "judge_failed").sum())
    if labelled.is_empty():
        raise FileFormatError(
            f"{matched.file}: holds no label of a response that the judge scored; {_why(matched)}"
        )
    judge = one_value(judged, "judge", judges)
    certificate = Certificate(
        judge=judge,
        identity=identities(study, judge),
        prompt_sha256=one_value(judged, "prompt_sha256", judges),
        labels=matched.file.name,
        labels_sha256=labels_sha256,
        n=labelled.height,
        problems=labelled["id"].n_unique(),
        judge_failed=failed,
        not_judged=places.height - labelled.height - failed,
        stale=matched.count(STALE),
        unknown=matched.count(*UNKNOWN),
        left_out=matched.left_out,
        confidence=study.analyze.confidence,
        quality=quality_by_kind(labelled, judged, study.analyze.confidence),
        rules=_rules(found),
        four_way=four_way(compared),
        simulated=found.judge_simulated or any(label.row.simulated for label in matched.labels),
        study=study.study.name,
    )
    drawn = disagreements(found, compared, study.certify.disagreements)
    write_jsonl(out / DISAGREEMENTS, drawn)
    return certificate


def _why(matched: Matched) -> str:
    left = "; ".join(describe_left_out(matched.left_out))
    return left or f"{len(matched.labels)} are of responses that it did not score"


def _rules(results: Results) -> str:
    main = results.main_rules
    return main if main != JUDGE_RULES else results.study.score.rules[0]
