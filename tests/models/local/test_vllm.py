"""The vllm provider against a module that stands in for vLLM."""

from __future__ import annotations

import json
import sys
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from tests.asks import answers
from tests.models.fake_vllm import FakeVllm, OldSamplingParams, VLLMValidationError
from tests.models.local_blocks import answer_so_far, picture, samples, shown

from omibench.errors import ImageCountError, MissingExtraError, ModelError
from omibench.models.local import vllm as vllm_module
from omibench.models.local.checkpoint import LOADED
from omibench.models.local.vllm import VllmProvider
from omibench.models.provider import NoBudget, Reservation
from omibench.params.models.providers import VllmModel, hash_weights


def provider(name: str = "qwen", **block: Any) -> VllmProvider:
    values = {"provider": "vllm", "id": "qwen-vl", **block}
    return VllmProvider(name, VllmModel.model_validate(values))


def test_samples_of_one_conversation_are_one_request(fake: FakeVllm, tmp_path: Path) -> None:
    image = picture(tmp_path)
    requests = samples("Read ", image, " well.", indices=range(4), temperature=0.6, top_p=0.95)
    found = answers(provider(), *requests)
    [call] = fake.calls
    [own] = call.sampling
    assert (own.n, own.temperature, own.top_p, own.max_tokens) == (4, 0.6, 0.95, 8)
    assert [r.text for r in found] == [f"reply {(own.seed + i) % 1000}" for i in range(4)]
    first, shown_image, last = call.messages[0][0]["content"]
    assert (first["text"], last["text"]) == ("Read ", " well.")
    assert shown_image["type"] == "image_pil"
    assert shown_image["uuid"] == image.sha256
    assert shown_image["image_pil"].size == (84, 56)
    assert all(r.outcome == "answered" and r.finish_reason == "stop" for r in found)


def test_a_sample_is_the_same_whatever_is_asked_beside_it(fake: FakeVllm) -> None:
    def draw(*indices: int, words: str = "Go", **block: Any) -> list[str]:
        drawn = samples(words, indices=indices, temperature=0.6)
        return [r.text for r in answers(provider(**block), *drawn)]

    eight = draw(*range(8))
    assert len(set(eight)) == 8
    assert draw(4, 5, 6, 7) == eight[4:]
    assert draw(1, 2, 6) == [eight[1], eight[2], eight[6]]
    assert [own.n for own in fake.calls[-1].sampling] == [2, 1]
    assert draw(*range(8), max_num_seqs=3) == eight
    assert [own.n for own in fake.calls[-1].sampling] == [3, 3, 2]
    assert draw(0, words="Come") != eight[:1]
    assert draw(0, seed=1) != eight[:1]


def test_greedy_samples_are_drawn_once_and_their_tokens_counted_once(fake: FakeVllm) -> None:
    found = answers(provider(), *samples("Go", indices=range(3), temperature=0.0))
    assert [own.n for own in fake.calls[0].sampling] == [1]
    assert {r.text for r in found} == {"reply 0"}
    assert sum(r.usage.output_tokens or 0 for r in found) == len("reply 0")
    assert sum(r.usage.input_tokens or 0 for r in found) == len("Go")


def test_the_engine_is_loaded_once_for_all_settings(fake: FakeVllm, tmp_path: Path) -> None:
    images = [picture(tmp_path, seed) for seed in range(3)]
    many, few = shown("a", *images), shown("b", images[0])
    asked = provider(tensor_parallel=2, pipeline_parallel=3, gpu_memory=0.8, max_model_len=4096)
    asked.expect([many])
    answers(asked, few)
    answers(asked, many, shown("c"))
    answers(provider("other-name", thinking=False, label="Other", tensor_parallel=2,
                     pipeline_parallel=3, gpu_memory=0.8, max_model_len=4096), many)  # fmt: skip
    [load] = fake.loads
    assert load["limit_mm_per_prompt"] == {"image": 3, "video": 0}
    assert load["enable_prefix_caching"] is True
    assert (load["tensor_parallel_size"], load["pipeline_parallel_size"]) == (2, 3)
    assert (load["gpu_memory_utilization"], load["max_model_len"]) == (0.8, 4096)
    assert [call.switches for call in fake.calls] == [None, None, {"enable_thinking": False}]


def test_more_images_than_foreseen_load_it_anew_and_so_does_another_model(
    fake: FakeVllm, tmp_path: Path
) -> None:
    one, two = (picture(tmp_path, seed) for seed in range(2))
    asked = provider()
    for request in (shown("a", one), shown("a", one, two), shown("a", one)):
        answers(asked, request)
    limits = [load["limit_mm_per_prompt"]["image"] for load in fake.loads]
    assert limits == [1, 2]
    answers(provider(dtype="float16"), shown("a"))
    assert len(fake.loads) == 3
    assert fake.stops == fake.loads[:2], "each is stopped before the next is loaded"
    assert "limit_mm_per_prompt" not in fake.loads[-1], "a model of text alone takes no limit"


