"""What a plan says: one row for each model that a cell asks, and for the study as a whole."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

from omibench.cost.estimate import CostEstimate
from omibench.cost.families import image_formula
from omibench.params.models.registry import Model
from omibench.schemas.problem import Noun
from omibench.schemas.request import Role

Money = Literal["priced", "unknown", "none"]
"""`unknown`: a paid model without a price. `none`: simulated, replayed or run by ourselves."""


class PlanRow(Noun):
    """What one cell asks of one model: its respondent, or its judge (`judge` as role).

    What a helper of settings is asked (captions, readings) is the same in every cell: one row of
    its model and role, without a cell, holds each request once; so does one of a `stage` before
    the freeze. A request that several rows need is bought in the first. Tokens and dollars are
    those of the requests `to_buy`. `learned_from` responses of the store were looked at for them;
    none means that the stated rules alone were used.
    """

    role: Role
    model: str
    cell_model: str
    setting: str
    requests: int
    stored: int
    to_buy: int
    estimated: int = 0
    """Requests to buy that follow answers which are not there yet, and so are guessed."""
    stage: str = ""
    """The stage before the freeze that asks, if one does."""
    instrument: str = ""
    """What a judge is asked for: the role in which it is asked."""
    shown: int = 0
    """Images that the requests to buy show."""
    too_many: int = 0
    """Requests to buy that show more images than the model takes: the cell will be refused."""
    estimate: CostEstimate = CostEstimate()
    money: Money = "none"
    learned_from: int = 0
    simulated: bool = False
    batch: bool = False
    images_known: bool = True
    """Whether the formula that counts the model's images is declared and knows its options."""
    image_tokens: str = ""
    """The formula that the model's block declares, if any."""


class Power(Noun):
    """The smallest difference of two accuracies that the study detects; see `statistics.power`.

    `difference` maps the share of problems on which two models differ to the difference that one
    comparison detects, each in [0, 1]; None where not even the largest possible difference is
    detected. `family_difference` is the same where the study's own `comparisons` are looked at
    together, as in the report: all pairs of models under `family_settings`, or of cells where
    there is none. It is the difference at Holm's strictest step.
    """

    problems: int
    effective: float
    difference: dict[float, float | None]
    comparisons: int = 1
    family_difference: dict[float, float | None] = {}
    family_settings: list[str] = []


class Spent(Noun):
    """The study's budget and what of it is gone, in US dollars."""

    cap_usd: float
    spent_usd: float
    unknown_usd: float
    reserved_usd: float

    @property
    def left_usd(self) -> float:
        """What may still be reserved."""
        return max(0.0, self.cap_usd - self.spent_usd - self.unknown_usd - self.reserved_usd)


class Plan(Noun):
    """All rows of a study, its statistical power, its budget, and the cells that lack answers."""

    study: str
    rows: list[PlanRow]
    power: Power | None
    budget: Spent | None = None
    incomplete: dict[str, int] = {}
    """Path of a cell's file -> how many of its requests ended without an answer."""
    building: dict[str, list[str]] = {}
    """Stage before the freeze -> the models that it asks and no row counts: what it reads is not
    there yet."""
    partial: str = ""
    """How many problems of how many are asked, where `study.limit` takes a part of them."""
    frozen: bool = True
    """Whether the dataset is frozen; before, only stages before the freeze can be planned."""

    def list_rows(self, role: Role) -> list[PlanRow]:
        """The rows of one role."""
        return [row for row in self.rows if row.role == role and not row.stage]


def describe_model(model: Model, simulated: bool) -> dict[str, Any]:
    """The columns of a row that follow from the model alone."""
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
    """Dollars expected and at most over rows, and the models that have no price."""
    rows = list(rows)
    dollars = [(row.estimate.usd or 0.0, row.estimate.usd_most or 0.0) for row in rows]
    unknown = dict.fromkeys(r.model for r in rows if r.money == "unknown" and r.to_buy)
    return sum(k[0] for k in dollars), sum(k[1] for k in dollars), list(unknown)


def sum_hours(rows: Iterable[PlanRow]) -> dict[str, float | None]:
    """Hours of each model, batches apart, for all it is asked; None where nothing is known."""
    hours_by_model: dict[str, float | None] = {}
    for row in (row for row in rows if not row.batch):
        hours, before = row.estimate.hours, hours_by_model.get(row.model, 0.0)
        hours_by_model[row.model] = None if hours is None or before is None else before + hours
    return hours_by_model
