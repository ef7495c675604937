"""The verb `omibench judge`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from omibench.cli.options import OutFile, Params
from omibench.text.terminal import say


def judge(
    responses: Annotated[Path, typer.Argument(help="The responses of one cell.")],
    out: OutFile,
    answers: Annotated[Path, typer.Option(help="The frozen answers.")],
    questions: Annotated[Path, typer.Option(help="The frozen questions.")],
    verdicts: Annotated[
        Path | None, typer.Option(help="The cell's verdicts: they say which answers are wrong.")
    ] = None,
    params: Params = "params.yaml",
) -> None:
    """Judge the reasoning in responses, and why answers are wrong.

    Asks the models that params `judge` names: rationale quality, alignment with the reference
    rationale, type of error, what a reading of the pictures keeps. Scores do not depend on it.

    \b
    Example:
      omibench judge results/infer/m/cot.parquet --verdicts results/score/m/cot.parquet \\
          --answers results/freeze/answers.jsonl --questions results/freeze/questions.jsonl \\
          --out results/judge/m/cot.parquet
    """
    from omibench.files.outputs import output_parquet
    from omibench.graph.job_hash import job_hash
    from omibench.graph.provenance.reading import check_inputs
    from omibench.params.study import load_study
    from omibench.stages.judge import CellFiles, judge_cell

    study = load_study(params)
    out = output_parquet(out, study.study.store, responses, verdicts)
    check_inputs(responses, verdicts, answers, questions)
    files = CellFiles(responses, verdicts, answers, questions)
    rows = judge_cell(files, out, study, job_hash(study, "judge"))
    say(f"{rows} judgements written to {out}", err=True)
