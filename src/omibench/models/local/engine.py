"""vLLM's offline engine: loads it, and passes its arguments and results as plain values.

Uses `LLM(...)`, `LLM.chat`, `LLM.get_tokenizer`, `SamplingParams` and `RequestOutput` of vLLM.
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

from omibench.errors import ImageCountError, ModelError
from omibench.models.http.tool_turns import describe_tools
from omibench.models.local.chat import (
    Draw,
    Drawn,
    RejectedPromptError,
    chat_messages,
    special_tokens,
)
from omibench.models.local.identity import LOADED, describe_load, one_line, require
from omibench.models.local.images import decode
from omibench.models.local.own_code import explain_own_code, locate_checkpoint
from omibench.models.local.pixels import pixel_size
from omibench.models.local.runs import SampleRun, derive_seed
from omibench.models.local.tools import check_template
from omibench.models.options import is_continued
from omibench.params.models.local import VllmModel
from omibench.schemas.request import Conversation, ImagePart


class VllmEngine:
    """A loaded `vllm.LLM` for conversations of at most `images` images."""

    def __init__(self, name: str, model: VllmModel, images: int) -> None:
        self.vllm = require("vllm", "vllm", name)
        self.images = images
        self.name = name
        try:
            self.llm = self.vllm.LLM(**engine_args(model, name, images))
        except ModelError:
            raise
        except Exception as error:
            raise ModelError(
                explain_own_code(name, model, error)
                or f"model {name!r}: vLLM cannot load {model.id}: {one_line(error)}"
            ) from error
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
        tail = self.tokenizer.decode(list(output.prompt_token_ids[-8:]))
        return Drawn(
            [Draw(s.text, s.finish_reason or "aborted", len(s.token_ids)) for s in samples],
            input_tokens=len(output.prompt_token_ids),
            cached_tokens=output.num_cached_tokens,
            opened=tail.rstrip().endswith("<think>"),
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


def vllm_engine(name: str, model: VllmModel, images: int) -> VllmEngine:
    """Return the engine of a model for conversations of up to `images` images, loaded on demand.

    Models that differ only in per-call options (`thinking`) share it. An engine loaded for fewer
    images is replaced.
    """
    key = ("vllm", describe_load(model))
    with LOADED.lock:
        engine: VllmEngine | None = LOADED.get(key)
        if engine is None or engine.images < images:
            engine = LOADED.replace(key, lambda: VllmEngine(name, model, images))
        return engine


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
    if images:  # not supported by a text-only model
        args["limit_mm_per_prompt"] = {"image": images, "video": 0}
        if size := pixel_size(model, name, "vllm", checkpoint):
            args["mm_processor_kwargs"] = {"size": size}
    return args | model.engine


def image_part(image: ImagePart) -> dict[str, Any]:
    """Pass a picture without base64; its uuid lets vLLM process it only once."""
    return {"type": "image_pil", "image_pil": decode(image), "uuid": image.content_key}
