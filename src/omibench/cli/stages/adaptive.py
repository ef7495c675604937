"""The commands of `omibench adaptive`, which the graph runs for `infer.adaptive`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from omibench.cli.options import Params, QuestionsFile, make_group, read_study
from omibench.errors import ParamsError
from omibench.text.terminal import say

if TYPE_CHECKING:
    from omibench.params.stages.infer import Adaptive
    from omibench.params.study import Study

adaptive_app = make_group("adaptive", "Ask only cells that can still be the best.")
JsonFile = Annotated[Path, typer.Option("--out", metavar="FILE", help="File to write.")]


@adaptive_app.command()
def order(questions: QuestionsFile, out: JsonFile, params: Params = "params.yaml") -> None:
    """Write the order in which all cells answer the problems.

    \b
    Example:
      omibench adaptive order results/freeze/questions.jsonl --out results/infer/adaptive/order.json
    """
    from omibench.files.outputs import output_file
    from omibench.graph.provenance import check_inputs
    from omibench.params.study_params import apply_limit
    from omibench.schemas.tables import write_json
    from omibench.settings.tasks import load_questions
    from omibench.stages.infer.looks import order_problems

    study = read_study(params)
    adaptive = _require_adaptive(study)
    out = output_file(out, study.study.store)
    check_inputs(questions)
    selected = apply_limit(load_questions(questions), study.study.limit)
    made = order_problems(selected, adaptive, study.study.seed)
    write_json(out, made)
    say(f"{len(made.ids):,} problems in the order {made.sha256[:16]}", err=True)


@adaptive_app.command()
def look(
    number: Annotated[int, typer.Argument(metavar="LOOK", min=1, help="The look, from 1.")],
    cell: Annotated[
        list[str], typer.Option("--cell", metavar="MODEL/SETTING", help="A cell of the study.")
    ],
    out: JsonFile,
    params: Params = "params.yaml",
) -> None:
    """Compare the cells on what they have answered, and record which of them stop.

    The order of the problems, the record of the look before and the verdicts are in the folder of
    --out; the output has the records of all looks so far.

    \b
    Example:
      omibench adaptive look 1 --cell m/cot --cell n/cot --out results/infer/adaptive/looks-1.jsonl
    """
    from omibench.files.outputs import output_file
    from omibench.graph.provenance import check_inputs
    from omibench.schemas.adaptive import (
        Look,
        ProblemOrder,
        list_compared,
        locate_verdicts,
    )
    from omibench.schemas.tables import read_jsonl, read_typed_json, write_jsonl
    from omibench.stages.infer.looks import hold_look, read_values

    study = read_study(params)
    adaptive = _require_adaptive(study)
    out = output_file(out, study.study.store)
    folder, before = out.parent, out.with_name(f"looks-{number - 1}.jsonl")
    check_inputs(folder / "order.json", before if number > 1 else None)
    made = read_typed_json(folder / "order.json", ProblemOrder)
    if number > len(made.looks):
        raise ParamsError(f"look {number}: {folder / 'order.json'} has {len(made.looks)} looks")
    earlier = read_jsonl(before, Look) if number > 1 else []
    pairs = [(model, setting) for model, _, setting in (text.partition("/") for text in cell)]
    compared = list_compared(earlier, pairs, adaptive.keep)
    parts = range(1, number + 1)
    check_inputs(*(locate_verdicts(folder, part, pair) for pair in compared for part in parts))
    values = {pair: read_values(folder, number, pair, adaptive.scorer) for pair in compared}
    record = hold_look(made, earlier, pairs, values, adaptive)
    write_jsonl(out, [*earlier, record])
    say(f"look {number}: {len(record.stopped)} of {len(record.open)} open cells stop", err=True)


def _require_adaptive(study: Study) -> Adaptive:
    if study.infer.adaptive is None:
        raise ParamsError("infer.adaptive: is not set, so no look is planned")
    return study.infer.adaptive
