"""The conversation of a local chat model, and the tiles in which it sees pictures."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from omibench.errors import ModelError
from omibench.models.local.prompts import (
    Draw,
    Drawn,
    SampleRun,
    chat_messages,
    decode,
    derive_seed,
    group_runs,
    make_responses,
    special_tokens,
)
from omibench.models.local.provider import LocalProvider, Scored
from omibench.models.local.transformers_engine import HubEngine, RowSampler, own_code_errors
from omibench.models.provider import is_continued, refuse_options
from omibench.models.registry import provider
from omibench.params.models.providers import ChatModel
from omibench.schemas.request import Conversation, Decoding, Request, Response

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from PIL.Image import Image

MEAN, DEVIATION = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
"""Of the colours of ImageNet, by which InternViT normalises."""
SIDE, LEAST, MOST = 448, 1, 12
"""Side of a tile in pixels, and tiles of a picture, if a configuration does not say."""


class Tiling(NamedTuple):
    """How a checkpoint wants pictures cut: side of a tile, fewest and most tiles, and whether a
    copy of the whole picture follows several tiles."""

    side: int
    least: int
    most: int
    thumbnail: bool


def read_tiling(config: Any, most: int | None) -> Tiling:
    """Return the tiling of a checkpoint's configuration; `most` replaces its number of tiles."""
    vision = getattr(config, "vision_config", None)
    side = getattr(config, "force_image_size", None) or getattr(vision, "image_size", None) or SIDE
    if not getattr(config, "dynamic_image_size", True):
        return Tiling(int(side), 1, 1, False)
    listed = most or getattr(config, "max_dynamic_patch", None) or MOST
    least = min(getattr(config, "min_dynamic_patch", None) or LEAST, listed)
    return Tiling(int(side), int(least), int(listed), bool(getattr(config, "use_thumbnail", True)))


def choose_grid(width: int, height: int, tiling: Tiling) -> tuple[int, int]:
    """Return columns and rows of the grid whose proportions are nearest to a picture's.

    Of equally near grids, small ones come first; a larger one is taken if the picture has more
    than half of its pixels.

    Args:
        width: Width of the picture in pixels.
        height: Its height.
        tiling: The tiling of the checkpoint.
    """
    numbers = range(1, tiling.most + 1)
    grids = sorted(
        {(i, j) for i in numbers for j in numbers if tiling.least <= i * j <= tiling.most},
        key=lambda grid: (grid[0] * grid[1], grid),
    )
    best, nearest = grids[0], float("inf")
    for columns, rows in grids:
        distance = abs(width / height - columns / rows)
        fills = width * height > tiling.side**2 * columns * rows / 2
        if distance < nearest or (distance == nearest and fills):
            best, nearest = (columns, rows), distance
    return best


def cut_tiles(picture: Image, tiling: Tiling) -> NDArray[np.float32]:
    """Return the normalised tiles of an RGB picture, of shape (tiles, 3, side, side)."""
    import numpy as np
    from PIL import Image

    side = tiling.side
    columns, rows = choose_grid(*picture.size, tiling)
    scaled = picture.resize((columns * side, rows * side), Image.Resampling.BICUBIC)
    corners = [(x * side, y * side) for y in range(rows) for x in range(columns)]
    tiles = [scaled.crop((x, y, x + side, y + side)) for x, y in corners]
    if tiling.thumbnail and len(tiles) > 1:
        tiles.append(picture.resize((side, side), Image.Resampling.BICUBIC))
    values = np.stack([np.asarray(tile, dtype=np.float32) for tile in tiles]) / 255
    mean, deviation = (np.array(colours, dtype=np.float32) for colours in (MEAN, DEVIATION))
    normalised = ((values - mean) / deviation).astype(np.float32)
    return np.ascontiguousarray(normalised.transpose(0, 3, 1, 2))


# The `transformers-chat` provider: models whose own code answers by `model.chat`.
#
# The code must have the signature of InternVL's (model card of InternVL2, *Quick Start*):
# `chat(tokenizer, pixel_values, question, generation_config, history, num_patches_list)`, and pass
# the generation_config on to `generate`.

IMAGE = "<image>"
"""The mark of a picture in a question."""
_MARKS = frozenset({IMAGE, "<img>", "</img>", "<IMG_CONTEXT>"})
_PARAMETERS = ("tokenizer", "pixel_values", "question", "generation_config", "history")


class ChatPrompt(NamedTuple):
    """A conversation as `chat` takes it: the last question, and the turns before."""

    question: str
    history: list[tuple[str, str]]
    system: str | None


