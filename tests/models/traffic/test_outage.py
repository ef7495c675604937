"""An endpoint that is away is left alone, probed ever more rarely, and given up in the end."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from itertools import pairwise

import pytest
from tests.models.traffic.simulated import (
    Books,
    Endpoint,
    Outcome,
    Step,
    busy,
    run,
    serve,
    simulate,
)

from omibench.errors import EXIT_SOME_FAILED, OutageError
from omibench.models.api.failures import (
    FIRST_PROBE_S,
    LONGEST_PROBE_S,
    OPEN_AFTER,
    SERVER_ERRORS,
    Failure,
    Outage,
)

Script = Callable[[int, int], Sequence[Step]]


def refused() -> Failure:
    said = "the connection failed: ConnectError: Connection refused"
    return Failure(said, transient=True, maybe_paid=False, offline=True)


def unavailable() -> Failure:
    return Failure("HTTP 503", 503, transient=True, maybe_paid=False, congestion=True, offline=True)


def broken() -> Failure:
    return Failure("HTTP 500: oh", 500, transient=True, maybe_paid=False)


def away(start: float, end: float, failure: Callable[[], Failure]) -> Script:
    """Answers after a second, but fails at once from `start` to `end`."""

    def script(problem: int, attempt: int) -> Sequence[Step]:
        now = asyncio.get_running_loop().time()
        return [0.01, failure()] if start <= now < end else [1.0, "ok"]

    return script


def during(endpoint: Endpoint, start: float, end: float) -> list[float]:
    return [t for t, _ in endpoint.seen if start <= t < end]


@pytest.mark.parametrize("failure", [refused, unavailable, busy, lambda: busy(0.0), broken])
@pytest.mark.parametrize("concurrency", [4, 32])
def test_an_outage_of_a_minute_costs_few_attempts_and_no_answer(
    failure: Callable[[], Failure], concurrency: int
) -> None:
    books = Books()
    endpoint = Endpoint(away(5.0, 65.0, failure))
    done = run(endpoint, 300, books, concurrency=concurrency, attempts=8)
    assert set(done.outcomes) == {"answered"}
    assert len(done.got) == 300
    tries = during(endpoint, 5.0, 65.0)
    probes = 8  # at 1, 2, 4, 8, 16 and 32 s
    assert len(tries) <= 2 * concurrency + SERVER_ERRORS + probes
    late = [t for t in tries if t > 6.5]
    assert len(late) <= probes, "requests kept coming"
    assert not books.open


def test_one_request_that_is_always_turned_away_is_no_outage() -> None:
    def script(problem: int, attempt: int) -> Sequence[Step]:
        return [0.01, busy(1.0)] if problem == 3 else [0.001, "ok"]

    endpoint = Endpoint(script)
    done = run(endpoint, 4, attempts=8)
    assert done.outcomes == {"answered": 3, "provider_error": 1}
    assert len(endpoint.seen) == 3 + 8
    assert endpoint.seen[-1][0] < 60.0


def test_an_endpoint_that_is_back_gets_half_of_the_requests_at_first() -> None:
    endpoint = Endpoint(away(5.0, 65.0, refused))
    run(endpoint, 300, concurrency=16)
    after = [t for t, _ in endpoint.seen if t >= 65.0]
    answered = after[0] + 1.0
    assert 2 <= sum(answered <= t < answered + 0.9 for t in after) <= 8


def test_probes_come_one_at_a_time_ever_more_rarely() -> None:
    endpoint = Endpoint(away(5.0, 600.0, refused))
    done = run(endpoint, 200, concurrency=16)
    assert set(done.outcomes) == {"answered"}
    probes = [t for t in during(endpoint, 5.0, 600.0) if t > 6.5]
    waits = [b - a for a, b in pairwise(probes)]
    assert all(b >= 0.75 * a for a, b in pairwise(waits)), "an interval shrank"
    assert waits[-1] == pytest.approx(LONGEST_PROBE_S, rel=0.25)
    assert min(waits) >= 0.8 * FIRST_PROBE_S


def test_what_was_cut_off_in_flight_counts_as_an_attempt_that_may_be_paid() -> None:
    cut = Failure("the connection failed: ReadError", transient=True, offline=True)

    def script(problem: int, attempt: int) -> Sequence[Step]:
        now = asyncio.get_running_loop().time()
        if now < 10.0:
            return [1.0, "ok"] if now < 9.0 else [10.0 - now, cut]
        return [refused()] if now < 50.0 else [1.0, "ok"]

    books = Books()
    done = run(Endpoint(script), 150, books, concurrency=8, attempts=2)
    assert set(done.outcomes) == {"answered"}
    assert books.ends["unknown"] == 8


@pytest.mark.parametrize("attempts", [1, 3])
def test_the_last_request_alone_outlives_an_outage(attempts: int) -> None:
    endpoint = Endpoint(away(1.5, 60.0, refused))
    done = run(endpoint, 2, concurrency=1, attempts=attempts)
    assert set(done.outcomes) == {"answered"}


def test_it_is_given_up_with_a_line_and_an_exit_code_and_keeps_what_came() -> None:
    books, kept = Books(), Outcome()
    endpoint = Endpoint(away(5.0, float("inf"), unavailable))
    with pytest.raises(OutageError) as found:
        simulate(serve(endpoint, 100, kept, books, concurrency=8, outage_s=600.0))
    said = str(found.value)
    assert said.startswith("the endpoint has been unavailable for 10.")
    assert "`limits.outage_s` is 600 s: HTTP 503; finished answers are kept" in said
    assert found.value.exit_code == EXIT_SOME_FAILED
    assert kept.outcomes["answered"] == len(kept.got) >= 30
    assert not books.open
    assert len(during(endpoint, 5.0, 1e9)) <= 16 + OPEN_AFTER + 16
    assert endpoint.seen[-1][0] < 5 + 600 + LONGEST_PROBE_S


def test_an_address_that_nobody_has_answered_at_is_given_up_in_a_minute() -> None:
    endpoint = Endpoint(away(0.0, float("inf"), refused))
    with pytest.raises(OutageError, match=r"has not answered once in \d+ s: .*`base_url`"):
        run(endpoint, 100, concurrency=8)
    assert endpoint.seen[-1][0] <= 130.0


@pytest.mark.parametrize("failing", [{5}, {97}, set(range(91, 100)), set(range(0, 100, 7))])
def test_requests_at_which_a_server_breaks_that_answers_others_are_no_outage(
    failing: set[int],
) -> None:
    endpoint = Endpoint(lambda p, a: [1.0, broken()] if p in failing else [1.0, "ok"])
    done = run(endpoint, 100, concurrency=10, attempts=3)
    assert {
        int(p.partition("/")[0]) for p, r in done.got.items() if r.outcome == "provider_error"
    } == failing
    assert done.seconds < 40


@pytest.mark.parametrize("jobs", [12, 300])
def test_a_server_that_breaks_at_all_requests_is_away(jobs: int) -> None:
    endpoint = Endpoint(away(0.0, 90.0, broken))
    done = run(endpoint, jobs, concurrency=32, attempts=8)
    assert set(done.outcomes) == {"answered"}
    assert len(during(endpoint, 0.0, 90.0)) <= 32 + SERVER_ERRORS + 10


def test_a_request_that_is_turned_down_for_good_shows_that_the_endpoint_is_back() -> None:
    wrong = Failure("HTTP 400: no such field", 400, maybe_paid=False)

    def script(problem: int, attempt: int) -> Sequence[Step]:
        now = asyncio.get_running_loop().time()
        if 3.0 <= now < 20.0:
            return [0.01, refused()]
        return [1.0, wrong] if now >= 20.0 and problem % 7 == 3 else [1.0, "ok"]

    done = run(Endpoint(script), 100, concurrency=5)
    assert set(done.outcomes) == {"answered", "provider_error"}
    assert done.seconds < 60


def test_rejections_without_a_time_to_wait_come_a_few_a_second() -> None:
    """A quota of ten answers a second, and no header that says when the next is due."""
    given: list[float] = []

    def script(problem: int, attempt: int) -> Sequence[Step]:
        now = asyncio.get_running_loop().time()
        if sum(now - t < 1.0 for t in given) >= 10:
            return [0.005, busy(0.0)]
        given.append(now)
        return [0.2, "ok"]

    endpoint = Endpoint(script)
    done = run(endpoint, 300, concurrency=32)
    assert set(done.outcomes) == {"answered"}
    rejected = len(endpoint.seen) - 300
    assert rejected / done.seconds < 20
    assert done.seconds < 300 / 10 * 4


def test_runs_that_ask_one_endpoint_pause_and_probe_together() -> None:
    outage, kept = Outage(), Outcome()
    endpoint = Endpoint(away(5.0, 65.0, refused))

    async def both() -> None:
        await asyncio.gather(
            *(serve(endpoint, 100, kept, outage=outage, concurrency=8) for _ in range(2))
        )

    simulate(both())
    assert len(kept.order) == 200
    assert len([t for t in during(endpoint, 5.0, 65.0) if t > 6.5]) <= 10


def test_a_new_run_waits_anew_after_another_has_given_up() -> None:
    outage, kept = Outage(), Outcome()
    endpoint = Endpoint(away(2.0, 400.0, unavailable))

    async def twice() -> None:
        with pytest.raises(OutageError):
            await serve(endpoint, 60, Outcome(), outage=outage, concurrency=8, outage_s=250.0)
        await asyncio.sleep(60)
        await serve(endpoint, 60, kept, outage=outage, concurrency=8, outage_s=250.0)

    simulate(twice())
    assert len(kept.got) == 60
