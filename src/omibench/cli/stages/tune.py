"""The command `omibench tune`."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Annotated

import typer

from omibench.cli.options import Params, QuestionsFile, read_study
from omibench.errors import ModelError, ParamsError
from omibench.text.terminal import say


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
