"""What a re-evaluation costs, did and changed: budget, journal, leaderboard and webhook."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from filecmp import cmp
from html import escape
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit
from urllib.request import Request

from omibench.errors import (
    FileFormatError,
    MissingInputError,
    ModelError,
    OutputError,
    PassingError,
    reason_of,
)
from omibench.files.locks import LockError, try_lock, wait_lock
from omibench.files.outputs import replace_atomically
from omibench.files.reading import read_json, read_text
from omibench.models.api.failures import Failure, passes
from omibench.models.api.http import exchange, read_key
from omibench.models.client.ask import read_budget, read_spending
from omibench.models.cost import usd_text
from omibench.params.study import Study
from omibench.schemas.certificate import Journal, Sighting, State
from omibench.schemas.tables import read_typed_json, write_json, write_text
from omibench.store.ledger import LEDGER, Ledger, format_month
from omibench.study.plan.build import incomplete_cells, plan_study
from omibench.study.plan.plan import sum_dollars
from omibench.study.reevaluate.candidates import ModelCandidate, replace_models

# Cost of evaluating new models, and the remaining budget of the month.


class MonthlyAllowance(NamedTuple):
    """The remaining allowance: US dollars `left`, the limit that applies, and the resulting cap.

    `cap_usd` is the most that the study can have committed, as counted by the budget: `left_usd`
    more than now. Both are None without a limit.
    """

    left_usd: float | None
    cap_usd: float | None
    reason: str


class Priced(NamedTuple):
    """A candidate with its cost: requests to make, and US dollars expected and at most.

    `refused` is a one-line reason for not evaluating it now, or None; `pending`: it waits for
    approval.
    """

    candidate: ModelCandidate
    to_buy: int
    usd: float
    usd_most: float
    refused: str | None = None
    pending: bool = False


def compute_allowance(study: Study, now: float) -> MonthlyAllowance:
    """Return what the study can still spend at a time (Unix time), by month and in total."""
    monthly, total = study.reevaluate.monthly_budget_usd, read_budget(study)
    if monthly is None and total is None:
        return MonthlyAllowance(None, None, "no budget is set")
    month = format_month(now)
    spent, committed_usd = _read_spent(study, month), read_committed(study)
    left_by_limit = {}
    if monthly is not None:
        left_by_limit[f"of the {usd_text(monthly)} for {month}"] = max(0.0, monthly - spent)
    if total is not None:
        left_by_limit[f"of the study's {usd_text(total)}"] = max(0.0, total - committed_usd)
    limit, left_usd = min(left_by_limit.items(), key=lambda pair: pair[1])
    return MonthlyAllowance(
        left_usd, committed_usd + left_usd, f"{usd_text(left_usd)} {limit} are left"
    )


def read_committed(study: Study) -> float:
    """Return the US dollars that the study has spent or reserved, from its ledger; else 0."""
    return read_spending(study.study.store, study.study.name).committed_usd


def _read_spent(study: Study, month: str) -> float:
    if not (Path(study.study.store) / LEDGER).is_file():
        return 0.0
    with Ledger(study.study.store, write=False) as ledger:
        return ledger.sum_spending(study.study.name, month)


def choose_candidates(
    study: Study,
    candidates: Iterable[ModelCandidate],
    questions: Path,
    allowed: MonthlyAllowance,
    approved: Collection[tuple[str, str]] | None = None,
) -> list[Priced]:
    """Return the candidates with their cost, in order; refuse those that exceed the allowance.

    A candidate fits if its expected cost fits; while it runs, the budget keeps the worst case
    within the allowance. `approved` are the watches and ids of approved new models; None if
    none needs it. Raises as `plan_study`.
    """
    priced, left_usd = [], allowed.left_usd
    for candidate in candidates:
        plan = plan_study(replace_models(study, [candidate]), questions, papers=False)
        rows = [row for row in plan.rows if not row.stage]  # not those of the dataset
        usd, usd_most, unknown = sum_dollars(rows)
        price = Priced(candidate, sum(row.to_buy for row in rows), usd, usd_most)
        refusal = _refusal(price, unknown, left_usd, allowed)
        is_new = candidate.name not in study.models
        if is_new and approved is not None and (candidate.watch, candidate.id) not in approved:
            price, refusal = price._replace(pending=True), _describe_pending(price)
        priced.append(price._replace(refused=refusal))
        if left_usd is not None and refusal is None:
            left_usd -= usd
    return priced


def _describe_pending(priced: Priced) -> str:
    name = priced.candidate.name
    return (
        f"{name} ({priced.candidate.id}): {priced.to_buy:,} requests, {usd_text(priced.usd)} "
        f"expected, at most {usd_text(priced.usd_most)}; it waits for your approval: "
        f"omibench reevaluate --approve {name}"
    )


def find_cut_off(study: Study, candidates: Iterable[ModelCandidate]) -> dict[str, str]:
    """Return the candidates whose evaluation the budget interrupted, with one line for each."""
    remarks = {}
    for candidate in candidates:
        cells = incomplete_cells(replace_models(study, [candidate]), ["budget_stop"])
        if cells:
            remarks[candidate.name] = (
                f"{candidate.name}: the budget ended before {sum(cells.values()):,} of its "
                "requests; responses so far are kept, and a later poll continues: raise "
                "reevaluate.monthly_budget_usd or study.budget_usd, or wait for the next month"
            )
    return remarks


def _refusal(
    priced: Priced, unknown: list[str], left_usd: float | None, allowed: MonthlyAllowance
) -> str | None:
    if left_usd is None:
        return None
    name, cost = priced.candidate.name, usd_text(priced.usd)
    if unknown:
        return f"{name}: {', '.join(unknown)} has no price, so no budget can be enforced; set one"
    if priced.usd > left_usd:
        is_part_used = left_usd != allowed.left_usd
        begun = f", of which this poll takes all but {usd_text(left_usd)}" if is_part_used else ""
        return (
            f"{name}: evaluating it is expected to cost {cost} (at most "
            f"{usd_text(priced.usd_most)}), but {allowed.reason}{begun}; nothing was added. Raise "
            "reevaluate.monthly_budget_usd or study.budget_usd, or wait for the next month"
        )
    return None


# Journal of a study's re-evaluations, so that an interrupted run can continue.

JOURNAL = Path("reevaluate/journal.json")


def read_journal(results: Path) -> Journal:
    """Return the journal of a results folder; empty if missing."""
    path = results / JOURNAL
    return read_typed_json(path, Journal) if path.is_file() else Journal()


def note(  # noqa: PLR0913 (what the journal says of a model)
    results: Path,
    candidates: Iterable[ModelCandidate],
    state: State,
    moment: str,
    reason: str | None = None,
    *,
    run: str | None = None,
    cap_usd: float | None = None,
) -> None:
    """Write the state of candidates, replacing their earlier entries except an approval.

    `run` is the flow run that evaluates them; `cap_usd` the study's cap when a budget stopped them.
    """
    with change_journal(results) as journal:
        sightings = {sighting.model: sighting for sighting in journal.models}
        for c in candidates:
            sightings[c.name] = Sighting(
                model=c.name, id=c.id, watch=c.watch, state=state, when=moment, why=reason,
                cap_usd=cap_usd, run=run,
                approved=c.name in sightings and sightings[c.name].approved,
            )  # fmt: skip
        journal.models[:] = sightings.values()


@contextmanager
def change_journal(results: Path) -> Iterator[Journal]:
    """Yield the journal of a results folder; write it at the end if it has changed.

    Other processes wait meanwhile.
    """
    (results / JOURNAL).parent.mkdir(parents=True, exist_ok=True)
    with (results / JOURNAL).with_name(".journal.lock").open("a") as lock:
        wait_lock(lock.fileno())
        journal = read_journal(results)
        before = journal.model_copy(deep=True)
        yield journal
        if journal != before:
            write_json(results / JOURNAL, journal.model_dump(mode="json", exclude_defaults=True))


def find_unfinished(study: Study, journal: Journal, cap_usd: float | None) -> list[ModelCandidate]:
    """Return the study's models whose evaluation was started but not finished, as candidates.

    A model interrupted by a budget is included if the cap, `cap_usd`, is higher now.
    """
    full = study.model_dump(mode="json", exclude_defaults=True).get("models", {})
    return [
        ModelCandidate(
            s.model, s.id, s.watch, full[s.model], tuple(study.infer.only.get(s.model, ()))
        )
        for s in journal.models
        if s.model in full and s.model in study.infer.models
        if s.state == "begun" or (s.state == "waiting" and _is_more(cap_usd, s.cap_usd))
    ]


def _is_more(cap_usd: float | None, before: float | None) -> bool:
    # Ledger sums that differ in the last digits are the same budget.
    return cap_usd is None or before is None or cap_usd > before + 1e-6


def is_already_waiting(journal: Journal, priced: Priced) -> bool:
    """Return whether a model is already waiting for the same reason."""
    name, reason = priced.candidate.name, priced.refused
    return any(
        s.model == name and (s.state == "pending" if priced.pending else s.why == reason)
        for s in journal.models
        if s.state in ("waiting", "pending")
    )


@contextmanager
def lock_results(results: Path) -> Iterator[None]:
    """Lock a results folder against other re-evaluations; the lock ends with the process.

    Raises:
        OutputError: Another re-evaluation is running, or locks are not supported.
    """
    lock = results / "reevaluate" / ".lock"
    lock.parent.mkdir(parents=True, exist_ok=True)
    with lock.open("a") as file:
        try:
            is_ours = try_lock(file.fileno())
        except LockError as error:
            raise OutputError(f"{results}: cannot be locked: {error.strerror}") from None
        if not is_ours:
            raise OutputError(f"{results}: another re-evaluation is running; this one is skipped")
        yield


# Changes on the board: ranks and scores before and after, as a readable changelog.

HEAD = "# What changed on the board\n\nNewest first. Ranks are by accuracy under one setting.\n"


class Standing(NamedTuple):
    """A model under a setting: rank among the models of that setting, and accuracy with interval.

    Equal accuracies share a rank, and the following ranks are skipped (1, 2, 2, 4). Shares are in
    [0, 1].
    """

    rank: int
    acc: float
    lo: float
    hi: float
    simulated: bool


Standings = Mapping[tuple[str, str], Standing]
"""(setting, model) -> standing."""


class Move(NamedTuple):
    """A changed standing; `before` is None for a new model."""

    setting: str
    model: str
    before: Standing | None
    after: Standing


def read_standings(metrics: Path) -> Standings:
    """Return the standings in a `metrics.json` of analyze; empty if the file does not exist.

    Raises:
        FileFormatError: The file has another format.
    """
    try:
        cells = read_json(metrics) if metrics.exists() else {}
        scores = [
            (setting, model, entry)
            for model, settings in cells.items()
            for setting, entry in settings.items()
            if "acc" in entry
        ]
        standings = {}
        for setting, model, entry in scores:
            better = sum(other["acc"] > entry["acc"] for s, _, other in scores if s == setting)
            acc, lo, hi = (float(entry[key]) for key in ("acc", "lo", "hi"))
            simulated = bool(entry.get("simulated"))
            standings[setting, model] = Standing(better + 1, acc, lo, hi, simulated)
        return standings
    except (FileFormatError, ValueError, AttributeError, TypeError, KeyError) as error:
        reason = str(error).removeprefix(f"{metrics}: ")
        raise FileFormatError(f"{metrics}: not the metrics of a study: {reason}") from None


def find_moves(before: Standings, after: Standings) -> list[Move]:
    """Return every standing that is new or has another rank or accuracy, by setting and rank."""
    changed = [
        Move(*cell, before.get(cell), now)
        for cell, now in after.items()
        if (before[cell][:2] if cell in before else None) != now[:2]  # rank and accuracy
    ]
    return sorted(changed, key=lambda move: (move.setting, move.after.rank, move.model))


def format_entry(
    day: str,
    added: Sequence[Priced],
    spent_usd: float,
    moved: Sequence[Move],
    remarks: Sequence[str] = (),
) -> str:
    """Return a changelog entry: the evaluation of `day`, its cost, and the changes.

    `remarks` are lines about the cost and about problems.
    """
    names = ", ".join(f"`{p.candidate.name}`" for p in added)
    lines = [f"## {day}: {names}", ""]
    lines += [
        f"- `{p.candidate.name}` is `{p.candidate.id}`, found by the watch "
        f"`{p.candidate.watch}`; {p.to_buy:,} requests were to buy"
        for p in added
    ]
    lines += [f"- Spent: {usd_text(spent_usd)}", *(f"- {remark}" for remark in remarks)]
    if any(move.after.simulated for move in moved):
        lines += ["- Some models are SIMULATED: their scores are invented"]
    if not moved:
        return "\n".join([*lines, "", "Nothing moved.", ""])
    lines += ["", "| setting | model | rank | accuracy | change |", "|---|---|---|---|---|"]
    return "\n".join([*lines, *map(_row, moved), ""])


def add_entry(changelog: Path, text: str) -> None:
    """Add an entry at the top of a changelog; create the file if missing."""
    old = read_text(changelog) if changelog.is_file() else HEAD
    head, _, entries = old.partition("\n## ")
    earlier = f"\n## {entries}" if entries else ""
    write_text(changelog, f"{head.rstrip()}\n\n{text.rstrip()}\n{earlier}")


def _row(move: Move) -> str:
    before, after = move.before, move.after
    rank = f"{before.rank} → {after.rank}" if before else f"new → {after.rank}"
    change = f"{100 * (after.acc - before.acc):+.1f} points" if before else "new"
    score = f"{100 * after.acc:.1f} % [{100 * after.lo:.1f}, {100 * after.hi:.1f}]"
    mark = " SIMULATED" if after.simulated else ""
    return f"| {move.setting} | `{move.model}`{mark} | {rank} | {score} | {change} |"


# News for a webhook: one JSON object, posted to a secret URL.

TIMEOUT_S, MOST_S = 30.0, 90.0
MOST_MOVES, MOST_TEXT = 50, 4000


def make_news(
    study: str, text: str, models: Sequence[str], moved: Sequence[Move] = (), board: str = ""
) -> dict[str, Any]:
    """The posted object. Chat services show `text`; at most 50 changes are listed.

    Errors of others can be part of `text`: its first 4,000 characters are sent, with `&`, `<` and
    `>` as entities, which Slack and compatible services show as the character, not as a link or a
    call to all members.
    """
    return {
        "text": escape(text[:MOST_TEXT], quote=False),
        "study": study,
        "models": list(models),
        "simulated": any(move.after.simulated for move in moved),
        "moved": len(moved),
        "moves": [
            {
                "setting": move.setting,
                "model": move.model,
                "rank_before": move.before.rank if move.before else None,
                "rank": move.after.rank,
                "accuracy_before": move.before.acc if move.before else None,
                "accuracy": move.after.acc,
            }
            for move in moved[:MOST_MOVES]
        ],
        "board": board,
    }


def _can_be_called(url: str) -> bool:
    """Return whether the HTTP library sends a request to the host of a URL as it is written.

    It looks up `name:password@host` as the name of a host.
    """
    try:
        parts = urlsplit(url)
        is_whole = bool(parts.hostname) and parts.port != 0 and "@" not in parts.netloc
    except ValueError:
        return False
    is_plain = url.isascii() and url.isprintable() and not {" ", "\\"} & {*url}
    return is_whole and is_plain and parts.scheme in ("http", "https")


def has_webhook(url_env: str) -> bool:
    """Return whether an environment variable names a webhook."""
    return bool(os.environ.get(url_env, "").strip())


def post(body: Mapping[str, Any], url_env: str) -> bool:
    """POST a body to the URL in an environment variable; return False if it is not set.

    The URL is a secret, so messages do not contain it.

    Raises:
        ModelError: The request failed.
        PassingError: A retry may succeed.
    """
    if not has_webhook(url_env):
        return False
    url = read_key(url_env).get_secret_value()
    if not _can_be_called(url):
        raise ModelError(
            f"{url_env}: must be a URL that begins with http:// or https://, without a name or "
            "password before the host, blanks and other letters than ASCII (it is not shown)"
        )
    data = json.dumps(body).encode()
    request = Request(url, data, {"content-type": "application/json"})  # noqa: S310
    try:
        reply = exchange(request, timeout_s=TIMEOUT_S, most_bytes=0, most_s=MOST_S)
    except Failure as failure:
        # The message may quote the URL, whose path is the secret.
        if failure.status is not None:
            reason = f"HTTP {failure.status}" + (
                ": it redirects, but news are sent only to the given address"
                if 300 <= failure.status < 400
                else ""
            )
            raise ModelError(f"the webhook in {url_env} refused the news: {reason}") from None
        cause = failure.message.removeprefix("the connection failed: ").partition(":")[0]
        raise PassingError(f"the webhook in {url_env} cannot be reached: {cause}") from None
    except ValueError as error:
        cause = type(error).__name__
        raise PassingError(f"the webhook in {url_env} cannot be reached: {cause}") from None
    if reply.status < 300:
        return True
    kind = PassingError if passes(reply.status) else ModelError
    raise kind(f"the webhook in {url_env} refused the news: HTTP {reply.status}")


# The board: report, tables and metrics of a study in a folder for readers or a web server.

REPORT = Path("analyze/report.html")
METRICS = Path("analyze/metrics.json")
CHANGES = "changes.md"
_INDEX = """\
<!doctype html>
<meta charset="utf-8">
<meta http-equiv="refresh" content="0; url=analyze/report.html">
<title>Report</title>
<a href="analyze/report.html">The report</a>, <a href="changes.md">what changed</a>
"""


def publish(results: Path, board: Path) -> Path:
    """Update a board with a study's results and return its report's path.

    `analyze/` is copied, with the `freeze/images/` and `pictures/` that its pages show. Files that
    no longer exist are deleted from the board. Each file is replaced atomically, the report last,
    so that readers never see a partial file.

    Raises:
        MissingInputError: The report does not exist.
        OutputError: The board folder cannot be written.
    """
    if not (results / REPORT).is_file():
        raise MissingInputError(f"{results / REPORT}: report not found")
    try:
        for part in (Path("freeze/images"), Path("pictures"), Path("analyze")):
            names = list(_files(results / part))
            for name in sorted(names, key=lambda name: part / name == REPORT):
                _copy(results / part / name, board / part / name)
            for name in set(_files(board / part)) - set(names):
                (board / part / name).unlink()
        write_text(board / "index.html", _INDEX)
    except OSError as error:
        raise OutputError(
            f"{board}: the board cannot be written: {reason_of(error, True)}"
        ) from None
    return board / REPORT


def _files(folder: Path) -> Iterator[Path]:
    return (path.relative_to(folder) for path in folder.rglob("*") if path.is_file())


def _copy(source: Path, target: Path) -> None:
    if target.is_file() and cmp(source, target, shallow=False):
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    with replace_atomically(target) as partial:
        shutil.copyfile(source, partial)
