"""The block `reevaluate:` of params.yaml: where new models appear, and their budget."""

from __future__ import annotations

import json
import re
from fnmatch import fnmatchcase
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, ValidationError, model_validator

from omibench.params.blocks import Block, Dollars, Name, Url, Variable
from omibench.params.models.base import ApiModel, ModelBlock, Price
from omibench.params.models.registry import block_class, is_provider, parse_model
from omibench.schemas.validation import explain

_ANY_ID = "any-id"


def matches(pattern: str, model_id: str) -> bool:
    """Return whether a served id matches a glob (`*`, `?`, `[...]`) or a /regular expression/.

    Both must match the whole id and are case-sensitive.
    """
    if len(pattern) > 1 and pattern[0] == pattern[-1] == "/":
        return re.fullmatch(pattern[1:-1], model_id) is not None
    return fnmatchcase(model_id, pattern)


def fill_template(template: dict[str, Any], model_id: str) -> dict[str, Any]:
    """Fill the template of a new model with its served id, if its provider has one.

    A date of YAML becomes text: DVC reads no dates in the params.yaml that the model is added to.
    """
    template = json.loads(json.dumps(template, default=str))
    provider = template.get("provider")
    if is_provider(provider) and not has_id(provider):
        return template
    return {"provider": provider, "id": model_id} | template


def has_id(provider: object) -> bool:
    """Return whether the blocks of a provider have a served id."""
    return "id" in block_class(provider).model_fields


def parse_template(template: dict[str, Any], model_id: str = _ANY_ID) -> ModelBlock:
    """Parse a filled template. Raises pydantic.ValidationError."""
    return parse_model(fill_template(template, model_id))


def _template(block: dict[str, Any]) -> dict[str, Any]:
    if "id" in block:
        raise ValueError("must not contain an `id`, which is that of the new model")
    provider = block.get("provider")
    if is_provider(provider) and block_class(provider).is_recorded:
        raise ValueError(f"must have a provider that serves new models, not `{provider}`")
    try:
        model = parse_template(block)
    except ValidationError as error:
        root = block_class(provider) if is_provider(provider) else Block
        raise ValueError(f"is not a valid model: {explain(error, root)}") from None
    if getattr(model, "trust_remote_code", False):
        raise ValueError(
            "must not set `trust_remote_code`: the code of a new model has not been reviewed; add "
            "its block under `models:` manually"
        )
    return block


def _pattern(pattern: str) -> str:
    try:
        matches(pattern, "")
    except re.error as error:
        raise ValueError(f"is not a regular expression: {error}") from None
    return pattern


Pattern = Annotated[str, Field(min_length=1), AfterValidator(_pattern)]


class PatternPrice(Block):
    """The price of new models whose id matches."""

    match: Pattern
    price: Price


class WatchBlock(Block):
    match: Annotated[list[Pattern], Field(min_length=1)]
    """Served ids to evaluate: globs, or regular expressions between slashes."""
    ignore: list[Pattern] = []
    """Ids to ignore even if they match."""
    settings: list[Name] = []
    """Settings of the study for these models; default: all of `infer.settings`."""
    model: Annotated[dict[str, Any], AfterValidator(_template)]
    """The block of a new model under `models:`, without its `id`."""
    prices: list[PatternPrice] = []
    """Prices by id, instead of `model.price`: the first entry that matches applies."""

    def fill_block(self, model_id: str) -> dict[str, Any]:
        """Return the block of a new model, with its id and the price that applies to it."""
        matching = (entry.price for entry in self.prices if matches(entry.match, model_id))
        price = next(matching, None)
        priced = {} if price is None else {"price": price.model_dump(exclude_defaults=True)}
        return fill_template(self.model | priced, model_id)

    @model_validator(mode="after")
    def _takes_prices(self) -> Self:
        if self.prices and "price" not in block_class(self.model["provider"]).model_fields:
            raise ValueError(f"prices: a model of provider {self.model['provider']!r} has no price")
        return self

    def wants(self, model_id: str) -> bool:
        """Return whether to evaluate a model of this id."""
        matched = any(matches(pattern, model_id) for pattern in self.match)
        return matched and not any(matches(pattern, model_id) for pattern in self.ignore)


class EndpointWatch(WatchBlock):
    """Watches the list of models of an endpoint (`GET /v1/models`).

    Omitted fields are taken from the model's block: the list is on the endpoint of new models.
    """

    kind: Literal["endpoint"]
    api: Literal["openai", "anthropic"] | None = None
    base_url: Url | None = None
    key_env: Variable | None = None

    def endpoint(self) -> tuple[str, str | None, str]:
        """Return API, URL (None: the provider's default) and name of the key's variable."""
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
                f"base_url is missing: a model of provider {model.provider!r} has no endpoint "
                "that could list models"
            )
        return self


class HubWatch(WatchBlock):
    """Watches the models of a hub through the library huggingface_hub."""

    kind: Literal["hub"]
    url: Url | None = None
    """URL of another hub than the default, such as a mirror."""
    token_env: Variable | None = None
    """Environment variable with a token for models that are not public."""
    author: str | None = None
    search: str | None = None
    task: str | None = "image-text-to-text"
    """The hub's name of the model task."""
    newest: Annotated[int, Field(ge=1, le=1000)] = 100
    """Number of models to check, newest first."""


Watch = Annotated[EndpointWatch | HubWatch, Field(discriminator="kind")]


class DriftParams(Block):
    """Asks the same problems again every month, and compares with the first answers."""

    setting: Name
    """A setting of the study; its first sample is repeated."""
    models: list[Name] = []
    """Models to ask; default: all of `infer.models` that are called through an API."""
    problems: Annotated[int, Field(ge=5)] = 50
    """Number of problems, the same every month, drawn by the study's seed."""
    alpha: Annotated[float, Field(gt=0, lt=1)] = 0.01
    """A smaller p of the paired test is posted as a change."""


class ReevaluateParams(Block):
    """Where new models appear, the budget to evaluate them, and where the board is published."""

    watch: dict[Name, Watch] = {}
    monthly_budget_usd: Dollars | None = None
    """Budget in US dollars per calendar month (UTC): nothing starts that is expected to exceed
    it, and running work stops there. All spending of the study counts, including manual runs."""
    approve: bool = False
    """Whether each new model waits until you approve it (`omibench reevaluate --approve`)."""
    drift: DriftParams | None = None
    """The monthly check whether models still answer as they did."""
    board: str = "board"
    """Folder for the published report, tables and changelog."""
    webhook_env: Variable = "OMIBENCH_WEBHOOK"
    """Environment variable with the URL to which news is posted; without it, nothing is posted."""

    @model_validator(mode="after")
    def _prices_are_known(self) -> Self:
        for name, watch in self.watch.items():
            capped = self.monthly_budget_usd is not None
            if capped and parse_template(watch.model).lacks_price and not watch.prices:
                raise ValueError(
                    f"watch.{name}.model: has no price, so monthly_budget_usd cannot be enforced; "
                    "set one (zero for a server of your own)"
                )
        return self
