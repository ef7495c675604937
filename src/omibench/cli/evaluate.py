"""The commands that query models: tune, infer, fill, adaptive, experts; and those after them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from omibench.cli.options import (
    DEFAULT_PARAMS,
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
    make_group,
    make_limit,
    read_study,
    show_study,
)
from omibench.errors import ModelError, ParamsError
from omibench.text.terminal import say, say_lines

if TYPE_CHECKING:
    from omibench.params.stages.infer import Adaptive
    from omibench.params.study import Study


def tune(
    questions: QuestionsFile,
    out: Annotated[
        Path, typer.Option(metavar="FILE.json", help="Record to write, in the model's folder.")
    ],
    model: Annotated[str, typer.Option(help="A key of params `tune`.")],
    gpus: Annotated[int, typer.Option(min=1, help="Train on so many GPUs of this machine.")] = 1,
    params: Params = "params.yaml",
) -> None:
    """Fine-tune a model on conversations with pictures.

    Writes the weights, the record, the losses and a report on the training set into the folder of
    --out. Conversations that share a text or picture with the questions are listed, and dropped if
    `drop_leaks` is set. A stopped run continues from its last checkpoint.

    \b
    Example:
      omibench tune results/freeze/questions.jsonl --model qwen3-vl-8b-mmdu \\
          --out results/tune/qwen3-vl-8b-mmdu/tuned.json
    """
    from omibench.graph.job_hash import job_hash
    from omibench.graph.provenance import check_inputs
    from omibench.params.setting import Cell
    from omibench.schemas.validation import suggest_name
    from omibench.stages.tune.stage import tune_model

    study = read_study(params)
    if model not in study.tune:
        raise ParamsError(f"--model {model!r} is not in `tune`{suggest_name(model, study.tune)}")
    check_inputs(questions)
    if gpus > 1 and "LOCAL_RANK" not in os.environ:
        _launch(study.tune[model].sharding or "copies", gpus)
        return
    record = tune_model(questions, out, study, model, job_hash(study, "tune", Cell(model, "")))
    say(f"{model}: {record.steps} steps on {record.conversations} conversations", err=True)


def _launch(sharing: str, gpus: int) -> None:
    """Run the same command in one process per GPU."""
    from omibench.extras import require_extra
    from omibench.files.locations import find_shipped
    from omibench.files.programs import isolate_env, python_module

    require_extra("tune", "training on several GPUs", "accelerate")
    config = find_shipped("profiles") / "accelerate" / f"{sharing}.yaml"
    launcher = python_module("accelerate.commands.launch", "--config_file", str(config))
    command = [*launcher, "--num_processes", str(gpus), "-m", "omibench", *sys.argv[1:]]
    ended = subprocess.run(command, env=isolate_env(os.environ), check=False)
    if ended.returncode:
        raise ModelError(f"training on {gpus} GPUs ended with exit status {ended.returncode}")


# The commands `omibench infer`, and `omibench fill` before it.


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
    from omibench.stages.infer.stage import infer_part, limit_to_order

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
    from omibench.stages.infer.stage import fill_helper, fill_model

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


# The commands of `omibench adaptive`, which the graph runs for `infer.adaptive`.

adaptive_app = make_group("adaptive", "Ask only cells that can still be the best.")
JsonFile = Annotated[Path, typer.Option("--out", metavar="FILE", help="File to write.")]


@adaptive_app.command()
def order(questions: QuestionsFile, out: JsonFile, params: Params = "params.yaml") -> None:
    """Write the order in which all cells answer the problems.

    \b
    Example:
      omibench adaptive order results/freeze/questions.jsonl --out results/infer/adaptive/order.json
    """
    from omibench.files.outputs import output_file
    from omibench.graph.provenance import check_inputs
    from omibench.params.study_params import apply_limit
    from omibench.schemas.tables import write_json
    from omibench.settings.tasks import load_questions
    from omibench.stages.infer.looks import order_problems

    study = read_study(params)
    adaptive = _require_adaptive(study)
    out = output_file(out, study.study.store)
    check_inputs(questions)
    selected = apply_limit(load_questions(questions), study.study.limit)
    made = order_problems(selected, adaptive, study.study.seed)
    write_json(out, made)
    say(f"{len(made.ids):,} problems in the order {made.sha256[:16]}", err=True)


@adaptive_app.command()
def look(
    number: Annotated[int, typer.Argument(metavar="LOOK", min=1, help="The look, from 1.")],
    cell: Annotated[
        list[str], typer.Option("--cell", metavar="MODEL/SETTING", help="A cell of the study.")
    ],
    out: JsonFile,
    params: Params = "params.yaml",
) -> None:
    """Compare the cells on what they have answered, and record which of them stop.

    The order of the problems, the record of the look before and the verdicts are in the folder of
    --out; the output has the records of all looks so far.

    \b
    Example:
      omibench adaptive look 1 --cell m/cot --cell n/cot --out results/infer/adaptive/looks-1.jsonl
    """
    from omibench.files.outputs import output_file
    from omibench.graph.provenance import check_inputs
    from omibench.schemas.adaptive import (
        Look,
        ProblemOrder,
        list_compared,
        locate_verdicts,
    )
    from omibench.schemas.tables import read_jsonl, read_typed_json, write_jsonl
    from omibench.stages.infer.looks import hold_look, read_values

    study = read_study(params)
    adaptive = _require_adaptive(study)
    out = output_file(out, study.study.store)
    folder, before = out.parent, out.with_name(f"looks-{number - 1}.jsonl")
    check_inputs(folder / "order.json", before if number > 1 else None)
    made = read_typed_json(folder / "order.json", ProblemOrder)
    if number > len(made.looks):
        raise ParamsError(f"look {number}: {folder / 'order.json'} has {len(made.looks)} looks")
    earlier = read_jsonl(before, Look) if number > 1 else []
    pairs = [(model, setting) for model, _, setting in (text.partition("/") for text in cell)]
    compared = list_compared(earlier, pairs, adaptive.keep)
    parts = range(1, number + 1)
    check_inputs(*(locate_verdicts(folder, part, pair) for pair in compared for part in parts))
    values = {pair: read_values(folder, number, pair, adaptive.scorer) for pair in compared}
    record = hold_look(made, earlier, pairs, values, adaptive)
    write_jsonl(out, [*earlier, record])
    say(f"look {number}: {len(record.stopped)} of {len(record.open)} open cells stop", err=True)


def _require_adaptive(study: Study) -> Adaptive:
    if study.infer.adaptive is None:
        raise ParamsError("infer.adaptive: is not set, so no look is planned")
    return study.infer.adaptive


# `omibench experts`: serve the experts that carry out tools.

experts_app = make_group("experts", "Serve the vision models that carry out tools.")


@experts_app.callback()
def _experts() -> None:
    """Keep the name of the one command."""


@experts_app.command()
def serve(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="Key of the block, if there are several.")
    ] = None,
    params: Annotated[
        str, typer.Option("--params", metavar="FILE", help="Parameter file of the study.")
    ] = DEFAULT_PARAMS,
) -> None:
    """Load the experts of a study and answer its jobs until you stop it.

    It listens at the block's `base_url`, on this machine only.

    \b
    Example:
      omibench experts serve
    """
    from omibench.models.experts.server import load_experts
    from omibench.params.models.tools import ExpertsModel

    models = show_study(params).models
    blocks = {key: block for key, block in models.items() if isinstance(block, ExpertsModel)}
    if name not in blocks and not (name is None and len(blocks) == 1):
        known = ", ".join(blocks) or "none; add a model block with `provider: experts`"
        raise ParamsError(f"{params}: give the name of one block of experts: {known}")
    block = blocks[name] if name else next(iter(blocks.values()))
    with load_experts(block) as server:
        say(f"{', '.join(block.experts)} at {block.base_url}; stop with Ctrl-C")
        server.serve_forever()