class ChatEngine(HubEngine):
    """A loaded model with `chat`, and its tokenizer."""

    def __init__(self, name: str, model: ChatModel) -> None:
        super().__init__(name, model)
        self.tokenizer = self.processor
        chat = getattr(self.model, "chat", None)
        taken = inspect.signature(chat).parameters if callable(chat) else {}
        if lack := [p for p in (*_PARAMETERS, "num_patches_list") if p not in taken]:
            raise ModelError(
                f"model {name!r}: {model.id} has no `chat` with {', '.join(lack)}, which the "
                "provider transformers-chat calls; write a provider for it (docs/plugins.md)"
            )
        self.specials = special_tokens(self.tokenizer) | _MARKS
        self.tiling = read_tiling(self.config, model.tiles)
        self.system = getattr(self.model, "system_message", None)
        self.prompt_tokens = 0
        inner = getattr(self.model, "language_model", self.model)
        inner.register_forward_pre_hook(self._count_prompt, with_kwargs=True)

    def choose_class(self, model: ChatModel) -> Any:
        """See `HubEngine.choose_class`: the class that the code declares."""
        return getattr(self.hub, self.bring("AutoModel", "AutoModelForCausalLM") or "AutoModel")

    def load_processor(self) -> Any:
        """See `HubEngine.load_processor`."""
        return self.hub.AutoTokenizer.from_pretrained(**self.source)

    def draw(self, run: SampleRun, model_seed: int) -> Drawn:
        """Return the samples of a run, one call of `chat` after another.

        Raises:
            ModelError: The conversation cannot be written as questions and answers, or the code
                fails.
        """
        prompt = write_prompt(self.name, run.conversation, self.specials)
        pictures = [cut_tiles(decode(image), self.tiling) for image in run.conversation.images]
        counts = [len(tiles) for tiles in pictures]
        values = None
        if pictures:
            parts = [self.torch.from_numpy(tiles) for tiles in pictures]
            values = self.torch.cat(parts).to(self.model.device, self.model.dtype)
        seed = derive_seed(run, model_seed)
        with own_code_errors(self), self.torch.inference_mode():
            draws = [
                self._chat(prompt, values, counts, run.decoding, seed + i) for i in range(run.draws)
            ]
        return Drawn(draws, self.prompt_tokens)

    def _chat(
        self, prompt: ChatPrompt, pixels: Any, counts: list[int], decoding: Decoding, seed: int
    ) -> Draw:
        recorder = Recorder(self.torch)
        config: dict[str, Any] = {
            "max_new_tokens": decoding.max_tokens,
            "do_sample": decoding.temperature > 0,
            "repetition_penalty": 1.0,
            "stopping_criteria": self.hub.StoppingCriteriaList([recorder]),
        }
        if decoding.temperature > 0:
            # The sampler leaves one token, so that what the checkpoint sets has no effect.
            sampler = RowSampler([seed], decoding.temperature, decoding.top_p)
            config["logits_processor"] = self.hub.LogitsProcessorList([sampler])
        if self.system is not None:
            self.model.system_message = self.system if prompt.system is None else prompt.system
        self.prompt_tokens, recorder.count = 0, 0
        text = self.model.chat(
            self.tokenizer,
            pixels,
            prompt.question,
            config,
            history=list(prompt.history) or None,
            num_patches_list=counts if counts else None,
        )
        ends = config.get("eos_token_id", self.tokenizer.eos_token_id)
        ends = ends if isinstance(ends, list) else [ends]
        is_cut = recorder.count >= decoding.max_tokens and recorder.last not in ends
        return Draw(str(text), "length" if is_cut else "stop", recorder.count)

    def _count_prompt(self, module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Note the tokens of the first pass of a call, which is the prompt."""
        if self.prompt_tokens == 0:
            given = [kwargs.get("inputs_embeds"), kwargs.get("input_ids"), *args]
            tensor = next((value for value in given if value is not None), None)
            self.prompt_tokens = 0 if tensor is None else int(tensor.shape[1])


class Recorder:
    """A criterion that never stops: it counts the generated tokens and keeps the last."""

    def __init__(self, torch: Any) -> None:
        self._torch = torch
        self.count, self.last = 0, -1

    def __call__(self, input_ids: Any, scores: Any, **kwargs: Any) -> Any:
        """Return no for each row; `input_ids` has shape (rows, tokens so far)."""
        self.count += 1
        self.last = int(input_ids[0, -1])
        return self._torch.zeros(len(input_ids), dtype=self._torch.bool, device=input_ids.device)


def write_prompt(name: str, conversation: Conversation, specials: Iterable[str]) -> ChatPrompt:
    """Return a conversation as questions and answers, with `<image>` where a picture stands.

    Raises:
        ModelError: It has tools, is to be continued inside an answer, or its turns do not alternate
            between user and assistant.
    """
    if conversation.tools:
        raise ModelError(
            f"model {name!r}: `model.chat` takes no tools; use `style: text` in the setting"
        )
    if is_continued(conversation):
        raise ModelError(f"model {name!r}: `model.chat` does not continue an answer")
    turns: list[tuple[str, str]] = []
    for message in chat_messages(conversation, specials, lambda _: {"type": "image"}):
        texts = [part.get("text", f"{IMAGE}\n") for part in message["content"]]
        turns.append((message["role"], "".join(texts)))
    system = turns.pop(0)[1] if turns[0][0] == "system" else None
    roles = [role for role, _ in turns]
    if roles != ["user", "assistant"] * (len(roles) // 2) + ["user"]:
        raise ModelError(
            f"model {name!r}: `model.chat` needs questions and answers in turn, not "
            f"{', '.join(roles)}"
        )
    texts = [text for _, text in turns]
    return ChatPrompt(texts[-1], list(zip(texts[:-1:2], texts[1::2], strict=True)), system)


@provider("transformers-chat", block=ChatModel)
class ChatProvider(LocalProvider[ChatModel, ChatEngine]):
    """A model run by its own `chat` in this process, one sample at a time."""

    def load(self) -> ChatEngine:
        """See `LocalProvider.load`."""
        return ChatEngine(self.name, self.model)

    def score_options(self, requests: Sequence[Request]) -> Iterable[Scored]:
        """Refuse: `chat` returns text alone."""
        refuse_options(requests, self.name, "use vllm or transformers")
        return ()

    def cut_calls(self, requests: Sequence[Request]) -> Iterator[list[SampleRun]]:
        """See `LocalProvider.cut_calls`: a run each."""
        yield from ([run] for run in group_runs(requests))

    def respond(self, engine: ChatEngine, runs: list[SampleRun]) -> list[list[Response]]:
        """See `LocalProvider.respond`."""
        return [
            make_responses(run, engine.draw(run, self.model.seed), self.model.price) for run in runs
        ]
