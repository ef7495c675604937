"""Load a reward model with transformers, and compute its rewards of responses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isfinite
from typing import Any, NamedTuple

from omibench.errors import ModelError
from omibench.models.api.replies import compute_cost
from omibench.models.local.prompts import SampleRun, cut_chunks, special_tokens
from omibench.models.local.provider import LocalProvider
from omibench.models.local.transformers_engine import HubEngine
from omibench.models.registry import provider
from omibench.params.models.providers import RewardModel
from omibench.schemas.request import Conversation, Request, Response, Usage

TWO_LAYERS = "Qwen2ForRewardModel"
"""The name of Qwen2.5-Math-RM's head in checkpoints; transformers has no class for it."""


class Reward(NamedTuple):
    """The reward of one response; None if question and response are too long."""

    value: float | None
    tokens: int


class RewardEngine(HubEngine):
    """A loaded reward model with its tokenizer.

    The head reads the last token of a conversation in the checkpoint's chat template, with the
    response as the assistant turn.
    """

    title = "the reward model "

    def __init__(self, name: str, model: RewardModel) -> None:
        super().__init__(name, model)
        self.tokenizer = self.processor
        self._check_head(model)
        self.specials = special_tokens(self.tokenizer)
        self.longest = model.max_model_len or getattr(self.config, "max_position_embeddings", None)
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
        tokens = self.tokenizer.apply_chat_template(
            self.text_messages(conversation),
            add_generation_prompt=False,
            tokenize=True,
            return_dict=True,
        )
        return list(tokens["input_ids"])

    def load_processor(self) -> Any:
        """See `HubEngine.load_processor`."""
        return self.hub.AutoTokenizer.from_pretrained(**self.source)

    def choose_class(self, model: RewardModel) -> Any:
        """See `HubEngine.choose_class`. Raises ModelError if it has no head with one number."""
        hub, config = self.hub, self.config
        if brought := self.bring("AutoModelForSequenceClassification", "AutoModel"):
            return getattr(hub, brought)
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

    def _check_head(self, model: RewardModel) -> None:
        """Check that the checkpoint contains its head, which would otherwise be random."""
        if self.missing_weights:
            raise ModelError(
                f"model {self.name!r}: {model.id} is not a reward model: its weights lack "
                f"{self.missing_weights[0]}"
            )
        if not getattr(self.tokenizer, "chat_template", None):
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


# The `transformers-reward` provider: a reward head scores responses on this machine.


@provider("transformers-reward", block=RewardModel)
class RewardProvider(LocalProvider[RewardModel, RewardEngine]):
    """A language model with a head that gives a response one real number (EMMA, C.4).

    The text of a reply is that number. The longest conversations are asked first; one that is too
    long for the model is `refused`.
    """

    def load(self) -> RewardEngine:
        """See `LocalProvider.load`."""
        return RewardEngine(self.name, self.model)

    def cut_calls(self, requests: Sequence[Request]) -> Iterator[list[SampleRun]]:
        """See `LocalProvider.cut_calls`."""
        runs = [SampleRun((request,)) for request in requests]
        runs.sort(key=lambda run: -len(run.conversation.text))
        return cut_chunks(runs, self.batch_size, lambda run: 1)

    def respond(self, engine: RewardEngine, runs: list[SampleRun]) -> list[list[Response]]:
        """See `LocalProvider.respond`. Raises ModelError if the head returns several numbers."""
        rewards = engine.score([run.conversation for run in runs])
        return [[self._make_response(reward, engine.longest)] for reward in rewards]

    def _make_response(self, reward: Reward, longest: int | None) -> Response:
        if reward.value is None:
            reason = (
                f"question and response are {reward.tokens} tokens, the model accepts {longest}"
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
        )
