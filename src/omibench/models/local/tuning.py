"""Training with transformers and peft: loss on the assistant's turns, from checkpoint to weights.

`transformers.Trainer`, which runs on accelerate, and not trl's SFTTrainer: that finds the answers
of a conversation only in templates with `{% generation %}` marks, which few models with pictures
have, and cuts long conversations, perhaps inside a picture.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from omibench.errors import ModelError
from omibench.files.outputs import write_atomically
from omibench.files.reading import hash_file, read_json
from omibench.models.local.checkpoint import explain_load, load_errors, one_line, require
from omibench.models.local.prompts import decode
from omibench.models.local.transformers_engine import TransformersEngine
from omibench.params.models.providers import ADAPTER_FILES, LocalGenerator, TransformersModel
from omibench.params.stages.tune import TuneParams
from omibench.schemas.request import ImagePart
from omibench.schemas.tuning import LossRow, TrainingConversation

EXTRA: Final = "tune"
UNTRAINED: Final = -100
"""Label of a token without a loss."""
_SHARED = ("id", "revision", "dtype", "trust_remote_code", "max_pixels", "adapter")


class TrainingResult(NamedTuple):
    """The outcome of a training run."""

    steps: int
    losses: list[LossRow]


class Encoder:
    """Turns a conversation into the tensors of one example, with labels on the answers."""

    def __init__(self, engine: TransformersEngine) -> None:
        self.processor, self.tokenizer = engine.processor, engine.tokenizer
        self._engine = engine
        self._options = {"images_kwargs": engine.images_kwargs} if engine.images_kwargs else {}

    def encode(self, conversation: TrainingConversation) -> dict[str, Any]:
        """Return input ids, labels, and what the processor makes of the pictures.

        Raises:
            ModelError: A text has control tokens of the model, the template does not add one turn
                after another, or the processor does not keep the text between pictures.
        """
        if any(
            token in turn.text for turn in conversation.turns for token in self._engine.specials
        ):
            raise ModelError("a text has control tokens of the model")
        messages = [
            {
                "role": turn.role,
                "content": [
                    {"type": "text", "text": part} if isinstance(part, str) else {"type": "image"}
                    for part in turn.content
                ],
            }
            for turn in conversation.turns
        ]
        text = self._render(messages)
        images = [
            decode(ImagePart(sha256=hash_file(path), path=path)) for path in conversation.pictures
        ]
        pictures = {"images": [images]} if images else {}
        try:
            batch = self.processor(
                text=[text], **pictures, return_tensors="pt", add_special_tokens=False,
                **self._options,
            )  # fmt: skip
        except (ValueError, IndexError, RuntimeError) as error:
            raise ModelError(f"its processor: {one_line(error)}") from error
        ids = batch["input_ids"][0].tolist()
        spans = [*self._find_answers(messages, text)]
        labels = label_answers(ids, self._tokenise(text, spans), self._image_id)
        return {**batch, "labels": [labels]}

    def count_tokens(self, conversation: TrainingConversation) -> int:
        """Return the number of tokens of a conversation, pictures included."""
        return len(self.encode(conversation)["labels"][0])

    def _render(self, messages: Sequence[Any], **switches: Any) -> str:
        text: str = self.processor.apply_chat_template(messages, tokenize=False, **switches)
        return text

    def _find_answers(self, messages: Sequence[Any], text: str) -> Iterator[tuple[int, int]]:
        """Yield start and end in `text` of each turn of the assistant, with the mark of its end."""
        for place, message in enumerate(messages):
            if message["role"] != "assistant":
                continue
            start = self._render(messages[:place], add_generation_prompt=True)
            end = self._render(messages[: place + 1]).rstrip("\n")
            if not (text.startswith(end) and end.startswith(start)):
                raise ModelError(
                    "its chat template writes earlier turns in another way than the last one, so "
                    "answers cannot be found; train on conversations of one answer each"
                )
            yield len(start), len(end)

    def _tokenise(self, text: str, spans: Sequence[tuple[int, int]]) -> list[tuple[int, bool]]:
        """Return the tokens of a text, one per picture, and whether each is an answer's."""
        encoded = self.tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)
        return [
            (token, any(first < end and start < last for start, end in spans))
            for token, (first, last) in zip(
                encoded["input_ids"], encoded["offset_mapping"], strict=True
            )
        ]

    @property
    def _image_id(self) -> int:
        config = self._engine.config
        if token := getattr(self.processor, "image_token", None):
            return int(self.tokenizer.convert_tokens_to_ids(token))
        return int(getattr(config, "image_token_id", None) or config.image_token_index)


