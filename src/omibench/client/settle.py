"""Settlement of lost attempts: by a stated amount, or by the provider's usage export."""

from __future__ import annotations

import getpass
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from omibench.client.usage_exports import DAY_S, Used, read_usage
from omibench.cost.dollars import usd_text
from omibench.errors import MissingInputError, ParamsError, StoreError
from omibench.files.hashes import hash_file
from omibench.models.http.replies import same_family
from omibench.params.blocks import MOST_USD
from omibench.params.models.base import Price, ServedModel
from omibench.params.study import Study
from omibench.store.ledger.ledger import LEDGER, Ledger

LATE_S = 3600.0
"""Seconds after the end of a span until a provider's export of it is complete."""


class Settled(NamedTuple):
    """Settled attempts, US dollars before and after, and the source of the amount."""

    attempts: int
    charged: float
    usd: float
    source: str


def settle_stated(study: Study, usd: float, note: str, model: str | None = None) -> Settled:
    """Book a stated amount `usd` for all lost attempts of a study or of one of its models.

    Raises ParamsError if the amount is invalid or the study has no such model, and
    MissingInputError if no attempt was lost.
    """
    if not 0 <= usd <= MOST_USD:
        raise ParamsError(f"--usd {usd}: must be an amount of US dollars of at least 0")
    if model is not None and model not in study.models:
        raise ParamsError(f"--model {model!r}: the study has no such model")
    user = "somebody"
    with suppress(OSError, KeyError, ImportError):
        user = getpass.getuser()
    source = f"stated by {user}" + (f": {note}" if note else "")
    return _write_off(study, None if model is None else [model], usd, source, None)


def settle_by_usage(study: Study, export: Path, now: float | None = None) -> Settled:
    """Book the amount in the provider's export beyond the known spending.

    The export is compared with all spending of the study on the provider's models on the days of
    the lost attempts. Other use of the same key counts as the study's, so the amount is never
    too small. Raises as `read_usage`, MissingInputError if nothing was lost or the export does
    not cover it, and ParamsError if a model lacks a price for its tokens.
    """
    used = read_usage(export)
    moment = time.time() if now is None else now
    complete_spans = [span for span in used if span.end + LATE_S <= moment]
    provider = used[0].provider
    models = {
        name: model
        for name, model in study.models.items()
        if isinstance(model, ServedModel) and model.is_paid and model.provider == provider
    }
    with _ledger(study) as ledger:
        lost = ledger.find_loss_times(study.study.name, models)
        if lost is None:
            raise MissingInputError(
                f"{study.study.name}: no attempt at a model of {provider} was lost; there is "
                "nothing to settle"
            )
        first_day = int(lost[0] // DAY_S)
        spans = [span for span in complete_spans if span.end > first_day * DAY_S]
        until = max((span.end for span in spans), default=0.0)
        if not spans or min(span.begin for span in spans) > lost[0] or until <= lost[0]:
            raise MissingInputError(
                f"{export}: does not cover the lost attempts, which began between "
                f"{_utc(lost[0])} and {_utc(lost[1])}; export whole days (UTC), an hour after "
                "they end, or give the amount with --usd"
            )
        paid = sum(_usd(span, models, export) for span in spans)
        last_day = int((until - 1) // DAY_S)
        known_usd = ledger.spent_on_days(study.study.name, models, first_day, last_day)
    sha256 = hash_file(export)
    source = (
        f"{export.name} (sha256 {sha256[:12]}) reports {usd_text(paid)} from "
        f"{_utc(spans[0].begin)} to {_utc(until)}, of which {usd_text(known_usd)} were known"
    )
    return _write_off(study, list(models), max(0.0, paid - known_usd), source, until)


def _write_off(
    study: Study, models: Sequence[str] | None, usd: float, source: str, until: float | None
) -> Settled:
    with _ledger(study) as ledger:
        try:
            was = ledger.write_off(study.study.name, models, usd, source, until)
        except ValueError:
            raise MissingInputError(
                f"{study.study.name}: the outcome of every attempt is known; there is nothing to "
                "settle"
            ) from None
    return Settled(was.attempts, was.charged, usd, source)


def _ledger(study: Study) -> Ledger:
    if not (Path(study.study.store) / LEDGER).is_file():
        raise MissingInputError(
            f"{study.study.store}: has no ledger; nothing was sent under a budget"
        )
    return Ledger(study.study.store)


def _usd(span: Used, models: dict[str, ServedModel], export: Path) -> float:
    """Return the cost of a span for the study's models."""
    if span.model is None:
        if span.usd is None:
            raise StoreError(f"{export}: counts tokens without models; export it grouped by model")
        return span.usd
    matches = [(name, m) for name, m in models.items() if same_family(m.id, span.model)]
    if not matches:
        return 0.0
    if span.usd is not None:
        return span.usd
    return max(_price_tokens(span, model.price, name) for name, model in matches)


def _price_tokens(span: Used, price: Price | None, name: str) -> float:
    if price is None:
        raise ParamsError(f"models.{name}: has no price for the export's tokens")
    tokens = span.uncached + span.written + span.cached
    return price.compute_dollars(tokens, span.output, span.cached, batch=span.batch)


def _utc(moment: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(moment))
