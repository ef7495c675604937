"""A module to stand in for vLLM: it records how it is called and returns objects like vLLM's.

Its replies are made from the prompt and the seed, so equal calls give equal samples. Signatures
are those of vLLM 0.33 as far as they are used; `test_vllm.py` compares them with an installed one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import ModuleType, SimpleNamespace
from typing import Any

Reply = Callable[[str, int], tuple[str, str]]


@dataclass
class SamplingParams:
    """vLLM's, as far as it is used."""

    n: int = 1
    temperature: float = 1.0
    top_p: float = 1.0
    seed: int | None = None
    max_tokens: int | None = 16
    logprob_token_ids: list[int] | None = None


class VLLMClientError(Exception):
    """The base of what later versions raise for a prompt they do not take."""


class VLLMValidationError(VLLMClientError):
    """Such as for one that is too long."""


class OldSamplingParams:
    """One of a vLLM that cannot give the log-probabilities of chosen tokens."""

    def __init__(
        self, n: int = 1, temperature: float = 1.0, top_p: float = 1.0,
        seed: int | None = None, max_tokens: int | None = 16,
    ) -> None:  # fmt: skip
        self.n = n


class Tokenizer:
    """One token a character."""

    all_special_tokens = ["<|im_end|>", "<|image_pad|>"]
    chat_template = ""

    def encode(self, text: str, add_special_tokens: bool = True) -> list[int]:
        return [ord(character) for character in text]

    def decode(self, tokens: Sequence[int]) -> str:
        return "".join(map(chr, tokens))


@dataclass
class FakeVllm:
    """What the module was asked, and how it is to behave."""

    reply: Reply = lambda prompt, seed: (f"reply {seed % 1000}", "stop")
    opens_thinking: bool = False
    drops_images: bool = False
    rejects: str | None = None
    """Words of a prompt at which `chat` raises `rejection`, as for one that is too long."""
    rejection: type[Exception] = ValueError
    dies: bool = False
    answers: int | None = None
    """How many answers `chat` returns; all when None."""
    hides: int | None = None
    """A token whose log-probability is left out."""
    drifted: bool = False
    """A prompt was rejected after its pictures were noted as sent, and nothing was reset."""
    loads: list[dict[str, Any]] = field(default_factory=list)
    stops: list[dict[str, Any]] = field(default_factory=list)
    calls: list[SimpleNamespace] = field(default_factory=list)
    tools: list[list[dict[str, Any]] | None] = field(default_factory=list)
    """The tools of each call."""
    adapters: list[Any] = field(default_factory=list)
    """The LoRA request of each call."""
    continued: list[bool] = field(default_factory=list)
    """Whether each call goes on with the last turn."""
    chat_template: str = ""
    sampling_params: type = SamplingParams

    def module(self) -> ModuleType:
        """The module `vllm`."""
        fake = self

        class LLM:
            def __init__(self, **arguments: Any) -> None:
                if arguments["model"] == "absent":
                    raise OSError("absent is not a local folder and is not a valid model")
                fake.loads.append(arguments)
                core = SimpleNamespace(shutdown=lambda: fake.stops.append(arguments))
                self.llm_engine = SimpleNamespace(engine_core=core)

            def get_tokenizer(self) -> Tokenizer:
                tokenizer = Tokenizer()
                tokenizer.chat_template = fake.chat_template
                return tokenizer

            def reset_mm_cache(self) -> None:
                fake.drifted = False

            def chat(
                self,
                messages: list[Any],
                sampling_params: list[Any] | None = None,
                use_tqdm: bool = True,
                chat_template_kwargs: dict[str, Any] | None = None,
                tools: list[dict[str, Any]] | None = None,
                add_generation_prompt: bool = True,
                continue_final_message: bool = False,
                lora_request: Any = None,
            ) -> list[SimpleNamespace]:
                fake.tools.append(tools)
                fake.adapters.append(lora_request)
                fake.continued.append(continue_final_message and not add_generation_prompt)
                return fake.chat(messages, sampling_params or [], chat_template_kwargs)

        made = ModuleType("vllm")
        made.LLM, made.SamplingParams = LLM, self.sampling_params  # type: ignore[attr-defined]
        return made

    def chat(
        self, messages: list[Any], sampling: list[Any], switches: dict[str, Any] | None
    ) -> list[SimpleNamespace]:
        self.calls.append(SimpleNamespace(messages=messages, sampling=sampling, switches=switches))
        if self.dies:
            raise RuntimeError("EngineCore encountered an issue.\nSee the stack trace above.")
        if self.drifted:
            raise RuntimeError("Multi-modal items are not in the receiver cache (cache drift)")
        if self.drops_images:
            raise RuntimeError("Failed to apply prompt replacement for mm_items['image'][1]")
        prompts = [prompt_of(turns) for turns in messages]
        if self.rejects and any(self.rejects in prompt for prompt in prompts):
            self.drifted = True
            raise self.rejection("The prompt (length 9000) is longer than the maximum of 8192")
        outputs = [
            self._output(turns, prompt, own)
            for turns, prompt, own in zip(messages, prompts, sampling, strict=True)
        ]
        return outputs[: self.answers]

    def _output(self, turns: list[Any], prompt: str, own: Any) -> SimpleNamespace:
        ids = [ord(character) for character in prompt + ("<think>\n" * self.opens_thinking)]
        samples = [self._sample(prompt, own, index) for index in range(own.n)]
        return SimpleNamespace(
            prompt_token_ids=ids,
            num_cached_tokens=len(ids) // 2,
            outputs=samples[::-1],
        )

    def _sample(self, prompt: str, own: Any, index: int) -> SimpleNamespace:
        text, finish = self.reply(prompt, 0 if own.temperature == 0 else own.seed + index)
        logprobs = None
        if own.logprob_token_ids is not None:
            wanted = [t for t in own.logprob_token_ids if t != self.hides]
            logprobs = [{t: SimpleNamespace(logprob=-float(t)) for t in wanted}]
        return SimpleNamespace(
            index=index,
            text=text,
            finish_reason=finish,
            token_ids=list(map(ord, text)),
            logprobs=logprobs,
        )


def prompt_of(turns: list[Any]) -> str:
    """The words of a conversation, with the pixels' hash where a picture stands."""
    return "".join(
        part["text"]
        if part["type"] == "text"
        else hashlib.sha256(part["image_pil"].tobytes()).hexdigest()[:8]
        for turn in turns
        for part in turn["content"]
    )