def test_a_call_holds_no_more_pixels_than_memory_allows(
    fake: FakeVllm, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(vllm_module, "CHUNK_PIXELS", 3 * 84 * 56)
    image = picture(tmp_path)
    answers(provider(), *[shown(f"{i}", image) for i in range(7)])
    assert [len(call.messages) for call in fake.calls] == [3, 3, 1]


@pytest.mark.parametrize(
    ("text", "finish", "opens", "expected"),
    [
        ("<think>hm</think>\n\nB", "stop", False, ("answered", "B", "hm")),
        ("hm</think>no</think>B", "stop", False, ("answered", "B", "hm</think>no")),
        ("hm</think>B", "stop", True, ("answered", "B", "hm")),
        ("hm, then", "length", True, ("truncated", "", "hm, then")),
        ("<think>hm", "length", False, ("truncated", "", "hm")),
        ("It is", "length", False, ("truncated", "It is", None)),
        ("  \n", "stop", False, ("empty", "  \n", None)),
        ("half", "abort", False, ("provider_error", "", None)),
    ],
)
def test_reasoning_is_cut_off_and_failures_are_no_answers(
    fake: FakeVllm, text: str, finish: str, opens: bool, expected: tuple[str, str, str | None]
) -> None:
    fake.reply = lambda prompt, seed: (text, finish)
    fake.opens_thinking = opens
    [found] = answers(provider(), shown("Go"))
    assert (found.outcome, found.text, found.reasoning) == expected
    assert (found.error is None) == (expected[0] != "provider_error")


def test_tokens_dollars_and_time_are_kept(fake: FakeVllm) -> None:
    price = {"input": 2.0, "output": 10.0, "cached_input": 1.0, "as_of": "2026-11-01"}
    found = answers(provider(price=price), *samples("x" * 10, indices=range(2), temperature=0.5))
    assert [(r.usage.input_tokens, r.usage.cached_tokens) for r in found] == [(5, 3), (5, 2)]
    out = [len(r.text) for r in found]
    assert [r.usage.output_tokens for r in found] == out
    assert found[0].cost_usd == pytest.approx((2 * 2.0 + 3 * 1.0 + out[0] * 10) / 1e6)
    assert all(r.latency_s is not None and r.latency_s >= 0 for r in found)
    [free] = answers(provider(), shown("x"))
    assert free.cost_usd is None


@pytest.mark.parametrize("rejection", [ValueError, VLLMValidationError])
def test_a_prompt_that_is_rejected_fails_alone(fake: FakeVllm, rejection: type[Exception]) -> None:
    fake.rejects, fake.rejection = "too long", rejection
    requests = [shown("too long" if i == 5 else f"q{i}", problem=str(i)) for i in range(9)]
    found = answers(provider(), *requests)
    assert [r.outcome for r in found] == [*["answered"] * 5, "provider_error", *["answered"] * 3]
    assert "is longer than the maximum" in (found[5].error or "")
    assert found[5].text == ""


def test_answers_are_never_given_to_the_wrong_question(fake: FakeVllm) -> None:
    fake.answers = 1
    with pytest.raises(ModelError, match="returned 1 answers to 2 conversations"):
        answers(provider(), shown("a"), shown("b"))


def test_an_image_that_the_engine_drops_is_caught(fake: FakeVllm, tmp_path: Path) -> None:
    fake.drops_images = True
    with pytest.raises(ImageCountError, match=r"another number of images .*\[1\]"):
        answers(provider(), shown("a", picture(tmp_path, 1), picture(tmp_path, 2)))


def test_letters_inside_responses_come_from_calls_that_go_on_with_them(fake: FakeVllm) -> None:
    asked = [shown("Which?", options=options) for options in (("A", "B"), ("C", "D"), ("E", "F"))]
    inside = answer_so_far(asked[1], "The answer is "), answer_so_far(asked[2], "So it is (")
    scores = answers(provider(), asked[0], *inside)
    assert fake.continued == [False, True]
    assert [len(call.messages) for call in fake.calls] == [1, 2]
    assert fake.calls[1].messages[0][-1] == {
        "role": "assistant", "content": [{"type": "text", "text": "The answer is "}],
    }  # fmt: skip
    assert [response.option_logprobs for response in scores] == [
        {"A": -65.0, "B": -66.0}, {"C": -67.0, "D": -68.0}, {"E": -69.0, "F": -70.0}
    ]  # fmt: skip


def test_a_template_that_changes_the_end_of_a_response_is_refused(fake: FakeVllm) -> None:
    fake.opens_thinking = True
    with pytest.raises(ModelError, match=r"changes the end of the response .* `before_answer`"):
        answers(provider(), answer_so_far(shown("Which?", options=("A", "B")), "It is "))


def test_option_scores_that_are_not_exact_are_refused(
    fake: FakeVllm, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = shown("Which?", options=("A", "B"))
    with pytest.raises(ModelError, match="the option 'AB' is 2 tokens"):
        answers(provider(), shown("Which?", options=("A", "AB")))
    fake.hides = ord("B")
    with pytest.raises(ModelError, match="no log-probability for some options of 'p'"):
        answers(provider(), asked)
    LOADED.release()
    fake.sampling_params = OldSamplingParams
    monkeypatch.setitem(sys.modules, "vllm", fake.module())
    with pytest.raises(ModelError, match=r"install 0\.32 or later"):
        answers(provider(), asked)


def test_options_of_a_prompt_that_is_rejected_are_an_error(fake: FakeVllm) -> None:
    fake.rejects = "Which"
    with pytest.raises(ModelError, match=r"'qwen': vLLM: The prompt .* is longer than"):
        answers(provider(), shown("Which?", options=("A",)))


class CountingBudget(NoBudget):
    """Admits so many attempts."""

    def __init__(self, left: int) -> None:
        self.left = left
        self.settled: list[float | None] = []
        self.returned = 0

    def reserve(self, requests: Any) -> Reservation | None:
        self.left -= 1
        return Reservation(self.left, 0.1) if self.left >= 0 else None

    def settle(
        self, ticket: Reservation, cost_usd: float | None, reason: str | None = None
    ) -> None:
        self.settled.append(cost_usd)

    def release(self, ticket: Reservation) -> None:
        self.returned += 1


def test_what_the_budget_turns_away_is_never_asked(fake: FakeVllm) -> None:
    budget = CountingBudget(2)
    requests = [r for word in "abcd" for r in samples(word, indices=[0, 1], temperature=0.6)]
    found = answers(provider(max_num_seqs=2), *requests, budget=budget)
    assert [r.outcome for r in found] == ["answered"] * 4 + ["budget_stop"] * 4
    assert sum(len(call.messages) for call in fake.calls) == 2
    assert (budget.settled, budget.returned) == ([0.0, 0.0], 0)
    budget, fake.dies = CountingBudget(3), True
    with pytest.raises(ModelError):
        answers(provider(), *requests, budget=budget)
    assert (budget.settled, budget.returned) == ([], 3)


def test_identity_is_what_changes_answers() -> None:
    plain = {"provider": "vllm", "id": "qwen-vl"}
    assert provider(tensor_parallel=4, gpu_memory=0.5, label="Q", max_num_seqs=9,
                    limits={"concurrency": 1}).identity == plain  # fmt: skip
    told = {"revision": "abc", "dtype": "float16", "thinking": False, "max_pixels": 3136}
    told |= {"seed": 3, "max_model_len": 4096, "engine": {"quantization": "fp8"}}
    assert provider(**told).identity == plain | told
    assert provider(can={"images": 5}).max_images == 5


@pytest.mark.skipif(find_spec("vllm") is not None, reason="vllm is installed")
def test_without_vllm_one_line_says_how_to_install_it() -> None:
    LOADED.release()
    message = r"needs vllm, which is not installed: pip install 'omibench\[vllm\]'"
    with pytest.raises(MissingExtraError, match=message):
        answers(provider(), shown("Go"))


def test_a_model_that_cannot_be_loaded_is_named(fake: FakeVllm) -> None:
    with pytest.raises(ModelError, match="'qwen': vLLM cannot load absent: absent is not a local"):
        answers(provider(id="absent"), shown("Go"))


def test_an_adapter_is_a_lora_request_of_its_rank(
    fake: FakeVllm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lora = ModuleType("vllm.lora.request")
    lora.LoRARequest = lambda *fields: fields  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "vllm.lora.request", lora)
    (tmp_path / "adapter_config.json").write_text('{"r": 24}', "utf-8")
    (tmp_path / "adapter_model.safetensors").write_bytes(b"")
    answers(provider(adapter=str(tmp_path)), *samples("Go", indices=[0]))
    [load] = fake.loads
    assert (load["model"], load["enable_lora"], load["max_lora_rank"]) == ("qwen-vl", True, 32)
    assert fake.adapters == [("qwen", 1, str(tmp_path))]
    LOADED.release()
    answers(provider(), *samples("Go", indices=[0]))
    assert "enable_lora" not in fake.loads[1]
    assert fake.adapters[1:] == [None]


def test_a_rank_beyond_what_vllm_takes_is_one_line(fake: FakeVllm, tmp_path: Path) -> None:
    (tmp_path / "adapter_config.json").write_text('{"r": 8, "rank_pattern": {"q": 600}}', "utf-8")
    (tmp_path / "adapter_model.safetensors").write_bytes(b"")
    with pytest.raises(ModelError, match="has the rank 600; vLLM takes at most 512"):
        answers(provider(adapter=str(tmp_path)), *samples("Go", indices=[0]))


def test_weights_tuned_in_full_are_loaded_from_their_folder(fake: FakeVllm, tmp_path: Path) -> None:
    weights = tmp_path / "weights"
    weights.mkdir()
    (weights / "model.safetensors").write_bytes(b"weights")
    record = {"method": "full", "weights_sha256": hash_weights(weights)}
    (tmp_path / "tuned.json").write_text(json.dumps(record), "utf-8")
    answers(provider(adapter=str(tmp_path), revision="abc"), *samples("Go", indices=[0]))
    [load] = fake.loads
    assert (load["model"], load["revision"]) == (str(weights), None)
    assert fake.adapters == [None]
