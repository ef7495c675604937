"""The verb `omibench analyze`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from omibench.cli.options import (
    Out,
    Params,
    read_study,
)
from omibench.text.terminal import say_lines


def analyze(
    results: Annotated[Path, typer.Argument(help="Folder that holds freeze/, infer/ and score/.")],
    out: Out,
    params: Params = "params.yaml",
) -> None:
    """Summarise scores in tables and a report.

    \b
    Example:
      omibench analyze results --out results/analyze
    """
    from omibench.files.outputs import output_folder
    from omibench.graph.provenance.reading import check_inputs
    from omibench.graph.stages import find_stage
    from omibench.stages.analyze import analyze_study

    study = read_study(params, None)
    out = output_folder(out, study.study.store)
    check_inputs(*(results / stage for stage in find_stage("analyze").inputs))
    headline = analyze_study(results, out, study)
    say_lines(headline)
