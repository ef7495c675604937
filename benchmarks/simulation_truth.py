"""Check the chain from responses to intervals with simulated models of known accuracy.

Items are drawn afresh for each seed from a known population; simulated respondents of three
profiles answer them under three settings, in prose and with slips; `robust` scores the texts.
The accuracy of each cell in the population is known by numerical integration, so that:

* 95 % Wilson intervals must cover it in 93 to 97 % of all cases;
* every slip must be recovered at its set rate, within three standard errors, as the scorer sees it.

Run `python benchmarks/simulation_truth.py` for the full size (2,000 items, 200 seeds).
"""

from __future__ import annotations

import argparse
import math
import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import product
from typing import NamedTuple

import numpy as np

from omibench.answers.scorers.registry import score_item
from omibench.models.simulated.answers import SLIPS, Oracle, OracleRow, Slip, can_slip
from omibench.models.simulated.provider import SimulatedProvider
from omibench.params.models.providers import SimulatedModel, Slips
from omibench.params.setting import Setting
from omibench.results.statistics.intervals import wilson
from omibench.schemas.problem import Choice, Question
from omibench.schemas.request import Request, Response, Tags
from omibench.schemas.verdict import ScoredItem, Verdict
from omibench.settings.present import present

Scorer = Callable[[ScoredItem], Verdict]
CONFIDENCE = 0.95
LABELS = "ABCD"
CHOICES = [Choice(label=label, text=f"statement {label}") for label in LABELS]
MCQ_SHARE = 0.5
IMAGES = (2, 3, 4, 6)
SUBJECTS = ("physics", "chemistry", "biology", "mathematics")
FATAL: tuple[Slip, ...] = ("refusal", "truncation", "repetition")
"""Slips that leave no answer; from every other one the answer can be recovered."""

SETTINGS = {
    "cot": Setting(),
    "direct": Setting(prompt="direct"),
    "emma": Setting(prompt="emma-cot"),
}


def _profile(
    ability: float, penalty: float, effects: dict[str, float], slips: Slips
) -> SimulatedModel:
    return SimulatedModel(
        provider="simulated",
        oracle="population",
        ability=ability,
        image_penalty=penalty,
        setting_effects=effects,
        slips=slips,
    )


PROFILES = {
    "strong": _profile(
        1.5, 0.2, {"direct": -0.5},
        Slips(no_box=0.04, letter_in_sentence=0.03, units=0.05, two_boxes=0.04,
              refusal=0.01, truncation=0.02, repetition=0.01),
    ),
    "middle": _profile(
        0.3, 0.3, {"direct": -0.3, "emma": -0.2},
        Slips(no_box=0.08, letter_in_sentence=0.06, units=0.08, two_boxes=0.06,
              refusal=0.03, truncation=0.05, repetition=0.02),
    ),
    "weak": _profile(
        -1.2, 0.4, {"direct": 0.2, "emma": -0.4},
        Slips(no_box=0.15, letter_in_sentence=0.10, units=0.10, two_boxes=0.08,
              refusal=0.06, truncation=0.10, repetition=0.03),
    ),
}  # fmt: skip


class Cell(NamedTuple):
    """One profile under one setting."""

    profile: str
    setting: str


CELLS = [Cell(*names) for names in product(PROFILES, SETTINGS)]


class Result(NamedTuple):
    """One cell on the items of one seed: how many were right, and which slips were seen.

    `could_slip` counts the items that can show a slip: a letter needs choices, a unit a number.
    """

    cell: Cell
    items: int
    right: float
    slips: Counter[Slip]
    could_slip: Counter[Slip]


def population(rng: random.Random, count: int) -> list[OracleRow]:
    """Items with standard normal difficulty: half with four choices, half open numbers."""
    return [_item(rng, number) for number in range(count)]


def _item(rng: random.Random, number: int) -> OracleRow:
    mcq = rng.random() < MCQ_SHARE
    return OracleRow(
        id=f"{number}-{rng.getrandbits(64):x}",
        answer=[rng.choice(LABELS) if mcq else f"{rng.uniform(1, 500):.{rng.randrange(3)}f}"],
        answer_type="mcq" if mcq else "open",
        choices=list(LABELS) if mcq else None,
        difficulty=rng.gauss(0, 1),
        n_images=rng.choice(IMAGES),
        subject=rng.choice(SUBJECTS),
    )


