"""Load a reward model with transformers, and compute its rewards of responses."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from math import isfinite
from typing import Any, NamedTuple

from omibench.errors import ModelError
from omibench.models.api.replies import compute_cost
from omibench.models.local.checkpoint import (
    EXTRA,
    LOADED,
    check_origin,
    describe_load,
    explain_own_code,
    load_errors,
    locate_checkpoint,
    one_line,
    require,
    spread_layers,
)
from omibench.models.local.prompts import (
    Answers,
    SampleRun,
    answer_runs,
    chat_messages,
    cut_chunks,
    special_tokens,
)
from omibench.models.local.transformers_engine import is_out_of_memory
from omibench.models.provider import NO_BUDGET, BaseProvider, Budget
from omibench.params.models.providers import RewardModel
from omibench.schemas.request import Conversation, ImagePart, Request, Response, Usage

TWO_LAYERS = "Qwen2ForRewardModel"
"""The name of Qwen2.5-Math-RM's head in checkpoints; transformers has no class for it."""


class Reward(NamedTuple):
    """The reward of one response; None if question and response are too long."""

    value: float | None
    tokens: int


class RewardEngine:
    """A loaded reward model with its tokenizer.

    The head reads the last token of a conversation in the checkpoint's chat template, with the
    response as the assistant turn.
    """

    def __init__(self, name: str, model: RewardModel) -> None:
        self.name = name
        self.torch = require("torch", EXTRA, name)
        hub = require("transformers", EXTRA, name)
        self.device = model.device or ("cuda" if self.torch.cuda.is_available() else "cpu")
        checkpoint = locate_checkpoint(name, model)
        source = {
            "pretrained_model_name_or_path": checkpoint.place,
            "revision": checkpoint.revision,
            # Set even to False: otherwise transformers would prompt in the terminal.
            "trust_remote_code": model.trust_remote_code,
        }
        spread = spread_layers(name, model.n_gpus, self.torch)
        try:
            config = hub.AutoConfig.from_pretrained(**source)
            loader = self._choose_loader(hub, config, model)
            self.model, loaded = loader.from_pretrained(
                **source, config=config, dtype=model.dtype, output_loading_info=True, **spread
            )
            self.tokenizer = hub.AutoTokenizer.from_pretrained(**source)
        except ModelError:
            raise
        except load_errors(model) as error:
            raise ModelError(
                explain_own_code(name, model, error)
                or f"model {name!r}: transformers cannot load the reward model {model.id} on "
                f"{self.device}: {one_line(error)}"
            ) from error
        check_origin(name, model, type(self.model), checkpoint)
        self._check_head(model, loaded)
        if model.n_gpus < 2:  # layers spread over several GPUs stay in place
            self.model = self.model.to(self.device)
        self.model.eval()
        self.specials = special_tokens(self.tokenizer)
        self.longest = model.max_model_len or getattr(config, "max_position_embeddings", None)
        self.takes_batches = self._prepare_padding()

    def score(self, conversations: Sequence[Conversation]) -> list[Reward]:
        """Return the reward of the last turn of each conversation, in order.

        Raises:
            ModelError: A conversation contains pictures.
        """
        rows = [self._tokenize(conversation) for conversation in conversations]
        fitting = [row for row in rows if self.longest is None or len(row) <= self.longest]
        values = iter(self._run(fitting) if fitting else ())
        return [
            Reward(None if self.longest and len(row) > self.longest else next(values), len(row))
            for row in rows
        ]

    def close(self) -> None:
        """Release the weights."""
        self.model = None

    def _run(self, rows: Sequence[list[int]]) -> list[float]:
        step = len(rows) if self.takes_batches else 1
        values: list[float] = []
        for start in range(0, len(rows), step):
            batch = self.tokenizer.pad(
                {"input_ids": list(rows[start : start + step])}, return_tensors="pt"
            ).to(self.model.device)
            with self.torch.inference_mode():
                output = self.model(**batch)
            values += self._read_rewards(output, len(batch["input_ids"]))
        return values

    def _read_rewards(self, output: Any, rows: int) -> list[float]:
        """Read one number per row: from `logits`, or from the first output of custom code."""
        logits = getattr(output, "logits", None)
        logits = output[0] if logits is None else logits
        if logits.numel() != rows:
            raise ModelError(
                f"model {self.name!r}: its head returns {logits.numel() / rows:g} numbers per "
                "response; a reward model returns one"
            )
        return [float(value) for value in logits.float().flatten().tolist()]

    def _tokenize(self, conversation: Conversation) -> list[int]:
        messages = [
            {**message, "content": "\n".join(part["text"] for part in message["content"])}
            for message in chat_messages(conversation, self.specials, self._refuse_picture)
        ]
        tokens = self.tokenizer.apply_chat_template(
            messages, add_generation_prompt=False, tokenize=True, return_dict=True
        )
        return list(tokens["input_ids"])

    def _refuse_picture(self, image: ImagePart) -> dict[str, Any]:
        raise ModelError(f"model {self.name!r}: accepts only text, but its requests have images")

    def _choose_loader(self, hub: Any, config: Any, model: RewardModel) -> Any:
        brought = (getattr(config, "auto_map", None) or {}) if model.trust_remote_code else {}
        for name in ("AutoModelForSequenceClassification", "AutoModel"):
            if name in brought:
                return getattr(hub, name)
        if TWO_LAYERS in (config.architectures or []):
            config.num_labels = 1
            return _make_two_layer_class(hub)
        if type(config) not in hub.MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING:
            raise ModelError(
                f"model {self.name!r}: transformers has no scalar head for {model.id} "
                f"({type(config).__name__}); a reward model is a sequence classifier with one "
                "label"
            )
        if config.num_labels != 1:
            raise ModelError(
                f"model {self.name!r}: {model.id} returns {config.num_labels} numbers per "
                "response; a reward model returns one (num_labels: 1 in its config.json)"
            )
        return hub.AutoModelForSequenceClassification

    def _check_head(self, model: RewardModel, loaded: dict[str, Any]) -> None:
        """Check that the checkpoint contains its head, which would otherwise be random."""
        if missing := sorted(loaded["missing_keys"]):
            raise ModelError(
                f"model {self.name!r}: {model.id} is not a reward model: its weights lack "
                f"{missing[0]}"
            )
        template = getattr(self.tokenizer, "chat_template", None)
        if not template:
            raise ModelError(
                f"model {self.name!r}: {model.id} has no chat template, which formats question "
                "and response"
            )

    def _prepare_padding(self) -> bool:
        """Return whether rows of different length can share a batch.

        The last token before the padding is read, so padding needs a separate token.
        """
        pad, end = self.tokenizer.pad_token_id, self.tokenizer.eos_token_id
        self.tokenizer.padding_side = "right"
        is_distinct = pad is not None and pad != end
        # Without one, rows are batched individually and read at the very last token.
        self.model.config.pad_token_id = pad if is_distinct else None
        if pad is None:
            self.tokenizer.pad_token_id = end
        return is_distinct


