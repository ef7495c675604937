"""The commands that share results and verify them, and those that print what the code says."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from omibench.cli.options import Params
from omibench.errors import UntrustedError
from omibench.text.terminal import say, say_lines


def record(
    stages: Annotated[
        list[str], typer.Argument(metavar="STAGE", help="Stages, such as infer; or inputs.")
    ],
    params: Params = "params.yaml",
) -> None:
    """Write provenance.json for each stage.

    It contains the hash of every file with the parameters, inputs and code that Snakemake recorded
    for it. Run it before you share results; `dvc repro` does so itself. Without provenance.json,
    Snakemake on another machine rebuilds the results.

    `inputs` writes the hashes of what each stage of dvc.yaml reads, to the folder `inputs` of the
    results: files that parameters name, code and packages. A stage of DVC depends on them, so that
    `dvc repro` notices a change.

    \b
    Example:
      omibench record infer
    """
    from omibench.cli.options import show_study
    from omibench.graph.provenance import record_stage
    from omibench.results.study_record import record_study
    from omibench.study.dvc_inputs import INPUTS, write_input_hashes

    study = show_study(params)
    results = Path(study.study.results)
    if INPUTS in stages:
        write_input_hashes(study)
        stages = [stage for stage in stages if stage != INPUTS]
    if "infer" in stages:
        record_study(study, results)
    for stage in stages:
        record_stage(results, stage)


def trust(
    params: Params = "params.yaml",
    outdated: Annotated[
        bool,
        typer.Option(
            "--outdated", help="Accept results that the current parameters would make differently."
        ),
    ] = False,
    verify: Annotated[
        bool, typer.Option("--verify", help="Only compare every file with its hash.")
    ] = False,
) -> None:
    """Verify pulled results and register them with Snakemake.

    Run it after `dvc pull` or `dvc checkout`. It compares every file with the hashes in
    provenance.json and dvc.lock, registers how the files were made with Snakemake, and checks that
    the current parameters and omibench's own rules would make the same. Differences are listed by
    stage and file; then nothing is registered, and the exit code is 2. No code of the folder runs:
    neither its Snakefile and profiles nor plug-ins, whose effect is therefore not checked.

    With --verify, it only compares every file with the hash taken when its job ended. Snakemake
    itself compares only sizes and times.

    \b
    Example:
      dvc pull && omibench trust
      omibench trust --verify
    """
    from omibench.cli.options import show_study
    from omibench.graph.provenance import find_strangers
    from omibench.graph.stages import STAGE_NAMES
    from omibench.graph.trust import (
        adopt_strangers,
        check_files,
        check_graph,
        check_lock,
        explain_missing_results,
        name_differences,
        refuse_differences,
    )

    study = show_study(params)
    results = Path(study.study.results)
    if verify:
        _verify(results, params)
        return
    odd = find_strangers(results, STAGE_NAMES)
    differences = check_files(results, STAGE_NAMES) or (
        [] if outdated else check_lock(results, odd)
    )
    refuse_differences(differences)
    adopted = adopt_strangers(results, STAGE_NAMES)
    checks_graph = not outdated and not study.plugins
    if checks_graph and (differences := check_graph(results, params)):
        raise UntrustedError(
            *name_differences(differences),
            *explain_missing_results(),
            "The current parameters, code or inputs would make these differently: "
            "check out the ones that made them, or run snakemake, which rebuilds only these",
        )
    stages = ", ".join(adopted) if adopted else "nothing new"
    say(f"trusted: {stages}" + ("; Snakemake has nothing to rebuild" if checks_graph else ""))
    if study.plugins and not outdated:
        say("not checked: whether the plug-ins make the same; read them, then run `snakemake -n`")


def _verify(results: Path, params: str) -> None:
    from omibench.graph.provenance import refusal, verify_results
    from omibench.graph.stages import STAGE_NAMES

    verification = verify_results(results, STAGE_NAMES)
    if verification.changed:
        raise refusal(
            verification.changed, "" if params == "params.yaml" else f"--configfile {params}"
        )
    if verification.unknown:
        count = len(verification.unknown)
        say(f"not known: {count:,} files that no job recorded, such as {verification.unknown[0]}")
    say(f"verified: {verification.files:,} files in {results} are as their jobs wrote them")


# The command `omibench code-hash`.


def code_hash(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="A model's folder.")],
) -> None:
    """Print the Python files in a model's folder and their hash.

    A model with `trust_remote_code: true` needs the hash as its `revision`. Read the files before
    you enter it: they run with your permissions.

    \b
    Example:
      omibench code-hash checkpoints/new-reader
    """
    from omibench.models.local.checkpoint import hash_code, list_code

    digest = hash_code(folder)
    lines = [*(f"runs      {folder / file}" for file in list_code(folder)), f"revision  {digest}"]
    say_lines("\n".join(lines))


# The commands that print documents generated from the types: schema, files.


def schema() -> None:
    """Print the JSON schema of parameter files.

    \b
    Example:
      omibench schema > schemas/params.schema.json
    """
    from omibench.graph.result_files import params_schema

    say_lines(params_schema())


def files() -> None:
    """Print a table of every file that omibench writes.

    \b
    Example:
      omibench files > docs/files.md
    """
    from omibench.graph.result_files import files_table

    say_lines(files_table())
