"""The order in which jobs are sent."""

from __future__ import annotations

from tests.models.traffic.simulated import request

from omibench.models.api.outage import Agenda, PendingCall


def test_due_retries_come_first_and_the_often_failed_last() -> None:
    a, b, c, d = (PendingCall((request(i),)) for i in range(4))
    agenda = Agenda([a, b, c])
    assert agenda.next(0) is a
    agenda.schedule(a, due=5)
    assert agenda.next(0) is b
    agenda.schedule_last(b, due=1)
    assert agenda.next(6) is a
    assert agenda.next(6) is c
    assert agenda.next(6) is b
    assert agenda.next(6) is None
    assert agenda.wait(6) is None
    agenda.schedule_last(d, due=9)
    assert agenda.next(6) is None
    assert agenda.wait(6) == 3
    assert agenda.next(9) is d
    assert not agenda


def test_the_rest_is_all_that_was_not_sent() -> None:
    jobs = [PendingCall((request(i),)) for i in range(5)]
    agenda = Agenda(jobs)
    first, second, third = agenda.next(0), agenda.next(0), agenda.next(0)
    assert first
    assert second
    assert third
    agenda.schedule(first, due=2)
    agenda.schedule_last(second, due=2)
    agenda.put_back(third)
    assert len(agenda) == 5
    assert set(map(id, agenda.take_rest())) == set(map(id, jobs))
    assert len(agenda) == 0
