"""The command `omibench filter`."""

from __future__ import annotations

from omibench.cli.options import Out, Params, ProblemsFile, read_study
from omibench.text.terminal import say, say_lines


def filter_(problems: ProblemsFile, out: Out, params: Params = "params.yaml") -> None:
    """Reject unusable problems, with reasons.

    Writes problems.jsonl, rejects.parquet, rejects.html (rejected problems with pictures) and, if
    the parameters list models that judge problems, judgements.parquet. Prints the number of
    problems, answers, and rejections by reason.

    \b
    Example:
      omibench filter results/ocr/problems.jsonl --out results/filter
    """
    from omibench.files.outputs import output_folder, spare_inputs
    from omibench.graph.provenance.reading import check_inputs
    from omibench.stages.filter import filter_problems

    study = read_study(params, None)
    out = output_folder(out, study.study.store)
    spare_inputs(out / "problems.jsonl", problems)
    check_inputs(problems)
    say_lines(filter_problems(problems, out, study), err=True)
    say(f"Kept: {out / 'problems.jsonl'}; rejected: {out / 'rejects.html'}", err=True)
