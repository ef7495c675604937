"""Batched generation and option log-probabilities with a loaded transformers model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from omibench.errors import ModelError, OmibenchError
from omibench.models.local.chat import THINK, Draw, Drawn
from omibench.models.local.continuation import OptionPrompt, check_tail
from omibench.models.local.identity import one_line
from omibench.models.local.loading import TransformersEngine
from omibench.models.local.runs import SampleRun, derive_seed
from omibench.models.local.sampling import RowSampler


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