def label_answers(ids: Sequence[int], tokens: Sequence[tuple[int, bool]], image: int) -> list[int]:
    """Return the label of each token: itself in an answer, otherwise `UNTRAINED`.

    Args:
        ids: The tokens that the model sees, with many for each picture.
        tokens: Those of the text, with one mark for each picture, and whether each is trained.
        image: The mark of a picture.

    Raises:
        ModelError: The text between two pictures is not found in order.
    """
    labels, place = [UNTRAINED] * len(ids), 0
    segments: list[list[tuple[int, bool]]] = [[]]
    for token, trained in tokens:
        if token == image:
            segments.append([])
        else:
            segments[-1].append((token, trained))
    for segment in segments:
        start = _find([token for token, _ in segment], ids, place)
        for offset, (token, trained) in enumerate(segment):
            if trained:
                labels[start + offset] = token
        place = start + len(segment)
    return labels


def _find(wanted: list[int], ids: Sequence[int], place: int) -> int:
    for start in range(place, len(ids) - len(wanted) + 1):
        if [*ids[start : start + len(wanted)]] == wanted:
            return start
    raise ModelError("its processor changes the text around pictures, so it cannot be trained")


def collate(examples: Sequence[dict[str, Any]], padding: int) -> dict[str, Any]:
    """Return the batch of examples: sequences padded on the right, pictures one after another.

    Args:
        examples: Outputs of `Encoder.encode`.
        padding: The token to pad with.
    """
    import torch

    length = max(len(example["labels"][0]) for example in examples)
    fill = {"labels": UNTRAINED, "input_ids": padding}
    batch = {}
    for name in examples[0]:
        values = [torch.as_tensor(e[name]) for e in examples if name in e]
        if values[0].dim() == 2 and values[0].shape[1] == len(examples[0]["labels"][0]):
            pad = torch.nn.functional.pad
            values = [pad(v, (0, length - v.shape[1]), value=fill.get(name, 0)) for v in values]
        batch[name] = torch.cat(values)
    return batch


# A training run.

_VISION: Final = r".*(visual|vision|image_encoder).*"
"""Layers of the encoder of pictures, which keep their weights."""
_ROWS: Final = 200
"""Rows of the curve of losses, about."""


def open_base(name: str, base: LocalGenerator, params: TuneParams) -> TransformersEngine:
    """Load the base model of a tuned one with its processor.

    Args:
        name: The name of the base.
        base: Its block, of the provider `transformers` or `vllm`.
        params: The block of the tuned model.

    Raises:
        MissingExtraError: torch, transformers or peft is not installed.
        ModelError: The model cannot be loaded, or has no processor of pictures.
    """
    require("peft", EXTRA, name)
    shared = {field: getattr(base, field) for field in _SHARED}
    shared["max_pixels"] = params.max_pixels or base.max_pixels
    if params.method == "full":  # the steps of a full training are too small for 16 bits
        shared["dtype"] = "float32"
    device = base.device if isinstance(base, TransformersModel) else None
    if rank := os.environ.get("LOCAL_RANK"):  # a sharded model is loaded on the CPU first
        device = "cpu" if params.sharding else f"cuda:{rank}"
    block = TransformersModel(provider="transformers", device=device, **shared)
    engine = TransformersEngine(name, block)
    if not engine.sees:
        raise ModelError(f"model {name!r}: takes no pictures, so it cannot learn from them")
    engine.tokenizer.padding_side = "right"
    return engine


