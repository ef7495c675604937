"""The command `omibench analyze`."""

from __future__ import annotations

from omibench.cli.options import Out, Params, ResultsArgument, find_results, read_study
from omibench.text.terminal import say_lines


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
    from omibench.graph.provenance.reading import check_inputs
    from omibench.graph.stages import find_stage
    from omibench.results.study_files import RECORD
    from omibench.results.study_record import record_study
    from omibench.stages.analyze import analyze_study

    study = read_study(params, None)
    results = find_results(results, study)
    out = output_folder(out, study.study.store)
    check_inputs(*(results / stage for stage in find_stage("analyze").inputs))
    is_own = out.resolve() == (results / "analyze").resolve()
    if is_own or not (results / RECORD).is_file():
        record_study(study, results)
    headline = analyze_study(results, out, study)
    say_lines(headline)
