"""Usage exports of providers, from their APIs and consoles.

OpenAI: the JSON of `/v1/organization/usage/completions` and `/v1/organization/costs`, and the
CSV files of the same columns that the dashboard exports. Anthropic: the JSON of
`/v1/organizations/usage_report/messages` and `/v1/organizations/cost_report` (amounts in cents),
and the console's two CSV files. A JSON file can contain one page, a list of pages, or one page
per line.
"""

from __future__ import annotations

import getpass
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, NamedTuple

from omibench.errors import FileFormatError, MissingInputError, ParamsError, StoreError
from omibench.files.reading import hash_file, parse_json, read_csv, read_text
from omibench.models.api.replies import same_family
from omibench.models.cost import usd_text
from omibench.params.blocks import MOST_USD
from omibench.params.models.base import Price, ServedModel
from omibench.params.study import Study
from omibench.store.ledger import LEDGER, Ledger

EXPORT_BYTES = 256 * 2**20
DAY_S = 86400.0
Provider = Literal["openai", "anthropic"]


class Used(NamedTuple):
    """Usage in a span of time (Unix time): dollars, or tokens to be priced.

    `model` is None if the export does not separate models.
    """

    provider: Provider
    begin: float
    end: float
    model: str | None
    usd: float | None = None
    uncached: float = 0.0
    cached: float = 0.0
    written: float = 0.0
    """Cache-write tokens, weighted by their price: 1.25 for five minutes, 2 for an hour."""
    output: float = 0.0
    batch: bool = False


def read_usage(path: Path) -> list[Used]:
    """Read the spans of a usage export.

    Raises MissingInputError if the file is missing, and FileFormatError if it is not an export,
    is truncated (`has_more`), or uses a currency other than US dollars.
    """
    reader = _from_csv if path.suffix.lower() == ".csv" else _from_json
    try:
        spans = list(reader(path))
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        reason = f"lacks {error}" if isinstance(error, KeyError) else str(error)
        raise FileFormatError(
            f"{path}: is not a usage export of OpenAI or Anthropic: {reason[:200]}"
        ) from None
    if not spans:
        raise FileFormatError(f"{path}: contains no usage; export the days of the lost attempts")
    return spans


def _from_json(path: Path) -> Iterator[Used]:
    text = read_text(path, EXPORT_BYTES)
    try:
        value = parse_json(text, str(path))
        pages = value if isinstance(value, list) else [value]
    except FileFormatError:
        lines = [line for line in text.splitlines() if line.strip()]
        if len(lines) < 2 or not lines[0].rstrip().endswith("}"):
            raise
        pages = [parse_json(line, f"{path}, line {n}") for n, line in enumerate(lines, 1)]
    for page in pages:
        for bucket in page["data"]:
            yield from _from_bucket(bucket)
    if pages and pages[-1].get("has_more"):
        raise FileFormatError(
            f"{path}: its last page announces more (`has_more`); export all pages, or days "
            "with a larger `limit`"
        )


def _from_bucket(bucket: Mapping[str, Any]) -> Iterator[Used]:
    openai = "start_time" in bucket
    begin, end = (
        (_amount(bucket["start_time"]), _amount(bucket["end_time"]))
        if openai
        else (_moment(bucket["starting_at"]), _moment(bucket["ending_at"]))
    )
    yield Used("openai" if openai else "anthropic", begin, end, None, 0.0)  # the span is covered
    for row in bucket["results"]:
        yield (_openai if openai else _anthropic)(row, begin, end)


def _openai(row: Mapping[str, Any], begin: float, end: float) -> Used:
    if "amount" in row:
        amount = row["amount"] or {"value": 0.0, "currency": "usd"}
        usd = _dollars(amount["value"], amount["currency"])
        return Used("openai", begin, end, _item_model(row.get("line_item")), usd)
    cached = _amount(row.get("input_cached_tokens"))
    return Used(
        "openai", begin, end, row.get("model"), None,
        uncached=max(0.0, _amount(row["input_tokens"]) - cached),
        cached=cached, output=_amount(row["output_tokens"]),
        batch=str(row.get("batch")).lower() == "true",
    )  # fmt: skip


def _anthropic(row: Mapping[str, Any], begin: float, end: float) -> Used:
    if "amount" in row:
        usd = _dollars(row["amount"], row.get("currency") or "USD") / 100
        return Used("anthropic", begin, end, row.get("model"), usd)
    written = row.get("cache_creation") or {}
    return Used(
        "anthropic", begin, end, row.get("model"), None,
        uncached=_amount(row["uncached_input_tokens"]),
        cached=_amount(row.get("cache_read_input_tokens")),
        written=1.25 * _amount(written.get("ephemeral_5m_input_tokens"))
        + 2.0 * _amount(written.get("ephemeral_1h_input_tokens")),
        output=_amount(row["output_tokens"]), batch=row.get("service_tier") == "batch",
    )  # fmt: skip


_ANTHROPIC_COLUMNS = {
    "usage_input_tokens_no_cache": "uncached_input_tokens",
    "usage_input_tokens_cache_read": "cache_read_input_tokens",
    "usage_output_tokens": "output_tokens",
    "usage_type": "service_tier",
    "model_version": "model",
}
"""Columns of the console's file, and their names in the API."""


def _from_csv(path: Path) -> Iterator[Used]:
    for row in read_csv(path, limit=EXPORT_BYTES):
        values: dict[str, Any] = {**row, "model": row.get("model") or None}
        if "usage_date_utc" in row:
            begin = _moment(row["usage_date_utc"][:10])
            end = begin + DAY_S
            if "cost_usd" in row:
                yield Used("anthropic", begin, end, values["model"], _amount(row["cost_usd"]))
                continue
            values |= {name: row[column] or None for column, name in _ANTHROPIC_COLUMNS.items()}
            values["cache_creation"] = {
                f"ephemeral_{span}_input_tokens": row[f"usage_input_tokens_cache_write_{span}"]
                for span in ("5m", "1h")
            }
            yield _anthropic(values, begin, end)
        else:
            if "amount_value" in row:
                currency = row.get("amount_currency") or "usd"
                values["amount"] = {"value": row["amount_value"], "currency": currency}
            yield _openai(values, _amount(row["start_time"]), _amount(row["end_time"]))


def _item_model(item: str | None) -> str | None:
    """OpenAI's line items look like `gpt-5-mini-2025-08-07, input`."""
    return item.partition(",")[0].strip() or None if item else None


def _dollars(value: object, currency: str) -> float:
    if currency.lower() != "usd":
        raise ValueError(f"its amounts are in {currency[:20]!r}, not in US dollars")
    return _amount(value)


def _amount(value: object) -> float:
    """Parse a number or its text; empty is 0. Raises ValueError."""
    if value is None or value == "":
        return 0.0
    amount = float(str(value).replace(",", ""))
    if not 0 <= amount < 1e15:
        raise ValueError(f"{json.dumps(value)[:40]} is not an amount")
    return amount


def _moment(text: str) -> float:
    moment = datetime.fromisoformat(text)
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


# Settlement of lost attempts: by a stated amount, or by the provider's usage export.

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
