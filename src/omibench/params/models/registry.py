"""The providers by name with the classes of their blocks, and the parsing of a model's block."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final

from pydantic import (
    ConfigDict,
    GetJsonSchemaHandler,
    SerializeAsAny,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, InitErrorDetails, PydanticCustomError, PydanticKnownError

from omibench.params.models.base import ModelBlock
from omibench.plugins import Registry
from omibench.plugins.registry import runs_files
from omibench.schemas.validation import UNKNOWN_PART, nested_error, suggest_name


@dataclass(frozen=True)
class ProviderEntry:
    """The registration of a provider.

    Args:
        block: The class of its block in params.yaml.
        open: Opens the provider of one model from its name, its block and the `Folders`.
    """

    block: type[ModelBlock]
    open: Callable[..., Any]


class LeftOutModel(ModelBlock):
    """A model whose provider is in a plug-in that is not run: what every block has, for display."""

    model_config = ConfigDict(extra="ignore")

    @property
    def tools(self) -> frozenset[str] | None:
        """Unknown: any."""
        return None


PROVIDERS: Final[Registry[ProviderEntry]] = Registry("providers", "provider")


def block_class(provider: object) -> type[ModelBlock]:
    """Return the block class of a provider.

    Raises:
        PluginError: The provider does not exist, or its plug-in cannot be loaded.
    """
    return PROVIDERS.get(str(provider)).block


def is_provider(name: object) -> bool:
    """Return whether a provider of that name exists.

    Raises:
        PluginError: Its plug-in cannot be loaded.
    """
    return isinstance(name, str) and PROVIDERS.load(name)


def parse_model(values: object) -> ModelBlock:
    """Parse one block under `models:`.

    Args:
        values: Plain values, or a block that is already parsed.

    Returns:
        The block, in its provider's class.

    Raises:
        pydantic.ValidationError: The values are not a valid block of their provider.
        PluginError: The provider's plug-in cannot be loaded.
    """
    if isinstance(values, ModelBlock):
        return values
    if not isinstance(values, Mapping):
        raise _mistake(PydanticKnownError("dict_type"), (), values)
    name = values.get("provider")
    if name is None:
        names = ", ".join(PROVIDERS.names)
        missing = PydanticCustomError(
            UNKNOWN_PART, "is missing; available: {names}", {"names": names}
        )
        raise _mistake(missing, ("provider",), values)
    if not is_provider(name) and not runs_files():
        return LeftOutModel.model_validate(values)
    if not is_provider(name):
        context = {"name": repr(name), "hint": suggest_name(str(name), PROVIDERS.names)}
        unknown = PydanticCustomError(UNKNOWN_PART, "unknown provider {name}{hint}", context)
        raise _mistake(unknown, ("provider",), name)
    return block_class(name).model_validate(values)


def _mistake(
    kind: PydanticCustomError | PydanticKnownError, path: tuple[str, ...], value: object
) -> ValidationError:
    details = InitErrorDetails(type=kind, loc=path, input=value)  # type: ignore[typeddict-item]
    return ValidationError.from_exception_data("model", [details])


def _validate(values: object, _: ValidatorFunctionWrapHandler) -> ModelBlock:
    try:
        return parse_model(values)
    except ValidationError as error:
        name = values.get("provider") if isinstance(values, Mapping) else None
        raise nested_error(error, block_class(name) if is_provider(name) else ModelBlock) from None


class _SchemaOfProviders:
    """The JSON schema: the blocks of the built-in providers, and any block of other ones."""

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        names = PROVIDERS.built_in_names
        blocks = [handler(block_class(name).__pydantic_core_schema__) for name in names]
        plugin_block = {
            "properties": {"provider": {"not": {"enum": names}, "type": "string"}},
            "required": ["provider"],
            "title": "A provider of a plug-in",
            "type": "object",
        }
        return {"oneOf": [*blocks, plugin_block]}


Model = Annotated[SerializeAsAny[ModelBlock], WrapValidator(_validate), _SchemaOfProviders()]
"""A block under `models:`, in the class of its `provider`."""
