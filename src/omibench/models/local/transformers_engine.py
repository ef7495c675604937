"""Load a model and its processor with transformers, and build batches of tensors."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from typing import Any, NamedTuple

from omibench.errors import ImageCountError, ModelError, OmibenchError
from omibench.models.api.replies import describe_tools
from omibench.models.local.checkpoint import (
    EXTRA,
    check_origin,
    explain_load,
    load_errors,
    locate_adapter,
    locate_checkpoint,
    merge_adapter,
    one_line,
    pixel_size,
    require,
    spread_layers,
)
from omibench.models.local.pictures import PictureRules, PictureTokens
from omibench.models.local.prompts import (
    Draw,
    Drawn,
    OptionPrompt,
    RejectedPromptError,
    SampleRun,
    chat_messages,
    check_tail,
    check_template,
    decode,
    derive_seed,
    opens_thinking,
    special_tokens,
)
from omibench.models.local.provider import is_out_of_memory
from omibench.models.provider import is_continued
from omibench.params.models.providers import HubModel, TransformersModel
from omibench.schemas.request import Conversation, ImagePart, Message


class HubEngine(ABC):
    """A model loaded with transformers: on one device, or its layers over several GPUs."""

    title = ""
    """What a message calls the model before its id."""
    tokenizer: Any
    specials: frozenset[str]
    """Control tokens of the tokenizer, which no text may contain."""

    def __init__(self, name: str, model: HubModel) -> None:
        self.name, self.block = name, model
        self.torch = require("torch", EXTRA, name)
        self.hub = require("transformers", EXTRA, name)
        self.device = model.device or ("cuda" if self.torch.cuda.is_available() else "cpu")
        self.has_own_code = model.trust_remote_code
        self.checkpoint = locate_checkpoint(name, model)
        self.source = {
            "pretrained_model_name_or_path": self.checkpoint.place,
            "revision": self.checkpoint.revision,
            # Set even to False: otherwise transformers would prompt in the terminal.
            "trust_remote_code": model.trust_remote_code,
        }
        spread = spread_layers(name, model.n_gpus, self.torch)
        action = f"transformers cannot load {self.title}{model.id} on {self.device}"
        with explain_load(name, model, action, load_errors(model)):
            self.config = self.hub.AutoConfig.from_pretrained(**self.source)
            self.model, report = self.choose_class(model).from_pretrained(
                **self.source,
                config=self.config,
                output_loading_info=True,
                **{_name_dtype(self.hub): model.dtype},
                **spread,
            )
            if adapter := locate_adapter(name, model):
                self.model = merge_adapter(name, self.model, adapter)
            if not spread:  # layers spread over several GPUs stay in place
                self.model = self.model.to(self.device)
            self.processor = self.load_processor()
        check_origin(name, model, type(self.model), self.checkpoint)
        self.model.eval()
        self.missing_weights = sorted(report["missing_keys"])

    @abstractmethod
    def choose_class(self, model: Any) -> Any:
        """Choose the transformers class that loads the model."""

    @abstractmethod
    def load_processor(self) -> Any:
        """Load the processor, or the tokenizer of a text-only model."""

    def bring(self, *names: str) -> str | None:
        """Return the first of the classes that the model's custom code declares."""
        brought = (getattr(self.config, "auto_map", None) or {}) if self.has_own_code else {}
        return next((name for name in names if name in brought), None)

    def text_messages(self, conversation: Conversation) -> list[dict[str, Any]]:
        """Return the messages as plain text. Raises ModelError if they have pictures."""
        if conversation.images:
            raise ModelError(
                f"model {self.name!r}: accepts only text, but its requests have images"
            )
        messages = chat_messages(conversation, self.specials, _image_part)
        return [m | {"content": "\n".join(p["text"] for p in m["content"])} for m in messages]

    def close(self) -> None:
        """Release the weights."""
        self.model = None


def _name_dtype(hub: Any) -> str:
    """Return the name of the option that sets the type of the weights."""
    return "torch_dtype" if hub.__version__.startswith("4.") else "dtype"


