"""Find new models and evaluate those selected by a watch, within the monthly budget.

Run it on a schedule (prefect.yaml): without new models it requests and builds nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from time import time

from prefect import flow, get_run_logger, task
from prefect.artifacts import create_link_artifact, create_markdown_artifact, create_table_artifact
from prefect.exceptions import CancelledRun
from prefect.runtime import flow_run

from omibench.errors import OmibenchError
from omibench.flows.evaluate import evaluate
from omibench.flows.news import (
    PostedError,
    is_cancelled,
    moment,
    report_failures,
    tell_failure,
    tell_news,
)
from omibench.flows.progress import OutageNews, repeat
from omibench.flows.restarts import cancel_inner
from omibench.flows.retries import RETRIES
from omibench.flows.shared import (
    Count,
    ParamsFile,
    build,
    in_its_study,
    living,
    questions_of,
)
from omibench.models.cost import usd_text
from omibench.params.reevaluate import Watch
from omibench.params.study import Study
from omibench.schemas.certificate import State
from omibench.store.ledger import format_month
from omibench.study.plan.study_file import read_study
from omibench.study.reevaluate.candidates import add_to_params, find_new_models
from omibench.study.reevaluate.changes import (
    CHANGES,
    METRICS,
    Priced,
    add_entry,
    change_journal,
    choose_candidates,
    compute_allowance,
    find_cut_off,
    find_moves,
    find_unfinished,
    format_entry,
    is_already_waiting,
    lock_results,
    note,
    publish,
    read_committed,
    read_journal,
    read_standings,
)
from omibench.study.reevaluate.costs import (
    describe_growth,
    describe_month,
    read_costs,
    sum_costs,
    write_costs,
)
from omibench.study.reevaluate.decisions import cancel, find_approved, note_retired
from omibench.study.reevaluate.drift import (
    ask_again,
    list_changed,
    list_drift_models,
    read_drift,
    write_drift,
)
from omibench.study.reevaluate.poll import list_models
from omibench.study.sharding import limit_budget


@task(**RETRIES, task_run_name="look {name}")
def look(name: str, watch: Watch) -> list[str]:
    """List the models of a watch's endpoint or hub."""
    return list_models(name, watch)


@flow(name="reevaluate", flow_run_name="reevaluate {params}")
@in_its_study
@report_failures
@living
def reevaluate(
    params: ParamsFile = "params.yaml",
    shard: Count = 200,
    cores: Count = 2,
    lanes: Count = 4,
    dry_run: bool = False,
) -> list[str]:
    """Evaluate new models; return their names.

    The next run continues a killed one, but not a cancelled one; a model cut off by the budget
    continues once more is available. `dry_run` only reports new models and their cost. Raises
    SomeFailedError, after everything else is done, if an endpoint could not be queried, a budget
    was too small, or the news could not be posted.
    """
    study = read_study(params)
    results = Path(study.study.results)
    with lock_results(results):
        study = remove_cancelled(study, params)
        listings, problems = look_around(study)
        if not dry_run:
            problems += mark_retired(study, listings) + tell_costs(study)
        allowed = compute_allowance(study, time())
        journal = read_journal(results)
        begun = find_unfinished(study, journal, allowed.cap_usd)
        found = [*begun, *find_new_models(study, listings)]
        chosen: list[Priced] = []
        if not found:
            get_run_logger().info("no new models in %d watches", len(listings))
        else:
            build(params, ["freeze_all"], cores)
            before, committed = sum_costs(study), read_committed(study)
            approved = find_approved(study, journal)
            priced = choose_candidates(study, found, questions_of(study), allowed, approved)
            show_prices(priced)
            chosen = [one for one in priced if one.refused is None]
            if dry_run:
                return [one.candidate.name for one in chosen]
            problems += refuse(study, priced)
        if chosen:
            begin(Path(params), results, chosen)
            names = [one.candidate.name for one in chosen]
            try:
                evaluate(params, shard, cores, lanes, names, allowed.cap_usd)
            except CancelledRun:
                cancel(study, Path(params), [run_id()], moment())
                raise
            spent = read_committed(study) - committed
            problems += announce(study, chosen, spent, before, allowed.cap_usd)
        if not dry_run:
            problems += check_drift(study)
        if problems:
            raise PostedError("; ".join(problems))
        return [one.candidate.name for one in chosen]


def run_id() -> str:
    """Return the id of this flow run."""
    return str(flow_run.get_id())


def remove_cancelled(study: Study, params: str) -> Study:
    """Take the models of runs that were cancelled, and then killed, out of the study."""
    runs = {s.run for s in read_journal(Path(study.study.results)).models if s.state == "begun"}
    left = [run for run in runs if run is not None and run != run_id() and is_cancelled(run)]
    for run in left:
        cancel_inner(run)
    if not (names := cancel(study, Path(params), left, moment())):
        return study
    tell_failure(study, f"the evaluation of {', '.join(names)} was cancelled", "cancelled")
    return read_study(params)


def look_around(study: Study) -> tuple[dict[str, list[str]], list[str]]:
    """Return the models of each watch, and one line per failed query."""
    looks = {name: look.submit(name, watch) for name, watch in study.reevaluate.watch.items()}
    listings, problems = {}, []
    for name, future in looks.items():
        try:
            listings[name] = future.result()
        except OmibenchError as error:
            problems.append(str(error))
    if problems:
        tell_failure(study, "; ".join(problems))
    return listings, problems


