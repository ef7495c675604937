"""The commands `omibench judge` and `omibench certify`."""

from __future__ import annotations

from collections.abc import Iterator
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from omibench.cli.options import OutFile, Params, Results, check_names, find_results, read_study
from omibench.errors import MissingExtraError, ParamsError
from omibench.text.terminal import printable, say, say_lines

if TYPE_CHECKING:
    from omibench.params.study import Study
    from omibench.schemas.certificate import Certificate, Measure, ReasoningCertificate


def judge(
    responses: Annotated[Path, typer.Argument(metavar="RESPONSES", help="Responses of one cell.")],
    out: OutFile,
    answers: Annotated[Path, typer.Option(help="answers.jsonl of `omibench freeze`.")],
    questions: Annotated[Path, typer.Option(help="questions.jsonl of `omibench freeze`.")],
    verdicts: Annotated[
        Path | None, typer.Option(help="Verdicts of the cell, to find the wrong answers.")
    ] = None,
    params: Params = "params.yaml",
) -> None:
    """Judge the reasoning in responses and classify errors.

    The models under `judge` in the parameters assess rationale quality, agreement with the
    reference rationale, type of error, and completeness of a reading of the pictures. Scores do not
    depend on it.

    \b
    Example:
      omibench judge results/infer/m/cot.parquet --verdicts results/score/m/cot.parquet \\
          --answers results/freeze/answers.jsonl --questions results/freeze/questions.jsonl \\
          --out results/judge/m/cot.parquet
    """
    from omibench.files.outputs import output_parquet
    from omibench.graph.job_hash import job_hash
    from omibench.graph.provenance import check_inputs
    from omibench.stages.judge import CellFiles, judge_cell

    study = read_study(params)
    out = output_parquet(out, study.study.store, responses, verdicts)
    check_inputs(responses, verdicts, answers, questions)
    files = CellFiles(responses, verdicts, answers, questions)
    rows = judge_cell(files, out, study, job_hash(study, "judge"))
    say(f"{rows} judgements written to {out}", err=True)


# The command `omibench certify`.


CertificateFolder = Annotated[Path, typer.Option(metavar="DIR", help="Folder to write into.")]
LabelsFile = Annotated[
    Path | None,
    typer.Argument(
        metavar="LABELS",
        help="CSV or JSONL of human labels: id, label or error_type or marks, and optionally "
        "model, setting, index.",
    ),
]
VerdictsFile = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Verdicts written by `omibench score`; no study is needed."),
]
CertifiedScorer = Annotated[
    str | None,
    typer.Option(help="With --verdicts: the scorer to certify, if there are several."),
]
DrawnResponses = Annotated[
    int | None,
    typer.Option(metavar="N", min=1, help="Draw N responses per model for human labelling."),
]
DrawnModels = Annotated[
    list[str] | None, typer.Option(help="With --draw: a key of params `models`; repeatable.")
]
DrawnSettings = Annotated[
    list[str] | None, typer.Option(help="With --draw: a key of params `settings`; repeatable.")
]


def certify(
    out: CertificateFolder,
    labels: LabelsFile = None,
    results: Results = None,
    verdicts: VerdictsFile = None,
    scorer: CertifiedScorer = None,
    draw: DrawnResponses = None,
    model: DrawnModels = None,
    setting: DrawnSettings = None,
    params: Params = "params.yaml",
) -> None:
    """Measure how well judges agree with human labels.

    For labels of correctness (column `label`), writes certificate.json (agreement, kappa,
    Spearman, true and false positive rates by answer type, accuracy corrected for the judge's
    errors, judge against scorer) and disagreements.jsonl. For labels of reasoning (`error_type`
    and marks), writes reasoning.json. Calls no model.

    With --verdicts, certifies the judge of that file, or its scorer if it has no judge.
    With --draw and without labels, writes to_label.csv, a sheet of responses to label.

    \b
    Example:
      omibench certify --draw 200 --model my-model --setting cot --out results/certify
      omibench certify labels.csv --results results --out results/certify
      omibench certify labels.csv --verdicts verdicts.parquet --out certify
    """
    from omibench.files.outputs import output_folder, spare_inputs
    from omibench.graph.provenance import check_inputs, frozen_files
    from omibench.stages.certify import certify_judges

    if verdicts is not None and params == "params.yaml" and not Path(params).is_file():
        params = "{}"
    study = read_study(params)
    results = find_results(results, study)
    out = output_folder(out, study.study.store)
    if draw is not None and labels is None and verdicts is None:
        say(_draw(results, out, study, draw, model, setting), err=True)
        return
    if labels is None or draw is not None or model or setting:
        raise ParamsError(
            "certify: give either a file of labels, or --draw N (with --model, --setting) for a "
            "sheet of responses to label"
        )
    spare_inputs(out / "disagreements.jsonl", labels)
    if verdicts is not None:
        from omibench.stages.certify.verdict_files import certify_scored

        say_lines(_format_certificate(certify_scored(labels, verdicts, out, study, scorer)))
        say(f"certificate.json, disagreements.jsonl written to {out}", err=True)
        return
    if scorer is not None:
        raise ParamsError("certify: --scorer needs --verdicts")
    read = (results / stage for stage in ("infer", "score", "judge"))
    check_inputs(*read, *frozen_files(results))
    certified = certify_judges(labels, results, out, study)
    texts = [_format_certificate(certified.scores)] if certified.scores else []
    say_lines("\n".join([*texts, *map(_format_reasoning, certified.reasoning)]))
    written = ["certificate.json", "disagreements.jsonl"] if certified.scores else []
    say(f"{', '.join([*written, 'reasoning.json'])} written to {out}", err=True)


