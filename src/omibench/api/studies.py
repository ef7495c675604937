"""Studies in Python: their parameters, and what they would ask and cost."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from pathlib import Path

from omibench.api.arguments import check_kind, check_path
from omibench.errors import ArgumentError, MissingInputError
from omibench.params import study as study_params
from omibench.params.study import Study
from omibench.plan import plan_study as plan_cells
from omibench.plan import render
from omibench.plan.rehearsal import is_made_up, made_up_questions, rehearse
from omibench.plan.rows import Plan


def load_study(
    params: str | Path | Mapping[str, object] = "params.yaml",
    *,
    overrides: Mapping[str, object] | None = None,
) -> Study:
    """Load a study's parameters.

    Example:
        >>> study = omibench.load_study("studies/emma_recorded.yaml", overrides={"data": "emma"})
        >>> study.settings["cot"].decoding.samples
        1

    Args:
        params: The path of a params.yaml, or its blocks as a mapping.
        overrides: Top-level keys in place of those of the file.

    Returns:
        The study: its blocks are attributes, and `cells` are its models under their settings.

    Raises:
        ArgumentError: An argument is of a wrong type.
        ParamsError: The file cannot be read, or a key or value is wrong; says which, in which
            line, and what to write.
    """
    if overrides is not None:
        check_kind("overrides", overrides, Mapping, "give a mapping of top-level keys")
    if isinstance(params, Mapping):
        values = {**params, **(overrides or {})}
        sources = dict.fromkeys(overrides or {}, "overrides")
        return study_params.parse_study(values, "params", overrides=sources)
    if not isinstance(params, str | PathLike) or not str(params):
        raise ArgumentError(
            f"params: is {params!r}; give the path of a params.yaml, or its blocks as a mapping"
        )
    return study_params.load_study(Path(params), overrides, source="overrides")


def plan_study(study: Study, questions: str | Path | None = None) -> Plan:
    """Plan a study: requests, tokens, dollars and hours of each cell. Sends nothing.

    Example:
        >>> plan = omibench.plan_study(omibench.load_study("params.yaml"))
        >>> sum(row.to_buy for row in plan.rows)
        216

    Args:
        study: As `load_study` gives it.
        questions: The frozen questions; by default those in the study's results. Where the
            study's problems are made up, they are made for the plan.

    Returns:
        One row for each model that a cell asks, its budget and what it could detect.

    Raises:
        ArgumentError: An argument is of a wrong type.
        MissingInputError: The dataset is not frozen yet.
        ModelError: A model contradicts itself.
    """
    check_kind("study", study, Study, "give what omibench.load_study returns")
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
    raise MissingInputError(
        f"{frozen}: there is no frozen dataset yet; make it with `snakemake freeze_all --cores all`"
    )


def describe_plan(plan: Plan) -> str:
    """Describe a plan as `omibench plan` prints it: a table, its totals, and what to know.

    Args:
        plan: As `plan_study` gives it.

    Returns:
        Lines of text.

    Raises:
        ArgumentError: It is no plan.
    """
    check_kind("plan", plan, Plan, "give what omibench.plan_study returns")
    return render(plan)
