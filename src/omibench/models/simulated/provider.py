"""The `simulated` provider: a seeded simulation of a model in every role, with known answers.

An answer depends on the model, the problem, the role, the setting and the sample index (and, in
roles other than the respondent's, on the text of the request), never on the order of requests. The
part common to all samples of a problem depends only on the model and the problem.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from random import Random
from typing import Any

from omibench.errors import ModelError
from omibench.models.options import make_scored_response
from omibench.models.provider import NO_BUDGET, BaseProvider, Budget
from omibench.models.simulated.choosing import CHOOSERS, make_view, reward
from omibench.models.simulated.options import option_logprobs
from omibench.models.simulated.oracle import Oracle, OracleRow, load_oracle
from omibench.models.simulated.prose import reasoning
from omibench.models.simulated.respond import CHARACTERS_PER_TOKEN, PosedProblem, respond
from omibench.models.simulated.roles import WRITERS
from omibench.models.simulated.tools import first_call, reads_first
from omibench.params.models.simulated import SimulatedModel
from omibench.schemas.request import Request, Response, TextPart, Usage

VERSION = 2
"""Version of the simulation, part of its identity, since its draws depend on it. 2: a lasting
component."""


class SimulatedProvider(BaseProvider[SimulatedModel]):
    """A simulated model. Every response is marked `simulated`.

    The known answers are read from the model's `oracle` file unless they are given.
    """

    def __init__(self, name: str, model: SimulatedModel, oracle: Oracle | None = None) -> None:
        super().__init__(name, model)
        _check_slips(name, model)
        self.oracle = oracle or load_oracle(model.oracle)

    @property
    def identity(self) -> Mapping[str, Any]:
        """See `Provider.identity`: the content of the `oracle` file, not its path."""
        fields = self.model.identity_fields
        apart = ("provider", "oracle")
        return {
            "provider": self.model.provider,
            "version": VERSION,
            "id": self.name,
            "parameters": {name: value for name, value in fields.items() if name not in apart},
            "oracle": self.oracle.sha256,
            "reads_tags": True,
        }

    def answer(
        self, requests: Sequence[Request], budget: Budget = NO_BUDGET
    ) -> Iterator[tuple[Request, Response]]:
        """Yield every request with its response, in the order given.

        Raises ModelError if the `oracle` file lacks a problem or a field that the role needs.
        """
        for request in requests:
            if request.tags.role == "formula_reader":  # the formulas of a page are in no file
                yield request, _make_response("", request.conversation.text)
            else:
                yield request, self.respond(request)

    def respond(self, request: Request) -> Response:
        """Return the response to one request."""
        tags, prompt = request.tags, request.conversation.text
        row = self.oracle.row(tags.problem)
        if request.options:
            logprobs = option_logprobs(self.model, row, request, self._rng)
            return make_scored_response(logprobs, simulated=True)
        if tags.role == "respondent" and (early := self._before_answering(request, row)):
            return early
        if tags.role == "respondent":
            rng = self._rng(tags.role, tags.problem, tags.setting, str(request.index))
            problem = PosedProblem(row, tags.setting, prompt, request.decoding.max_tokens)
            return respond(self.model, self.oracle, problem, self._rng("lasting", row.id), rng)
        rng = self._rng(tags.role, tags.problem, prompt, str(request.index))
        view = make_view(self.model, row, self._rng, rng)
        if self.model.reward:
            response = request.conversation.messages[-1]
            words = "".join(p.text for p in response.parts if isinstance(p, TextPart))
            return _make_response(reward(words, view), prompt)
        if choose := CHOOSERS.get(tags.role):
            return _make_response(choose(prompt, view), prompt)
        return _make_response(WRITERS[tags.role](self.model, row, self.oracle, prompt, rng), prompt)

    def _before_answering(self, request: Request, row: OracleRow) -> Response | None:
        """Return the text of a tool turn before the answer."""
        conversation, tags = request.conversation, request.tags
        rng = self._rng("tools", tags.problem, tags.setting, str(request.index))
        if called := first_call(conversation, rng):
            words, calls = called
            return _make_response(words, conversation.text).model_copy(update={"calls": calls})
        if reads_first(conversation):
            return _make_response(reasoning(row.n_images, rng), conversation.text)
        return None

    def _rng(self, *parts: str) -> Random:
        text = "\0".join((self.name, str(self.model.seed), *parts))
        return Random(hashlib.blake2b(text.encode(), digest_size=8).digest())  # noqa: S311


def _make_response(text: str, prompt: str) -> Response:
    return Response(
        text=text,
        finish_reason="stop",
        usage=Usage(
            input_tokens=len(prompt) // CHARACTERS_PER_TOKEN,
            output_tokens=len(text) // CHARACTERS_PER_TOKEN,
        ),
        cost_usd=0.0,
        simulated=True,
    )


def _check_slips(name: str, model: SimulatedModel) -> None:
    total = sum(model.slips.model_dump().values())
    if total > 1 + 1e-9:
        raise ModelError(
            f"model {name!r}: the shares of its slips add up to {total:.4g}; the maximum is 1"
        )