def _make_two_layer_class(hub: Any) -> Any:
    """Build a Qwen2 class with a scalar head: a linear layer, a ReLU and a linear layer."""
    from torch import nn

    class Qwen2TwoLayerReward(hub.Qwen2ForSequenceClassification):  # type: ignore[misc]
        def __init__(self, config: Any) -> None:
            super().__init__(config)
            width = config.hidden_size
            self.score = nn.Sequential(
                nn.Linear(width, width), nn.ReLU(), nn.Linear(width, config.num_labels)
            )
            self.post_init()

    return Qwen2TwoLayerReward


def open_reward_engine(name: str, model: RewardModel) -> RewardEngine:
    """Return the engine of a reward model, loaded on demand."""
    key = (model.provider, describe_load(model))
    with LOADED.lock:
        engine: RewardEngine | None = LOADED.get(key)
        if engine is None:
            engine = LOADED.replace(key, lambda: RewardEngine(name, model))
        return engine


# The `transformers-reward` provider: a reward head scores responses on this machine.


class RewardProvider(BaseProvider[RewardModel]):
    """A language model with a head that gives a response one real number (EMMA, C.4).

    The text of a reply is that number. The model is loaded on the first request.
    """

    def __init__(self, name: str, model: RewardModel) -> None:
        super().__init__(name, model)
        self.batch_size = model.batch_size
        """Rows per batch; halved permanently if a batch does not fit into memory."""

    def answer(
        self, requests: Sequence[Request], budget: Budget = NO_BUDGET
    ) -> Iterator[tuple[Request, Response]]:
        """Yield each request with its response, batch by batch, the longest conversations first.

        A conversation that is too long for the model is `refused`; one that does not fit into
        memory is a `provider_error`.

        Raises:
            ModelError: The model cannot be loaded, or its head does not return one number.
        """
        runs = [SampleRun((request,)) for request in requests]
        runs.sort(key=lambda run: -len(run.conversation.text))
        chunks = cut_chunks(runs, self.batch_size, lambda run: 1)
        yield from answer_runs(chunks, budget, self._ask)

    def _ask(self, runs: list[SampleRun]) -> Answers:
        with LOADED.lock:
            return self._ask_or_split(open_reward_engine(self.name, self.model), runs)

    def _ask_or_split(
        self, engine: RewardEngine, runs: list[SampleRun]
    ) -> list[tuple[SampleRun, list[Response]]]:
        start = time.monotonic()
        if len(runs) <= self.batch_size:
            try:
                rewards = engine.score([run.conversation for run in runs])
            except RuntimeError as error:
                if not is_out_of_memory(error):
                    raise
                if len(runs) == 1:
                    failed = Response(
                        text="",
                        outcome="provider_error",
                        error=f"out of memory on {engine.device}",
                    )
                    return [(runs[0], [failed])]
                self._shrink(engine, len(runs))
            else:
                latency_s = round(time.monotonic() - start, 3)
                pairs = zip(runs, rewards, strict=True)
                return [(run, [self._make_response(r, engine, latency_s)]) for run, r in pairs]
        half = len(runs) // 2
        parts = [runs[:half], runs[half:]]
        return [pair for part in parts for pair in self._ask_or_split(engine, part)]

    def _make_response(self, reward: Reward, engine: RewardEngine, latency_s: float) -> Response:
        if reward.value is None:
            reason = (
                f"question and response are {reward.tokens} tokens, the model accepts "
                f"{engine.longest}"
            )
            return Response(text="", outcome="refused", error=reason)
        if not isfinite(reward.value):
            return Response(
                text="", outcome="provider_error", error=f"the head returned {reward.value}"
            )
        usage = Usage(input_tokens=reward.tokens, output_tokens=0)
        return Response(
            text=repr(reward.value),
            finish_reason="scored",
            usage=usage,
            cost_usd=compute_cost(self.model.price, usage),
            latency_s=latency_s,
        )

    def _shrink(self, engine: RewardEngine, rows: int) -> None:
        self.batch_size = max(1, rows // 2)
        if engine.device != "cpu":
            engine.torch.cuda.empty_cache()
