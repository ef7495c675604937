"""vLLM's offline engine: loads it, and passes its arguments and results as plain values.

Uses `LLM(...)`, `LLM.chat`, `LLM.get_tokenizer`, `SamplingParams` and `RequestOutput` of vLLM.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from omibench.errors import ImageCountError, ModelError
from omibench.files.reading import read_json
from omibench.models.api.replies import describe_tools
from omibench.models.local.checkpoint import (
    CONFIG_BYTES,
    LOADED,
    explain_load,
    locate_adapter,
    locate_checkpoint,
    one_line,
    pixel_size,
    require,
)
from omibench.models.local.prompts import (
    Draw,
    Drawn,
    OptionPrompt,
    OptionTokens,
    RejectedPromptError,
    SampleRun,
    chat_messages,
    check_tail,
    check_template,
    cut_chunks,
    decode,
    derive_seed,
    group_by_tools,
    group_runs,
    make_responses,
    opens_thinking,
    pixels,
    special_tokens,
    split_by_turn,
)
from omibench.models.local.provider import LocalProvider, Scored
from omibench.models.provider import NO_BUDGET, Budget, is_continued
from omibench.models.registry import provider
from omibench.params.models.providers import ADAPTER_FILES, VllmModel
from omibench.schemas.request import Conversation, ImagePart, Request, Response


class VllmEngine:
    """A loaded `vllm.LLM` for conversations of at most `images` images."""

    def __init__(self, name: str, model: VllmModel, images: int) -> None:
        self.vllm = require("vllm", "vllm", name)
        self.images = images
        self.name = name
        with explain_load(name, model, f"vLLM cannot load {model.id}", (Exception,)):
            self.llm = self.vllm.LLM(**engine_args(model, name, images))
        self.adapter = {}
        if adapter := locate_adapter(name, model):
            request = importlib.import_module("vllm.lora.request").LoRARequest
            self.adapter = {"lora_request": request(name, 1, adapter)}
        self.tokenizer = self.llm.get_tokenizer()
        self.specials = special_tokens(self.tokenizer)

    def chat(
        self, conversations: Sequence[Conversation], sampling: list[Any], thinking: bool | None
    ) -> list[Any]:
        """Return one RequestOutput per conversation, in their order.

        Conversations that end in an assistant turn are continued inside it: all of a call, or none.

        Raises RejectedPromptError if vLLM rejects a prompt, ImageCountError if it finds another
        number of images, and ModelError if it crashes; the engine is then released.
        """
        messages = [chat_messages(c, self.specials, image_part) for c in conversations]
        continued = is_continued(conversations[0])
        switches = {} if thinking is None else {"enable_thinking": thinking}
        try:
            outputs = self.llm.chat(
                messages,
                sampling,
                use_tqdm=False,
                chat_template_kwargs=switches or None,
                **(
                    {"add_generation_prompt": False, "continue_final_message": True}
                    if continued
                    else {}
                ),
                **self._tools(conversations),
                **self.adapter,
            )
        except Exception as error:  # vLLM's errors share no base class across its versions.
            raise self._meaning(error) from error
        if len(outputs) != len(conversations):
            raise ModelError(
                f"model {self.name!r}: vLLM returned {len(outputs)} answers to "
                f"{len(conversations)} conversations; none was kept"
            )
        return list(outputs)

    def _tools(self, conversations: Sequence[Conversation]) -> dict[str, Any]:
        """Return the tools that all conversations of a call offer."""
        if not (tools := conversations[0].tools):
            return {}
        check_template(getattr(self.tokenizer, "chat_template", None), self.name)
        return {"tools": describe_tools(tools)}

    def close(self) -> None:
        """Stop the engine: vLLM's own process ends, or its part of this one."""
        # Dropping references is not enough: it hides its objects from garbage collection.
        self.llm.llm_engine.engine_core.shutdown()

    def _meaning(self, error: Exception) -> Exception:
        words = one_line(error)
        if "prompt placeholders" in words or "mm_items['image']" in words:
            # vLLM finds no placeholder in a prompt for one of its images.
            return ImageCountError(
                f"model {self.name!r}: vLLM found another number of images in a prompt than it "
                f"received; its chat template drops some: {words}"
            )
        kinds = {kind.__name__ for kind in type(error).__mro__}
        if kinds & {"ValueError", "VLLMClientError"}:
            # vLLM counts pictures of the rejected prompt as sent and would wait for them forever.
            self.llm.reset_mm_cache()
            return RejectedPromptError(f"model {self.name!r}: vLLM: {words}")
        LOADED.release()
        return ModelError(
            f"model {self.name!r}: vLLM stopped: {words}; run the command again, finished answers "
            "are kept"
        )

    def read_output(self, output: Any) -> Drawn:
        """Convert one RequestOutput."""
        samples = sorted(output.outputs, key=lambda sample: int(sample.index))
        return Drawn(
            [Draw(s.text, s.finish_reason or "aborted", len(s.token_ids)) for s in samples],
            input_tokens=len(output.prompt_token_ids),
            cached_tokens=output.num_cached_tokens,
            opened=opens_thinking(self.tokenizer, output.prompt_token_ids),
        )

    def sampling(self, run: SampleRun, model_seed: int) -> Any:
        """Return the SamplingParams of a run. vLLM seeds sample i of a request with `seed + i`."""
        decoding = run.decoding
        return self.vllm.SamplingParams(
            n=run.draws,
            temperature=decoding.temperature,
            top_p=1.0 if decoding.top_p is None else decoding.top_p,
            max_tokens=decoding.max_tokens,
            seed=derive_seed(run, model_seed),
        )

    def scoring(self, ids: list[int]) -> Any:
        """Return SamplingParams for the exact log-probabilities of tokens as the next one.

        Raises ModelError if this version of vLLM does not support them.
        """
        if "logprob_token_ids" not in inspect.signature(self.vllm.SamplingParams).parameters:
            raise ModelError(
                f"model {self.name!r}: this version of vLLM returns no log-probabilities of "
                "chosen tokens (SamplingParams.logprob_token_ids); install 0.32 or later"
            )
        return self.vllm.SamplingParams(temperature=0.0, max_tokens=1, logprob_token_ids=ids)


