"""The command `omibench saliency`."""

from __future__ import annotations

from omibench.cli.options import ModelName, OutFile, Params, Results, SettingName, find_results
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
    from omibench.errors import ParamsError
    from omibench.files.outputs import output_parquet
    from omibench.graph.job_hash import job_hash
    from omibench.graph.provenance.reading import check_inputs, frozen_files
    from omibench.params.cell import Cell
    from omibench.plan.study_file import read_study
    from omibench.schemas.validation import suggest_name
    from omibench.stages.saliency.stage import saliency_cell

    study = read_study(params)
    results = find_results(results, study)
    cell_file = f"{model}/{setting}.parquet"
    read = [results / stage / cell_file for stage in ("infer", "score")]
    out = output_parquet(out, study.study.store, *read)
    for option, name, names in (
        ("--model", model, study.models), ("--setting", setting, study.settings)
    ):  # fmt: skip
        if name not in names:
            raise ParamsError(f"{option} {name!r} is not defined{suggest_name(name, names)}")
    check_inputs(read[0], *frozen_files(results))
    cell = Cell(model, setting)
    rows = saliency_cell(results, out, study, cell, job_hash(study, "saliency", cell))
    say(f"{rows} rows written to {out}", err=True)
