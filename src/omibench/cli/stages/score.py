"""The verb `omibench score`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from omibench.cli.options import (
    Ids,
    LimitTo,
    Params,
    PluginFiles,
    Sample,
    Seed,
    load_plugin_files,
    make_limit,
)
from omibench.errors import ParamsError
from omibench.text.terminal import say_lines


def score(
    inputs: Annotated[
        list[Path],
        typer.Argument(
            metavar="INPUT...",
            help="Responses: Parquet files of `infer`, or files of another harness.",
        ),
    ],
    out: Annotated[
        Path | None, typer.Option(metavar="FILE.parquet", help="Parquet file to write.")
    ] = None,
    rules: Annotated[
        list[str] | None,
        typer.Option(
            help="omibench, omibench-release, emma, usnco-v, usnco-v-last-letter, mathreal, "
            "robust, published or a plug-in's; several are joined by commas, or "
            "each has a --rules of its own."
        ),
    ] = None,
    explain: Annotated[
        str | None,
        typer.Option(metavar="ID", help="Say why responses to this problem are right or wrong."),
    ] = None,
    judge: Annotated[
        str | None, typer.Option(help="Asked for GPTScore: a key of params `models`.")
    ] = None,
    variant: Annotated[
        str | None,
        typer.Option(
            help="Of GPTScore, with --judge: justified (default, as in the paper) or bare-answers."
        ),
    ] = None,
    grader: Annotated[
        str | None, typer.Option(help="Extracts and grades for mathreal: a key of params `models`.")
    ] = None,
    answers: Annotated[
        Path | None,
        typer.Option(
            help="File of golds by id: for a cell of responses, or predictions without gold."
        ),
    ] = None,
    questions: Annotated[
        Path | None, typer.Option(help="With --answers and a judge: the frozen questions.")
    ] = None,
    params: Params = "{}",
    plugin: PluginFiles = None,
    columns: Annotated[
        str | None,
        typer.Option(
            metavar="NAME=COLUMN,...",
            help="What the columns of another file are, such as "
            "id=doc_id,prediction=resps,gold=target.",
        ),
    ] = None,
    limit: LimitTo = None,
    ids: Ids = None,
    sample: Sample = None,
    seed: Seed = None,
    cache: Annotated[
        bool, typer.Option(help="Take known verdicts from your cache folder, and keep new ones.")
    ] = True,
) -> None:
    """Score responses by rule books and a judge, or explain the scores of one problem.

    INPUT is JSONL (also .gz), Parquet, CSV, TSV or Excel with id, prediction, gold and perhaps
    answer_type, choices, finish_reason; or a log of lmms-eval, VLMEvalKit, inspect or
    simple-evals. The same rows come out with extracted, method, verdict and outcome, and a summary
    of each rule book is printed. Exit code 3: every judgement failed. --limit, --ids and --sample
    score a part of the problems, and the summary says so.
    With --explain nothing is written and no model is asked, and INPUT may be a results folder;
    without --rules the books of --params count, or those that the results were scored by.

    \b
    Example:
      omibench score answers.jsonl --rules robust --out verdicts.parquet
      omibench score logs/2026-11-22_mmmu.eval --rules robust,emma --out verdicts.parquet
      omibench score mine.csv --columns id=doc_id,prediction=resps,gold=target \\
          --rules robust --out verdicts.parquet
      omibench score results/infer/m/cot.parquet --answers results/freeze/answers.jsonl \\
          --questions results/freeze/questions.jsonl --params params.yaml --out m-cot.parquet
      omibench score answers.jsonl --plugin my_rules.py --rules halves --out verdicts.parquet
      omibench score results --explain physics-3
    """
    from omibench.cli.score_summary import tell_scores
    from omibench.files.outputs import output_parquet
    from omibench.formats.named import parse_columns
    from omibench.graph.job_hash import job_hash
    from omibench.graph.provenance.reading import check_inputs
    from omibench.params.limit import limit_rows, part_words
    from omibench.params.study import load_study
    from omibench.rule_books.registry import RULE_BOOKS
    from omibench.stages.score.cache import locate_cell_cache, locate_user_cache
    from omibench.stages.score.rows import read_rows
    from omibench.stages.score.stage import ScoreFiles, is_cell, score_responses, score_rows

    load_plugin_files(plugin)
    names = (name.strip() for words in rules or () for name in words.split(","))
    books = list(dict.fromkeys(name for name in names if name))
    named = parse_columns(columns) if columns else None
    if explain is not None:
        _refuse(out=out, judge=judge, variant=variant, grader=grader, questions=questions)
        from omibench.explain.problem import explain_id

        say_lines(explain_id(inputs, explain, books or _books(params), answers, named))
        return
    for name in books:
        RULE_BOOKS.get(name)
    if variant and not judge:
        raise ParamsError(f"score: --variant {variant} goes with --judge, which names a model")
    named_judge = {"models": [judge], "variant": variant} if variant else judge
    overrides = {"rules": books or None, "judge": named_judge, "grader": grader}
    options = {key: value for key, value in overrides.items() if value is not None}
    # What the study says of its own rule books would contradict another one.
    blocks: dict[str, dict[str, object]] = (
        {"analyze": {"main_rules": None}, "judge": {"wrong_by": None}} if books else {}
    )
    if chosen := make_limit(limit, ids, sample, seed)["limit"]:
        blocks |= {"study": {"limit": chosen}}
    study = load_study(params, options={**blocks, "score": options})
    if out is None:
        raise ParamsError("score: --out is missing; name the Parquet file to write")
    out = output_parquet(out, study.study.store, *inputs, answers, questions)
    check_inputs(*inputs, answers, questions)
    if answers and is_cell(inputs[0]):
        if len(inputs) != 1:
            raise ParamsError(
                f"score: --answers goes with one cell of responses, not {len(inputs)}"
            )
        cached = locate_cell_cache(inputs[0]) if cache else None
        job = job_hash(study, "score")
        tell_scores(
            score_responses(
                ScoreFiles(inputs[0], answers, questions, cache=cached), out, study, job
            ),
            out,
        )
        return
    if not books:
        raise ParamsError("score: --rules is missing; name one rule book, such as robust")
    if not judge:
        study = study.model_copy(update={"score": study.score.without_gptscore()})
    every, part = read_rows(inputs, named, answers), study.study.limit
    rows = limit_rows(every, part, lambda row: row.item.id)
    partial = part_words((r.item.id for r in rows), (r.item.id for r in every), part)
    tell_scores(
        score_rows(rows, books, out, study, locate_user_cache() if cache else None, partial), out
    )


def _refuse(**options: Path | str | None) -> None:
    for name, value in options.items():
        if value is not None:
            raise ParamsError(
                f"score: --{name} {value} goes not with --explain, which writes nothing and asks "
                "no model: leave one of them out"
            )


def _books(params: str) -> list[str] | None:
    """The rule books of a parameter file, that of its headline first; None without a file."""
    from omibench.params.study import load_study

    if params == "{}":
        return None
    study = load_study(params)
    main = study.analyze.main_rules
    return list(dict.fromkeys([*([main] if main else []), *study.score.rules]))