def known_accuracy(model: SimulatedModel, setting: str) -> float:
    """The expected accuracy in the population, by Gauss-Hermite quadrature over difficulty.

    Written down afresh from the documented formula, apart from the code that draws responses.
    """
    nodes, weights = np.polynomial.hermite_e.hermegauss(60)
    weights = weights / weights.sum()
    total = 0.0
    for guess, share in ((1 / len(LABELS), MCQ_SHARE), (0.0, 1 - MCQ_SHARE)):
        for images in IMAGES:
            shift = model.setting_effects.get(setting, 0.0) - model.image_penalty * (images - 2)
            solved = 1 / (1 + np.exp(nodes - model.ability - shift))
            total += share / len(IMAGES) * float(weights @ (guess + (1 - guess) * solved))
    lost = sum(float(getattr(model.slips, slip)) for slip in FATAL)
    return total * (1 - lost)


def robust(item: ScoredItem) -> Verdict:
    """The scorer under test."""
    return score_item(item, "robust")


def simulate(seed: int, items: int, scorer: Scorer = robust) -> list[Result]:
    """Draw the items of one seed, let every cell answer them, and score every response."""
    oracle = Oracle(population(random.Random(seed), items))  # noqa: S311
    return [_cell(cell, oracle, scorer) for cell in CELLS]


def _cell(cell: Cell, oracle: Oracle, scorer: Scorer) -> Result:
    provider = SimulatedProvider(cell.profile, PROFILES[cell.profile], oracle=oracle)
    right, slips = 0.0, Counter[Slip]()
    for request, response in provider.answer(list(_requests(cell, oracle))):
        row = oracle.row(request.tags.problem)
        verdict = scorer(_scored_item(row, response))
        right += verdict.verdict
        slips.update(seen_slips(verdict, response))
    rows = oracle.rows.values()
    could_slip = Counter({slip: sum(can_slip(slip, row) for row in rows) for slip in SLIPS})
    return Result(cell, len(rows), right, slips, could_slip)


def _requests(cell: Cell, oracle: Oracle) -> Iterator[Request]:
    # The words of a question do not matter to a simulated model, so two conversations serve all.
    asked = {
        row_type: present(
            Question(id=row_type, question="What follows?", choices=given), SETTINGS[cell.setting]
        )
        for row_type, given in (("mcq", CHOICES), ("open", None))
    }
    for row in oracle.rows.values():
        conversation = asked[row.answer_type]
        assert conversation is not None
        tags = Tags(role="respondent", problem=row.id, setting=cell.setting)
        yield Request(conversation=conversation, tags=tags)


def _scored_item(row: OracleRow, response: Response) -> ScoredItem:
    return ScoredItem(
        id=row.id,
        prediction=response.text,
        gold=row.answer,
        answer_type=row.answer_type,
        choices=CHOICES if row.choices else None,
        finish_reason=response.finish_reason,
        outcome=response.outcome,
    )


def seen_slips(verdict: Verdict, response: Response) -> list[Slip]:
    """The slip that a verdict tells of, if any."""
    by_outcome: dict[str, Slip] = {
        "refused": "refusal", "truncated": "truncation", "loop": "repetition",
    }  # fmt: skip
    if verdict.outcome in by_outcome:
        return [by_outcome[verdict.outcome]]
    if verdict.method.startswith("phrase"):
        return ["no_box"]
    if verdict.method.startswith("conclusion"):
        return ["letter_in_sentence"]
    if response.text.count("\\boxed{") == 2:
        return ["two_boxes"]
    return ["units"] if "\\text{" in (verdict.extracted or "") else []


class Coverage(NamedTuple):
    """How many intervals of one cell covered its known accuracy."""

    cell: Cell
    expected: float
    mean: float
    covered: int
    cases: int


