"""The command `omibench rationale`."""

from __future__ import annotations

from pathlib import Path

from omibench.cli.options import Out, Params, ProblemsFile, read_study
from omibench.text.terminal import say


def rationale(problems: ProblemsFile, out: Out, params: Params = "params.yaml") -> None:
    """Write missing rationales and label topics.

    Uses the models under `rationale` in the parameters; without models, problems stay unchanged.

    \b
    Example:
      omibench rationale results/filter/problems.jsonl --out results/rationale
    """
    from omibench.files.outputs import output_folder, spare_inputs
    from omibench.graph.provenance.reading import check_inputs
    from omibench.stages.rationale import write_rationales

    study = read_study(params, None)
    out = output_folder(out, study.study.store)
    spare_inputs(out / "problems.jsonl", problems)
    taxonomy = study.rationale.taxonomy
    edited = Path(taxonomy.file) if taxonomy and taxonomy.file else None
    spare_inputs(out / "labels.yaml", edited)
    check_inputs(problems)
    count = write_rationales(problems, out, study)
    say(f"{count} problems written to {out}", err=True)
