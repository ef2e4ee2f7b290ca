"""When a worker counts as one that does not answer; a check is one second of the supervisor."""

import pytest

from server.process.workers import Heartbeat


class Pings:
    def __init__(self) -> None:
        self.sent = 0
        self.heartbeat = Heartbeat(self.send)

    def send(self) -> None:
        self.sent += 1

    def checks(self, number: int) -> list[bool]:
        return [self.heartbeat.is_late() for _ in range(number)]


@pytest.fixture
def pings() -> Pings:
    return Pings()


def test_a_worker_is_late_five_seconds_after_the_first_ping_that_it_does_not_answer(pings: Pings) -> None:
    assert pings.checks(6) == [False] * 5 + [True]
    assert pings.sent == 5


def test_a_worker_that_is_busy_for_less_than_five_seconds_is_not_late(pings: Pings) -> None:
    for _ in range(3):
        assert not any(pings.checks(5))
        pings.heartbeat.answered()
    assert pings.sent == 15


def test_a_worker_that_stops_is_late_only_if_it_does_not_answer_the_last_ping(pings: Pings) -> None:
    pings.checks(1)
    pings.heartbeat.send_last()
    pings.heartbeat.answered()
    assert not any(pings.checks(100))
    assert pings.sent == 2


def test_a_worker_that_does_not_answer_the_last_ping_is_late(pings: Pings) -> None:
    pings.heartbeat.send_last()
    pings.heartbeat.send_last()  # it asked to stop, and then everything stops
    assert pings.sent == 1
    assert True in pings.checks(6)
