"""The block `reevaluate:` of params.yaml: where new models appear, and what they may cost."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, ValidationError, model_validator

from omibench.params.blocks import Block, Dollars, Name, Url, Variable
from omibench.params.models.base import ApiModel, ModelBlock
from omibench.params.models.registry import block_class, is_provider, parse_model
from omibench.schemas.validation import explain

_ANY_ID = "any-id"


def matches(pattern: str, model_id: str) -> bool:
    """Whether a served id matches `*`, `?` and `[...]` of a glob, or a /regular expression/.

    Both must match the id as a whole, and capitals count.
    """
    if len(pattern) > 1 and pattern[0] == pattern[-1] == "/":
        return re.fullmatch(pattern[1:-1], model_id) is not None
    return fnmatchcase(model_id, pattern)


def fill_template(template: dict[str, Any], model_id: str) -> dict[str, Any]:
    """The block of a new model: the template with the served id, where its provider has one."""
    provider = template.get("provider")
    if is_provider(provider) and not has_id(provider):
        return dict(template)
    return {"provider": provider, "id": model_id} | template


def has_id(provider: object) -> bool:
    """Whether blocks of a provider name the model by a served id."""
    return "id" in block_class(provider).model_fields


def parse_template(template: dict[str, Any], model_id: str = _ANY_ID) -> ModelBlock:
    """The same as a checked model. Raises pydantic.ValidationError."""
    return parse_model(fill_template(template, model_id))


def _template(block: dict[str, Any]) -> dict[str, Any]:
    if "id" in block:
        raise ValueError("must not give an `id`: it is that of the model that is found")
    provider = block.get("provider")
    if is_provider(provider) and block_class(provider).is_recorded:
        raise ValueError(f"must have a provider that can be asked, not `{provider}`")
    try:
        model = parse_template(block)
    except ValidationError as error:
        root = block_class(provider) if is_provider(provider) else Block
        raise ValueError(f"is no model: {explain(error, root)}") from None
    if getattr(model, "trust_remote_code", False):
        raise ValueError(
            "must not say `trust_remote_code`: nobody has read the code of a model that appears by "
            "itself; add its block under `models:` by hand"
        )
    return block


def _pattern(pattern: str) -> str:
    try:
        matches(pattern, "")
    except re.error as error:
        raise ValueError(f"is no regular expression: {error}") from None
    return pattern


Pattern = Annotated[str, Field(min_length=1), AfterValidator(_pattern)]


class WatchBlock(Block):
    match: Annotated[list[Pattern], Field(min_length=1)]
    """Served ids to evaluate: globs, or regular expressions between slashes."""
    ignore: list[Pattern] = []
    """Ids to leave alone although they match."""
    settings: list[Name] = []
    """Settings of the study for these models; all of `infer.settings` when left out."""
    model: Annotated[dict[str, Any], AfterValidator(_template)]
    """The block that a new model gets under `models:`, without its `id`."""

    def wants(self, model_id: str) -> bool:
        """Whether a model of this id is to be evaluated."""
        matched = any(matches(pattern, model_id) for pattern in self.match)
        return matched and not any(matches(pattern, model_id) for pattern in self.ignore)


class EndpointWatch(WatchBlock):
    """Asks an endpoint which models it serves (`GET /v1/models`).

    What is left out is that of the model's block: where new models are asked, they are listed.
    """

    kind: Literal["endpoint"]
    api: Literal["openai", "anthropic"] | None = None
    base_url: Url | None = None
    key_env: Variable | None = None

    def endpoint(self) -> tuple[str, str | None, str]:
        """API, URL (None: the provider's own) and name of the key's variable."""
        model = parse_template(self.model)
        if isinstance(model, ApiModel):
            return (
                self.api or model.list_api,
                self.base_url or model.base_url,
                self.key_env or model.key_env,
            )
        return self.api or "openai", self.base_url, self.key_env or "OPENAI_API_KEY"

    @model_validator(mode="after")
    def _somewhere(self) -> Self:
        model = parse_template(self.model)
        if not self.base_url and not isinstance(model, ApiModel):
            raise ValueError(
                f"base_url is missing: a model of provider {model.provider!r} names no endpoint "
                "that could list models"
            )
        return self


class HubWatch(WatchBlock):
    """Asks a model hub which models it holds, through the library huggingface_hub."""

    kind: Literal["hub"]
    url: Url | None = None
    """Another hub than the library's own, such as a mirror."""
    token_env: Variable | None = None
    """Environment variable that holds a token, for models that are not public."""
    author: str | None = None
    search: str | None = None
    task: str | None = "image-text-to-text"
    """The hub's name of what a model does."""
    newest: Annotated[int, Field(ge=1, le=1000)] = 100
    """How many models to look at, the newest first."""


Watch = Annotated[EndpointWatch | HubWatch, Field(discriminator="kind")]


class ReevaluateParams(Block):
    """Where new models appear, what evaluating them may cost, and where the board is published."""

    watch: dict[Name, Watch] = {}
    monthly_budget_usd: Dollars | None = None
    """US dollars that may be spent in one calendar month (UTC): nothing is begun that is expected
    to pass it, and what runs stops there. All that the study spends counts, also by hand."""
    board: str = "board"
    """Folder in which report, tables and the changelog are published."""
    webhook_env: Variable = "OMIBENCH_WEBHOOK"
    """Environment variable that holds the URL to which each news is posted; none, no post."""

    @model_validator(mode="after")
    def _prices_are_known(self) -> Self:
        for name, watch in self.watch.items():
            capped = self.monthly_budget_usd is not None
            if capped and parse_template(watch.model).lacks_price:
                raise ValueError(
                    f"watch.{name}.model: has no price, so monthly_budget_usd cannot hold: "
                    "give it one (zero for a server of your own)"
                )
        return self
