"""What planning looks at: the study's models, its store, and what the store's answers teach."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache, cached_property
from itertools import cycle, islice, product
from pathlib import Path
from typing import NamedTuple

from omibench.cost.estimate import EXPECTED_SHARE
from omibench.cost.families import image_formula
from omibench.cost.history import Answered, History, learn
from omibench.models.calls import group_calls
from omibench.models.provider import Provider
from omibench.params.cell import Cell
from omibench.params.limit import apply_limit
from omibench.params.study import Study
from omibench.schemas.problem import Answer, Question
from omibench.schemas.request import Request, Response, Role
from omibench.schemas.tables import read_jsonl
from omibench.settings.pictures.made import without_drawing
from omibench.settings.rounds import Answered as Threaded
from omibench.settings.rounds import run_threads
from omibench.settings.steps import Step as Asks
from omibench.settings.steps import Task, next_step
from omibench.settings.threads import list_threads, load_questions, open_model_provider
from omibench.store.partition.partition import Partition
from omibench.store.store import Store

CHARACTERS_PER_TOKEN = 4
GUESS = "guess"
"""Stands where a provider's own id of a response would."""
_LETTERS = "bdfghjklmnprstvw"
LOOKED_AT = 300
"""Calls of the store that are looked at, evenly spaced, to learn from."""


class StudyView:
    """One study, its questions and its store. Nothing is sent, and nothing is written."""

    def __init__(self, study: Study, questions: Path, store: Store) -> None:
        self.study, self.questions, self.store = study, questions, store
        self.planned: set[str] = set()
        """Keys of the requests that a row of the plan buys: no other row buys them again."""
        self._providers: dict[str, Provider] = {}
        self._learned: dict[str, History] = {}
        self._first: dict[tuple[str, str, int], Asks] = {}
        """The first step of each setting, question and, where samples differ, sample."""

    def open_provider(self, model: str) -> Provider:
        """The provider of a model, opened once."""
        if model not in self._providers:
            self._providers[model] = open_model_provider(self.study, model)
        return self._providers[model]

    def open_partition(self, model: str) -> Partition:
        """The responses of a model."""
        return self.store.open_partition(self.open_provider(model).identity)

    def follow_paths(self, cell: Cell) -> list[Threaded]:
        """Every thread of a cell to its end, by the store's answers and by guesses beyond them.

        A guess is words of the length that an answer is expected to have; a loop of tools ends
        with it. No picture is drawn that is not there yet.
        """
        threads = list_threads(self.questions, self.study, cell, self.open_provider(cell.model))
        ask = self._find_or_guess if self._reads(cell) else self._guess_all
        with without_drawing():
            threads = [t._replace(first=self._first_step(cell.setting, t.task)) for t in threads]
            return run_threads(threads, cell.model, cell.setting, self.study.study.name, ask)

    def _first_step(self, setting: str, task: Task) -> Asks:
        """What a task asks first: put together once for all models and, but for examples, samples.

        It is the dearest part of a plan of many models. Pictures that a setting makes may be drawn
        by somebody meanwhile: what shows them is put together again.
        """
        if task.setting.images.is_derived:
            return next_step(task)
        place = setting, task.question.id, task.sample if task.examples else 0
        if place not in self._first:
            self._first[place] = next_step(task)
        return self._first[place]

    def _reads(self, cell: Cell) -> bool:
        """Whether what is asked in a cell, or of it, depends on what its responses say."""
        study, setting = self.study, self.study.settings[cell.setting]
        judged = study.panels("score") or cell in study.judged_cells or cell in study.salient_cells
        return bool(setting.in_steps or judged or setting.aggregate.judge)

    def last_requests(self, cell: Cell) -> list[Request]:
        """The last request of each thread of a cell: the one whose answer its row holds."""
        return [path.last.request for path in self.follow_paths(cell)]

    def list_turns(self, cell: Cell) -> list[Request]:
        """Everything that a cell asks of its own model as a respondent."""
        return [s.request for s in list_steps(self.follow_paths(cell)) if s.role == "respondent"]

    def _find_or_guess(self, model: str, requests: Sequence[Request]) -> list[tuple[str, Response]]:
        partition = self.open_partition(model)
        keys = [partition.key(request) for request in requests]
        return [
            (key, partition.get(key) or guess(request))
            for key, request in zip(keys, requests, strict=True)
        ]

    def _guess_all(self, model: str, requests: Sequence[Request]) -> list[tuple[str, Response]]:
        return [("", guess(request)) for request in requests]

    @cached_property
    def questions_by_id(self) -> dict[str, Question]:
        """The questions that are asked, by id."""
        questions_asked = apply_limit(load_questions(self.questions), self.study.study.limit)
        return {question.id: question for question in questions_asked}

    @cached_property
    def answers(self) -> dict[str, Answer]:
        """The answers that were frozen beside the questions, by id; empty without that file."""
        path = self.questions.with_name("answers.jsonl")
        return {a.id: a for a in read_jsonl(path, Answer)} if path.is_file() else {}

    def find_stored(self, model: str, requests: Sequence[Request]) -> list[Answered]:
        """Those requests that the store holds, with their responses."""
        partition = self.open_partition(model)
        pairs = ((request, partition.get(partition.key(request))) for request in requests)
        return [(request, response) for request, response in pairs if response is not None]

    def sample_calls(self, model: str, requests: Sequence[Request]) -> list[list[Answered]]:
        """Calls at some of these requests that the store answers, evenly spaced."""
        partition = self.open_partition(model)
        if not len(partition):
            return []
        stored_requests = [request for request in requests if partition.key(request) in partition]
        calls = group_calls(self.open_provider(model), stored_requests)
        step = max(1, len(calls) // LOOKED_AT)
        return [self.find_stored(model, call) for call in calls[::step]]

    def learn_history(self, model: str, requests: Sequence[Request]) -> History:
        """What the store knows of these requests and, where it has none of them, of the model.

        The length of answers is learned only from the same requests: another setting has another.
        """
        history = learn(self.sample_calls(model, requests), image_formula(self.study.models[model]))
        if history.responses or not len(self.open_partition(model)):
            return history
        if model not in self._learned:
            frozen = self.questions.is_file()
            cells = [cell for cell in self.study.cells if cell.model == model and frozen]
            looked = [
                call for cell in cells for call in self.sample_calls(model, self.list_turns(cell))
            ]
            self._learned[model] = learn(looked, image_formula(self.study.models[model]))
        return self._learned[model]._replace(output_tokens=None)


class Step(NamedTuple):
    """One request of a path; `guessed` where it follows an answer that is not there yet."""

    model: str
    role: Role
    key: str
    request: Request
    guessed: bool


def list_steps(paths: Iterable[Threaded]) -> Iterator[Step]:
    """Every request of paths, path by path."""
    for path in paths:
        guessed = False
        for step in path.steps:
            for a in step:
                yield Step(a.model, a.request.tags.role, a.key, a.request, guessed)
            guessed = guessed or any(a.response.provider_id == GUESS for a in step)


def guess(request: Request) -> Response:
    """What stands for an answer that is not there yet."""
    return _guess(request.decoding.max_tokens)


@cache
def _guess(max_tokens: int) -> Response:
    return Response(text=filler(int(EXPECTED_SHARE * max_tokens)), provider_id=GUESS)


@cache
def filler(tokens: int) -> str:
    """Made-up words of about as many tokens, none of which is repeated soon: it is no loop."""
    length = tokens * CHARACTERS_PER_TOKEN
    words = ("".join(letters) for letters in cycle(product(_LETTERS, repeat=4)))
    return " ".join(islice(words, length // 5 + 1))[:length]