def _draw(
    results: Path,
    out: Path,
    study: Study,
    count: int,
    models: list[str] | None,
    settings: list[str] | None,
) -> str:
    from omibench.graph.provenance import check_inputs, frozen_files
    from omibench.stages.certify.sampling import SHEET_FILE, LabelDraw, draw_sheet

    check_names(study, models, settings)
    check_inputs(results / "infer", *frozen_files(results))
    rows = draw_sheet(results, out, study, LabelDraw(count, models, settings))
    return f"{rows} responses written to {out / SHEET_FILE}: fill in `label`, keep the columns"


def _format_reasoning(certificate: ReasoningCertificate) -> str:
    lines = [_heading(certificate, f", {certificate.instrument.replace('_', ' ')}")]
    types = [("agreement", certificate.agreement), ("kappa", certificate.kappa)]
    if figures := [f"{name} {_figure(m)}" for name, m in types if m]:
        lines.append(f"  {'  '.join(figures)}")
    for name, mark in certificate.marks.items():
        near, rank = _figure(mark.within_one), _figure(mark.spearman)
        lines.append(f"  {name:<17} within one grade {near}  Spearman {rank}")
    return "\n".join(lines)


def _heading(certificate: Certificate | ReasoningCertificate, detail: str = "") -> str:
    mark = "[SIMULATED] " if certificate.simulated else ""
    judge = printable(certificate.judge)
    return (
        f"{mark}{judge}{detail} against {certificate.n} labels of {certificate.problems} problems"
    )


def _format_certificate(certificate: Certificate) -> str:
    lines = [_heading(certificate)]
    for kind, quality in certificate.quality.items():
        rates = [("agreement", quality.agreement), ("kappa", quality.kappa),
                 ("AC1", quality.ac1), ("on right", quality.positive),
                 ("on wrong", quality.negative), ("TPR", quality.tpr),
                 ("FPR", quality.fpr)]  # fmt: skip
        lines.append(f"  {kind:<5} " + "  ".join(f"{name} {_figure(m)}" for name, m in rates))
    lines += _compare_rates(certificate)
    judge, rules = printable(certificate.judge), printable(certificate.rules)
    for table in certificate.four_way[-1:]:
        lines.append(
            f"  with {rules}: both right {table.both_right}, both wrong {table.both_wrong}, "
            f"only {judge} right {table.judge_only}, only {rules} right {table.rules_only}"
        )
    return "\n".join(lines)


def _compare_rates(certificate: Certificate) -> Iterator[str]:
    """Describe each test of equal error rates; without scipy, what it needs."""
    from omibench.results.statistics.homogeneity import compare_rates

    try:
        tests = compare_rates(certificate)
    except MissingExtraError as error:
        yield f"  not compared by model and answer type: {error}"
        return
    for test in tests:
        if isnan(test.p):
            yield f"  {test}: too few labels to say"
            continue
        found = "differs" if test.differs else "no difference found"
        yield (
            f"  {test}: {test.lowest:.3f} to {test.highest:.3f} in {test.groups} groups, "
            f"p {test.adjusted:.2g} (Holm): {found}"
        )


def _figure(measure: Measure) -> str:
    if measure.value is None:
        return "not known"
    lo, hi = ("–" if bound is None else f"{bound:.3f}" for bound in (measure.lo, measure.hi))
    return f"{measure.value:.3f} [{lo}, {hi}]"
