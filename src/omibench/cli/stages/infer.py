"""The commands that query models: `omibench infer`, and `omibench fill` before it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from omibench.cli.options import (
    Ids,
    LimitTo,
    ModelName,
    OutFile,
    Override,
    Params,
    QuestionsFile,
    Sample,
    Seed,
    SettingName,
    find_cell,
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
    from omibench.graph.provenance.reading import check_inputs
    from omibench.stages.infer import infer_cell

    study = read_study(params, override, study=make_limit(limit, ids, sample, seed))
    out = output_parquet(out, study.study.store)
    check_inputs(questions, questions.with_name("examples.jsonl"))
    cell = find_cell(study, model, setting)
    rows = infer_cell(questions, out, study, cell, job_hash(study, "infer", cell))
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
    from omibench.graph.provenance.reading import check_inputs
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
