"""Summary line of an incomplete cell: missing answers, causes, and the cost of completion."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from omibench.client.ask import Asker
from omibench.cost.dollars import usd_text
from omibench.cost.estimate import estimate
from omibench.cost.families import image_formula
from omibench.cost.history import learn
from omibench.models.calls import group_calls
from omibench.params.cell import Cell
from omibench.params.runtime import in_graph
from omibench.params.stage_params import ConversationParams
from omibench.schemas.request import NOT_BOUGHT, Request, Response
from omibench.store.ledger.lost_attempts import Loss


def describe_missing_answers(
    study: ConversationParams,
    cell: Cell,
    out: Path,
    asker: Asker,
    pairs: Sequence[tuple[Request, Response]],
) -> str | None:
    """Return one line about the requests of a cell without an answer, or None if complete."""
    failed = [(q, r) for q, r in pairs if r.outcome in NOT_BOUGHT]
    if not failed:
        return None
    counts = Counter(response.outcome for _, response in failed)
    kinds = ", ".join(f"{n} {kind.replace('_', ' ')}" for kind, n in counts.most_common())
    errors = (r.error for _, r in failed if r.error)
    reason = f"; the first error: {next(errors, '')}".removesuffix("; the first error: ")
    parts = [
        f"{cell.model}/{cell.setting}: {len(failed)} of {len(pairs)} requests ({kinds}{reason})"
    ]
    parts[0] += " have no answer; completed responses are kept"
    usd, usd_most = _estimate_rest(study, cell, asker, pairs)
    if usd is not None and usd_most:
        parts.append(
            f"Finishing the cell costs about {usd_text(usd)}, at most {usd_text(usd_most)}"
        )
    parts.append(_describe_budget(asker, usd_most or 0.0) if counts["budget_stop"] else "")
    # A cell run manually is not a target, or has other parameters.
    command = f"`{retry_command([out])}`" if in_graph() else "the same command again"
    parts.append(f"To go on, run {command}")
    return ". ".join(part for part in parts if part)


def retry_command(cells: Sequence[Path]) -> str:
    """Return the command that completes cells: it requests only missing responses."""
    return f"snakemake --cores all --forcerun {' '.join(map(str, cells))}"


def _estimate_rest(
    study: ConversationParams, cell: Cell, asker: Asker, pairs: Sequence[tuple[Request, Response]]
) -> tuple[float | None, float | None]:
    model = study.models[cell.model]
    answered = {id(q): (q, r) for q, r in pairs if r.outcome not in NOT_BOUGHT}
    answered_calls = group_calls(asker.provider, [q for q, _ in answered.values()])
    history = learn(
        [[answered[id(q)] for q in call] for call in answered_calls], image_formula(model)
    )
    lacking = [q for q, r in pairs if r.outcome in NOT_BOUGHT]
    cost = estimate(model, group_calls(asker.provider, lacking), history)
    return cost.usd, cost.usd_most


def _describe_losses(losses: Sequence[Loss], charged: float) -> str:
    if not charged:
        return ""
    attempts = sum(loss.attempts for loss in losses)
    cost = usd_text(sum(loss.at_most for loss in losses))
    reason = f", most of them because {losses[0].why}" if losses else ""
    return (
        f", {usd_text(charged)} (at most {cost}) charged for {attempts} attempts with unknown "
        f"outcome{reason}; `omibench budget settle` books what your provider billed"
    )


def _describe_budget(asker: Asker, usd_most: float) -> str:
    if asker.budget is None:
        return ""
    account, cap = asker.budget.account(), asker.budget.purse.cap_usd
    lost = _describe_losses(asker.budget.losses(), account.unknown)
    enough = account.committed_usd + usd_most
    return (
        f"The budget of {usd_text(cap)} allows no further request: "
        f"{usd_text(account.spent)} spent{lost}; "
        f"with study.budget_usd: {enough + 0.01:.2f} the cell completes in any case"
    )