class TransformersEngine(HubEngine):
    """A loaded model with its processor (a tokenizer for a text-only model).

    Sampling values of a checkpoint's generation_config are dropped: a request sets all of them.
    """

    def __init__(self, name: str, model: TransformersModel) -> None:
        super().__init__(name, model)
        self.sees = self._takes_pictures or hasattr(self.processor, "image_processor")
        self.tokenizer = self.processor.tokenizer if self.sees else self.processor
        self._check_interface(model)
        names = inspect.signature(self.model.forward).parameters
        # Logits of one position instead of all, which custom code need not support.
        self.last_only = {"logits_to_keep": 1} if "logits_to_keep" in names else {}
        self.tokenizer.padding_side = "left"
        self.specials = special_tokens(self.tokenizer)
        ends = self.model.generation_config.eos_token_id
        ends = self.tokenizer.eos_token_id if ends is None else ends
        self.ends: list[int] = ends if isinstance(ends, list) else [int(ends)]
        if self.tokenizer.pad_token_id is None:
            self.tokenizer.pad_token_id = self.ends[0]
        self.model.generation_config = self.hub.GenerationConfig(
            eos_token_id=self.ends, pad_token_id=self.tokenizer.pad_token_id
        )
        self.pictures = model.draws and PictureTokens(name, self.model, self.processor, model.draws)
        size = pixel_size(model, name, EXTRA, self.checkpoint)
        self.images_kwargs: dict[str, Any] = {"size": size} if size and self.sees else {}
        self._padding: dict[str, Any] = {"padding": True}
        if self.images_kwargs:
            self._padding["images_kwargs"] = self.images_kwargs

    @property
    def _takes_pictures(self) -> bool:
        return type(self.config) in self.hub.MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING

    def choose_class(self, model: TransformersModel) -> Any:
        """See `HubEngine.choose_class`; custom code declares its own."""
        if self._takes_pictures:
            return self.hub.AutoModelForImageTextToText
        names = ("AutoModelForImageTextToText", "AutoModelForCausalLM", "AutoModel")
        return getattr(self.hub, self.bring(*names) or "AutoModelForCausalLM")

    def load_processor(self) -> Any:
        """See `HubEngine.load_processor`."""
        hub = self.hub
        if not (self._takes_pictures or self.has_own_code):
            return hub.AutoTokenizer.from_pretrained(**self.source)
        try:
            return hub.AutoProcessor.from_pretrained(**self.source)
        except ImportError:
            # Processors of models with video support load a video part, which needs torchvision.
            if hub.utils.is_torchvision_available():
                raise
        return _without_video(hub, self.config, self.source)

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
        continued = is_continued(conversations[0])
        switches |= {"add_generation_prompt": not continued, "continue_final_message": continued}
        if not self.sees:
            return self.tokenizer.apply_chat_template(
                [self.text_messages(c) for c in conversations],
                return_dict=True,
                return_tensors="pt",
                padding=True,
                **switches,
            ).to(self.device)
        messages = [chat_messages(c, self.specials, _image_part) for c in conversations]
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
        for name in ("image_token", "boi_token"):  # the token of a picture, or of its start
            token = getattr(self.processor, name, None)
            placed = prompts[0].count(token) if isinstance(token, str) and token else 0
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


def _without_video(hub: Any, config: Any, source: dict[str, Any]) -> Any:
    from transformers.models.auto.processing_auto import PROCESSOR_MAPPING

    if type(config) not in PROCESSOR_MAPPING:
        raise ImportError("its processor needs torchvision")
    processor_class = PROCESSOR_MAPPING[type(config)]
    parts = ["image_processor", "tokenizer"]
    members = {"attributes": parts, "get_attributes": classmethod(lambda cls: parts)}
    tokenizer = hub.AutoTokenizer.from_pretrained(**source)
    place, revision = source["pretrained_model_name_or_path"], source["revision"]
    configured, _ = processor_class.get_processor_dict(place, revision=revision)
    names = {*inspect.signature(processor_class.__init__).parameters}
    names -= {*processor_class.get_attributes()}
    options = {name: value for name, value in configured.items() if name in names}
    return type(processor_class.__name__, (processor_class,), members)(
        **options
        | {
            "image_processor": hub.AutoImageProcessor.from_pretrained(**source),
            "tokenizer": tokenizer,
            "chat_template": tokenizer.chat_template,
        }
    )


