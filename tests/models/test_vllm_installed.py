"""What the vllm provider relies on, held against the vLLM that is installed, if one is.

The end-to-end test is slow (`pytest -m vllm` runs it alone): up to a minute on a CPU. See
docs/reference/local_models.md for an environment in which it runs without a GPU.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from tests.asks import answers
from tests.models import fake_vllm
from tests.models.local_blocks import picture, samples, shown
from tests.models.tiny_vlm import build

from omibench.models.local.checkpoint import LOADED
from omibench.models.local.vllm import VllmProvider, engine_args
from omibench.params.models.providers import VllmModel

pytestmark = pytest.mark.skipif(
    find_spec("vllm") is None, reason="vllm is not installed: pip install -e '.[vllm]'"
)


@pytest.fixture(scope="module")
def vllm() -> Any:
    return importlib.import_module("vllm")


def parameters(function: Any) -> set[str]:
    return set(inspect.signature(function).parameters)


def test_chat_takes_what_is_passed(vllm: Any) -> None:
    used = {"messages", "sampling_params", "use_tqdm", "chat_template_kwargs", "tools"}
    assert used <= parameters(vllm.LLM.chat)
    assert hasattr(vllm.LLM, "get_tokenizer")
    assert hasattr(vllm.LLM, "reset_mm_cache")
    clients = importlib.import_module("vllm.v1.engine.core_client")
    for client in (clients.InprocClient, clients.SyncMPClient):
        assert callable(client.shutdown)


def test_sampling_params_take_what_is_passed(vllm: Any) -> None:
    assert parameters(fake_vllm.SamplingParams) <= parameters(vllm.SamplingParams)


def test_the_engine_takes_its_arguments(vllm: Any) -> None:
    model = VllmModel(provider="vllm", id="qwen-vl")
    assert "trust_remote_code" in engine_args(model, "qwen", 3)
    taken = parameters(vllm.LLM.__init__) | parameters(importlib.import_module(
        "vllm.engine.arg_utils").EngineArgs)  # fmt: skip
    assert set(engine_args(model, "qwen", 3)) <= taken


def test_outputs_have_what_is_read(vllm: Any) -> None:
    fields = {"prompt_token_ids", "num_cached_tokens", "outputs"}
    assert fields <= parameters(vllm.RequestOutput.__init__)
    outputs = importlib.import_module("vllm.outputs")
    sample = {"index", "text", "token_ids", "finish_reason", "logprobs"}
    assert sample <= parameters(outputs.CompletionOutput)


def test_a_prompt_that_is_rejected_is_known_by_its_error(vllm: Any) -> None:
    errors = importlib.import_module("vllm.exceptions")
    kinds = {kind.__name__ for kind in errors.VLLMValidationError.__mro__}
    assert kinds & {"ValueError", "VLLMClientError"}


def test_samples_of_one_request_take_the_seeds_that_follow(vllm: Any) -> None:
    sampling = importlib.import_module("vllm.v1.engine.parallel_sampling")
    source = inspect.getsource(sampling.ParentRequest)
    assert "seed + index" in source, "k=8 would no longer continue the samples of k=4"


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Iterator[VllmProvider]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("VLLM_ENABLE_V1_MULTIPROCESSING", "0")
        patch.setenv("VLLM_CPU_KVCACHE_SPACE", "1")
        patch.setenv("HF_HUB_OFFLINE", "1")
        patch.setenv("VLLM_NO_USAGE_STATS", "1")
        model = VllmModel(
            provider="vllm",
            id=str(build(tmp_path_factory.mktemp("tiny"))),
            dtype="bfloat16",
            max_model_len=4096,
            max_num_seqs=8,
            max_pixels=256 * 28 * 28,
            gpu_memory=0.3,
            engine={"enforce_eager": True, "mm_processor_cache_gb": 1},
        )
        yield VllmProvider("tiny", model)
        LOADED.release()


@pytest.mark.vllm
@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_a_tiny_model_answers_end_to_end(tiny: VllmProvider, tmp_path: Path) -> None:
    a, b = picture(tmp_path, 1, (112, 84)), picture(tmp_path, 2)
    drawn = samples("Compare", a, b, indices=range(4), temperature=0.8, max_tokens=12)
    others = [shown("Which?", problem="text"), shown("Read", b, problem="one")]

    def texts(*requests: Any) -> list[str]:
        found = answers(tiny, *requests)
        assert all(r.outcome in ("truncated", "answered", "empty") for r in found)
        return [response.text for response in found]

    first = texts(*drawn, *others)
    assert len(set(first[:4])) > 1
    assert texts(*drawn, *others) == first
    assert texts(*drawn[2:]) == first[2:4]

    large = [picture(tmp_path, seed, (448, 448)) for seed in range(18)]
    requests = [
        shown("word " * 9000, problem="words"),
        shown("Which?", large[17], problem="one"),
        shown(*large, problem="pictures"),  # 18 x 256 tokens
        shown("Which?", large[0], large[1], problem="shown in the one before"),
    ]
    outcomes = {r.tags.problem: answer.outcome for r, answer in tiny.answer(requests)}
    assert {p for p, outcome in outcomes.items() if outcome == "provider_error"} == {
        "words",
        "pictures",
    }

    asked = [shown("Read", image, options=tuple("ABCD")) for image in (a, b, a)]
    scores = [logprobs for _, logprobs in tiny.score_options(asked)]
    assert scores[0] == pytest.approx(scores[2], abs=0.05)
    assert scores[0] != pytest.approx(scores[1], abs=1e-6)
    assert all(value < 0 for score in scores for value in score.values())
