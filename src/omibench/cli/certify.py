"""The verb `omibench certify`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from omibench.cli.options import Params, Results

if TYPE_CHECKING:
    from omibench.certificate import Certificate, Measure


def certify(
    labels: Annotated[
        Path, typer.Argument(help="CSV or JSONL: id, label, and perhaps model, setting, index.")
    ],
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder to write into.")],
    results: Results = Path("results"),
    params: Params = "params.yaml",
) -> None:
    """Hold the judge against the labels of people.

    Writes certificate.json (agreement, kappa, Spearman, true and false positive rates by answer
    type, accuracy corrected for the judge's errors, rules against judge) and disagreements.jsonl,
    to be read, under --out. Asks no model.

    \b
    Example:
      omibench certify labels.csv --results results --out results/certify
    """
    from omibench.certify import certify_judge
    from omibench.study import load_study
    from omibench.tables import output_folder, spare_inputs

    out = output_folder(out)
    spare_inputs(out / "disagreements.jsonl", labels)
    typer.echo(_told(certify_judge(labels, results, out, load_study(params))))
    typer.echo(f"certificate.json and disagreements.jsonl written to {out}", err=True)


def _told(found: Certificate) -> str:
    mark = "[SIMULATED] " if found.simulated else ""
    lines = [f"{mark}{found.judge} against {found.n} labels of {found.problems} problems"]
    for kind, quality in found.quality.items():
        rates = [("agreement", quality.agreement), ("kappa", quality.kappa),
                 ("TPR", quality.tpr), ("FPR", quality.fpr)]  # fmt: skip
        lines.append(f"  {kind:<5} " + "  ".join(f"{name} {_figure(m)}" for name, m in rates))
    return "\n".join(lines)


def _figure(measure: Measure) -> str:
    if measure.value is None:
        return "not known"
    lo, hi = ("–" if bound is None else f"{bound:.3f}" for bound in (measure.lo, measure.hi))
    return f"{measure.value:.3f} [{lo}, {hi}]"