def engine_args(model: VllmModel, name: str, images: int) -> dict[str, Any]:
    """Return the arguments of `vllm.LLM`. `engine` of the model's block overrides the others.

    A model with custom code is given as a folder: for a hub model, vLLM also reads parts such as
    the processor from other revisions.
    """
    checkpoint = locate_checkpoint(name, model)
    args: dict[str, Any] = {
        "model": checkpoint.place,
        "revision": checkpoint.revision,
        "trust_remote_code": model.trust_remote_code,
        "dtype": model.dtype,
        "seed": model.seed,
        "tensor_parallel_size": model.tensor_parallel,
        "pipeline_parallel_size": model.pipeline_parallel,
        "max_model_len": model.max_model_len,
        "max_num_seqs": model.max_num_seqs,
        "gpu_memory_utilization": model.gpu_memory,
        "enable_prefix_caching": True,
    }
    if adapter := locate_adapter(name, model):
        args |= {"enable_lora": True, "max_lora_rank": _round_rank(name, Path(adapter))}
    if images:  # not supported by a text-only model
        args["limit_mm_per_prompt"] = {"image": images, "video": 0}
        if size := pixel_size(model, name, "vllm", checkpoint):
            args["mm_processor_kwargs"] = {"size": size}
    return args | model.engine


LORA_RANKS = (8, 16, 32, 64, 128, 256, 320, 512)
"""The ranks that vLLM reserves room for."""


def _round_rank(name: str, adapter: Path) -> int:
    """Return the smallest of `LORA_RANKS` for an adapter. Raises ModelError if it is larger."""
    config = read_json(adapter / ADAPTER_FILES[1], CONFIG_BYTES)
    patterns = config.get("rank_pattern") or {}
    ranks = [rank for rank in (config.get("r"), *patterns.values()) if isinstance(rank, int)]
    room = next((room for room in LORA_RANKS if room >= max(ranks, default=0)), None)
    if room is None:
        raise ModelError(
            f"model {name!r}: {adapter} has the rank {max(ranks)}; vLLM takes at most "
            f"{LORA_RANKS[-1]}; use the provider transformers"
        )
    return room


def image_part(image: ImagePart) -> dict[str, Any]:
    """Pass a picture without base64; its uuid lets vLLM process it only once."""
    return {"type": "image_pil", "image_pil": decode(image), "uuid": image.content_key}


# The `vllm` provider: offline batches on this machine's GPUs, one model load for all settings.

