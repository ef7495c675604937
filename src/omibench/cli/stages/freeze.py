"""The command `omibench freeze`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from omibench.cli.options import Out, Override, Params, read_study
from omibench.text.terminal import say


def freeze(
    out: Out,
    problems: Annotated[
        Path | None,
        typer.Argument(
            metavar="PROBLEMS",
            help="problems.jsonl of the previous stage; none for a published benchmark.",
        ),
    ] = None,
    params: Params = "params.yaml",
    override: Override = None,
) -> None:
    """Freeze the dataset: questions, answers and images, with the decisions of the review.

    \b
    Example:
      omibench freeze results/rationale/problems.jsonl --out results/freeze
    """
    from omibench.files.outputs import output_folder
    from omibench.graph.provenance.reading import check_inputs
    from omibench.stages.freeze import freeze_dataset

    study = read_study(params, override)
    out = output_folder(out, study.study.store)
    check_inputs(problems)
    manifest = freeze_dataset(problems, out, study)
    say(
        f"{manifest.name} {manifest.version}: {manifest.problems} problems, "
        f"{manifest.images} images",
        err=True,
    )
    if manifest.without_rationale and not manifest.without_rationale_allowed and problems:
        say(
            f"{manifest.without_rationale} of {manifest.problems} problems have no rationale; a "
            "release needs one for each, or `freeze: {allow_without_rationale: true}`",
            err=True,
        )
