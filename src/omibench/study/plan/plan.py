"""The content of a plan: one row per model of a cell, and the totals of the study."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache, cached_property, partial
from itertools import cycle, islice, product
from pathlib import Path
from typing import Any, Literal, NamedTuple

from omibench.models.cost import (
    EXPECTED_SHARE,
    Answered,
    CostEstimate,
    History,
    image_formula,
    learn,
)
from omibench.models.provider import Provider, group_calls
from omibench.params.models.base import ModelBlock
from omibench.params.setting import Cell, Tools
from omibench.params.study import Study
from omibench.params.study_params import apply_limit
from omibench.results.statistics.intervals import SHARED_STEM
from omibench.schemas.problem import Answer, FrozenModel, Question
from omibench.schemas.request import (
    OPENING,
    Message,
    Request,
    Response,
    Role,
    TextPart,
    ToolCall,
    write_call,
)
from omibench.schemas.tables import read_jsonl
from omibench.settings.pictures import without_drawing
from omibench.settings.steps import AnsweredTask, Task, next_step, run_tasks
from omibench.settings.steps import Step as Asks
from omibench.settings.tasks import list_tasks, load_questions, open_model_provider
from omibench.settings.tools import MOST_CALLS, SAMPLES
from omibench.store.store import Partition, Store

Money = Literal["priced", "unknown", "none"]
"""`unknown`: a paid model without a price. `none`: simulated, replayed or local."""


class PlanRow(FrozenModel):
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


class Power(FrozenModel):
    """The smallest difference of two accuracies that the study detects; see `statistics.paired`.

    `difference` maps the share of problems on which two models differ to the difference that one
    comparison detects, each in [0, 1]; None if not even the largest possible difference is
    detected. `family_difference` is the same for the study's own `comparisons` taken together, as
    in the report: all pairs of models under `family_settings`, or of cells if there are none. It is
    the difference at Holm's strictest step. `effective` rests on `correlation`, in [0, 1], between
    problems that share a stem, which is `assumed`, `set` or `estimated` from an earlier run.
    """

    problems: int
    effective: float
    correlation: float = SHARED_STEM
    correlation_from: Literal["assumed", "set", "estimated"] = "assumed"
    difference: dict[float, float | None]
    comparisons: int = 1
    family_difference: dict[float, float | None] = {}
    family_settings: list[str] = []


class ExpectedLooks(FrozenModel):
    """The share of the cells' requests that `infer.adaptive` is expected to send, by simulation.

    `low` and `high` contain 80 % of the draws; `left` cells are not stopped. Models in `keep` send
    all their requests, and are not in the shares.
    """

    share: float
    low: float
    high: float
    left: float
    draws: int
    keep: list[str] = []


class Spent(FrozenModel):
    """The study's budget and its spending, in US dollars."""

    cap_usd: float
    spent_usd: float
    unknown_usd: float
    reserved_usd: float

    @property
    def left_usd(self) -> float:
        """The amount that can still be reserved."""
        return max(0.0, self.cap_usd - self.spent_usd - self.unknown_usd - self.reserved_usd)


class ReadingCounts(FrozenModel):
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


class Plan(FrozenModel):
    """All rows of a study, its statistical power, its budget, and its incomplete cells."""

    study: str
    rows: list[PlanRow]
    power: Power | None
    looks: ExpectedLooks | None = None
    """What `infer.adaptive` saves; the rows count all requests."""
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
    """Whether questions are known; before, only stages before the freeze can be planned."""
    over: str = ""
    """What the plan is about, if not frozen questions."""

    def list_rows(self, role: Role) -> list[PlanRow]:
        """Return the rows of one role."""
        return [row for row in self.rows if row.role == role and not row.stage]


def describe_model(model: ModelBlock, simulated: bool) -> dict[str, Any]:
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


# The input of planning: the study's models, its store, and estimates from stored answers.

CHARACTERS_PER_TOKEN = 4
GUESS = "guess"
"""Placeholder of a provider's response id."""
_LETTERS = "bdfghjklmnprstvw"
LOOKED_AT = 300
"""Stored calls that are sampled, evenly spaced, for the estimates."""


