"""The plan of a study, built cell by cell, and of its looks."""

from __future__ import annotations

import gc
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from math import ceil, isnan, nan
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import numpy as np

from omibench.answers.judges.panel import ASKS
from omibench.errors import OmibenchError
from omibench.models.client.ask import read_budget, read_spending, track
from omibench.models.cost import NO_HISTORY, estimate
from omibench.models.provider import group_calls, takes_images
from omibench.params.cells import Family, choose_family
from omibench.params.setting import Cell
from omibench.params.study import Study
from omibench.params.study_params import part_words
from omibench.results.statistics.intervals import SHARED_STEM, Floats, effective_size
from omibench.results.statistics.paired import ALPHA, DISCORDANT, detectable_difference
from omibench.results.statistics.sequential import LookPlan, hold_looks
from omibench.results.statistics.stems import estimate_stem_correlation
from omibench.results.study_files import StudyFiles
from omibench.schemas.cells import read_cell
from omibench.schemas.problem import Question
from omibench.schemas.request import NOT_BOUGHT, Outcome, Role
from omibench.settings.tasks import load_questions
from omibench.stages.infer.looks import order_problems
from omibench.store.store import Store
from omibench.study.plan.before_freeze import (
    count_asks,
    list_steps_before_freeze,
    names_readers,
    read_papers,
    uncounted_models,
)
from omibench.study.plan.dry_run import CellJudgements
from omibench.study.plan.plan import (
    ExpectedLooks,
    Plan,
    PlanRow,
    Power,
    ReadingCounts,
    Spent,
    Step,
    StudyView,
    describe_model,
    group_steps,
    list_steps,
)
from omibench.study.plan.responses import expect_responses, list_saliency_steps

_ABILITY: Final = (-0.85, 0.3)
"""Mean and standard deviation of abilities, with difficulties of N(0, 1): accuracies of 28 % with a
standard deviation of 6.6 points, as of the 31 models in OMIBench's table 2 (27.6 and 6.5)."""
_DISCRIMINATION: Final = 0.3
"""Standard deviation of the logarithm of items' discriminations."""
_SLOPE: Final = 1.7
"""Factor by which a logistic curve is a normal one."""
_DRAWS: Final = (10, 50)
_CELLS: Final = 1000
"""Cells simulated over all draws, within the bounds of draws."""


