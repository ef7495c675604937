"""The accuracy over several prompts: its spread, and the interval of another prompt."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from omibench.results.statistics.prompts import PromptSpread, estimate_prompt_spread


def simulate(
    rng: np.random.Generator, effects: list[float], items: int, stem: int
) -> tuple[np.ndarray, list[int]]:
    """Right answers under prompts that differ by `effects`, and the stem of each item."""
    stems = np.arange(items) // stem
    ease = rng.normal(0, 0.08, stems.max() + 1)[stems] + rng.normal(0, 0.15, items)
    shares = np.clip(0.5 + ease + np.array(effects)[:, None], 0, 1)
    return (rng.random(shares.shape) < shares).astype(float), stems.tolist()


def test_equal_prompts_have_no_spread_and_unlike_ones_have_theirs() -> None:
    rng = np.random.default_rng(4)
    values, stems = simulate(rng, [0.0], 400, 1)
    same = estimate_prompt_spread(np.repeat(values, 4, axis=0), stems, 0.95)
    assert same.sd == 0
    assert same.mean == pytest.approx(values.mean())
    effects = [-0.15, -0.05, 0.05, 0.15]
    unlike = estimate_prompt_spread(simulate(rng, effects, 2000, 1)[0], [*range(2000)], 0.95)
    assert unlike.sd == pytest.approx(np.std(effects, ddof=1), abs=0.03)
    assert unlike.new_hi - unlike.new_lo > 2 * 0.12
    assert same.new_hi - same.new_lo < 0.15


def test_too_few_prompts_and_a_single_stem_have_no_interval() -> None:
    with pytest.raises(ValueError, match="2 prompts; the spread needs 3"):
        estimate_prompt_spread(np.zeros((2, 9)), [*range(9)], 0.95)
    alone = estimate_prompt_spread(np.eye(3), ["stem"] * 3, 0.95)
    assert alone == PromptSpread(pytest.approx(1 / 3), 0.0, 1.0, 0.0, 1.0, 0.0)


@given(st.integers(0, 2**32), st.integers(3, 6), st.integers(2, 40))
def test_the_order_means_nothing_and_another_prompt_is_less_certain(
    seed: int, prompts: int, items: int
) -> None:
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 3, (prompts, items)) / 2
    stems = rng.integers(0, items, items)
    spread = estimate_prompt_spread(values, stems.tolist(), 0.95)
    rows, columns = rng.permutation(prompts), rng.permutation(items)
    shuffled = estimate_prompt_spread(values[rows][:, columns], stems[columns].tolist(), 0.95)
    assert shuffled == pytest.approx(spread, abs=1e-9)
    assert 0 <= spread.new_lo <= spread.lo <= spread.mean <= spread.hi <= spread.new_hi <= 1


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("prompts", [3, 5, 10])
@pytest.mark.parametrize(("items", "stem"), [(100, 1), (400, 1), (400, 5)])
@pytest.mark.parametrize("sd", [0.0, 0.02, 0.05])
def test_intervals_cover_the_mean_and_another_prompt(
    prompts: int, items: int, stem: int, sd: float
) -> None:
    rng, draws = np.random.default_rng(7), 500
    covered = np.zeros(2)
    for _ in range(draws):
        effects = rng.normal(0, sd, prompts + 1)
        values, stems = simulate(rng, effects[:-1].tolist(), items, stem)
        spread = estimate_prompt_spread(values, stems, 0.95)
        covered += (
            spread.lo <= 0.5 <= spread.hi,
            spread.new_lo <= 0.5 + effects[-1] <= spread.new_hi,
        )
    assert (covered / draws >= 0.92).all(), covered / draws