class StudyView:
    """One study, its questions and its store. Nothing is sent or written."""

    def __init__(self, study: Study, questions: Path, store: Store) -> None:
        self.study, self.questions, self.store = study, questions, store
        self.planned: set[str] = set()
        """Keys of the requests in earlier rows of the plan, which are not counted again."""
        self._providers: dict[str, Provider] = {}
        self._learned: dict[str, History] = {}
        self._first: dict[tuple[str, str, int], Asks] = {}
        """The first step of each setting, question and, if samples differ, sample."""

    def open_provider(self, model: str) -> Provider:
        """Return the provider of a model, opened once."""
        if model not in self._providers:
            self._providers[model] = open_model_provider(self.study, model)
        return self._providers[model]

    def open_partition(self, model: str) -> Partition:
        """Return the responses of a model."""
        return self.store.open_partition(self.open_provider(model).identity)

    def follow_paths(self, cell: Cell, *, most: bool = False) -> list[AnsweredTask]:
        """Follow every task of a cell to its end, by stored answers and then by guesses.

        A guess is text of the expected length. It calls tools in the expected share of the turns,
        for a picture each, or with `most` in all of them, for all pictures. Missing pictures are
        not drawn.
        """
        tasks = list_tasks(self.questions, self.study, cell, self.open_provider(cell.model))
        tools = self.study.settings[cell.setting].tools
        find = partial(self._find_or_guess, tools=tools, most=most)
        ask = find if self._reads(cell) else self._guess_all
        with without_drawing():
            tasks = [t._replace(first=self._first_step(cell.setting, t)) for t in tasks]
            return run_tasks(tasks, cell.model, cell.setting, self.study.study.name, ask)

    def _first_step(self, setting: str, task: Task) -> Asks:
        """Return a task's first step, built once for all models and, without examples, all samples.

        It is the slowest part of planning many models. A picture that a setting generates can be
        drawn by another process in the meantime: steps that show it are built again.
        """
        if task.setting.images.is_derived:
            return next_step(task)
        place = setting, task.question.id, task.sample if task.examples else 0
        if place not in self._first:
            self._first[place] = next_step(task)
        return self._first[place]

    def _reads(self, cell: Cell) -> bool:
        """Return whether the requests of a cell, or about it, depend on its responses."""
        study, setting = self.study, self.study.settings[cell.setting]
        judged = study.panels("score") or cell in study.judged_cells or cell in study.salient_cells
        return bool(setting.in_steps or judged or setting.aggregate.judge)

    def last_requests(self, cell: Cell) -> list[Request]:
        """Return the last request of each task of a cell, whose answer is in the task's row."""
        return [path.last.request for path in self.follow_paths(cell)]

    def _find_or_guess(
        self,
        model: str,
        requests: Sequence[Request],
        *,
        tools: Tools | None = None,
        most: bool = False,
    ) -> list[tuple[str, Response]]:
        partition = self.open_partition(model)
        keys = [partition.key(request) for request in requests]
        return [
            (key, partition.get(key) or guess_turn(request, tools, most=most))
            for key, request in zip(keys, requests, strict=True)
        ]

    def _guess_all(self, model: str, requests: Sequence[Request]) -> list[tuple[str, Response]]:
        return [("", guess(request)) for request in requests]

    @cached_property
    def questions_by_id(self) -> dict[str, Question]:
        """The questions in the study, by id."""
        questions_asked = apply_limit(load_questions(self.questions), self.study.study.limit)
        return {question.id: question for question in questions_asked}

    @cached_property
    def answers(self) -> dict[str, Answer]:
        """The answers frozen with the questions, by id; empty without that file."""
        path = self.questions.with_name("answers.jsonl")
        return {a.id: a for a in read_jsonl(path, Answer)} if path.is_file() else {}

    def sample_calls(self, model: str, requests: Sequence[Request]) -> list[list[Answered]]:
        """Return stored calls for some of these requests, evenly spaced."""
        partition = self.open_partition(model)
        if not len(partition):
            return []
        stored_requests = [request for request in requests if partition.key(request) in partition]
        calls = group_calls(self.open_provider(model), stored_requests)
        step = max(1, len(calls) // LOOKED_AT)
        return [
            [(r, response) for r in call if (response := partition.get(partition.key(r)))]
            for call in calls[::step]
        ]

    def learn_history(self, model: str, requests: Sequence[Request]) -> History:
        """Return the stored history of these requests or, without any, of the model.

        The length of answers is learned only from the same requests, since it depends on the
        setting.
        """
        history = learn(self.sample_calls(model, requests), image_formula(self.study.models[model]))
        if history.responses or not len(self.open_partition(model)):
            return history
        if model not in self._learned:
            looked: list[list[Answered]] = []
            for cell in self.study.cells if self.questions.is_file() else ():
                if cell.model == model:
                    steps = list_steps(self.follow_paths(cell))
                    own = [step.request for step in steps if step.role == "respondent"]
                    looked += self.sample_calls(model, own)
            self._learned[model] = learn(looked, image_formula(self.study.models[model]))
        return self._learned[model]._replace(output_tokens=None)


class Step(NamedTuple):
    """One request of a path; `guessed` if it follows a missing answer."""

    model: str
    role: Role
    key: str
    request: Request
    guessed: bool


def list_steps(paths: Iterable[AnsweredTask]) -> Iterator[Step]:
    """List every request of paths, path by path."""
    for path in paths:
        guessed = False
        for step in path.steps:
            for a in step:
                yield Step(a.model, a.request.tags.role, a.key, a.request, guessed)
            guessed = guessed or any(a.response.provider_id == GUESS for a in step)


def group_steps(steps: Iterable[Step]) -> dict[tuple[Role, str], list[Step]]:
    """Return (role, model) -> its requests, each once."""
    grouped: dict[tuple[Role, str], dict[str, Step]] = {}
    for step in steps:
        grouped.setdefault((step.role, step.model), {}).setdefault(step.key, step)
    return {place: list(unique.values()) for place, unique in grouped.items()}


def guess(request: Request) -> Response:
    """Return the placeholder of a missing answer."""
    tokens = int(EXPECTED_SHARE * request.decoding.max_tokens)
    return Response(text=filler(tokens), provider_id=GUESS)


def guess_turn(request: Request, tools: Tools | None, *, most: bool = False) -> Response:
    """Return the placeholder of a missing answer; in a loop of tools, first of turns with calls."""
    response, conversation = guess(request), request.conversation
    if tools is None or request.tags.role != "respondent" or not conversation.images:
        return response
    replies = [message for message in conversation.messages if message.role == "assistant"]
    turns = sum(bool(m.calls) or any(OPENING in p.text for p in _texts(m)) for m in replies)
    if turns >= (tools.max_turns - 1) * (1 if most else EXPECTED_SHARE):
        return response
    name = "look" if "look" in tools.offered else "crop"
    arguments = '{"image": "image_1"' + (', "box": [0, 0, 1, 1]}' if name == "crop" else "}")
    names = [name] * (MOST_CALLS - len(tools.by) if most else 1)
    calls = [*((n, arguments) for n in names), *((tool, SAMPLES[tool]) for tool in tools.by)]
    if tools.style == "text":
        text = "\n\n".join([response.text, *(write_call(*call) for call in calls)])
        return response.model_copy(update={"text": text})
    made = (ToolCall(id=f"c{n}", name=c, arguments=a) for n, (c, a) in enumerate(calls))
    return response.model_copy(update={"calls": tuple(made)})


def _texts(message: Message) -> Iterator[TextPart]:
    return (part for part in message.parts if isinstance(part, TextPart))


@cache
def filler(tokens: int) -> str:
    """Return placeholder text of about as many tokens, without close repetition."""
    length = tokens * CHARACTERS_PER_TOKEN
    words = ("".join(letters) for letters in cycle(product(_LETTERS, repeat=4)))
    return " ".join(islice(words, length // 5 + 1))[:length]
