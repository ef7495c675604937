"""Loading a model and its processor with transformers, and batches as tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from omibench.errors import ImageCountError, ModelError
from omibench.models.http.tool_turns import describe_tools
from omibench.models.local.chat import RejectedPromptError, chat_messages, special_tokens
from omibench.models.local.identity import LOAD_ERRORS, LOADED, describe_load, one_line, require
from omibench.models.local.images import decode
from omibench.models.local.pixels import pixel_size
from omibench.models.local.tools import check_template
from omibench.models.options import is_continued
from omibench.params.models.local import TransformersModel
from omibench.schemas.request import Conversation, ImagePart

EXTRA = "transformers"


class TransformersEngine:
    """A loaded model with its processor (a tokenizer for a model of text alone).

    What a checkpoint's generation_config says of sampling is dropped: a request says it all.
    """

    def __init__(self, name: str, model: TransformersModel) -> None:
        self.name = name
        self.torch = require("torch", EXTRA, name)
        hub = require("transformers", EXTRA, name)
        self.device = model.device or ("cuda" if self.torch.cuda.is_available() else "cpu")
        try:
            config = hub.AutoConfig.from_pretrained(model.id, revision=model.revision)
            self.sees = type(config) in hub.MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING
            kind = hub.AutoModelForImageTextToText if self.sees else hub.AutoModelForCausalLM
            self.model = kind.from_pretrained(
                model.id, revision=model.revision, dtype=model.dtype
            ).to(self.device)
            self.processor = _processor(hub, model, self.sees)
        except LOAD_ERRORS as error:
            raise ModelError(
                f"model {name!r}: transformers cannot load {model.id} on {self.device}: "
                f"{one_line(error)}"
            ) from error
        self.model.eval()
        self.tokenizer = self.processor.tokenizer if self.sees else self.processor
        self.tokenizer.padding_side = "left"
        self.specials = special_tokens(self.tokenizer)
        self.ends = _ends(self.model.generation_config.eos_token_id, self.tokenizer)
        if self.tokenizer.pad_token_id is None:
            self.tokenizer.pad_token_id = self.ends[0]
        self.model.generation_config = hub.GenerationConfig(
            eos_token_id=self.ends, pad_token_id=self.tokenizer.pad_token_id
        )
        size = pixel_size(model, name, EXTRA)
        self._padding: dict[str, Any] = {"padding": True}
        if size and self.sees:
            self._padding["images_kwargs"] = {"size": size}

    def inputs(self, conversations: Sequence[Conversation], thinking: bool | None) -> Any:
        """The batch of tensors, left padded, on the model's device.

        Conversations that end in a turn of the assistant are gone on with inside it: all of a
        batch, or none.

        Raises ImageCountError when an image is left out, RejectedPromptError when the processor
        does not take a prompt or picture, ModelError when a model of text alone is shown one.
        """
        switches: dict[str, Any] = {} if thinking is None else {"enable_thinking": thinking}
        if tools := conversations[0].tools:
            template = getattr(self.processor, "chat_template", None)
            check_template(template or self.tokenizer.chat_template, self.name)
            switches["tools"] = describe_tools(tools)
        if not self.sees and any(c.images for c in conversations):
            raise ModelError(f"model {self.name!r} takes text alone; its requests have images")
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
        return batch.to(device=self.device, dtype=self.model.dtype)

    def close(self) -> None:
        """Let go of the weights."""
        self.model = None

    def _check_places(self, batch: Any, conversations: Sequence[Conversation]) -> None:
        """Each image, in patches of `image_grid_thw`, has its tokens in the prompts."""
        merged = self.processor.image_processor.merge_size**2
        expected = int(batch["image_grid_thw"].prod(-1).sum()) // merged
        placed = int((batch["input_ids"] == self.processor.image_token_id).sum())
        image_count = sum(len(c.images) for c in conversations)
        if placed != expected or len(batch["image_grid_thw"]) != image_count:
            raise self._images_dropped_error(
                f"{image_count} images have {placed} of their {expected} tokens"
            )

    def _images_dropped_error(self, reason: str) -> ImageCountError:
        return ImageCountError(
            f"model {self.name!r}: the prompt has another number of images than were shown; its "
            f"chat template drops some: {reason}"
        )


def transformers_engine(name: str, model: TransformersModel) -> TransformersEngine:
    """The engine of a model, loaded if need be. Models that differ in `thinking` share it."""
    key = ("transformers", describe_load(model))
    with LOADED.lock:
        engine: TransformersEngine | None = LOADED.get(key)
        if engine is None:
            engine = LOADED.replace(key, lambda: TransformersEngine(name, model))
        return engine


def _processor(hub: Any, model: TransformersModel, sees: bool) -> Any:
    named = {"pretrained_model_name_or_path": model.id, "revision": model.revision}
    if not sees:
        return hub.AutoTokenizer.from_pretrained(**named)
    try:
        return hub.AutoProcessor.from_pretrained(**named)
    except ImportError:
        # Processors of models that also take video load their video part, which needs torchvision.
        if hub.utils.is_torchvision_available():
            raise
    return _without_video(hub, named)


def _without_video(hub: Any, named: dict[str, Any]) -> Any:
    from transformers.models.auto.processing_auto import PROCESSOR_MAPPING

    processor_class = PROCESSOR_MAPPING[type(hub.AutoConfig.from_pretrained(**named))]
    parts = ["image_processor", "tokenizer"]
    members = {"attributes": parts, "get_attributes": classmethod(lambda cls: parts)}
    tokenizer = hub.AutoTokenizer.from_pretrained(**named)
    return type(processor_class.__name__, (processor_class,), members)(
        image_processor=hub.AutoImageProcessor.from_pretrained(**named),
        tokenizer=tokenizer,
        chat_template=tokenizer.chat_template,
    )


def _ends(configured: int | list[int] | None, tokenizer: Any) -> list[int]:
    if configured is None:
        configured = tokenizer.eos_token_id
    return configured if isinstance(configured, list) else [int(configured)]


def _image_part(image: ImagePart) -> dict[str, Any]:
    return {"type": "image", "image": decode(image)}


def _texts(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [m | {"content": "\n".join(part["text"] for part in m["content"])} for m in messages]