def begin(params: Path, results: Path, chosen: Sequence[Priced]) -> None:
    """Add the models to the study, so that the next run continues if this one is killed."""
    candidates = [one.candidate for one in chosen]
    note(results, candidates, "begun", moment(), run=run_id())
    add_to_params(params, candidates)


def refuse(study: Study, priced: Sequence[Priced]) -> list[str]:
    """Return one line per model that does not fit; it is reported once, then waits.

    A model that waits for approval is reported, but not as a problem.
    """
    results, problems = Path(study.study.results), []
    for one in priced:
        if one.refused is None or is_already_waiting(read_journal(results), one):
            continue
        state: State = "pending" if one.pending else "waiting"
        note(results, [one.candidate], state, moment(), one.refused)
        problems += [] if one.pending else [one.refused]
        problems += tell_news(study, one.refused, state, [one.candidate.name])
    return problems


def mark_retired(study: Study, listings: dict[str, list[str]]) -> list[str]:
    """Report models that their endpoint has stopped listing, and those that are listed again."""
    new, back = note_retired(study, listings, moment())
    lines = [f"`{name}` is retired: its endpoint does not list it any more" for name in new]
    lines += [f"`{name}` is listed again" for name in back]
    if not lines:
        return []
    add_entry(
        Path(study.reevaluate.board) / CHANGES,
        f"## {moment()}: retired models\n\n" + "\n".join(f"- {line}" for line in lines),
    )
    return tell_news(study, "; ".join(lines), "retired", [*new, *back])


def tell_costs(study: Study) -> list[str]:
    """Write the costs by month, and post those of a month once it is over."""
    create_markdown_artifact(write_costs(study), key="costs", description="Costs by month")
    costs, month = read_costs(study), format_month(time())
    over = [m for m, _ in costs if m < month]
    with change_journal(Path(study.study.results)) as journal:
        if not over or journal.costs_month == month:
            return []
        journal.costs_month = month
    return tell_news(study, describe_month(costs, max(over)), "costs")


def check_drift(study: Study) -> list[str]:
    """Ask the problems of the drift check again, once a month; return one line per failure."""
    drift, month, results = study.reevaluate.drift, format_month(time()), Path(study.study.results)
    if drift is None or read_journal(results).drift_month == month:
        return []
    models = list_drift_models(study, drift)
    if not models:
        return []
    capped = limit_budget(study, compute_allowance(study, time()).cap_usd)
    checks, problems = [], []
    for model in models:
        try:
            with repeat(OutageNews(study, [model]).check):
                checks += [check] if (check := ask_again(capped, drift, model, month)) else []
        except OmibenchError as error:
            problems.append(f"drift of {model}: {error}")
    write_drift(results, checks)
    create_table_artifact(
        [d._asdict() for d in reversed(read_drift(results))],
        key="drift",
        description="The same problems asked again every month",
    )
    if problems:
        tell_failure(study, "; ".join(problems))
    else:
        with change_journal(results) as journal:
            journal.drift_month = month
    changed = list(list_changed(checks, drift.alpha))
    if not changed:
        return problems
    text = "; ".join(f"{check}" for check in changed)
    return [*problems, *tell_news(study, text, "drift", [d.model for d in changed])]


def announce(
    study: Study,
    chosen: Sequence[Priced],
    spent_usd: float,
    before: Mapping[str, float],
    cap_usd: float | None,
) -> list[str]:
    """Publish the board, write its changes, and announce them.

    `before` are the US dollars that had been spent on each model.

    Returns one line per model cut off by the budget, and one if the announcement failed.
    """
    results, board = Path(study.study.results), Path(study.reevaluate.board)
    moved = find_moves(read_standings(board / METRICS), read_standings(results / METRICS))
    candidates = [one.candidate for one in chosen]
    cut = find_cut_off(study, candidates)
    remarks = [*describe_growth(before, sum_costs(study)), *cut.values()]
    text = format_entry(moment(), chosen, spent_usd, moved, remarks)
    add_entry(board / CHANGES, text)
    report = publish(results, board).resolve()
    create_markdown_artifact(text, key="changes", description="Changes of the board")
    create_link_artifact(report.as_uri(), link_text="The published report", key="board-report")
    note(results, [c for c in candidates if c.name not in cut], "done", moment())
    for candidate in candidates:
        if why := cut.get(candidate.name):
            note(results, [candidate], "waiting", moment(), why, cap_usd=cap_usd)
    names = [c.name for c in candidates]
    summary = f"evaluated {', '.join(names)}; {len(moved)} places of the board moved"
    text, event = "; ".join([summary, *cut.values()]), "budget" if cut else "evaluated"
    return [*cut.values(), *tell_news(study, text, event, names, moved)]


def show_prices(priced: Sequence[Priced]) -> None:
    """Write the cost of new models to the run in Prefect's pages."""
    rows = [
        {
            "model": one.candidate.name,
            "id": one.candidate.id,
            "watch": one.candidate.watch,
            "to buy": one.to_buy,
            "expected": usd_text(one.usd),
            "at most": usd_text(one.usd_most),
            "refused": one.refused or "",
        }
        for one in priced
    ]
    create_table_artifact(rows, key="new-models", description="New models and their prices")
    for one in priced:
        found = one.candidate
        line = f"{found.name}: {one.to_buy:,} requests, {usd_text(one.usd)} expected"
        get_run_logger().info("%s, %s at most", line, usd_text(one.usd_most))
