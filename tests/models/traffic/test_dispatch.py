"""What starts when, what is sent again, and what ends a run: in simulated time."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest
from tests.models.traffic.simulated import Books, Endpoint, Step, busy, request, run, simulate

from omibench.errors import ModelError
from omibench.models.api.failures import Failure, Outage, PendingCall
from omibench.models.api.scheduler import FATAL, HOPELESS, Dispatch, Sent
from omibench.models.provider import NO_BUDGET
from omibench.params.models.base import Limits
from omibench.schemas.request import Request


def test_all_are_answered_at_the_declared_concurrency() -> None:
    endpoint = Endpoint(lambda problem, attempt: [2.0, "ok"])
    done = run(endpoint, 100, concurrency=10)
    assert {r.text for r in done.got.values()} == {"ok"}
    assert endpoint.peak == 10
    assert done.seconds == pytest.approx(20.0)
    assert done.got["0/0"].latency_s == 2.0
    assert len(endpoint.seen) == 100


def test_a_place_is_free_only_when_the_answer_is_written() -> None:
    # 3 answers that nobody wrote down hold the 3 places: a killed run loses no more than that.
    endpoint = Endpoint()

    async def main() -> None:
        calls = [PendingCall((request(i),)) for i in range(9)]
        clock = asyncio.get_running_loop().time
        dispatch = Dispatch(calls, Limits(concurrency=3), NO_BUDGET, lambda *_: None, clock)
        task = asyncio.create_task(dispatch.run(endpoint.send))
        await asyncio.sleep(60)
        assert len(endpoint.seen) == 3
        dispatch.note_written()
        await asyncio.sleep(60)
        assert len(endpoint.seen) == 4
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    simulate(main())


def test_a_transient_failure_is_sent_again_and_delivered_once() -> None:
    def script(problem: int, attempt: int) -> Sequence[Step]:
        reset = Failure("the connection failed: ReadError", transient=True)
        return [reset] if attempt < problem % 3 else ["ok"]

    books = Books()
    done = run(Endpoint(script), 30, books, concurrency=8)
    assert done.outcomes == {"answered": 30}
    assert books.ends == {"paid": 30, "unknown": 30}
    assert not books.open


def test_an_endpoint_that_sends_everybody_away_is_left_alone_until_then() -> None:
    end = 90.0

    def script(problem: int, attempt: int) -> Sequence[Step]:
        left = end - asyncio.get_running_loop().time()
        return [0.01, busy(left)] if left > 0 else [1.0, "ok"]

    endpoint = Endpoint(script)
    done = run(endpoint, 500, concurrency=8)
    assert set(done.outcomes) == {"answered"}
    early = [t for t, _ in endpoint.seen if t < end]
    assert len(early) <= 16, "requests kept coming while the endpoint was to be left alone"
    # Afterwards the limit recovers: 500 seconds of work take a tenth of it, not all.
    assert done.seconds - end < 500 / 8 * 1.8


def test_one_request_in_many_that_waits_does_not_hold_up_the_others() -> None:
    endpoint = Endpoint(lambda p, a: [busy(60.0)] if p == 20 and not a else [1.0, "ok"])
    done = run(endpoint, 60, concurrency=4)
    assert done.order[-1] == "20/0"
    others = [t for t, p in endpoint.seen if p != 20]
    assert max(others) == pytest.approx(14.0, abs=1.1)


def test_too_long_a_retry_after_says_when_to_come_back() -> None:
    endpoint = Endpoint(lambda problem, attempt: [busy(86400.0)])
    done = run(endpoint, 50, concurrency=4, retry_after_s=900)
    assert set(done.outcomes) == {"provider_error"}
    assert all(r.passing for r in done.got.values())
    assert len(endpoint.seen) <= 4, "an endpoint closed for a day is asked again and again"
    said = {r.error or "" for r in done.got.values()}
    assert all("wait 1,440 min, until 20" in error for error in said)
    assert any(error.startswith("not sent: ") for error in said)
    assert all("limits.retry_after_s" in error for error in said)


def test_attempts_end() -> None:
    books = Books()
    endpoint = Endpoint(lambda p, a: [Failure("HTTP 500: oh", 500, transient=True)])
    done = run(endpoint, 3, books, attempts=4)
    assert len(endpoint.seen) == 12
    assert {r.error for r in done.got.values()} == {"4 attempts failed, the last with HTTP 500: oh"}
    assert {(r.outcome, r.text) for r in done.got.values()} == {("provider_error", "")}
    assert all(r.passing for r in done.got.values())


def test_often_failed_requests_come_at_the_end() -> None:
    endpoint = Endpoint(lambda p, a: [busy()] if p == 0 and a < 5 else [1.0, "ok"])
    done = run(endpoint, 100, concurrency=2, attempts=8)
    tries = [t for t, problem in endpoint.seen if problem == 0]
    assert done.got["0/0"].outcome == "answered"
    assert sum(t < 40 for t in tries) == 5
    assert tries[-1] >= 49, "the sixth attempt comes after all the others"


def test_a_fatal_failure_ends_the_run_and_keeps_what_comes_in() -> None:
    fatal = Failure("HTTP 401: no such key", 401, maybe_paid=False, fatal=True)
    books = Books()
    endpoint = Endpoint(lambda p, a: [5.0, fatal] if p == 6 else [10.0, "ok"])
    with pytest.raises(ModelError, match="rejects every request: HTTP 401"):
        run(endpoint, 1000, books, concurrency=10)
    assert len(endpoint.seen) == 10
    assert books.ends == {"paid": 9, "given back": 1}
    assert not books.open


@pytest.mark.parametrize(("slips", "ends"), [(FATAL - 1, False), (FATAL, True)])
def test_odd_slips_among_answers_end_nothing(slips: int, ends: bool) -> None:
    slip = Failure("HTTP 404: no such model", 404, maybe_paid=False, fatal=True)
    endpoint = Endpoint(lambda p, a: [slip] if 50 <= p < 50 + slips else ["ok"])
    if ends:
        with pytest.raises(ModelError, match="no such model"):
            run(endpoint, 500, concurrency=1)
    else:
        assert run(endpoint, 500, concurrency=1).outcomes["provider_error"] == slips


def test_a_request_that_none_can_pass_is_not_tried_for_all() -> None:
    bad = Failure("HTTP 400: unknown parameter", 400, maybe_paid=False)
    endpoint = Endpoint(lambda p, a: [0.1, bad])
    with pytest.raises(ModelError, match="unknown parameter"):
        run(endpoint, 1000, concurrency=5)
    assert HOPELESS <= len(endpoint.seen) < HOPELESS + 5


LONG = Failure("HTTP 400: prompt is too long", 400, maybe_paid=False, content="too_long")


def test_content_that_is_not_taken_is_an_outcome_where_others_are_answered() -> None:
    books = Books()
    done = run(Endpoint(lambda p, a: [LONG] if p < 30 else ["ok"]), 60, books, concurrency=4)
    turned = [done.got[f"{p}/0"] for p in range(30)]
    assert {(r.outcome, r.finish_reason, r.error) for r in turned} == {
        ("refused", "too_long", "HTTP 400: prompt is too long")
    }
    assert books.ends == {"given back": 30, "paid": 30}


def test_what_is_turned_down_of_all_is_no_fault_of_their_content() -> None:
    with pytest.raises(ModelError, match="rejects every request: HTTP 400: prompt is too long"):
        run(Endpoint(lambda p, a: [0.1, LONG]), 1000, concurrency=4)
    few = run(Endpoint(lambda p, a: [LONG]), 3)
    assert {(r.outcome, r.passing) for r in few.got.values()} == {("provider_error", False)}


def test_what_a_failure_cost_is_known_where_it_was_counted() -> None:
    books = Books(dollars=10.0)
    broken = Failure("the reply ended as 'error'", 200, transient=True, cost_usd=0.5)
    done = run(Endpoint(lambda p, a: ["ok"] if a else [broken]), 1, books)
    assert done.got["0/0"].outcome == "answered"
    assert books.ends == {"paid": 2}
    assert books.left == pytest.approx(10 - 0.75)


def test_a_budget_is_used_up_and_then_nothing_is_sent() -> None:
    # Each call reserves 1 and costs 0.25: 10 dollars hold 37 calls, the last at full reserve.
    books = Books(dollars=10.0)
    endpoint = Endpoint(lambda p, a: [1.0, "ok"])
    done = run(endpoint, 100, books, concurrency=32)
    assert done.outcomes == {"answered": 37, "budget_stop": 63}
    assert endpoint.peak == 10
    assert books.left == pytest.approx(10 - 37 * 0.25)


def test_tokens_per_minute_follow_what_is_counted() -> None:
    endpoint = Endpoint(lambda p, a: [0.5, "ok"])  # 100 tokens each, as its answers say
    done = run(endpoint, 200, tokens_per_minute=6000, concurrency=4)
    assert 150 < done.seconds < 280  # 60 a minute; the first are guessed dearer


def test_a_defect_is_not_swallowed() -> None:
    books = Books()

    class Broken(Endpoint):
        async def send(self, requests: Sequence[Request]) -> Sent:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        run(Broken(), 3, books)
    assert not books.open


def first(endpoint: Endpoint, known: int = 0, heard: bool = False) -> list[float]:
    """When each of 20 requests is sent to an endpoint of which nothing, or something, is known."""
    outage = Outage()
    if heard:
        outage.note_answer()
    run(endpoint, 20, known=known, outage=outage, concurrency=8)
    return [when for when, _ in endpoint.seen]


def test_the_first_request_to_an_unknown_endpoint_goes_alone() -> None:
    sent = first(Endpoint(lambda p, a: [2.0, "ok"]))
    assert (sent[0], sent[1]) == (0.0, 2.0)
    assert sent.count(2.0) == 8


@pytest.mark.parametrize(("known", "heard"), [(1, False), (0, True)])
def test_an_endpoint_that_has_answered_needs_no_first_one(known: int, heard: bool) -> None:
    assert first(Endpoint(lambda p, a: [2.0, "ok"]), known, heard).count(0.0) == 8