def train(
    engine: TransformersEngine,
    conversations: Sequence[TrainingConversation],
    params: TuneParams,
    weights: Path,
    checkpoints: Path,
) -> TrainingResult:
    """Train on the answers of conversations, and save the weights.

    Args:
        engine: The base model, which is changed.
        conversations: They fit into `params.max_tokens`.
        params: The block of the tuned model.
        weights: The folder of the result: an adapter, or all weights with the processor.
        checkpoints: The folder of checkpoints, from the last of which a stopped run goes on.

    Raises:
        ModelError: The model cannot be trained, or its memory is too small.
    """
    import transformers

    encoder = Encoder(engine)
    transformers.set_seed(params.seed)
    model = _prepare(engine, params)
    on_gpu = engine.device != "cpu" or params.sharding is not None
    steps = max(1, round(params.epochs * -(-len(conversations) // count_per_step(params))))
    options = transformers.TrainingArguments(
        output_dir=str(checkpoints), seed=params.seed, data_seed=params.seed,
        per_device_train_batch_size=params.batch, gradient_accumulation_steps=params.accumulation,
        num_train_epochs=params.epochs, learning_rate=params.lr, lr_scheduler_type="cosine",
        warmup_steps=round(params.warmup * steps), logging_steps=max(1, steps // _ROWS),
        save_strategy="steps", save_steps=params.save_steps, save_total_limit=2,
        remove_unused_columns=False, dataloader_num_workers=4 if on_gpu else 0,
        bf16=on_gpu, use_cpu=not on_gpu, activation_checkpointing=on_gpu,
        report_to=[], disable_tqdm=True,
    )  # fmt: skip
    padding = engine.tokenizer.pad_token_id
    trainer = transformers.Trainer(
        model=model,
        args=options,
        train_dataset=_Examples(encoder, conversations),
        data_collator=lambda examples: collate(examples, padding),
    )
    with explain_load(engine.name, engine.block, "cannot be trained", load_errors(engine.block)):
        trainer.train(resume_from_checkpoint=_find_last(checkpoints) or False)
    # All processes save: each has a part of a sharded model.
    trainer.save_model(str(weights))
    if trainer.is_world_process_zero():
        _complete(engine, params, weights)
    rows = [
        LossRow(step=row["step"], epoch=row["epoch"], loss=row["loss"], lr=row["learning_rate"])
        for row in trainer.state.log_history
        if "loss" in row
    ]
    return TrainingResult(trainer.state.global_step, rows)


def count_per_step(params: TuneParams) -> int:
    """Return the number of conversations of one step."""
    return params.batch * params.accumulation * params.gpus


def _find_last(checkpoints: Path) -> str | None:
    """Return the last whole checkpoint: the state of the trainer is written at its end."""
    whole = [path.parent for path in checkpoints.glob("checkpoint-*/trainer_state.json")]
    return str(max(whole, key=lambda path: int(path.name.split("-")[1]))) if whole else None


class _Examples:
    """The examples of a Trainer, encoded when it asks for them."""

    def __init__(self, encoder: Encoder, conversations: Sequence[TrainingConversation]) -> None:
        self._encoder, self._conversations = encoder, conversations

    def __len__(self) -> int:
        return len(self._conversations)

    def __getitem__(self, place: int) -> dict[str, Any]:
        return self._encoder.encode(self._conversations[place])


def _prepare(engine: TransformersEngine, params: TuneParams) -> Any:
    import peft

    engine.model.train()
    if params.method == "full":
        for name, weight in engine.model.named_parameters():
            weight.requires_grad = re.fullmatch(_VISION, name) is None
        return engine.model
    config = peft.LoraConfig(
        r=params.rank,
        lora_alpha=params.alpha or 2 * params.rank,
        lora_dropout=params.dropout,
        target_modules=params.targets or "all-linear",
        exclude_modules=_VISION,
        task_type="CAUSAL_LM",
    )
    try:
        return peft.get_peft_model(engine.model, config)
    except ValueError as error:  # no layer has such a name
        raise ModelError(f"tune: targets: {one_line(error)}") from None


def _complete(engine: TransformersEngine, params: TuneParams, weights: Path) -> None:
    """Make saved weights independent of this machine, and complete."""
    if params.method == "lora":
        # Where the base lies on this machine is no part of the adapter.
        config = weights / ADAPTER_FILES[1]
        values = read_json(config) | {"base_model_name_or_path": None}
        write_atomically(config, json.dumps(values, indent=2, sort_keys=True).encode())
    else:
        engine.processor.save_pretrained(weights)
        _copy_missing(Path(engine.checkpoint.place), weights)
    for extra in ("README.md", "training_args.bin"):
        Path(weights, extra).unlink(missing_ok=True)


def _copy_missing(base: Path, weights: Path) -> None:
    """Copy small files that the processor did not save, as that of videos without torchvision."""
    for file in sorted(base.iterdir()) if base.is_dir() else ():
        if file.suffix in (".json", ".jinja", ".txt") and ".index." not in file.name:
            target = weights / file.name
            if file.is_file() and not target.exists():
                shutil.copyfile(file, target)
