"""Asking one judge or several through the store, and what they make of each case together."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, Generic, NamedTuple, TypeVar

from omibench.client.ask import open_asker
from omibench.errors import ModelError
from omibench.judges.case import JudgeCase
from omibench.judges.instrument import (
    Instrument,
    InstrumentPrompt,
    build_prompt,
    build_request,
    find_reader,
)
from omibench.params.panel import JudgePanel
from omibench.params.stage_params import AskingParams
from omibench.schemas.request import NOT_BOUGHT, Request, Response
from omibench.schemas.validation import suggest_name
from omibench.schemas.verdict import VerdictOutcome
from omibench.store.key import request_key

log = logging.getLogger("omibench.judges.panel")

ASKS = 2
TOGETHER = "+"
"""Joins the names of judges that voted; no name of a model holds it."""
Ask = Callable[[Sequence[Request]], list[Response]]
T = TypeVar("T")


class Judge(NamedTuple):
    """A judge model: its name in the study, how to ask it, and what keys its replies."""

    name: str
    ask: Ask
    identity: dict[str, object]

    def key(self, request: Request) -> str:
        """The key under which the store holds the reply to a request."""
        return request_key(self.identity, request)


class OpenPanel(NamedTuple):
    """The judges of one instrument, with the words that they are given."""

    judges: Sequence[Judge]
    prompt: InstrumentPrompt
    max_tokens: int = 1024
    quiet: bool = False
    """Whether judgements that never came go without a warning: a plan asks nobody."""

    @property
    def name(self) -> str:
        """The judges' names, joined."""
        return TOGETHER.join(judge.name for judge in self.judges)


class JudgeVote(NamedTuple, Generic[T]):
    """What one judge said of a case. `key` finds the reply that counts.

    A value of None is no verdict: `outcome` is `judge_failed` for a reply that holds none, and
    tells a reply that never came, `provider_error` or `budget_stop`, from it.
    """

    judge: str
    value: T | None
    key: str
    simulated: bool
    outcome: VerdictOutcome


class Opinion(NamedTuple, Generic[T]):
    """What the judges said of one case, one by one, and the verdict that counts."""

    value: T | None
    votes: tuple[JudgeVote[T], ...]

    @property
    def outcome(self) -> VerdictOutcome:
        """`judge_failed` where no judge gave a verdict or their votes are tied.

        Where no judge gave one and a reply never came, it is why.
        """
        if self.value is not None:
            return "scored"
        untied = all(vote.value is None for vote in self.votes)
        absent = [vote.outcome for vote in self.votes if vote.outcome in NOT_BOUGHT]
        return absent[0] if untied and absent else "judge_failed"

    @property
    def is_simulated(self) -> bool:
        """Whether any of the judges was simulated."""
        return any(vote.simulated for vote in self.votes)

    @property
    def key(self) -> str | None:
        """The key of the only judge's reply; None where several voted."""
        return self.votes[0].key if len(self.votes) == 1 else None


class PanelRequest(NamedTuple, Generic[T]):
    """A panel to open: as the params name it, and under which key they do (for errors)."""

    params: JudgePanel
    instrument: Instrument[T]
    key: str


@contextmanager
def open_panels(
    study: AskingParams, panel_requests: Sequence[PanelRequest[Any]]
) -> Iterator[list[OpenPanel]]:
    """Open the models that panels name, each once, with the study's store.

    Raises ModelError when a name is no model of the study and ParamsError for a prompt file that
    cannot be read.
    """
    prompts = [build_prompt(instrument, params.prompt) for params, instrument, _ in panel_requests]
    with ExitStack() as stack:
        judges: dict[str, Judge] = {}
        for params, _, key in panel_requests:
            for name in params.models:
                if name not in study.models:
                    hint = suggest_name(name, study.models)
                    raise ModelError(f"{key}: {name!r} is no model of the params{hint}")
                if name not in judges:
                    asker = stack.enter_context(open_asker(study, name))
                    judges[name] = Judge(name, asker, dict(asker.provider.identity))
        yield [
            OpenPanel(
                [judges[name] for name in request.params.models], prompt, request.params.max_tokens
            )
            for request, prompt in zip(panel_requests, prompts, strict=True)
        ]


def consult(
    cases: Sequence[JudgeCase], instrument: Instrument[T], panel: OpenPanel
) -> list[Opinion[T]]:
    """The panel's opinion of every case, in order. A judge that gave no verdict abstains."""
    columns = [_ask_judge(cases, instrument, panel, judge) for judge in panel.judges]
    if not panel.quiet:
        _warn([judge_vote for column in columns for judge_vote in column])
    opinions = []
    for case_votes in zip(*columns, strict=True):
        values = [vote.value for vote in case_votes if vote.value is not None]
        value = values[0] if len(panel.judges) == 1 and values else instrument.vote(values)
        opinions.append(Opinion(value, case_votes))
    return opinions


def _ask_judge(
    cases: Sequence[JudgeCase], instrument: Instrument[T], panel: OpenPanel, judge: Judge
) -> list[JudgeVote[T]]:
    """What one judge says of every case; what holds no verdict is asked a second time."""
    read = find_reader(instrument, panel.prompt)
    votes: dict[int, JudgeVote[T]] = {}
    waiting = list(range(len(cases)))
    for index in range(ASKS):
        requests = [
            build_request(cases[i], instrument, panel.prompt, index, panel.max_tokens)
            for i in waiting
        ]
        replies = judge.ask(requests) if requests else []
        for i, request, reply in zip(waiting, requests, replies, strict=True):
            value = read(reply.text, cases[i]) if reply.outcome == "answered" else None
            outcome = _outcome(reply, value is not None)
            votes[i] = JudgeVote(judge.name, value, judge.key(request), reply.simulated, outcome)
        waiting = [i for i in waiting if votes[i].outcome == "judge_failed"]
    return [votes[i] for i in range(len(cases))]


def _outcome(reply: Response, has_value: bool) -> VerdictOutcome:
    if has_value:
        return "scored"
    # Narrowed by hand: what was not bought is not asked a second time but again, by a later run.
    if reply.outcome == "provider_error" or reply.outcome == "budget_stop":  # noqa: PLR1714
        return reply.outcome
    return "judge_failed"


def _warn(votes: Sequence[JudgeVote[T]]) -> None:
    absent = [vote for vote in votes if vote.outcome in NOT_BOUGHT]
    if absent:
        kinds = Counter(vote.outcome.replace("_", " ") for vote in absent)
        counts = ", ".join(f"{n} {kind}" for kind, n in kinds.most_common())
        log.warning(
            "omibench: %d of %d judgements never came (%s); what was bought is kept: make this "
            "cell again to buy the rest",
            len(absent), len(votes), counts,
        )  # fmt: skip
