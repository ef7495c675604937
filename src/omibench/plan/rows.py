"""The content of a plan: one row per model of a cell, and the totals of the study."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

from omibench.cost.estimate import CostEstimate
from omibench.cost.families import image_formula
from omibench.params.models.registry import Model
from omibench.schemas.problem import Noun
from omibench.schemas.request import Role

Money = Literal["priced", "unknown", "none"]
"""`unknown`: a paid model without a price. `none`: simulated, replayed or local."""


class PlanRow(Noun):
    """The requests of one cell to one model: its respondent, or its judge (`judge` as role).

    Requests to a helper of settings (captions, transcripts) are the same in every cell: one row of
    its model and role, without a cell, contains each once; likewise for a `stage` before the
    freeze. A request in several rows is counted in the first. Tokens and dollars are those of the
    requests `to_buy`. `learned_from` is the number of stored responses used to estimate them; at 0,
    only the stated rules were used.
    """

    role: Role
    model: str
    cell_model: str
    setting: str
    requests: int
    stored: int
    to_buy: int
    estimated: int = 0
    """Requests to send that follow missing answers and are therefore guessed."""
    stage: str = ""
    """The stage before the freeze that sends them, if any."""
    instrument: str = ""
    """The judge's instrument, which is its role."""
    shown: int = 0
    """Images in the requests to send."""
    too_many: int = 0
    """Requests to send with more images than the model accepts: the cell will be refused."""
    estimate: CostEstimate = CostEstimate()
    money: Money = "none"
    learned_from: int = 0
    simulated: bool = False
    batch: bool = False
    images_known: bool = True
    """Whether the formula of the model's image tokens is declared, with known options."""
    image_tokens: str = ""
    """The formula in the model's block, if any."""


class Power(Noun):
    """The smallest difference of two accuracies that the study detects; see `statistics.paired`.

    `difference` maps the share of problems on which two models differ to the difference that one
    comparison detects, each in [0, 1]; None if not even the largest possible difference is
    detected. `family_difference` is the same for the study's own `comparisons` taken together, as
    in the report: all pairs of models under `family_settings`, or of cells if there are none. It is
    the difference at Holm's strictest step.
    """

    problems: int
    effective: float
    difference: dict[float, float | None]
    comparisons: int = 1
    family_difference: dict[float, float | None] = {}
    family_settings: list[str] = []


class Spent(Noun):
    """The study's budget and its spending, in US dollars."""

    cap_usd: float
    spent_usd: float
    unknown_usd: float
    reserved_usd: float

    @property
    def left_usd(self) -> float:
        """The amount that can still be reserved."""
        return max(0.0, self.cap_usd - self.spent_usd - self.unknown_usd - self.reserved_usd)


class ReadingCounts(Noun):
    """What readers of pages and formulas are sent in addition to the rows, or may be sent."""

    unopened: dict[str, str] = {}
    """Source -> why its pages are not counted."""
    scanned_pages: int = 0
    """Pages that a local engine reads before the formula reader."""
    scanned_lines: int | None = None
    """Their lines that may hold a formula, as last read; None before `ocr`."""
    mathpix_pages: int = 0
    mathpix_formulas: int = 0
    """Pages and formulas that are sent to Mathpix."""


class Plan(Noun):
    """All rows of a study, its statistical power, its budget, and its incomplete cells."""

    study: str
    rows: list[PlanRow]
    power: Power | None
    budget: Spent | None = None
    incomplete: dict[str, int] = {}
    """Path of a cell's file -> number of its requests without an answer."""
    building: dict[str, list[str]] = {}
    """Stage before the freeze -> its models that no row counts, because the input is missing."""
    reading: ReadingCounts | None = None
    """Requests of readers that no row counts; None if no paper was opened."""
    partial: str = ""
    """Number of evaluated problems and of all, if `study.limit` selects a part."""
    frozen: bool = True
    """Whether the dataset is frozen; before, only stages before the freeze can be planned."""

    def list_rows(self, role: Role) -> list[PlanRow]:
        """Return the rows of one role."""
        return [row for row in self.rows if row.role == role and not row.stage]


def describe_model(model: Model, simulated: bool) -> dict[str, Any]:
    """Return the columns of a row that depend only on the model."""
    money: Money = "none"
    if model.is_paid:
        money = "unknown" if model.lacks_price else "priced"
    formula = image_formula(model)
    return {
        "money": money,
        "simulated": simulated,
        "batch": model.is_batch,
        "images_known": formula.is_declared,
        "image_tokens": formula.name or "",
    }


def sum_dollars(rows: Iterable[PlanRow]) -> tuple[float, float, list[str]]:
    """Return expected and maximum dollars over rows, and the models without a price."""
    rows = list(rows)
    dollars = [(row.estimate.usd or 0.0, row.estimate.usd_most or 0.0) for row in rows]
    unknown = dict.fromkeys(r.model for r in rows if r.money == "unknown" and r.to_buy)
    return sum(k[0] for k in dollars), sum(k[1] for k in dollars), list(unknown)


def sum_hours(rows: Iterable[PlanRow]) -> dict[str, float | None]:
    """Return the hours of each model for all its requests, batches separately; None if unknown."""
    hours_by_model: dict[str, float | None] = {}
    for row in (row for row in rows if not row.batch):
        hours, before = row.estimate.hours, hours_by_model.get(row.model, 0.0)
        hours_by_model[row.model] = None if hours is None or before is None else before + hours
    return hours_by_model
