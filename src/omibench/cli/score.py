"""The command `omibench score`: what it reads, and what it prints at the end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from omibench.cli.options import (
    Ids,
    LimitTo,
    OptionalParams,
    PluginFiles,
    Sample,
    Seed,
    load_plugin_files,
    make_limit,
    read_study,
)
from omibench.errors import MissingExtraError, OmibenchError, ParamsError, SomeFailedError
from omibench.text.terminal import say, say_lines

if TYPE_CHECKING:
    from omibench.params.study import Study
    from omibench.stages.score.stage import ScoreResult

BUDGET = "budget_stop"
UNREADABLE = "judge_failed"


def tell_scores(scored: ScoreResult, out: Path) -> None:
    """Print a summary of each scorer and judge, and the path of the verdicts.

    Raises:
        SomeFailedError: All judgements failed. Judgements stopped by a budget do not count as
            failed; their warning is printed earlier.
    """
    from omibench.params.runtime import in_graph

    if scored.part:
        say(f"[PARTIAL RUN] {scored.part}")
    if scored.lacking:
        say(scored.lacking)
    # The summary of a job of the graph is in the report, and takes a tenth of its time to load.
    for line in [*(() if in_graph() else _summaries(scored)), *_failures(scored)]:
        say(line)
    say(f"{scored.frame.height} rows written to {out}", err=True)
    for rules, (count, failed) in scored.failed.items():
        if count and _all_failed(scored, rules) and not failed[BUDGET]:
            raise SomeFailedError(
                f"score: all judgements of {rules} failed ({_counts(failed)}), so {out} has no "
                f"verdict of a judge; {_remedy(failed)}"
            )


def _all_failed(scored: ScoreResult, rules: str) -> bool:
    count, failed = scored.failed.get(rules, (0, Counter[str]()))
    return 0 < count == failed.total()


def _remedy(failed: Counter[str]) -> str:
    """Return the remedy; a reply without a verdict is in the store and not requested again."""
    if failed.keys() <= {UNREADABLE}:
        return (
            "its replies contain no verdict: read one with `omibench store inspect KEY` (column "
            "judge_key), then choose another judge"
        )
    return (
        "check that the judge's model answers (`omibench plan --probe`), then run the command again"
    )


def _summaries(scored: ScoreResult) -> Iterator[str]:
    from omibench.results.load import format_lines, summarise_verdicts

    frame = scored.frame
    scorers, clusters = frame["rules"].to_list(), scored.clusters
    by_rules: dict[str, list[tuple[float, str, str]]] = {}
    for rules, *row in zip(scorers, frame["verdict"], frame["outcome"], clusters, strict=True):
        by_rules.setdefault(rules, []).append((row[0], row[1], row[2]))
    if "gptscore" in frame.columns:  # stored next to the verdicts of each scorer
        first = frame.height // len(by_rules)
        judged = zip(frame["gptscore"], frame["judge_outcome"], clusters, strict=True)
        by_rules["gptscore"] = [*judged][:first]
    for rules, rows in by_rules.items():
        # Neither single judges of a panel nor numbers without a judgement.
        if "/" not in rules and not _all_failed(scored, rules):
            values, outcomes, groups = zip(*rows, strict=True)
            try:
                yield from format_lines(summarise_verdicts(rules, values, outcomes, groups))
            except MissingExtraError as error:
                yield f"{rules}: no summary: {error}"


def _failures(scored: ScoreResult) -> Iterator[str]:
    for rules, (count, failed) in scored.failed.items():
        if failed.total():
            yield (
                f"{rules}: {failed.total():,} of {count:,} judgements failed ({_counts(failed)})"
            )


def _counts(failed: Counter[str]) -> str:
    return ", ".join(
        f"{count:,} {reason.replace('_', ' ')}" for reason, count in failed.most_common()
    )


# The command `omibench score`.


Responses = Annotated[
    list[Path],
    typer.Argument(
        metavar="INPUT",
        help="Responses: Parquet files of `infer`, or files of another harness.",
    ),
]
VerdictsFile = Annotated[
    Path | None, typer.Option(metavar="FILE.parquet", help="Parquet file to write.")
]
ScorerNames = Annotated[
    list[str] | None,
    typer.Option(
        help="Scorer: omibench, omibench-release, emma, usnco-v, usnco-v-last-letter, "
        "mathreal, robust, published or one of a plug-in; separate several by "
        "commas, or repeat the option."
    ),
]
ExplainId = Annotated[
    str | None,
    typer.Option(metavar="ID", help="Explain the verdicts on this problem."),
]
JudgeModel = Annotated[
    str | None, typer.Option(help="Judge for GPTScore: a key of params `models`.")
]
Variant = Annotated[
    str | None,
    typer.Option(
        help="With --judge: variant of GPTScore, justified (default, as in the paper) or "
        "bare-answers."
    ),
]
GraderModel = Annotated[
    str | None,
    typer.Option(
        help="Model that extracts and grades for the scorer mathreal: a key of params `models`."
    ),
]
AnswersFile = Annotated[
    Path | None,
    typer.Option(
        help="File of gold answers by id, for a cell of responses or predictions without gold."
    ),
]
JudgedQuestions = Annotated[
    Path | None,
    typer.Option(help="With --answers and --judge: questions.jsonl of `omibench freeze`."),
]
Columns = Annotated[
    str | None,
    typer.Option(
        metavar="NAME=COLUMN,...",
        help="Columns of a file of another form, such as id=doc_id,prediction=resps,gold=target.",
    ),
]
UseCache = Annotated[
    bool, typer.Option(help="Reuse verdicts from your cache folder, and add new ones.")
]


def score(
    inputs: Responses,
    out: VerdictsFile = None,
    scorer: ScorerNames = None,
    explain: ExplainId = None,
    judge: JudgeModel = None,
    variant: Variant = None,
    grader: GraderModel = None,
    answers: AnswersFile = None,
    questions: JudgedQuestions = None,
    params: OptionalParams = "{}",
    plugin: PluginFiles = None,
    columns: Columns = None,
    limit: LimitTo = None,
    ids: Ids = None,
    sample: Sample = None,
    seed: Seed = None,
    cache: UseCache = True,
) -> None:
    """Score responses, or explain the verdicts on one problem.

    INPUT is JSONL (also .gz), Parquet, CSV, TSV or Excel with id, prediction, gold and optionally
    answer_type, choices, finish_reason; or a log of lmms-eval, VLMEvalKit, inspect or
    simple-evals. The output has the same rows with extracted, method, verdict and outcome; a
    summary of each scorer is printed. With --limit, --ids or --sample, only part of the problems is
    scored, and the summary says so. Exits with 3 if all judgements failed.

    With --explain, nothing is written, no model is called, and INPUT can be a results folder. The
    scorers are those of --scorer, else of --params, else those the results were scored with.

    \b
    Example:
      omibench score answers.jsonl --scorer robust --out verdicts.parquet
      omibench score logs/2026-11-22_mmmu.eval --scorer robust,emma --out verdicts.parquet
      omibench score mine.csv --columns id=doc_id,prediction=resps,gold=target \\
          --scorer robust --out verdicts.parquet
      omibench score results/infer/m/cot.parquet --answers results/freeze/answers.jsonl \\
          --questions results/freeze/questions.jsonl --params params.yaml --out m-cot.parquet
      omibench score answers.jsonl --plugin my_rules.py --scorer halves --out verdicts.parquet
      omibench score results --explain physics-3
    """
    from omibench.datasets.formats.named import parse_columns
    from omibench.files.outputs import output_parquet
    from omibench.graph.provenance import check_inputs
    from omibench.stages.score.stage import is_cell

    load_plugin_files(plugin)
    names = (name.strip() for words in scorer or () for name in words.split(","))
    scorers = list(dict.fromkeys(name for name in names if name))
    named = parse_columns(columns) if columns else None
    if explain is not None:
        _refuse(out=out, judge=judge, variant=variant, grader=grader, questions=questions)
        from omibench.study.explain import explain_id

        say_lines(explain_id(inputs, explain, scorers or _scorers(params), answers, named))
        return
    _check_scorers(scorers)
    if variant and not judge:
        raise ParamsError(f"score: --variant {variant}: needs --judge MODEL")
    named_judge = {"models": [judge], "variant": variant} if variant else judge
    options = {"scorers": scorers or None, "judge": named_judge, "grader": grader}
    study = _read_study(params, options, make_limit(limit, ids, sample, seed)["limit"])
    if out is None:
        raise ParamsError("score: --out is missing; give the Parquet file to write")
    out = output_parquet(out, study.study.store, *inputs, answers, questions)
    check_inputs(*inputs, answers, questions)
    if answers and is_cell(inputs[0]):
        scored = _score_cell(inputs, out, study, answers, questions, cache=cache)
    elif not scorers:
        raise ParamsError("score: --scorer is missing; give a scorer, such as robust")
    else:
        if not judge:
            study = study.model_copy(update={"score": study.score.without_gptscore()})
        scored = _score_rows(inputs, out, study, scorers, answers, named, cache=cache)
    tell_scores(scored, out)


def _read_study(params: str, options: Mapping[str, object], part: object) -> Study:
    """Read the study of `params` with the options of the command, and its part to score."""
    from omibench.study.plan import study_file

    given = {key: value for key, value in options.items() if value is not None}
    # Parameters about the study's scorers would contradict --scorer.
    blocks: dict[str, dict[str, object]] = (
        {"analyze": {"main_scorer": None}, "judge": {"wrong_by": None}}
        if "scorers" in given
        else {}
    )
    if part:
        blocks["study"] = {"limit": part}
    return study_file.read_study(params, options={**blocks, "score": given})


def _score_cell(
    inputs: list[Path],
    out: Path,
    study: Study,
    answers: Path,
    questions: Path | None,
    *,
    cache: bool,
) -> ScoreResult:
    """Score a file of `infer` with the answers of the frozen dataset."""
    from omibench.graph.job_hash import job_hash
    from omibench.stages.score.cache import locate_cell_cache
    from omibench.stages.score.stage import ScoreFiles, score_responses

    if len(inputs) != 1:
        raise ParamsError(
            f"score: --answers: needs exactly one cell of responses, not {len(inputs)}"
        )
    cached = locate_cell_cache(inputs[0]) if cache else None
    files = ScoreFiles(inputs[0], answers, questions, cache=cached)
    return score_responses(files, out, study, job_hash(study, "score"))


def _score_rows(
    inputs: list[Path],
    out: Path,
    study: Study,
    scorers: list[str],
    answers: Path | None,
    columns: dict[str, str] | None,
    *,
    cache: bool,
) -> ScoreResult:
    """Score the responses of any harness."""
    from omibench.params.study_params import limit_rows, part_words
    from omibench.stages.score.cache import locate_user_cache
    from omibench.stages.score.rows import read_rows
    from omibench.stages.score.stage import score_rows

    every, part = read_rows(inputs, columns, answers), study.study.limit
    rows = limit_rows(every, part, lambda row: row.item.id)
    partial = part_words((r.item.id for r in rows), (r.item.id for r in every), part)
    return score_rows(rows, scorers, out, study, locate_user_cache() if cache else None, partial)


def _check_scorers(names: list[str]) -> None:
    from omibench.answers.scorers.registry import SCORERS

    for name in names:
        try:
            SCORERS.get(name)
        except OmibenchError as error:
            raise ParamsError(f"--scorer: {error}") from None


def _refuse(**options: Path | str | None) -> None:
    for name, value in options.items():
        if value is not None:
            raise ParamsError(
                f"score: --{name} {value}: cannot be combined with --explain, which writes nothing "
                "and calls no model; remove one of them"
            )


def _scorers(params: str) -> list[str] | None:
    """Return the scorers of a parameter file, the main one first; None without a file."""
    if params == "{}":
        return None
    study = read_study(params)
    main = study.analyze.main_scorer
    return list(dict.fromkeys([*([main] if main else []), *study.score.scorers]))
