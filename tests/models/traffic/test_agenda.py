"""The order in which jobs are sent."""

from __future__ import annotations

from tests.models.traffic.simulated import request

from omibench.models.traffic.agenda import Agenda, Job


def test_due_retries_come_first_and_the_often_failed_last() -> None:
    a, b, c, d = (Job((request(i),)) for i in range(4))
    agenda = Agenda([a, b, c])
    assert agenda.next(0) is a
    agenda.again(a, due=5)
    assert agenda.next(0) is b
    agenda.at_the_end(b, due=1)
    assert agenda.next(6) is a
    assert agenda.next(6) is c
    assert agenda.next(6) is b
    assert agenda.next(6) is None
    assert agenda.wait(6) is None
    agenda.at_the_end(d, due=9)
    assert agenda.next(6) is None
    assert agenda.wait(6) == 3
    assert agenda.next(9) is d
    assert not agenda


def test_the_rest_is_all_that_was_not_sent() -> None:
    jobs = [Job((request(i),)) for i in range(5)]
    agenda = Agenda(jobs)
    first, second, third = agenda.next(0), agenda.next(0), agenda.next(0)
    assert first
    assert second
    assert third
    agenda.again(first, due=2)
    agenda.at_the_end(second, due=2)
    agenda.first(third)
    assert len(agenda) == 5
    assert set(map(id, agenda.rest())) == set(map(id, jobs))
    assert len(agenda) == 0
