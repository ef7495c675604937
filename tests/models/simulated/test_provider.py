"""Simulated respondents: seeded, of known accuracy, in the prose and with the slips of models."""

from __future__ import annotations

import math
import random
from pathlib import Path

import pytest
from tests.models.conftest import Make, request

from omibench.errors import FileFormatError, ModelError
from omibench.models.registry import open_provider
from omibench.models.simulated.answers import SLIPS, probability_correct
from omibench.models.simulated.provider import SimulatedProvider
from omibench.models.simulated.roles import is_right
from omibench.params.models.providers import SimulatedModel
from omibench.schemas.request import Request, Response

DRAWS = 2000


def texts(provider: SimulatedProvider, requests: list[Request]) -> list[Response]:
    return [response for _, response in provider.answer(requests)]


def draw(
    provider: SimulatedProvider, problem: str, setting: str = "cot", draws: int = DRAWS
) -> list[Response]:
    return texts(provider, [request(problem, index=i, setting=setting) for i in range(draws)])


def share_right(provider: SimulatedProvider, problem: str, setting: str) -> float:
    row = provider.oracle.row(problem)
    responses = draw(provider, problem, setting)
    return sum(is_right(r.text, row.answer, bool(row.choices)) for r in responses) / DRAWS


def within_four_errors(found: float, expected: float) -> bool:
    return abs(found - expected) < 4 * math.sqrt(expected * (1 - expected) / DRAWS) + 1e-9


def test_the_same_request_has_the_same_answer_in_any_order(simulate: Make) -> None:
    asked = [request(p, index=i) for p in ("mcq", "number", "parts") for i in range(20)]
    known = {id(r): a for r, a in simulate(slips={"no_box": 0.3, "refusal": 0.3}).answer(asked)}
    shuffled = random.Random(1).sample(asked, len(asked))
    again = {id(r): a for r, a in simulate(slips={"no_box": 0.3, "refusal": 0.3}).answer(shuffled)}
    assert again == known
    assert all(response.simulated for response in known.values())


def test_where_the_oracle_lies_is_no_part_of_the_identity(simulate: Make, tmp_path: Path) -> None:
    moved = tmp_path / "moved.jsonl"
    moved.write_text((tmp_path / "oracle.jsonl").read_text())
    labelled = simulate(oracle=str(moved), label="Sim", group="Any")
    assert labelled.identity == simulate().identity


@pytest.mark.parametrize("problem", ["mcq", "number", "parts", "word"])
@pytest.mark.parametrize("ability", [-1.0, 1.0])
def test_accuracy_follows_item_response_theory(
    simulate: Make, problem: str, ability: float
) -> None:
    effects = {"direct": -0.7}
    provider = simulate(
        ability=ability, image_penalty=0.5, setting_effects=effects, lasting_share=0.0
    )
    for setting in ("cot", "direct"):
        expected = probability_correct(provider.model, provider.oracle.row(problem), setting)
        assert within_four_errors(share_right(provider, problem, setting), expected)


@pytest.mark.parametrize("problem", ["mcq", "number"])
def test_what_lasts_leaves_the_mean_over_models_as_it_is(simulate: Make, problem: str) -> None:
    share = 0
    for seed in range(DRAWS):
        provider = simulate(seed=seed, ability=-0.4)
        row = provider.oracle.row(problem)
        (response,) = texts(provider, [request(problem, index=seed % 16)])
        share += is_right(response.text, row.answer, bool(row.choices))
    expected = probability_correct(provider.model, row, "cot")
    assert within_four_errors(share / DRAWS, expected)


def test_samples_of_one_problem_are_alike_by_the_lasting_share(simulate: Make) -> None:
    def share_of_equal_pairs(lasting_share: float) -> float:
        equal = 0
        for seed in range(400):
            provider = simulate(seed=seed, lasting_share=lasting_share)
            row = provider.oracle.row("number")
            asked = [request("number", index=i, setting=s) for i, s in ((0, "cot"), (1, "direct"))]
            first, second = (is_right(r.text, row.answer, False) for r in texts(provider, asked))
            equal += first == second
        return equal / 400

    independent, default, whole = map(share_of_equal_pairs, (0.0, 0.7, 1.0))
    assert independent < 0.6 < default < 0.85 < whole == 1.0


