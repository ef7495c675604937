"""The verbs `omibench record` and `omibench trust`: results that are brought from elsewhere."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from omibench.cli.options import Params
from omibench.errors import UntrustedError
from omibench.text.terminal import say

if TYPE_CHECKING:
    from omibench.graph.provenance.trust import Difference

NAMED = 10
"""Files of one stage that are named."""


def record(
    stages: Annotated[list[str], typer.Argument(metavar="STAGE...", help="Such as infer.")],
    params: Params = "params.yaml",
) -> None:
    """Write down how results were made, before you share them.

    Writes provenance.json into each stage's folder: the parameters, inputs and code that Snakemake
    has on record for every file, and the file's hash. `dvc repro` runs this by itself. Without
    it these results cannot be continued: Snakemake would rebuild all of them.

    \b
    Example:
      omibench record infer
    """
    from omibench.graph.provenance.provenance import record_stage
    from omibench.params.study import load_study

    results = Path(load_study(params).study.results)
    for stage in stages:
        record_stage(results, stage)


def trust(
    params: Params = "params.yaml",
    outdated: Annotated[
        bool,
        typer.Option("--outdated", help="Use also what today's parameters would make otherwise."),
    ] = False,
    verify: Annotated[
        bool, typer.Option("--verify", help="Read every file again, and nothing else.")
    ] = False,
) -> None:
    """Check results of `dvc pull`, and let Snakemake use them.

    Run it after `dvc pull` and `dvc checkout`. It compares every file with the hashes in
    provenance.json and in dvc.lock, gives Snakemake the records of how they were made, and asks it
    whether today's parameters and code would make the same. Differences are named by stage and
    file; then nothing is used, and the exit code is 2.

    With --verify it only reads every file again, and compares it with the hash that was noted when
    its job had ended. A run of Snakemake compares sizes and times alone.

    \b
    Example:
      dvc pull && omibench trust
      omibench trust --verify
    """
    from omibench.graph.provenance.held import explain_missing_results
    from omibench.graph.provenance.provenance import find_strangers
    from omibench.graph.provenance.trust import (
        adopt_strangers,
        check_files,
        check_graph,
        check_lock,
    )
    from omibench.graph.stages import STAGE_NAMES
    from omibench.params.study import load_study

    results = Path(load_study(params).study.results)
    if verify:
        _verify(results, params)
        return
    odd = find_strangers(results, STAGE_NAMES)
    differences = check_files(results, STAGE_NAMES) or (
        [] if outdated else check_lock(results, odd)
    )
    if differences:
        raise UntrustedError(
            *_name_differences(differences),
            "Nothing was trusted: bring the files back (`dvc checkout --force`, "
            "`dvc pull`), or delete the folders of these stages and run snakemake",
        )
    adopted = adopt_strangers(results, STAGE_NAMES)
    if not outdated and (differences := check_graph(results, params)):
        raise UntrustedError(
            *_name_differences(differences),
            *explain_missing_results(),
            "These are not what the parameters, code and inputs of today make: "
            "check out those that made them, or run snakemake, which makes just these again",
        )
    stages = ", ".join(adopted) if adopted else "nothing new"
    say(f"trusted: {stages}" + ("" if outdated else "; Snakemake has nothing to do"))


def _verify(results: Path, params: str) -> None:
    from omibench.graph.provenance.verify import verify_results
    from omibench.graph.provenance.written_files import refusal
    from omibench.graph.stages import STAGE_NAMES

    verification = verify_results(results, STAGE_NAMES)
    if verification.changed:
        raise refusal(
            verification.changed, "" if params == "params.yaml" else f"--configfile {params}"
        )
    if verification.unknown:
        count = len(verification.unknown)
        say(
            f"not known: {count:,} files, which no job has noted, such as {verification.unknown[0]}"
        )
    say(f"verified: {verification.files:,} files of {results} are what their jobs have written")


def _name_differences(differences: list[Difference]) -> list[str]:
    lines = []
    for stage, group in groupby(sorted(differences), key=lambda difference: difference.stage):
        texts = [difference.description for difference in group]
        lines += [f"  {stage}: {text}" for text in texts[:NAMED]]
        if len(texts) > NAMED:
            lines.append(f"  {stage}: ... and {len(texts) - NAMED:,} more")
    return [f"{len(differences):,} things differ:", *lines]