def coverage(results: Iterable[Result]) -> list[Coverage]:
    """Coverage of every cell over all seeds, in the order of `CELLS`."""
    by_cell: dict[Cell, list[Result]] = {cell: [] for cell in CELLS}
    for result in results:
        by_cell[result.cell].append(result)
    found = []
    for cell, runs in by_cell.items():
        known = known_accuracy(PROFILES[cell.profile], cell.setting)
        bounds = [wilson(run.right, run.items, CONFIDENCE) for run in runs]
        covered = sum(low <= known <= high for low, high in bounds)
        mean = sum(run.right for run in runs) / sum(run.items for run in runs)
        found.append(Coverage(cell, known, mean, covered, len(runs)))
    return found


class SlipRate(NamedTuple):
    """How often a slip of one profile was seen, against its set rate and the standard error."""

    profile: str
    slip: Slip
    expected: float
    found: float
    error: float


def slip_rates(results: list[Result]) -> list[SlipRate]:
    """Every slip of every profile over all seeds and settings, where it could be shown."""
    rates = []
    for profile, slip in product(PROFILES, SLIPS):
        runs = [result for result in results if result.cell.profile == profile]
        known = float(getattr(PROFILES[profile].slips, slip))
        chances = sum(run.could_slip[slip] for run in runs)
        found = sum(run.slips[slip] for run in runs) / chances
        error = math.sqrt(known * (1 - known) / chances)
        rates.append(SlipRate(profile, slip, known, found, error))
    return rates


def complaints(results: list[Result]) -> list[str]:
    """What is wrong, one line each; empty when the chain recovers what it was given.

    Overall coverage must lie within 2 points of 95 %, or within 3.5 standard errors of it where
    the cases are too few for that.
    """
    cells = coverage(results)
    cases = sum(cell.cases for cell in cells)
    share = sum(cell.covered for cell in cells) / cases
    room = max(0.02, 3.5 * math.sqrt(CONFIDENCE * (1 - CONFIDENCE) / cases))
    found = []
    if abs(share - CONFIDENCE) > room:
        found.append(f"coverage {share:.3f} of {cases} intervals is not {CONFIDENCE} +- {room:.3f}")
    found += [
        f"slip {rate.slip} of {rate.profile}: {rate.found:.4f}, set to {rate.expected:.4f}"
        for rate in slip_rates(results)
        if abs(rate.found - rate.expected) > 3 * rate.error
    ]
    return found


def report(results: list[Result]) -> str:
    """Coverage by cell and slips by profile, as Markdown."""
    cells = coverage(results)
    lines = [
        "| profile | setting | known accuracy | mean | covered | of |",
        "|---|---|---|---|---|---|",
    ]
    for cell in cells:
        values = (*cell.cell, f"{cell.expected:.4f}", f"{cell.mean:.4f}", cell.covered, cell.cases)
        lines.append("| " + " | ".join(str(value) for value in values) + " |")
    covered, cases = sum(c.covered for c in cells), sum(c.cases for c in cells)
    lines += ["", f"Coverage of 95 % intervals: {covered} of {cases} = {covered / cases:.2%}", ""]
    lines += ["| profile | slip | set | seen | standard errors |", "|---|---|---|---|---|"]
    for rate in slip_rates(results):
        off = (rate.found - rate.expected) / rate.error
        seen = f"{rate.expected:.4f} | {rate.found:.4f} | {off:+.1f}"
        lines.append(f"| {rate.profile} | {rate.slip} | {seen} |")
    return "\n".join(lines)


def _followed(runs: Iterable[list[Result]], seeds: int) -> Iterator[Result]:
    for done, run in enumerate(runs, 1):
        print(f"\r{done} of {seeds} seeds", end="", file=sys.stderr, flush=True)
        yield from run
    print(file=sys.stderr)


def main() -> int:
    """Run at full size and print the tables; exit 1 when something is not recovered."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--items", type=int, default=2000)
    parser.add_argument("--seeds", type=int, default=200)
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args()
    start = time.monotonic()
    with ProcessPoolExecutor(options.processes) as pool:
        runs = pool.map(partial(simulate, items=options.items), range(options.seeds))
        results = list(_followed(runs, options.seeds))
    found = complaints(results)
    print(report(results))
    print(f"\n{options.items} items, {options.seeds} seeds, {time.monotonic() - start:.0f} s")
    print("\n".join(found) or "all known values were recovered")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
