"""The command `omibench aggregate`."""

from __future__ import annotations

from omibench.cli.options import (
    ModelName,
    OutFile,
    Params,
    Results,
    SettingName,
    check_names,
    find_results,
)
from omibench.text.terminal import say


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
    from omibench.graph.provenance.reading import check_inputs, frozen_files
    from omibench.params.cell import Cell
    from omibench.plan.study_file import read_study
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
