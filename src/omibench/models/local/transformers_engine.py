"""Load a model and its processor with transformers, and build batches of tensors."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from typing import Any, NamedTuple

from omibench.errors import ImageCountError, ModelError, OmibenchError
from omibench.models.api.replies import describe_tools
from omibench.models.local.checkpoint import (
    EXTRA,
    LOADED,
    check_origin,
    describe_load,
    explain_own_code,
    load_errors,
    locate_checkpoint,
    one_line,
    pixel_size,
    require,
    spread_layers,
)
from omibench.models.local.prompts import (
    THINK,
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
    special_tokens,
)
from omibench.models.options import is_continued
from omibench.params.models.providers import TransformersModel
from omibench.schemas.request import Conversation, ImagePart, Message


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
    with _own_code_errors(engine):
        return _generate(engine, runs, thinking, model_seed)


def _generate(
    engine: TransformersEngine, runs: Sequence[SampleRun], thinking: bool | None, model_seed: int
) -> list[Drawn]:
    decoding, draws = runs[0].decoding, runs[0].draws
    batch = engine.inputs([run.conversation for run in runs], thinking)
    options: dict[str, Any] = {"do_sample": False}
    if decoding.temperature > 0:
        seeds = [derive_seed(run, model_seed) + i for run in runs for i in range(draws)]
        sampler = RowSampler(seeds, decoding.temperature, decoding.top_p)
        options = {
            "do_sample": True,
            "num_return_sequences": draws,
            "logits_processor": [sampler],
        }
    with engine.torch.inference_mode():
        sequences = engine.model.generate(
            **batch, max_new_tokens=decoding.max_tokens, **options
        ).cpu()
    prompts = batch["attention_mask"].sum(-1).tolist()
    width = batch["input_ids"].shape[1]
    rows = [_draw(engine, row) for row in sequences[:, width:].tolist()]
    return [
        Drawn(rows[i * draws : (i + 1) * draws], int(tokens), None, _opens_thinking(engine, ids))
        for i, (tokens, ids) in enumerate(zip(prompts, batch["input_ids"], strict=True))
    ]


def option_logprobs(
    engine: TransformersEngine, prompts: Sequence[OptionPrompt], thinking: bool | None
) -> list[list[float]]:
    """Return log P of each conversation's option tokens as the next token, in nats.

    The softmax is over the whole vocabulary and in float32, whatever the model's type. All
    conversations continue an assistant turn, or none.
    """
    with _own_code_errors(engine), engine.torch.inference_mode():
        batch = engine.inputs([prompt.conversation for prompt in prompts], thinking)
        for row, prompt in zip(batch["input_ids"].tolist(), prompts, strict=True):
            check_tail(row, prompt.tail, engine.name)
        logits = engine.model(**batch, **engine.last_only).logits[:, -1]
        logprobs = logits.float().log_softmax(-1).cpu()
    return [row[prompt.ids].tolist() for row, prompt in zip(logprobs, prompts, strict=True)]


@contextmanager
def _own_code_errors(engine: TransformersEngine) -> Iterator[None]:
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


def is_out_of_memory(error: BaseException) -> bool:
    """Return whether an error of torch means that a batch exceeds the GPU's or machine's memory."""
    return type(error).__name__ == "OutOfMemoryError" or "can't allocate memory" in str(error)


def _draw(engine: TransformersEngine, tokens: list[int]) -> Draw:
    ends = set(engine.ends)
    stop = next((i for i, token in enumerate(tokens) if token in ends), None)
    words = engine.tokenizer.decode(tokens[:stop], skip_special_tokens=True)
    if stop is None:
        return Draw(words, "length", len(tokens))
    return Draw(words, "stop", stop + 1)


def _opens_thinking(engine: TransformersEngine, prompt: Any) -> bool:
    tail = engine.tokenizer.decode(prompt[-8:].tolist())
    return bool(tail.rstrip().endswith(THINK))


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
