"""A dry run: stages run as usual, the store answers, and missing requests are listed.

So a plan counts the actual requests of a run, by the same code. Nothing is sent.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial
from typing import Any

from omibench.judges.instrument import Instrument, build_prompt
from omibench.judges.panel import Judge, OpenPanel
from omibench.params.panel import JudgePanel
from omibench.plan.view import GUESS, Step, StudyView, filler
from omibench.schemas.request import Request, Response, Role
from omibench.stages.filter.models import Models, Replies
from omibench.store.partition.partition import Partition

NOT_YET = Response(text="", outcome="budget_stop", provider_id=GUESS)
"""A judge's placeholder for a missing reply: no verdict, and no reason for a second request."""
WORDS = Response(text=filler(200), provider_id=GUESS)
"""Another model's placeholder for a missing reply; long enough for a worked solution."""
Reply = Callable[[Request], Response]


class DryJudge(Judge):
    """A judge in a dry run. Its replies are discarded, so they need no key."""

    __slots__ = ()

    def key(self, request: Request) -> str:
        """Return no key."""
        return ""


class DryRun:
    """Replaces the models; `steps` are their requests, in order.

    `reply` returns the placeholder of a missing answer. A repeated request after such a reply is
    skipped. If `chained`, all later requests about a problem are guessed, except the other votes of
    a panel; if `guessing`, all are. If `made_up`, all requests are about placeholders of responses:
    they are not in the store, and their keys are not computed, which would be slow.
    """

    def __init__(
        self, view: StudyView, reply: Reply = lambda _: NOT_YET, chained: bool = False
    ) -> None:
        self.view, self.steps = view, list[Step]()
        self.guessing = self.made_up = False
        self._reply, self._chained = reply, chained
        self._unanswered: dict[str, set[Role]] = {}
        self._asked: set[str] = set()

    def ask(self, model: str, requests: Sequence[Request]) -> Replies:
        """Return the key and the response of each request, from the store if it has one."""
        partition = self.view.open_partition(model)
        replies, unanswered = [], []
        for request in requests:
            key, tags = self._key(partition, request), request.tags
            response = partition.get(key) or self._reply(request)
            replies.append((key, response))
            if request.index:
                first = request.model_copy(update={"index": 0})
                if self._key(partition, first) in self._asked:
                    continue
            guessed = self.guessing or (self._chained and self._follows(request))
            self.steps.append(Step(model, tags.role, key, request, guessed))
            if response.provider_id == GUESS:
                unanswered.append((key, tags))
        for key, tags in unanswered:
            self._asked.add(key)
            self._unanswered.setdefault(tags.problem, set()).add(tags.role)
        return replies

    def _key(self, partition: Partition, request: Request) -> str:
        """Return the key of a request, or for a placeholder an identifier within this plan."""
        if not self.made_up:
            return partition.key(request)
        place = hash((partition.folder, request.conversation, request.index))
        return f"{place % 2**64:064x}"

    def _follows(self, request: Request) -> bool:
        before = self._unanswered.get(request.tags.problem, set())
        return bool(before - ({"voter"} if request.tags.role == "voter" else set()))

    def asking(self, model: str) -> Callable[[Sequence[Request]], list[Response]]:
        """Return how a stage queries one model."""
        return partial(self._responses, model)

    def _responses(self, model: str, requests: Sequence[Request]) -> list[Response]:
        return [response for _, response in self.ask(model, requests)]

    def judge(self, model: str) -> Judge:
        """Return the model as part of a panel."""
        return DryJudge(model, self.asking(model), dict(self.view.open_provider(model).identity))

    def panel(self, instrument: Instrument[Any], params: JudgePanel) -> OpenPanel:
        """Return the judges of an instrument, as `open_panels` does."""
        judges = [self.judge(name) for name in params.models]
        prompt = build_prompt(instrument, params.prompt)
        return OpenPanel(judges, prompt, params.max_tokens, quiet=True)


class DryModels(Models):
    """The models of a study for the filter, in a dry run."""

    def __init__(self, dry: DryRun) -> None:
        super().__init__(dry.view.study, ExitStack())
        self._dry = dry

    def ask(self, model: str, requests: Sequence[Request]) -> Replies:
        """See `DryRun.ask`."""
        return self._dry.ask(model, requests)

    def judge(self, model: str) -> Judge:
        """See `DryRun.judge`."""
        return self._dry.judge(model)
