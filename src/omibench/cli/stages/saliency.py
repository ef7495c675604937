"""The command `omibench saliency`."""

from __future__ import annotations

from omibench.cli.options import (
    ModelName,
    OutFile,
    Params,
    Results,
    SettingName,
    find_cell,
    find_results,
)
from omibench.text.terminal import say


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
    from omibench.graph.provenance.reading import check_inputs, frozen_files
    from omibench.plan.study_file import read_study
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
