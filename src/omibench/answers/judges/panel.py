"""Queries one judge or several through the store, and combines their verdicts per case."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from omibench.answers.judges.case import JudgeCase
from omibench.answers.judges.instrument import (
    Instrument,
    InstrumentPrompt,
    build_prompt,
    build_request,
    find_reader,
)
from omibench.errors import ModelError
from omibench.params.panel import JudgePanel
from omibench.schemas.request import NOT_BOUGHT, Request, Response
from omibench.schemas.validation import suggest_name
from omibench.schemas.verdict import VerdictOutcome
from omibench.store.key import request_key

if TYPE_CHECKING:
    from omibench.params.study import Study


log = logging.getLogger("omibench.answers.judges.panel")

ASKS = 2
TOGETHER = "+"
"""Joins the names of judges that voted; no model name contains it."""
Ask = Callable[[Sequence[Request]], list[Response]]
T = TypeVar("T")


class Judge(NamedTuple):
    """A judge model: its name in the study, its provider, and the keys of its replies."""

    name: str
    ask: Ask
    identity: dict[str, object]

    def key(self, request: Request) -> str:
        """Return the key of the stored reply to a request."""
        return request_key(self.identity, request)


class OpenPanel(NamedTuple):
    """The judges of one instrument, with their prompt."""

    judges: Sequence[Judge]
    prompt: InstrumentPrompt
    max_tokens: int = 1024
    quiet: bool = False
    """Whether missing judgements cause no warning: a plan sends no requests."""

    @property
    def name(self) -> str:
        """The judges' names, joined."""
        return TOGETHER.join(judge.name for judge in self.judges)


class JudgeVote(NamedTuple, Generic[T]):
    """The verdict of one judge on a case. `key` identifies the reply that counts.

    None means that no verdict was reached: `outcome` is `judge_failed` for an invalid reply, and
    `provider_error` or `budget_stop` for a missing one.
    """

    judge: str
    value: T | None
    key: str
    simulated: bool
    outcome: VerdictOutcome


class Opinion(NamedTuple, Generic[T]):
    """The votes of all judges on one case, and the resulting verdict."""

    value: T | None
    votes: tuple[JudgeVote[T], ...]

    @property
    def outcome(self) -> VerdictOutcome:
        """`judge_failed` if no judge returned a verdict or their votes are tied.

        If none did and a reply is missing, the reason for that.
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
        """The key of the only judge's reply; None if several voted."""
        return self.votes[0].key if len(self.votes) == 1 else None


class PanelRequest(NamedTuple, Generic[T]):
    """A panel to open: its block in the params, and its key there (for errors)."""

    params: JudgePanel
    instrument: Instrument[T]
    key: str


@contextmanager
def open_panels(
    study: Study, panel_requests: Sequence[PanelRequest[Any]]
) -> Iterator[list[OpenPanel]]:
    """Open the models of panels, each once, with the study's store.

    Raises ModelError if a name is not a model of the study and ParamsError if a prompt file cannot
    be read.
    """
    prompts = [build_prompt(instrument, params.prompt) for params, instrument, _ in panel_requests]
    with ExitStack() as stack:
        judges: dict[str, Judge] = {}
        for params, _, key in panel_requests:
            for name in params.models:
                if name not in study.models:
                    hint = suggest_name(name, study.models)
                    raise ModelError(f"{key}: {name!r} is not a model of the params{hint}")
                if name not in judges:
                    from omibench.models.client.ask import open_asker

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
    """Return the panel's opinion of every case, in order. A judge without a verdict abstains."""
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
    """Return one judge's vote on every case; invalid replies are requested a second time."""
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
    # Missing replies are left to a later run, not retried here. `==` narrows the type.
    if reply.outcome == "provider_error" or reply.outcome == "budget_stop":  # noqa: PLR1714
        return reply.outcome
    return "judge_failed"


def _warn(votes: Sequence[JudgeVote[T]]) -> None:
    absent = [vote for vote in votes if vote.outcome in NOT_BOUGHT]
    if absent:
        kinds = Counter(vote.outcome.replace("_", " ") for vote in absent)
        counts = ", ".join(f"{n} {kind}" for kind, n in kinds.most_common())
        log.warning(
            "omibench: %d of %d judgements are missing (%s); the others are stored: run this cell "
            "again to request the rest",
            len(absent), len(votes), counts,
        )  # fmt: skip
