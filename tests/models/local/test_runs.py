"""Samples are grouped, cut and seeded so that none depends on what is asked beside it."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st
from tests.models.local_blocks import samples, shown

from omibench.models.local.prompts import SampleRun, derive_seed, group_runs
from omibench.schemas.request import Request

ASKED = st.lists(
    st.tuples(st.sampled_from("abc"), st.integers(0, 9), st.sampled_from([0.0, 0.7]),
              st.sampled_from([8, 16])),
    unique=True,
)  # fmt: skip


def asked(rows: Sequence[tuple[str, int, float, int]]) -> list[Request]:
    return [
        shown(words, index=index, temperature=temperature, max_tokens=most)
        for words, index, temperature, most in rows
    ]


@given(ASKED, st.none() | st.integers(1, 4))
def test_every_request_is_in_one_run(
    rows: list[tuple[str, int, float, int]], most: int | None
) -> None:
    requests = asked(rows)
    runs = group_runs(requests, most)
    held = [id(request) for run in runs for request in run.requests]
    assert sorted(held) == sorted(map(id, requests))
    for run in runs:
        first = run.requests[0]
        same = [(r.conversation, r.decoding) for r in run.requests]
        assert same == [(first.conversation, first.decoding)] * len(same)
        if run.decoding.temperature:
            indices = [r.index for r in run.requests]
            assert indices == list(range(first.index, first.index + len(indices)))
            assert most is None or len(indices) <= most


@given(ASKED, st.integers(1, 4))
def test_the_seed_of_a_sample_does_not_depend_on_its_run(
    rows: list[tuple[str, int, float, int]], most: int
) -> None:
    requests = [r for r in asked(rows) if r.decoding.temperature]
    for limit in (None, most):
        for run in group_runs(requests, limit):
            for place, request in enumerate(run.requests):
                assert derive_seed(run, 5) + place == derive_seed(SampleRun((request,)), 5)


def test_seeds_differ_by_model_words_and_temperature_and_not_by_the_limit() -> None:
    [run] = group_runs(samples("Go", indices=[0], temperature=0.5))
    seeds = {
        derive_seed(run, 0),
        derive_seed(run, 1),
        *(
            derive_seed(SampleRun((shown(words, temperature=temperature),)), 0)
            for words, temperature in [("Come", 0.5), ("Go", 0.6)]
        ),
        derive_seed(SampleRun((shown("Go", temperature=0.5, top_p=0.9),)), 0),
    }
    assert len(seeds) == 5
    assert derive_seed(SampleRun((shown("Go", temperature=0.5, max_tokens=99),)), 0) == derive_seed(
        run, 0
    )
    assert derive_seed(run, 0) == 29676855750291, "stored samples come back under the same seed"