CHUNK = 8
"""Sequences per call to vLLM, in multiples of `max_num_seqs`. Answers arrive after each call;
with smaller calls the GPU idles more while the longest answers finish."""
CHUNK_PIXELS = 400e6
"""Maximum pixels per call: 1.2 GB of decoded pictures."""


@provider("vllm", block=VllmModel)
class VllmProvider(LocalProvider[VllmModel, VllmEngine]):
    """A model run by vLLM in this process.

    The model is loaded on the first request. Raises ModelError if vLLM is not installed or cannot
    load the model.
    """

    _images = 0
    """Images of one conversation that the engine must have room for."""

    def expect(self, requests: Sequence[Request]) -> None:
        """Announce later requests, so that the first load allows for their images."""
        self._images = max([self._images, *(len(r.conversation.images) for r in requests)])

    def expect_images(self, images: int) -> None:
        """See `MakesRoom.expect_images`."""
        self._images = max(self._images, images)

    def load(self) -> VllmEngine:
        """See `LocalProvider.load`."""
        return VllmEngine(self.name, self.model, self._images)

    def has_room(self, engine: VllmEngine) -> bool:
        """See `LocalProvider.has_room`: an engine loaded for fewer images is replaced."""
        return engine.images >= self._images

    def answer(
        self, requests: Sequence[Request], budget: Budget = NO_BUDGET
    ) -> Iterator[tuple[Request, Response]]:
        """See `LocalProvider.answer`."""
        self.expect(requests)
        yield from super().answer(requests, budget)

    def cut_calls(self, requests: Sequence[Request]) -> Iterator[list[SampleRun]]:
        """See `LocalProvider.cut_calls`. Samples of one conversation are one request to vLLM."""
        runs = group_runs(requests, limit=self.model.max_num_seqs)
        limit = CHUNK * self.model.max_num_seqs
        for group in group_by_tools(runs):
            yield from cut_chunks(
                group, limit, lambda run: max(run.draws, _weigh_pictures(run.requests[0], limit))
            )

    def score_options(self, requests: Sequence[Request]) -> Iterator[Scored]:
        """See `LocalProvider.score_options`; in order.

        These calls never contain a request that generates: vLLM mixes up their rows. Raises
        ModelError if vLLM rejects a prompt.
        """
        self.expect(requests)
        limit = CHUNK * self.model.max_num_seqs
        for part in cut_chunks(requests, limit, lambda request: _weigh_pictures(request, limit)):
            with LOADED.lock:
                engine = self.open_engine()
                tokens = OptionTokens(engine.tokenizer, engine.specials, self.name)
                prompts = [tokens.prepare(r.conversation, r.options) for r in part]
                outputs = [
                    output
                    # A call either continues assistant turns or begins new ones.
                    for alike in split_by_turn(prompts)
                    for output in engine.chat(
                        [prompt.conversation for prompt in alike],
                        [engine.scoring(prompt.ids) for prompt in alike],
                        self.model.thinking,
                    )
                ]
            yield from self._read_scores(part, prompts, outputs)

    def _read_scores(
        self, requests: Sequence[Request], prompts: Sequence[OptionPrompt], outputs: Sequence[Any]
    ) -> Iterator[Scored]:
        for request, prompt, output in zip(requests, prompts, outputs, strict=True):
            check_tail(output.prompt_token_ids, prompt.tail, self.name)
            logprobs = output.outputs[0].logprobs[0]
            if any(token not in logprobs for token in prompt.ids):
                raise ModelError(
                    f"model {self.name!r}: vLLM returned no log-probability for some options of "
                    f"{request.tags.problem!r}"
                )
            values = [float(logprobs[token].logprob) for token in prompt.ids]
            yield request, dict(zip(request.options, values, strict=True))

    def respond(self, engine: VllmEngine, runs: list[SampleRun]) -> list[list[Response]]:
        """See `LocalProvider.respond`."""
        sampling = [engine.sampling(run, self.model.seed) for run in runs]
        outputs = engine.chat([run.conversation for run in runs], sampling, self.model.thinking)
        return [
            make_responses(run, engine.read_output(output), self.model.price)
            for run, output in zip(runs, outputs, strict=True)
        ]


def _weigh_pictures(request: Request, limit: float) -> float:
    area = sum(pixels(image) for image in request.conversation.images)
    return max(1.0, limit * area / CHUNK_PIXELS)
