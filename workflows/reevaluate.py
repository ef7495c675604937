"""Find new models and evaluate those selected by a watch, within the monthly budget.

    python -m workflows.reevaluate params.yaml

Run it on a schedule (prefect.yaml): without new models it requests and builds nothing.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from time import gmtime, strftime, time
from typing import Annotated, Any

import typer

if not __package__:  # run as a script, or loaded by a worker from this file
    sys.path.insert(0, str(Path(__file__).parents[1]))
    import workflows  # noqa: F401 (it sets what Prefect reads when it is imported)

from prefect import flow, get_run_logger, task
from prefect.artifacts import create_link_artifact, create_markdown_artifact, create_table_artifact

from omibench.errors import OmibenchError, SomeFailedError
from omibench.models.cost.estimate import usd_text
from omibench.params.reevaluate import Watch
from omibench.params.study import Study
from omibench.study.plan.study_file import read_study
from omibench.study.reevaluate.candidates import add_to_params, find_new_models
from omibench.study.reevaluate.changes import (
    CHANGES,
    METRICS,
    Move,
    Priced,
    add_entry,
    choose_candidates,
    compute_allowance,
    find_cut_off,
    find_moves,
    find_unfinished,
    format_entry,
    is_already_waiting,
    lock_results,
    make_news,
    note,
    note_cut_off,
    post,
    publish,
    read_committed,
    read_journal,
    read_standings,
)
from omibench.study.reevaluate.poll import list_models
from workflows.evaluate import evaluate
from workflows.shared import (
    RETRIES,
    Cores,
    Lanes,
    ParamsFile,
    build,
    in_its_study,
    living,
    questions_of,
    run_from_command_line,
)


@task(**RETRIES, task_run_name="look {name}")
def look(name: str, watch: Watch) -> list[str]:
    """List the models of a watch's endpoint or hub."""
    return list_models(name, watch)


@task(**RETRIES)
def tell(body: dict[str, Any], url_env: str) -> bool:
    """Post news to the webhook, if any."""
    return post(body, url_env)


@flow(name="reevaluate", flow_run_name="reevaluate {params}")
@living
@in_its_study
def reevaluate(
    params: str = "params.yaml",
    shard: int = 200,
    cores: int = 2,
    lanes: int = 4,
    dry_run: bool = False,
) -> list[str]:
    """Evaluate new models; return their names.

    The next run continues a killed one; a model cut off by the budget continues once more is
    available. `dry_run` only reports new models and their cost. Raises SomeFailedError, after
    everything else is done, if an endpoint could not be queried, a budget was too small, or the
    news could not be posted.
    """
    study = read_study(params)
    results = Path(study.study.results)
    with lock_results(results):
        listings, problems = look_around(study)
        allowed = compute_allowance(study, time())
        begun = find_unfinished(study, read_journal(results), allowed.cap_usd)
        found = [*begun, *find_new_models(study, listings)]
        if not found:
            get_run_logger().info("no new models in %d watches", len(listings))
        else:
            build(params, ["freeze_all"], cores)
            before = read_committed(study)
            priced = choose_candidates(study, found, questions_of(study), allowed)
            show_prices(priced)
            chosen = [one for one in priced if one.refused is None]
            if dry_run:
                return [one.candidate.name for one in chosen]
            problems += refuse(study, priced)
            if chosen:
                begin(Path(params), results, chosen)
                names = [one.candidate.name for one in chosen]
                evaluate(params, shard, cores, lanes, names, allowed.cap_usd)
                problems += announce(study, chosen, read_committed(study) - before, allowed.cap_usd)
        if problems:
            raise SomeFailedError("; ".join(problems))
        return [one.candidate.name for one in chosen] if found else []


def look_around(study: Study) -> tuple[dict[str, list[str]], list[str]]:
    """Return the models of each watch, and one line per failed query."""
    looks = {name: look.submit(name, watch) for name, watch in study.reevaluate.watch.items()}
    listings, problems = {}, []
    for name, future in looks.items():
        try:
            listings[name] = future.result()
        except OmibenchError as error:
            problems.append(str(error))
    return listings, problems


def begin(params: Path, results: Path, chosen: Sequence[Priced]) -> None:
    """Add the models to the study, so that the next run continues if this one is killed."""
    candidates = [one.candidate for one in chosen]
    note(results, candidates, "begun", moment())
    add_to_params(params, candidates)


def refuse(study: Study, priced: Sequence[Priced]) -> list[str]:
    """Return one line per model that does not fit; it is reported once, then waits."""
    results, problems = Path(study.study.results), []
    for one in priced:
        if one.refused is None or is_already_waiting(read_journal(results), one):
            continue
        note(results, [one.candidate], "waiting", moment(), one.refused)
        problems.append(one.refused)
        problems += _told(study, one.refused, [one])
    return problems


def announce(
    study: Study, chosen: Sequence[Priced], spent_usd: float, cap_usd: float | None
) -> list[str]:
    """Publish the board, write its changes, and announce them.

    Returns one line per model cut off by the budget, and one if the announcement failed.
    """
    results, board = Path(study.study.results), Path(study.reevaluate.board)
    moved = find_moves(read_standings(board / METRICS), read_standings(results / METRICS))
    candidates = [one.candidate for one in chosen]
    cut = find_cut_off(study, candidates)
    text = format_entry(moment(), chosen, spent_usd, moved, list(cut.values()))
    add_entry(board / CHANGES, text)
    report = publish(results, board).resolve()
    create_markdown_artifact(text, key="changes", description="Changes of the board")
    create_link_artifact(report.as_uri(), link_text="The published report", key="board-report")
    note(results, [c for c in candidates if c.name not in cut], "done", moment())
    for candidate in candidates:
        if why := cut.get(candidate.name):
            note_cut_off(results, candidate, moment(), why, cap_usd)
    names = ", ".join(c.name for c in candidates)
    said = f"{study.study.title}: evaluated {names}; {len(moved)} places of the board moved"
    return [*cut.values(), *_told(study, "; ".join([said, *cut.values()]), chosen, moved)]


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


def moment() -> str:
    """Return the current time in UTC, formatted for people."""
    return strftime("%Y-%m-%d %H:%M UTC", gmtime())


def _told(
    study: Study, text: str, priced: Sequence[Priced], moved: Sequence[Move] = ()
) -> list[str]:
    body = make_news(study.study.name, text, [one.candidate.name for one in priced], moved)
    try:
        tell(body | {"board": study.reevaluate.board}, study.reevaluate.webhook_env)
    except OmibenchError as error:
        return [str(error)]
    return []


def main(
    params: ParamsFile = "params.yaml",
    shard: Annotated[int, typer.Option(help="Requests per task.", min=1)] = 200,
    cores: Cores = 2,
    lanes: Lanes = 4,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only report new models.")] = False,
) -> None:
    """Evaluate new models at the watched endpoints and hubs."""
    run_from_command_line(params, lambda: reevaluate(params, shard, cores, lanes, dry_run))


if __name__ == "__main__":
    typer.run(main)