def _image_part(image: ImagePart) -> dict[str, Any]:
    return {"type": "image", "image": decode(image)}


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


# Sampling with a separate seed for every row of a batch.


class RowSampler:
    """A logits processor that draws each row's next token with the row's generator.

    Uses an exponential race: with e_i independent Exp(1), argmax(p_i / e_i) is distributed as p.
    All other tokens are masked, so the sampler that follows can only pick this one. A row's draws
    depend only on its seed and logits, not on other rows.
    """

    def __init__(self, seeds: Sequence[int], temperature: float, top_p: float | None) -> None:
        self.seeds = seeds
        self.temperature = temperature
        self.top_p = top_p
        self._generators: list[Any] | None = None

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        """Return 0 at the drawn token and -inf elsewhere; `scores` has shape (rows, vocabulary)."""
        import torch

        if self._generators is None:
            self._generators = [
                torch.Generator(device=scores.device).manual_seed(seed) for seed in self.seeds
            ]
        scaled = scores.float() / self.temperature
        if self.top_p is not None and self.top_p < 1:
            from transformers import TopPLogitsWarper

            scaled = TopPLogitsWarper(self.top_p)(input_ids, scaled)
        race = torch.empty_like(scaled)
        for row, generator in zip(race, self._generators, strict=True):
            row.exponential_(generator=generator)
        drawn = (scaled.softmax(-1) / race).argmax(-1, keepdim=True)
        return torch.full_like(scores, float("-inf")).scatter(-1, drawn, 0.0)


# Batched generation and option log-probabilities with a loaded transformers model.


def generate(
    engine: TransformersEngine, runs: Sequence[SampleRun], thinking: bool | None, model_seed: int
) -> list[Drawn]:
    """Generate the samples of each run. All runs share one decoding and number of draws.

    Greedy at temperature 0; otherwise each row samples with its own seed, so that a sample is the
    same in every batch, up to the model's arithmetic.
    """
    decoding, draws = runs[0].decoding, runs[0].draws
    options: dict[str, Any] = {"do_sample": False}
    rules: list[Any] = []
    if decoding.temperature > 0:
        seeds = [derive_seed(run, model_seed) + i for run in runs for i in range(draws)]
        sampler = RowSampler(seeds, decoding.temperature, decoding.top_p)
        options = {"do_sample": True, "num_return_sequences": draws}
        rules.append(sampler)
    with own_code_errors(engine), engine.torch.inference_mode():
        batch = engine.inputs([run.conversation for run in runs], thinking)
        width, room = batch["input_ids"].shape[1], decoding.max_tokens
        if engine.pictures:
            rules.insert(0, PictureRules(engine.pictures, len(runs) * draws, room, width))
        sequences = engine.model.generate(
            **batch, max_new_tokens=room, logits_processor=rules, **options
        ).cpu()
        rows = [_draw(engine, row) for row in sequences[:, width:].tolist()]
    prompts = batch["attention_mask"].sum(-1).tolist()
    return [
        Drawn(
            rows[i * draws : (i + 1) * draws],
            int(tokens),
            opened=opens_thinking(engine.tokenizer, ids.tolist()),
        )
        for i, (tokens, ids) in enumerate(zip(prompts, batch["input_ids"], strict=True))
    ]


def option_logprobs(
    engine: TransformersEngine, prompts: Sequence[OptionPrompt], thinking: bool | None
) -> list[list[float]]:
    """Return log P of each conversation's option tokens as the next token, in nats.

    The softmax is over the whole vocabulary and in float32, whatever the model's type. All
    conversations continue an assistant turn, or none.
    """
    with own_code_errors(engine), engine.torch.inference_mode():
        batch = engine.inputs([prompt.conversation for prompt in prompts], thinking)
        for row, prompt in zip(batch["input_ids"].tolist(), prompts, strict=True):
            check_tail(row, prompt.tail, engine.name)
        logits = engine.model(**batch, **engine.last_only).logits[:, -1]
        logprobs = logits.float().log_softmax(-1).cpu()
    return [row[prompt.ids].tolist() for row, prompt in zip(logprobs, prompts, strict=True)]


