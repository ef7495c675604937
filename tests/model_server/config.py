"""What the server answers, how fast, and how often it misbehaves."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

Kind = Literal[
    "ok",
    # errors, with a body in the form of the API
    "rate_limit", "quota", "server_error", "unavailable", "overloaded",
    # the connection; the `_mid` ones strike when half of a 200 body is out
    "reset", "reset_mid", "hang", "hang_mid",
    # a 200 whose body is no answer: cut off, not JSON, a proxy's page
    "truncated_json", "malformed_json", "html_page",
    # a 200 in good form that says something unexpected
    "fewer_choices", "content_filter", "wrong_model", "broken_off",
]  # fmt: skip
Rate = Annotated[float, Field(ge=0, le=1)]
Seconds = Annotated[float, Field(ge=0)]


class Settings(BaseModel):
    """Unknown names are errors: a mistyped fault must not pass as a quiet server."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Fault(Settings):
    """One misbehaviour. `rate` counts only in `Config.faults`."""

    kind: Kind
    rate: Rate = 0.0
    retry_after_s: Seconds | None = None
    """None leaves the header out."""


def _fault(value: Any) -> Any:
    return {"kind": value} if isinstance(value, str) else value


def _faults(value: Any) -> Any:
    """`{"hang": 0.01}` is short for `[{"kind": "hang", "rate": 0.01}]`."""
    if isinstance(value, dict):
        return [{"kind": kind, "rate": rate} for kind, rate in value.items()]
    return value


def _reply(value: Any) -> Any:
    return {"text": value} if isinstance(value, str | list) else value


Step = Annotated[Fault, BeforeValidator(_fault)]


class Rule(Settings):
    """The first attempts at every request whose text contains `match`, step by step; then ok."""

    match: str
    steps: list[Step]


class Call(Settings):
    """A tool call. `arguments` is a value, or text that is sent as it is."""

    name: str
    arguments: dict[str, Any] | str = {}


class Reply(Settings):
    """A fixed reply. Of several texts choice i takes the i-th, over again from the first.

    Where tools are on offer, `calls` are made in the first `rounds` turns, with the words `says`.
    """

    text: str | list[str]
    reasoning: str | None = None
    calls: list[Call] = []
    rounds: int = 1
    says: str = ""
    images: list[str] = []
    """`data:` URLs of pictures that are drawn beside the text."""


class Config(Settings):
    """Everything adjustable. Every default is a provider on a good day."""

    seed: int = 0
    # answers
    replies: dict[str, Annotated[Reply, BeforeValidator(_reply)]] = {}
    """From a substring of the prompt to the reply; the first that occurs is taken."""
    answer_chars: Annotated[int, Field(ge=0)] = 0
    """Pad computed answers to at least so many characters."""
    letters: bool = False
    """Computed answers are one of A to D instead of 0 to 999."""
    reasoning_field: Literal["reasoning_content", "reasoning", "hidden"] = "hidden"
    """Where chat completions show it: DashScope, vLLM, OpenAI."""
    cached_fraction: Rate = 0.0
    # who may ask what
    models: list[str] = ["stub-model"]
    any_model: bool = True
    hub_models: list[str] = []
    """Models of `/api/models`, newest first, where the server plays a hub."""
    api_keys: list[str] | None = None
    rejects: list[str] = []
    too_long: list[str] = []
    """Requests whose text contains one of these are turned down: longer than the model takes."""
    # time: lognormal about the median `latency_s`, fixed when sigma is 0
    latency_s: Seconds = 0.0
    latency_sigma: Annotated[float, Field(ge=0)] = 0.0
    # misbehaviour: the first of script, opening and faults that applies
    faults: Annotated[list[Fault], BeforeValidator(_faults)] = []
    script: list[Rule] = []
    opening: list[Step] = []
    """Meets the first, second, ... request that arrives."""
    # batches
    batch_s: Seconds = 0.1
    batch_expires: Rate = 0.0
    batch_bad: list[str] = []
    """Lines whose text contains one of these fail."""
    batch_create: list[Step] = []
    """Meets the first, second, ... submission; the `_mid` kinds strike once it is made."""

    @model_validator(mode="after")
    def _rates_fit(self) -> Config:
        if sum(fault.rate for fault in self.faults) > 1 + 1e-9:
            raise ValueError("the rates of the faults exceed 1 together")
        return self

    def changed(self, **changes: Any) -> Config:
        """The same with some fields replaced, validated again."""
        return Config.model_validate(self.model_dump() | changes)
