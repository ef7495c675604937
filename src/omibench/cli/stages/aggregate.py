"""The verb `omibench aggregate`."""

from __future__ import annotations

from pathlib import Path

from omibench.cli.options import ModelName, OutFile, Params, Results, SettingName
from omibench.text.terminal import say


def aggregate(
    out: OutFile,
    model: ModelName,
    setting: SettingName,
    results: Results = Path("results"),
    params: Params = "params.yaml",
) -> None:
    """Say what several samples of one problem are worth together.

    pass@k and consistency@k, and which sample the setting's `aggregate` chooses: by majority, by
    a reward model's marks or by a tournament. Reward models are asked through the store.

    \b
    Example:
      omibench aggregate --model m --setting vote-8 --out results/aggregate/m/vote-8.parquet
    """
    from omibench.errors import ParamsError
    from omibench.files.outputs import output_parquet
    from omibench.graph.job_hash import job_hash
    from omibench.graph.provenance.reading import check_inputs, frozen_files
    from omibench.params.cell import Cell
    from omibench.params.study import load_study
    from omibench.schemas.validation import suggest_name
    from omibench.stages.aggregate import aggregate_cell

    study = load_study(params)
    cell_file = f"{model}/{setting}.parquet"
    read = [results / stage / cell_file for stage in ("infer", "score")]
    out = output_parquet(out, study.study.store, *read)
    if setting not in study.settings:
        hint = suggest_name(setting, study.settings)
        raise ParamsError(f"--setting {setting!r} is not defined{hint}")
    check_inputs(*read, *frozen_files(results))
    cell = Cell(model, setting)
    rows = aggregate_cell(results, out, study, cell, job_hash(study, "aggregate", cell))
    say(f"{rows} rows written to {out}", err=True)