@contextmanager
def own_code_errors(engine: HubEngine) -> Iterator[None]:
    """Report errors of a model's custom code on one line; out-of-memory errors pass."""
    try:
        yield
    except OmibenchError:
        raise
    except Exception as error:
        if not engine.has_own_code or is_out_of_memory(error):
            raise
        raise ModelError(
            f"model {engine.name!r}: its custom code failed: {type(error).__name__}: "
            f"{one_line(error)}"
        ) from error


def _draw(engine: TransformersEngine, tokens: list[int]) -> Draw:
    stop = next((i for i, token in enumerate(tokens) if token in engine.ends), None)
    finish, count = ("length", len(tokens)) if stop is None else ("stop", stop + 1)
    if engine.pictures:
        pieces = engine.pictures.split(tokens[:stop], engine.tokenizer.decode)
        return Draw("", finish, count, pieces, engine.pictures.count(pieces))
    return Draw(engine.tokenizer.decode(tokens[:stop], skip_special_tokens=True), finish, count)


# Options of one conversation under many patches, with the pictures preprocessed only once.
#
# Patches are painted on the scaled and normalised picture, which is then packed into the model's
# rows again, so that a position does not cost a pass of the processor. That is exact if the
# processor keeps the size of the picture; otherwise `occluded_logprobs` returns None.

Square = tuple[int, int, int]
"""(x, y, side) in pixels, as `ImagePart.patch`."""
ALIKE = 1e-3
"""Normalised values closer than this are those of the same pixel."""


