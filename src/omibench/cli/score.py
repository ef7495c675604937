"""The verb `omibench score`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from omibench.cli.options import Params
from omibench.errors import ParamsError
from omibench.terminal import say, say_lines


def score(
    inputs: Annotated[list[Path], typer.Argument(metavar="INPUT...")],
    out: Annotated[
        Path | None, typer.Option(metavar="FILE.parquet", help="Parquet file to write.")
    ] = None,
    rules: Annotated[
        str | None,
        typer.Option(
            help="omibench, emma, usnco-v, mathreal, robust or published; with --explain "
            "several, joined by commas."
        ),
    ] = None,
    explain: Annotated[
        str | None,
        typer.Option(metavar="ID", help="Say why responses to this problem are right or wrong."),
    ] = None,
    judge: Annotated[
        str | None, typer.Option(help="Asked for GPTScore: a key of params `models`.")
    ] = None,
    grader: Annotated[
        str | None, typer.Option(help="Extracts and grades for mathreal: a key of params `models`.")
    ] = None,
    answers: Annotated[
        Path | None, typer.Option(help="INPUT is a cell of responses; its gold is in this file.")
    ] = None,
    questions: Annotated[
        Path | None, typer.Option(help="With --answers and a judge: the frozen questions.")
    ] = None,
    params: Params = "{}",
    cache: Annotated[
        bool, typer.Option(help="Take known verdicts from results/cache, and keep new ones there.")
    ] = True,
) -> None:
    """Score responses by rule books and a judge, or explain the scores of one problem.

    INPUT is JSONL (also .gz) or Parquet with id, prediction, gold, answer_type, choices and
    perhaps finish_reason; the same rows come out with extracted, method, verdict and outcome.
    With --explain nothing is written and no model is asked, and INPUT may be a results folder;
    without --rules the books of --params count, or those that the results were scored by.

    \b
    Example:
      omibench score answers.jsonl --rules robust --out verdicts.parquet
      omibench score results/infer/m/cot.parquet --answers results/freeze/answers.jsonl \\
          --questions results/freeze/questions.jsonl --params params.yaml --out m-cot.parquet
      omibench score results --explain physics-3
    """
    from omibench.outputs import output_parquet
    from omibench.score import score_cell, score_file
    from omibench.score.cache import DEFAULT
    from omibench.score.rules import rule_book
    from omibench.study import load_study
    from omibench.trust.reading import check_inputs

    if explain is not None:
        _refuse(out=out, judge=judge, grader=grader, questions=questions)
        from omibench.score.explained import explain_id

        books = rules.split(",") if rules else _books(params)
        say_lines(explain_id(inputs, explain, books, answers))
        return
    if rules:
        rule_book(rules)
    given = {"rules": [rules] if rules else None, "judge": judge, "grader": grader}
    options = {key: value for key, value in given.items() if value is not None}
    # What the study says of its own rule books would contradict another one.
    own = {"analyze": {"main_rules": None}, "judge": {"wrong_by": None}} if rules else {}
    study = load_study(params, options={**own, "score": options})
    if out is None:
        raise ParamsError("score: --out is missing; name the Parquet file to write")
    out = output_parquet(out, study.study.store, *inputs, answers, questions)
    known = DEFAULT if cache else None
    check_inputs(*inputs, answers, questions)
    if answers:
        if len(inputs) != 1:
            raise ParamsError(f"score: --answers goes with one INPUT, not {len(inputs)}")
        rows = score_cell(inputs[0], answers, questions, out, study, known)
    elif rules:
        if not judge:
            study = study.model_copy(update={"score": study.score.without_gptscore()})
        rows = score_file(inputs, rules, out, study, known)
    else:
        raise ParamsError("score: --rules is missing; name one rule book, such as robust")
    say(f"{rows} rows written to {out}", err=True)


def _refuse(**options: Path | str | None) -> None:
    for name, value in options.items():
        if value is not None:
            raise ParamsError(
                f"score: --{name} {value} goes not with --explain, which writes nothing and asks "
                "no model: leave one of them out"
            )


def _books(params: str) -> list[str] | None:
    """The rule books of a parameter file, that of its headline first; None without a file."""
    from omibench.study import load_study

    if params == "{}":
        return None
    study = load_study(params)
    main = study.analyze.main_rules
    return list(dict.fromkeys([*([main] if main else []), *study.score.rules]))
