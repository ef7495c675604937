"""Studies in Python: their parameters, and a plan of their requests and costs."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from pathlib import Path

from omibench.api.arguments import check_kind, check_path
from omibench.errors import ArgumentError, MissingInputError
from omibench.params.study import Study
from omibench.plan.build import plan_study as plan_cells
from omibench.plan.building import names_building_models
from omibench.plan.rehearsal import is_made_up, made_up_questions, rehearse
from omibench.plan.rows import Plan
from omibench.plan.study_file import read_study
from omibench.plan.text import render


def load_study(
    params: str | Path | Mapping[str, object] = "params.yaml",
    *,
    overrides: Mapping[str, object] | None = None,
) -> Study:
    """Load a study's parameters.

    Examples:
        >>> study = omibench.load_study("studies/emma_recorded.yaml", overrides={"data": "emma"})
        >>> study.settings["cot"].decoding.samples
        1

    Args:
        params: Path of a params.yaml, or its blocks as a mapping.
        overrides: Top-level keys that replace those of the file.

    Returns:
        The study: its blocks are attributes, and `cells` lists its models under their settings. It
        is the rehearsal, with simulated models, if the parameters set `simulated: true`.

    Raises:
        ArgumentError: If an argument has the wrong type.
        ParamsError: If the file cannot be read, or a key or value is invalid; gives the line and
            a correction.
    """
    if overrides is not None:
        check_kind("overrides", overrides, Mapping, "give a mapping of top-level keys")
    if isinstance(params, Mapping):
        return read_study(params, overrides, source="overrides")
    if not isinstance(params, str | PathLike) or not str(params):
        raise ArgumentError(
            f"params: is {params!r}; give the path of a params.yaml, or its blocks as a mapping"
        )
    return read_study(Path(params), overrides, source="overrides")


def plan_study(study: Study, questions: str | Path | None = None) -> Plan:
    """Plan a study: requests, tokens, dollars and hours of each cell. Sends nothing.

    Examples:
        >>> plan = omibench.plan_study(omibench.load_study("params.yaml"))
        >>> sum(row.to_buy for row in plan.rows)
        216

    Args:
        study: Study returned by `load_study`.
        questions: Frozen questions; by default those in the study's results. Synthetic problems
            are generated for the plan. Without a frozen dataset, only the models that read, filter
            and annotate problems are planned.

    Returns:
        One row for each model that a cell calls, its budget and its detectable difference.

    Raises:
        ArgumentError: If an argument has the wrong type.
        MissingInputError: If the dataset is not frozen yet and no model helps to build it.
        ModelError: If the parameters of a model contradict each other.
    """
    check_kind("study", study, Study, "give the result of omibench.load_study")
    study = rehearse(study)
    if questions is not None:
        path = check_path("questions", questions)
        if not path.is_file():
            raise MissingInputError(f"{path}: the file does not exist; give frozen questions")
        return plan_cells(study, path)
    frozen = Path(study.study.results) / "freeze" / "questions.jsonl"
    if frozen.is_file():
        return plan_cells(study, frozen)
    if is_made_up(study):
        with made_up_questions(study) as (_, made_up):
            return plan_cells(study, made_up)
    if names_building_models(study):
        return plan_cells(study, frozen)
    raise MissingInputError(
        f"{frozen}: the dataset is not frozen yet; run `snakemake freeze_all --cores all`"
    )


def describe_plan(plan: Plan) -> str:
    """Format a plan as `omibench plan` prints it: a table, its totals, and notes.

    Args:
        plan: Plan returned by `plan_study`.

    Returns:
        Lines of text.

    Raises:
        ArgumentError: If it is not a plan.
    """
    check_kind("plan", plan, Plan, "give the result of omibench.plan_study")
    return render(plan)