class Packing(NamedTuple):
    """How the processors of the Qwen family pack a picture into rows of one patch each."""

    patch: int
    merge: int
    frames: int

    def unpack(self, rows: Any, height: int, width: int) -> Any:
        """Unpack rows (height * width, 3 * frames * patch^2) into a picture (3, frames, H, W).

        `height` and `width` count patches; H and W are pixels.
        """
        side, merge = self.patch, self.merge
        blocks = rows.view(height // merge, width // merge, merge, merge, 3, -1, side, side)
        permuted = blocks.permute(4, 5, 0, 2, 6, 1, 3, 7)
        return permuted.reshape(3, -1, height * side, width * side)

    def pack(self, picture: Any) -> Any:
        """Pack a picture (3, frames, H, W) into its rows."""
        side, merge = self.patch, self.merge
        high, wide = picture.shape[-2] // side, picture.shape[-1] // side
        blocks = picture.view(3, -1, high // merge, merge, side, wide // merge, merge, side)
        return blocks.permute(2, 5, 3, 6, 0, 1, 4, 7).reshape(high * wide, -1)

    def cover(self, rows: Any, height: int, width: int, square: Square, black: Any) -> Any:
        """Return the rows of the picture under a square of the colour `black` (3, 1, 1, 1)."""
        x, y, side = square
        unit = self.patch * self.merge
        if x % unit == y % unit == side % unit == 0:  # whole tokens: no need to unpack
            covered = rows.clone()
            shape = (height // self.merge, width // self.merge, self.merge, self.merge)
            blocks = covered.view(*shape, 3, -1, self.patch, self.patch)
            blocks[y // unit : (y + side) // unit, x // unit : (x + side) // unit] = black
            return covered
        picture = self.unpack(rows, height, width).clone()
        picture[:, :, y : y + side, x : x + side] = black
        return self.pack(picture)


def strip_patches(conversation: Conversation) -> Conversation:
    """Return the conversation without patches: equal for all that differ only in these."""
    return conversation.model_copy(
        update={"messages": tuple(map(_strip_message, conversation.messages))}
    )


def _strip_message(message: Message) -> Message:
    parts = (
        part.model_copy(update={"patch": None}) if isinstance(part, ImagePart) else part
        for part in message.parts
    )
    return message.model_copy(update={"parts": tuple(parts)})


def occluded_logprobs(
    engine: TransformersEngine, prompts: Sequence[OptionPrompt], thinking: bool | None
) -> list[list[float]] | None:
    """Score as `option_logprobs`, for conversations that differ only in their patches.

    Returns None if the model packs pictures in another way, or scales a picture with a patch.
    """
    packing = _packing(engine)
    if packing is None:
        return None
    conversations = [prompt.conversation for prompt in prompts]
    batch = engine.inputs([strip_patches(conversations[0])], thinking)
    check_tail(batch["input_ids"][0].tolist(), prompts[0].tail, engine.name)
    if not {"pixel_values", "image_grid_thw"} <= set(batch):
        return None
    rows, grid = batch.pop("pixel_values"), batch.pop("image_grid_thw")
    ends = grid.prod(-1).cumsum(0).tolist()
    picture_rows = [rows[a:b] for a, b in zip([0, *ends[:-1]], ends, strict=True)]
    covered = {n for c in conversations for n, image in enumerate(c.images) if image.patch}
    plain, grids = strip_patches(conversations[0]).images, grid.tolist()
    if not all(_is_kept(engine, packing, plain[n], picture_rows[n], grids[n]) for n in covered):
        return None
    painted = [
        _paint_patches(engine, packing, c.images, picture_rows, grids) for c in conversations
    ]
    torch, count = engine.torch, len(conversations)
    shared = {k: v.expand(count, *v.shape[1:]) for k, v in batch.items()}
    with torch.inference_mode():
        logits = engine.model(
            **shared,
            pixel_values=torch.cat([rows for pictures in painted for rows in pictures]),
            image_grid_thw=grid.repeat(count, 1),
            logits_to_keep=1,
        ).logits[:, -1]
        logprobs = logits.float().log_softmax(-1).cpu()
    return [row[prompt.ids].tolist() for row, prompt in zip(logprobs, prompts, strict=True)]


def _packing(engine: TransformersEngine) -> Packing | None:
    if engine.has_own_code:  # its way of packing pictures is unknown
        return None
    processor = getattr(engine.processor, "image_processor", None)
    names = ("patch_size", "merge_size", "temporal_patch_size", "image_mean", "image_std")
    if processor is None or any(getattr(processor, name, None) is None for name in names):
        return None
    return Packing(processor.patch_size, processor.merge_size, processor.temporal_patch_size)


def _paint_patches(
    engine: TransformersEngine,
    packing: Packing,
    images: Sequence[ImagePart],
    picture_rows: Sequence[Any],
    grids: Sequence[Sequence[int]],
) -> list[Any]:
    """Return the rows of all pictures of one conversation with its patches."""
    black = _scale(engine, picture_rows[0], 0.0)
    return [
        rows if image.patch is None else packing.cover(rows, high, wide, image.patch, black)
        for image, rows, (_, high, wide) in zip(images, picture_rows, grids, strict=True)
    ]


def _is_kept(
    engine: TransformersEngine, packing: Packing, image: ImagePart, rows: Any, grid: Sequence[int]
) -> bool:
    """Return whether the rows are the picture's own pixels, in the order of `packing`."""
    import numpy as np

    _, high, wide = grid
    picture = decode(image)
    if picture.size != (wide * packing.patch, high * packing.patch):
        return False
    pixels = engine.torch.from_numpy(np.asarray(picture).copy()).to(rows.device, rows.dtype)
    expected = _scale(engine, rows, pixels.permute(2, 0, 1)[:, None] / 255)
    actual = packing.unpack(rows, high, wide)
    return bool(((actual - expected).abs() < ALIKE).all())


def _scale(engine: TransformersEngine, like: Any, values: Any) -> Any:
    """Normalise values in [0, 1], of shape (3, frames, H, W) or one for all, as the model does."""
    processor = engine.processor.image_processor
    mean, std = (
        engine.torch.tensor(v, dtype=like.dtype, device=like.device)[:, None, None, None]
        for v in (processor.image_mean, processor.image_std)
    )
    return (values - mean) / std