def expect_looks(study: Study, questions: Sequence[Question]) -> ExpectedLooks | None:
    """Simulate how many requests the looks of a study leave to be sent.

    Args:
        study: The study.
        questions: The problems to evaluate.

    Returns:
        The expected share; None without `infer.adaptive`.

    Raises:
        MissingExtraError: scipy is not installed.
        ParamsError: A look would add no problem.
    """
    adaptive = study.infer.adaptive
    if adaptive is None:
        return None
    order = order_problems(questions, adaptive, study.study.seed)
    plan = LookPlan(order.looks, adaptive.alpha, adaptive.spending)
    cells = study.cells
    keep = [place for place, cell in enumerate(cells) if cell.model in adaptive.keep]
    draws = min(max(_CELLS // len(cells), _DRAWS[0]), _DRAWS[1])
    shares, left = simulate_saving(plan, order.groups, len(cells), draws, keep)
    low, high = np.quantile(shares, [0.1, 0.9]).tolist()
    return ExpectedLooks(
        share=float(np.mean(shares)), low=low, high=high, left=float(np.mean(left)),
        draws=draws, keep=adaptive.keep,
    )  # fmt: skip


def simulate_saving(
    plan: LookPlan, groups: Sequence[str], cells: int, draws: int, keep: Collection[int] = ()
) -> tuple[list[float], list[int]]:
    """Draw verdicts of cells by a two-parameter logistic model, and hold the looks at them.

    Args:
        plan: The looks.
        groups: Cluster of each problem, in the order of asking.
        cells: Number of cells.
        draws: Number of draws; equal arguments give equal results.
        keep: Cells that are never stopped, which the shares leave out.

    Returns:
        The share of requests that each draw sends, and the number of cells that it leaves.
    """
    shares, left = [], []
    for seed in range(draws):
        rng = np.random.default_rng(seed)
        verdicts = draw_verdicts(rng, len(groups), rng.normal(*_ABILITY, cells))
        result = hold_looks(verdicts, groups, plan, keep)
        asked = [count for cell, count in enumerate(result.asked) if cell not in keep]
        shares.append(float(np.mean(asked or [len(groups)])) / len(groups))
        left.append(len(result.left))
    return shares, left


def draw_verdicts(rng: np.random.Generator, problems: int, abilities: Floats) -> Floats:
    """Draw right and wrong answers: [problems, cells] (Birnbaum 1968)."""
    slopes = _SLOPE * np.exp(rng.normal(0, _DISCRIMINATION, problems))
    difficulties = rng.normal(0, 1, problems)
    chances = 1 / (1 + np.exp(-slopes[:, None] * (abilities - difficulties[:, None])))
    return (rng.random(chances.shape) < chances).astype(float)


# Builds the plan of a study. Sends nothing and changes nothing.


def plan_study(study: Study, questions: Path, *, papers: bool = True) -> Plan:
    """Plan every cell of a study over the frozen questions: requests, tokens, dollars, hours.

    Args:
        study: Study with its store.
        questions: Frozen questions. Without them, only the stages before the freeze are planned.
        papers: Whether to open the papers of the study, to count the requests of their readers.

    Raises:
        MissingInputError: The questions are missing, and no stage before the freeze queries models.
        ModelError: A model's block is contradictory.
    """
    with Store(study.study.store) as store, _pause_collector():
        view = StudyView(study, questions, store)
        built, reading = _rows_before_freeze(view, papers=papers)
        uncounted = uncounted_models(study, is_read=reading is not None)
        plan = Plan(
            study=study.study.name,
            rows=built,
            power=None,
            budget=read_spent(study),
            building=uncounted,
            reading=reading,
        )
        if not questions.is_file() and (built or reading or uncounted):
            return plan.model_copy(update={"frozen": False})
        every = (question.id for question in load_questions(questions))
        return plan.model_copy(
            update={
                "rows": [*built, *_cell_rows(view)],
                "power": _power(view),
                "looks": expect_looks(study, list(view.questions_by_id.values())),
                "incomplete": incomplete_cells(study),
                "partial": part_words(view.questions_by_id, every, study.study.limit),
            }
        )


@contextmanager
def _pause_collector() -> Iterator[None]:
    """Pause the garbage collector, which takes a third of the time of a large plan."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


def _rows_before_freeze(
    view: StudyView, *, papers: bool
) -> tuple[list[PlanRow], ReadingCounts | None]:
    """Return the requests of readers, the filter and the rationale writers, and uncounted ones.

    One row per stage, role and model; the pictures for readers exist only meanwhile.
    """
    rows = []
    reads = papers and names_readers(view.study)  # else a plan needs no place to write
    with TemporaryDirectory(prefix="omibench-plan-") if reads else nullcontext("") as folder:
        read, counts = read_papers(view, Path(folder)) if reads else ([], None)
        for stage, asked in [("ocr", read), *list_steps_before_freeze(view)]:
            for (role, model), steps in group_steps(asked).items():
                row = make_row(view, model, role, steps)
                rows.append(_at_most(row, count_asks(view, role, model, steps), stage=stage))
    return rows, counts


def _cell_rows(view: StudyView) -> Iterator[PlanRow]:
    """Return the requests of every cell to its model and judges, then those to helpers, once."""
    study = view.study
    helped: dict[tuple[str, str, str], Step] = {}
    for cell in track(study.cells, "cell"):
        paths = view.follow_paths(cell)
        steps = list(list_steps(paths))
        own = [step for step in steps if step.role == "respondent"]
        row = make_row(view, cell.model, "respondent", own, cell)
        if study.settings[cell.setting].tools and row.to_buy:
            row = _bound_tools(view, cell, row)
        yield row
        judgements = CellJudgements(view, cell, expect_responses(view, cell, paths, row))
        for role, model, asked in judgements.list_steps():
            judge_row = make_row(view, model, "judge", asked, cell)
            yield _at_most(judge_row, ASKS, instrument=role)
        steps += judgements.list_caption_steps()
        if cell in study.salient_cells:
            looked = list(list_saliency_steps(view, cell, paths))
            yield make_row(view, cell.model, "scorer", looked, cell)
        for step in steps:
            if step.role != "respondent":
                helped[step.model, step.role, step.key] = step
    for (role, model), steps in group_steps(helped.values()).items():
        yield make_row(view, model, role, steps)


def make_row(
    view: StudyView, name: str, role: Role, steps: Sequence[Step], cell: Cell | None = None
) -> PlanRow:
    """Return the requests to a model in a role, without those of earlier rows."""
    partition = view.open_partition(name)
    keyed = [(step.key or partition.key(step.request), step) for step in steps]
    new = {k: s for k, s in keyed if k not in partition and k not in view.planned}
    view.planned |= new.keys()
    requests, missing = [step.request for step in steps], [s.request for s in new.values()]
    model, provider = view.study.models[name], view.open_provider(name)
    history = view.learn_history(name, requests) if missing else NO_HISTORY
    return PlanRow(
        role=role,
        model=name,
        cell_model=cell.model if cell else "",
        setting=cell.setting if cell else "",
        requests=len(requests),
        stored=sum(key in partition for key, _ in keyed),
        to_buy=len(missing),
        estimated=sum(step.guessed for step in new.values()),
        shown=sum(len(request.conversation.images) for request in missing),
        too_many=sum(not takes_images(provider, request) for request in missing),
        estimate=estimate(model, group_calls(provider, missing), history),
        learned_from=history.responses,
        **describe_model(model, provider.simulated),
    )


def _bound_tools(view: StudyView, cell: Cell, row: PlanRow) -> PlanRow:
    """Return the row of a cell with tools, at most with calls in all turns and all pictures."""
    partition, provider = view.open_partition(cell.model), view.open_provider(cell.model)
    steps = list_steps(view.follow_paths(cell, most=True))
    asked = [s.request for s in steps if s.role == "respondent" and s.key not in partition]
    most = estimate(view.study.models[cell.model], group_calls(provider, asked))
    bounded = row.estimate._replace(usd_most=most.usd_most, output_most=most.output_most)
    return row.model_copy(update={"estimate": bounded})


def _at_most(row: PlanRow, asks: float, **columns: str) -> PlanRow:
    """Return the row, with further columns, of requests that are each sent `asks` times at most."""
    once = row.estimate
    most = None if once.usd_most is None else once.usd_most * asks
    repeated = once._replace(usd_most=most, output_most=ceil(once.output_most * asks))
    return row.model_copy(update={"estimate": repeated, **columns})


def read_spent(study: Study) -> Spent | None:
    """Return the study's budget and its spending; None without one."""
    cap = read_budget(study)
    if cap is None:
        return None
    spent, unknown, reserved = read_spending(study.study.store, study.study.name)
    return Spent(cap_usd=cap, spent_usd=spent, unknown_usd=unknown, reserved_usd=reserved)


def _power(view: StudyView) -> Power | None:
    groups = [question.group for question in view.questions_by_id.values()]
    family = choose_family(view.study.cells, view.study.analyze.reference_setting)
    if not family.pairs or not groups:
        return None
    known: dict[str, Any] = {}
    if (stated := view.study.analyze.stem_correlation) is not None:
        known = {"correlation": stated, "correlation_from": "set"}
    elif len(set(filter(None, groups))) < sum(map(bool, groups)):
        estimate = _estimate_correlation(view, family)
        known = (
            {} if isnan(estimate) else {"correlation": estimate, "correlation_from": "estimated"}
        )
    effective = effective_size(groups, known.get("correlation", SHARED_STEM))
    return Power(
        problems=len(groups),
        effective=effective,
        **known,
        difference=_list_differences(effective, ALPHA),
        comparisons=family.pairs,
        family_difference=_list_differences(effective, ALPHA / family.pairs),
        family_settings=list(family.settings),
    )


def _estimate_correlation(view: StudyView, family: Family) -> float:
    """Estimate the correlation within stems from the verdicts of an earlier run; NaN without."""
    import polars as pl

    study, files = view.study, StudyFiles(Path(view.study.study.results))
    rules = study.analyze.main_scorer or study.score.scorers[0]
    stems = {id: question.group for id, question in view.questions_by_id.items()}
    rows = []
    try:
        for cell in filter(files.is_scored, family.cells):
            verdicts = files.read_verdicts(cell).filter("counts", rules=rules)
            means = dict(verdicts.group_by("id").agg(pl.col("verdict").mean()).iter_rows())
            rows.append([means.get(id, nan) for id in stems])
    except OmibenchError:  # files of another version or half a run: no estimate
        return nan
    return estimate_stem_correlation(np.array(rows), [*stems.values()]) if rows else nan


def _list_differences(effective: float, alpha: float) -> dict[float, float | None]:
    """Map the share of problems on which two models differ to the detectable difference."""
    differences = {share: detectable_difference(effective, share, alpha) for share in DISCORDANT}
    return {share: d if d <= 1 else None for share, d in differences.items()}


def incomplete_cells(study: Study, lacking: Collection[Outcome] = NOT_BOUGHT) -> dict[str, int]:
    """Return the files of incomplete cells, and the number of missing answers in each.

    `lacking` are the outcomes that count as missing.
    """
    counts = {}
    for cell in study.cells:
        path = StudyFiles(Path(study.study.results)).locate("infer", cell)
        if path.is_file():
            outcomes = read_cell(path, ["outcome"])["outcome"]
            if count := int(outcomes.is_in(list(lacking)).sum()):
                counts[path.as_posix()] = count
    return counts
