"""The commands that query models: `omibench infer`, and `omibench fill` before it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from omibench.cli.options import (
    Ids,
    LimitTo,
    ModelName,
    Out,
    OutFile,
    Override,
    Params,
    QuestionsFile,
    Results,
    ResultsArgument,
    Sample,
    Seed,
    SettingName,
    check_names,
    find_cell,
    find_results,
    make_limit,
    read_study,
)
from omibench.errors import ParamsError
from omibench.text.terminal import say, say_lines


def infer(
    questions: QuestionsFile,
    out: OutFile,
    model: ModelName,
    setting: SettingName,
    limit: LimitTo = None,
    ids: Ids = None,
    sample: Sample = None,
    seed: Seed = None,
    order: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Order of the problems of `omibench adaptive`: only those that its looks left.",
        ),
    ] = None,
    look: Annotated[
        int | None, typer.Option(min=1, help="With --order: only the problems that a look adds.")
    ] = None,
    params: Params = "params.yaml",
    override: Override = None,
) -> None:
    """Get the responses of one model to all questions under one setting.

    Responses in the store are not requested again. With --limit, --ids or --sample, only part of
    the questions is sent; a later complete run sends the rest.

    \b
    Example:
      omibench infer results/freeze/questions.jsonl --model sim-apex --setting cot \\
          --out results/infer/sim-apex/cot.parquet
    """
    from omibench.files.outputs import output_parquet
    from omibench.graph.job_hash import job_hash
    from omibench.graph.provenance import check_inputs
    from omibench.stages.infer import infer_cell
    from omibench.stages.infer.fill import infer_part
    from omibench.stages.infer.stage import limit_to_order

    study = read_study(params, override, study=make_limit(limit, ids, sample, seed))
    out = output_parquet(out, study.study.store)
    check_inputs(questions, questions.with_name("examples.jsonl"))
    cell = find_cell(study, model, setting)
    job = job_hash(study, "infer", cell)
    if look and not order:
        raise ParamsError(f"--look {look}: needs --order FILE")
    if order:
        check_inputs(order, None if look else order.with_name("looks.jsonl"))
        study = limit_to_order(study, cell, order, look)
    rows = (infer_part if look else infer_cell)(questions, out, study, cell, job)
    part = f" (partial run: {study.study.limit})" if study.study.limit else ""
    say(f"{rows} responses written to {out}{part}", err=True)


def fill(
    questions: QuestionsFile,
    model: ModelName,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="File for a note of the requests sent.")
    ] = None,
    as_helper: Annotated[
        bool,
        typer.Option(
            "--as-helper", help="Write captions and readings of pictures for other models instead."
        ),
    ] = False,
    params: Params = "params.yaml",
    override: Override = None,
) -> None:
    """Get the responses of one model under all its settings.

    Responses go into the store, from which `omibench infer` writes the cells, so that a local model
    is loaded only once. With --as-helper, the model writes captions and readings of pictures that
    are sent to other models.

    \b
    Example:
      omibench fill results/freeze/questions.jsonl --model my-local-model
      omibench fill results/freeze/questions.jsonl --model my-captioner --as-helper
    """
    from omibench.files.outputs import output_file
    from omibench.graph.provenance import check_inputs
    from omibench.params.study import list_settings
    from omibench.schemas.tables import write_text
    from omibench.stages.infer.fill import fill_helper, fill_model

    study = read_study(params, override)
    # The part of a study that a job gets lists settings, not cells.
    named = [n for n, s in study.settings.items() if model in s.helpers or not as_helper]
    settings = list_settings(study, "help" if as_helper else "infer", model) or named
    if not settings:
        raise ParamsError(
            f"--model {model}: no setting uses it for captions or readings of pictures"
        )
    find_cell(study, model, settings[0])
    out = output_file(out, study.study.store) if out else None
    check_inputs(questions, questions.with_name("examples.jsonl"))
    count = (fill_helper if as_helper else fill_model)(questions, study, model, settings)
    note = f"{count} responses of {model} under {', '.join(settings)} are in the store\n"
    if out:
        write_text(out, note)
    say_lines(note, err=True)


# The command `omibench saliency`.


def saliency(
    out: OutFile,
    model: ModelName,
    setting: SettingName,
    results: Results = None,
    params: Params = "params.yaml",
) -> None:
    """Measure which parts of the pictures a model's choice depends on.

    Slides a black square over each picture of multiple-choice problems and measures the
    log-probability of every option at each position. Heat maps are written to a folder with the
    name of --out without its suffix.

    \b
    Example:
      omibench saliency --model m --setting usnco-v --out results/saliency/m/usnco-v.parquet
    """
    from omibench.files.outputs import output_parquet
    from omibench.graph.job_hash import job_hash
    from omibench.graph.provenance import check_inputs, frozen_files
    from omibench.stages.saliency.stage import saliency_cell

    study = read_study(params)
    results = find_results(results, study)
    cell_file = f"{model}/{setting}.parquet"
    read = [results / stage / cell_file for stage in ("infer", "score")]
    out = output_parquet(out, study.study.store, *read)
    cell = find_cell(study, model, setting)
    check_inputs(read[0], *frozen_files(results))
    rows = saliency_cell(results, out, study, cell, job_hash(study, "saliency", cell))
    say(f"{rows} rows written to {out}", err=True)


# The command `omibench aggregate`.


def aggregate(
    out: OutFile,
    model: ModelName,
    setting: SettingName,
    results: Results = None,
    params: Params = "params.yaml",
) -> None:
    """Combine several samples per problem: pass@k, consistency@k, and a selected sample.

    The setting's `aggregate` selects by majority vote, by the scores of a reward model, or by a
    tournament. Requests to reward models go through the store.

    \b
    Example:
      omibench aggregate --model m --setting vote-8 --out results/aggregate/m/vote-8.parquet
    """
    from omibench.files.outputs import output_parquet
    from omibench.graph.job_hash import job_hash
    from omibench.graph.provenance import check_inputs, frozen_files
    from omibench.params.setting import Cell
    from omibench.stages.aggregate import aggregate_cell

    study = read_study(params)
    results = find_results(results, study)
    cell_file = f"{model}/{setting}.parquet"
    read = [results / stage / cell_file for stage in ("infer", "score")]
    out = output_parquet(out, study.study.store, *read)
    check_names(study, None, [setting])
    check_inputs(*read, *frozen_files(results))
    cell = Cell(model, setting)
    rows = aggregate_cell(results, out, study, cell, job_hash(study, "aggregate", cell))
    say(f"{rows} rows written to {out}", err=True)


# The command `omibench analyze`.


def analyze(
    out: Out,
    results: ResultsArgument = None,
    params: Params = "params.yaml",
) -> None:
    """Write tables, figures and the report from all scores.

    \b
    Example:
      omibench analyze results --out results/analyze
    """
    from omibench.files.outputs import output_folder
    from omibench.graph.provenance import check_inputs
    from omibench.graph.stages import find_stage
    from omibench.results.study_files import RECORD
    from omibench.results.study_record import record_study
    from omibench.stages.analyze import analyze_study

    study = read_study(params)
    results = find_results(results, study)
    out = output_folder(out, study.study.store)
    check_inputs(*(results / stage for stage in find_stage("analyze").inputs))
    is_own = out.resolve() == (results / "analyze").resolve()
    if is_own or not (results / RECORD).is_file():
        record_study(study, results)
    headline = analyze_study(results, out, study)
    say_lines(headline)
