"""Load a model and its processor with transformers, and build batches of tensors."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

from omibench.errors import ImageCountError, ModelError
from omibench.models.http.tool_turns import describe_tools
from omibench.models.local.chat import RejectedPromptError, chat_messages, special_tokens
from omibench.models.local.identity import LOADED, describe_load, one_line, require
from omibench.models.local.images import decode
from omibench.models.local.own_code import (
    check_origin,
    explain_own_code,
    load_errors,
    locate_checkpoint,
)
from omibench.models.local.pixels import pixel_size
from omibench.models.local.spread import EXTRA, spread_layers
from omibench.models.local.tools import check_template
from omibench.models.options import is_continued
from omibench.params.models.local import TransformersModel
from omibench.schemas.request import Conversation, ImagePart


class TransformersEngine:
    """A loaded model with its processor (a tokenizer for a text-only model).

    Sampling values of a checkpoint's generation_config are dropped: a request sets all of them.
    """

    def __init__(self, name: str, model: TransformersModel) -> None:
        self.name = name
        self.torch = require("torch", EXTRA, name)
        hub = require("transformers", EXTRA, name)
        self.device = model.device or ("cuda" if self.torch.cuda.is_available() else "cpu")
        self.has_own_code = model.trust_remote_code
        checkpoint = locate_checkpoint(name, model)
        named = {
            "pretrained_model_name_or_path": checkpoint.place,
            "revision": checkpoint.revision,
            "trust_remote_code": model.trust_remote_code,
        }
        spread = spread_layers(name, model.n_gpus, self.torch)
        try:
            config = hub.AutoConfig.from_pretrained(**named)
            kind = _choose_class(hub, config, self.has_own_code)
            self.model = kind.from_pretrained(**named, dtype=model.dtype, **spread)
            if not spread:  # layers spread over several GPUs stay in place
                self.model = self.model.to(self.device)
            takes_pictures = type(config) in hub.MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING
            self.processor = _processor(hub, named, takes_pictures or self.has_own_code)
        except load_errors(model) as error:
            raise ModelError(
                explain_own_code(name, model, error)
                or f"model {name!r}: transformers cannot load {model.id} on {self.device}: "
                f"{one_line(error)}"
            ) from error
        check_origin(name, model, type(self.model), checkpoint)
        self.sees = takes_pictures or hasattr(self.processor, "image_processor")
        self.model.eval()
        self.tokenizer = self.processor.tokenizer if self.sees else self.processor
        self._check_interface(model)
        names = inspect.signature(self.model.forward).parameters
        # Logits of one position instead of all, which custom code need not support.
        self.last_only = {"logits_to_keep": 1} if "logits_to_keep" in names else {}
        self.tokenizer.padding_side = "left"
        self.specials = special_tokens(self.tokenizer)
        self.ends = _ends(self.model.generation_config.eos_token_id, self.tokenizer)
        if self.tokenizer.pad_token_id is None:
            self.tokenizer.pad_token_id = self.ends[0]
        self.model.generation_config = hub.GenerationConfig(
            eos_token_id=self.ends, pad_token_id=self.tokenizer.pad_token_id
        )
        size = pixel_size(model, name, EXTRA, checkpoint)
        self._padding: dict[str, Any] = {"padding": True}
        if size and self.sees:
            self._padding["images_kwargs"] = {"size": size}

    def inputs(self, conversations: Sequence[Conversation], thinking: bool | None) -> Any:
        """Return the batch of left-padded tensors on the model's device.

        Conversations that end in an assistant turn are continued inside it: all of a batch, or
        none.

        Raises ImageCountError if an image is dropped, RejectedPromptError if the processor rejects
        a prompt or picture, ModelError if a text-only model gets an image.
        """
        switches: dict[str, Any] = {} if thinking is None else {"enable_thinking": thinking}
        if tools := conversations[0].tools:
            template = getattr(self.processor, "chat_template", None)
            check_template(template or self.tokenizer.chat_template, self.name)
            switches["tools"] = describe_tools(tools)
        if not self.sees and any(c.images for c in conversations):
            raise ModelError(
                f"model {self.name!r}: accepts only text, but its requests have images"
            )
        messages = [chat_messages(c, self.specials, _image_part) for c in conversations]
        continued = is_continued(conversations[0])
        switches |= {"add_generation_prompt": not continued, "continue_final_message": continued}
        if not self.sees:
            return self.tokenizer.apply_chat_template(
                [_texts(m) for m in messages],
                return_dict=True,
                return_tensors="pt",
                padding=True,
                **switches,
            ).to(self.device)
        try:
            batch = self.processor.apply_chat_template(
                messages,
                tokenize=True,
                return_dict=True,
                return_tensors="pt",
                processor_kwargs=dict(self._padding),
                **switches,
            )
        except ValueError as error:
            if "number of images" in str(error):
                raise self._images_dropped_error(one_line(error)) from error
            raise RejectedPromptError(f"model {self.name!r}: {one_line(error)}") from error
        if "image_grid_thw" in batch:
            self._check_places(batch, conversations)
        else:
            for turns in messages:
                self._check_rendering(turns, switches)
        return batch.to(device=self.device, dtype=self.model.dtype)

    def close(self) -> None:
        """Release the weights."""
        self.model = None

    def _check_places(self, batch: Any, conversations: Sequence[Conversation]) -> None:
        """Check that each image, in patches of `image_grid_thw`, has its tokens in the prompts."""
        merged = self.processor.image_processor.merge_size**2
        expected = int(batch["image_grid_thw"].prod(-1).sum()) // merged
        placed = int((batch["input_ids"] == self.processor.image_token_id).sum())
        image_count = sum(len(c.images) for c in conversations)
        if placed != expected or len(batch["image_grid_thw"]) != image_count:
            raise self._images_dropped_error(
                f"{image_count} images have {placed} of their {expected} tokens"
            )

    def _check_rendering(self, messages: list[dict[str, Any]], switches: dict[str, Any]) -> None:
        """Check that each image of a conversation has its place in the rendered prompt.

        The processor need not declare its image token. So the prompt must change with each image
        that is removed, and a declared token must occur equally often for each image.
        """
        prompts = [
            self.processor.apply_chat_template(version, tokenize=False, **switches)
            for version in _leave_out_images(messages)
        ]
        image_count = len(prompts) - 1
        if dropped := sum(prompt == shorter for prompt, shorter in pairwise(prompts)):
            raise self._images_dropped_error(f"{dropped} of {image_count} images leave no trace")
        for token in _image_tokens(self.processor):
            placed = prompts[0].count(token)
            if image_count and placed % image_count:
                raise self._images_dropped_error(f"{image_count} images, {placed} times {token}")

    def _check_interface(self, model: TransformersModel) -> None:
        """Raise ModelError if a model has no chat template or `generate`."""
        templates = (getattr(p, "chat_template", None) for p in (self.processor, self.tokenizer))
        lack = "chat template" if not any(templates) else ""
        lack = lack or ("" if callable(getattr(self.model, "generate", None)) else "`generate`")
        if lack:
            raise ModelError(
                f"model {self.name!r}: {model.id} has no {lack}, which the transformers provider "
                "needs; write a provider for it (docs/plugins.md)"
            )

    def _images_dropped_error(self, reason: str) -> ImageCountError:
        return ImageCountError(
            f"model {self.name!r}: the prompt has another number of images than the conversation; "
            f"its chat template drops some: {reason}"
        )


def transformers_engine(name: str, model: TransformersModel) -> TransformersEngine:
    """Return the engine of a model, loaded on demand. Models that differ in `thinking` share it."""
    key = ("transformers", describe_load(model))
    with LOADED.lock:
        engine: TransformersEngine | None = LOADED.get(key)
        if engine is None:
            engine = LOADED.replace(key, lambda: TransformersEngine(name, model))
        return engine


def _choose_class(hub: Any, config: Any, has_own_code: bool) -> Any:
    """Choose the transformers class for a model; custom code declares its own."""
    if type(config) in hub.MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING:
        return hub.AutoModelForImageTextToText
    brought = (getattr(config, "auto_map", None) or {}) if has_own_code else {}
    names = ("AutoModelForImageTextToText", "AutoModelForCausalLM", "AutoModel")
    return getattr(hub, next((n for n in names if n in brought), "AutoModelForCausalLM"))


def _processor(hub: Any, named: dict[str, Any], sees: bool) -> Any:
    if not sees:
        return hub.AutoTokenizer.from_pretrained(**named)
    try:
        return hub.AutoProcessor.from_pretrained(**named)
    except ImportError:
        # Processors of models with video support load their video part, which needs torchvision.
        if hub.utils.is_torchvision_available():
            raise
    return _without_video(hub, named)


def _without_video(hub: Any, named: dict[str, Any]) -> Any:
    from transformers.models.auto.processing_auto import PROCESSOR_MAPPING

    config = hub.AutoConfig.from_pretrained(**named)
    if type(config) not in PROCESSOR_MAPPING:
        raise ImportError("its processor needs torchvision")
    processor_class = PROCESSOR_MAPPING[type(config)]
    parts = ["image_processor", "tokenizer"]
    members = {"attributes": parts, "get_attributes": classmethod(lambda cls: parts)}
    tokenizer = hub.AutoTokenizer.from_pretrained(**named)
    place, revision = named["pretrained_model_name_or_path"], named["revision"]
    configured, _ = processor_class.get_processor_dict(place, revision=revision)
    names = {*inspect.signature(processor_class.__init__).parameters}
    names -= {*processor_class.get_attributes()}
    options = {name: value for name, value in configured.items() if name in names}
    return type(processor_class.__name__, (processor_class,), members)(
        **options
        | {
            "image_processor": hub.AutoImageProcessor.from_pretrained(**named),
            "tokenizer": tokenizer,
            "chat_template": tokenizer.chat_template,
        }
    )


def _ends(configured: int | list[int] | None, tokenizer: Any) -> list[int]:
    if configured is None:
        configured = tokenizer.eos_token_id
    return configured if isinstance(configured, list) else [int(configured)]


def _image_part(image: ImagePart) -> dict[str, Any]:
    return {"type": "image", "image": decode(image)}


def _image_tokens(processor: Any) -> list[str]:
    """Return the tokens by which a processor marks a picture or its start."""
    named = (getattr(processor, name, None) for name in ("image_token", "boi_token"))
    return [token for token in named if isinstance(token, str) and token]


def _leave_out_images(messages: list[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    """Yield a conversation, then with one image less each time, from the last to none."""
    yield messages
    for number in reversed(range(len(messages))):
        content = messages[number]["content"]
        for place in reversed(range(len(content))):
            if content[place]["type"] == "image":
                content = content[:place] + content[place + 1 :]
                changed = messages[number] | {"content": content}
                messages = [*messages[:number], changed, *messages[number + 1 :]]
                yield messages


def _texts(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [m | {"content": "\n".join(part["text"] for part in m["content"])} for m in messages]
