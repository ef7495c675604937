"""The command `omibench judge`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from omibench.cli.options import OutFile, Params
from omibench.text.terminal import say


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
    from omibench.graph.provenance.reading import check_inputs
    from omibench.plan.study_file import read_study
    from omibench.stages.judge import CellFiles, judge_cell

    study = read_study(params)
    out = output_parquet(out, study.study.store, responses, verdicts)
    check_inputs(responses, verdicts, answers, questions)
    files = CellFiles(responses, verdicts, answers, questions)
    rows = judge_cell(files, out, study, job_hash(study, "judge"))
    say(f"{rows} judgements written to {out}", err=True)
