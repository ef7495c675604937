"""Asking one judge or several through the store, and what they make of each case together."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, Generic, NamedTuple, TypeVar

from omibench.client.ask import open_asker
from omibench.errors import ModelError
from omibench.judges.case import Case
from omibench.judges.instrument import Instrument, Prompt, prompt_of, request_for
from omibench.params.judge import JudgePanel
from omibench.params.stage_params import AskingParams
from omibench.schemas.request import NOT_BOUGHT, Request, Response
from omibench.schemas.validation import suggest_name
from omibench.schemas.verdict import VerdictOutcome
from omibench.store.key import request_key

log = logging.getLogger("omibench.stages.score")

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


class Panel(NamedTuple):
    """The judges of one instrument, with the words that they are given."""

    judges: Sequence[Judge]
    prompt: Prompt
    max_tokens: int = 1024
    quiet: bool = False
    """Whether judgements that never came go without a warning: a plan asks nobody."""

    @property
    def name(self) -> str:
        """The judges' names, joined."""
        return TOGETHER.join(judge.name for judge in self.judges)


class Said(NamedTuple, Generic[T]):
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
    said: tuple[Said[T], ...]

    @property
    def outcome(self) -> VerdictOutcome:
        """`judge_failed` where no judge gave a verdict or their votes are tied.

        Where no judge gave one and a reply never came, it is why.
        """
        if self.value is not None:
            return "scored"
        untied = all(said.value is None for said in self.said)
        absent = [said.outcome for said in self.said if said.outcome in NOT_BOUGHT]
        return absent[0] if untied and absent else "judge_failed"

    @property
    def simulated(self) -> bool:
        """Whether any of the judges was simulated."""
        return any(said.simulated for said in self.said)

    @property
    def key(self) -> str | None:
        """The key of the only judge's reply; None where several voted."""
        return self.said[0].key if len(self.said) == 1 else None


class Wanted(NamedTuple, Generic[T]):
    """A panel to open: as the params name it, and under which key they do (for errors)."""

    params: JudgePanel
    instrument: Instrument[T]
    where: str


@contextmanager
def open_panels(study: AskingParams, wanted: Sequence[Wanted[Any]]) -> Iterator[list[Panel]]:
    """Open the models that panels name, each once, with the study's store.

    Raises ModelError when a name is no model of the study and ParamsError for a prompt file that
    cannot be read.
    """
    prompts = [prompt_of(instrument, params.prompt) for params, instrument, _ in wanted]
    with ExitStack() as stack:
        judges: dict[str, Judge] = {}
        for params, _, where in wanted:
            for name in params.models:
                if name not in study.models:
                    hint = suggest_name(name, study.models)
                    raise ModelError(f"{where}: {name!r} is no model of the params{hint}")
                if name not in judges:
                    asker = stack.enter_context(open_asker(study, name))
                    judges[name] = Judge(name, asker, dict(asker.provider.identity))
        yield [
            Panel([judges[name] for name in one.params.models], prompt, one.params.max_tokens)
            for one, prompt in zip(wanted, prompts, strict=True)
        ]


def consult(cases: Sequence[Case], instrument: Instrument[T], panel: Panel) -> list[Opinion[T]]:
    """The panel's opinion of every case, in order. A judge that gave no verdict abstains."""
    columns = [_ask_judge(cases, instrument, panel, judge) for judge in panel.judges]
    if not panel.quiet:
        _warn([said for column in columns for said in column])
    opinions = []
    for said in zip(*columns, strict=True):
        votes = [one.value for one in said if one.value is not None]
        value = votes[0] if len(panel.judges) == 1 and votes else instrument.vote(votes)
        opinions.append(Opinion(value, said))
    return opinions


def _ask_judge(
    cases: Sequence[Case], instrument: Instrument[T], panel: Panel, judge: Judge
) -> list[Said[T]]:
    """What one judge says of every case; what holds no verdict is asked a second time."""
    found: dict[int, Said[T]] = {}
    waiting = list(range(len(cases)))
    for index in range(ASKS):
        requests = [
            request_for(cases[i], instrument, panel.prompt, index, panel.max_tokens)
            for i in waiting
        ]
        replies = judge.ask(requests) if requests else []
        for i, request, reply in zip(waiting, requests, replies, strict=True):
            told = instrument.read(reply.text, cases[i]) if reply.outcome == "answered" else None
            outcome = _outcome(reply, told is not None)
            found[i] = Said(judge.name, told, judge.key(request), reply.simulated, outcome)
        waiting = [i for i in waiting if found[i].outcome == "judge_failed"]
    return [found[i] for i in range(len(cases))]


def _outcome(reply: Response, told: bool) -> VerdictOutcome:
    if told:
        return "scored"
    # Narrowed by hand: what was not bought is not asked a second time but again, by a later run.
    if reply.outcome == "provider_error" or reply.outcome == "budget_stop":  # noqa: PLR1714
        return reply.outcome
    return "judge_failed"


def _warn(said: Sequence[Said[T]]) -> None:
    absent = [one for one in said if one.outcome in NOT_BOUGHT]
    if absent:
        kinds = Counter(one.outcome.replace("_", " ") for one in absent)
        counts = ", ".join(f"{n} {kind}" for kind, n in kinds.most_common())
        log.warning(
            "omibench: %d of %d judgements never came (%s); what was bought is kept: make this "
            "cell again to buy the rest",
            len(absent), len(said), counts,
        )  # fmt: skip
