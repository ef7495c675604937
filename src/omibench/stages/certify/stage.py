"""Stage `certify`: reads human labels, writes certificates and disagreements."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import polars as pl

from omibench.errors import FileFormatError, MissingInputError
from omibench.files.reading import hash_file
from omibench.results.judgements import RESPONSE, side_by_side
from omibench.results.load import JUDGE_RULES, Results, load_results
from omibench.schemas.certificate import (
    CERTIFICATE_FILE,
    DISAGREEMENTS_FILE,
    REASONING_FILE,
    Certificate,
    ReasoningCertificate,
    ReasoningCertificates,
)
from omibench.schemas.tables import write_json, write_jsonl
from omibench.stages.certify.labels import (
    MatchedLabels,
    make_certificate,
    match_labels,
    read_labels,
)
from omibench.stages.certify.reasoning import certify_reasoning, get_only_value, list_identities
from omibench.stages.certify.sampling import draw_disagreements

if TYPE_CHECKING:
    from omibench.params.study import Study


class JudgeCertificates(NamedTuple):
    """The certificates from a file of labels: of scores, and of reasoning."""

    scores: Certificate | None
    reasoning: list[ReasoningCertificate]


def certify_judges(labels: Path, results: Path, out: Path, study: Study) -> JudgeCertificates:
    """Compare the judges of a study with a file of labels; write into the folder `out`.

    `certificate.json` and `disagreements.jsonl` are written if the file has labels of correctness;
    `reasoning.json` always, with a certificate of each judge of reasoning that has labels.

    Raises:
        MissingInputError: Nothing was judged.
        FileFormatError: No label matches, a label matches several responses, or two contradict each
            other. `load_results` can also raise.
    """
    rows = read_labels(labels)
    study_results = load_results(results / "freeze", results / "infer", results / "score", study)
    matched = match_labels(rows, study_results.read_responses(), labels)
    digest = hash_file(labels)
    scores, judged_by_label = None, any(row.label is not None for row in rows)
    if judged_by_label and JUDGE_RULES not in study_results.rules:
        raise MissingInputError(
            f"{results / 'score'}: no judgements; set score.judge and score again"
        )
    if not matched.labels:
        raise FileFormatError(
            f"{labels}: no label is of a response of this study; {matched.explain()}"
        )
    reasoning = certify_reasoning(matched, study_results, results / "judge", digest)
    if judged_by_label:
        scores = _certify_scores(matched, study_results, results, out, digest)
        write_json(out / CERTIFICATE_FILE, scores)
    write_json(out / REASONING_FILE, ReasoningCertificates(certificates=reasoning))
    return JudgeCertificates(scores, reasoning)


def _certify_scores(
    matched: MatchedLabels, study_results: Results, results: Path, out: Path, labels_sha256: str
) -> Certificate:
    """Return the certificate of the score judge; write its disagreements with the main rules."""
    study, judges = study_results.study, results / "score"
    judged, labels = study_results.select_verdicts(JUDGE_RULES), matched.column("label")
    schema = {"model": pl.String, "setting": pl.String, "id": pl.String, "index": pl.Int64}
    places = pl.DataFrame(list(labels), schema=schema, orient="row").with_columns(
        label=pl.Series(list(labels.values()), dtype=pl.Float64)
    )
    compared = side_by_side(study_results, _choose_rules(study_results)).join(
        places, on=RESPONSE, how="left", maintain_order="left"
    )
    judge = get_only_value(judged, "judge", judges)
    certificate = make_certificate(
        matched,
        compared,
        judged,
        judged.join(places, on=RESPONSE, how="inner")["outcome"],
        study,
        judge=judge,
        identity=list_identities(study, judge),
        prompt_sha256=get_only_value(judged, "prompt_sha256", judges),
        labels_sha256=labels_sha256,
        rules=_choose_rules(study_results),
        simulated=study_results.judge_simulated
        or any(label.row.simulated for label in matched.labels),
    )
    drawn = draw_disagreements(study_results, compared, study.certify.disagreements)
    write_jsonl(out / DISAGREEMENTS_FILE, drawn)
    return certificate


def _choose_rules(results: Results) -> str:
    main = results.main_rules
    return main if main != JUDGE_RULES else results.study.score.scorers[0]