def test_the_probability_is_the_documented_one(simulate: Make) -> None:
    provider = simulate(ability=0.9, image_penalty=0.4, setting_effects={"cot": 0.2})
    sigmoid = 1 / (1 + math.exp(-(0.9 + 0.2 - 0.4 * (3 - 2) - 0.3)))
    found = probability_correct(provider.model, provider.oracle.row("mcq"), "cot")
    assert found == pytest.approx(0.25 + 0.75 * sigmoid)
    hopeless = simulate(ability=-5000.0)
    assert probability_correct(hopeless.model, hopeless.oracle.row("number"), "cot") < 1e-9


@pytest.mark.parametrize("slip", SLIPS)
def test_each_slip_comes_alone_and_looks_like_itself(simulate: Make, slip: str) -> None:
    problem = "number" if slip == "units" else "mcq"
    provider = simulate(ability=50.0, slips={slip: 1.0})
    for response in draw(provider, problem, draws=50):
        boxes = response.text.count("\\boxed{")
        assert boxes == {"units": 1, "two_boxes": 2}.get(slip, 0)
        marks = {
            "no_box": "answer is B.",
            "letter_in_sentence": "so option (B) fits best.",
            "units": "\\boxed{12.5\\ \\text{",
            "two_boxes": "\\boxed{B}",
        }
        assert marks.get(slip, "") in response.text
        if slip == "truncation":
            assert (response.outcome, response.finish_reason) == ("truncated", "length")
            assert response.text[-1] not in ".!?"
        elif slip == "refusal":
            assert response.outcome in ("refused", "answered")
            assert "annot" in response.text or "can't" in response.text
        else:
            assert response.outcome == "answered"
        if slip == "repetition":
            last = response.text.rsplit(". ", 1)[1]
            assert response.text.count(last) >= 60


def test_slips_come_at_their_rates(simulate: Make) -> None:
    provider = simulate(slips={"no_box": 0.1, "truncation": 0.2, "repetition": 0.05})
    responses = draw(provider, "number")
    truncated = sum(r.outcome == "truncated" for r in responses) / DRAWS
    long = sum(len(r.text) > 4000 for r in responses) / DRAWS
    bare = sum("\\boxed" not in r.text for r in responses) / DRAWS
    assert within_four_errors(truncated, 0.2)
    assert within_four_errors(long, 0.05)
    assert within_four_errors(bare, 0.35)


def test_rates_above_one_are_an_error_of_the_parameters(simulate: Make) -> None:
    with pytest.raises(ModelError, match=r"model 'sim': the shares of its slips add up to 1\.2"):
        simulate(slips={"no_box": 0.6, "refusal": 0.6})


def test_the_prompt_decides_on_box_and_reasoning(simulate: Make) -> None:
    provider = simulate(ability=50.0)
    letter = "Answer with the option's letter from the given choices directly without rationale."
    direct = "Return only the final answer in this exact format: \\boxed{ANSWER}."
    stepwise = f"Firstly, analyze and solve the question step by step with rationale. {letter}"
    bare, boxed, reasoned = texts(
        provider, [request("mcq", prompt=p) for p in (letter, direct, stepwise)]
    )
    assert bare.text == "B"
    assert boxed.text == "\\boxed{B}"
    assert reasoned.text.endswith("\n\nB")
    assert len(reasoned.text) > 100


def test_too_few_tokens_cut_the_answer_off(simulate: Make) -> None:
    (response,) = texts(simulate(), [request("mcq", max_tokens=16)])
    assert (response.outcome, response.finish_reason) == ("truncated", "length")
    assert response.usage.output_tokens == 16


def test_an_unknown_problem_names_itself_and_the_oracle(simulate: Make, oracle_file: Path) -> None:
    with pytest.raises(ModelError) as caught:
        texts(simulate(), [request("nowhere")])
    assert "'nowhere'" in str(caught.value)
    assert str(oracle_file) in str(caught.value)


def test_an_absent_or_broken_oracle_is_a_plain_error(tmp_path: Path, oracle_file: Path) -> None:
    absent = SimulatedModel(provider="simulated", oracle=str(tmp_path / "none.jsonl"))
    with pytest.raises(ModelError, match=r"none\.jsonl: the `oracle` file of a simulated model"):
        open_provider("sim", absent)
    oracle_file.write_text('{"id": "a", "answer": 5}\n')
    with pytest.raises(FileFormatError, match="line 1: answer"):
        open_provider("sim", absent.model_copy(update={"oracle": str(oracle_file)}))
