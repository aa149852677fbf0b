"""An answer is stopped by seconds of its own: what it computes and what it sleeps."""

import itertools
import signal
import sys
import threading
import time
from pathlib import Path

import pytest

from albert_course.checks.engine import limits
from albert_course.checks.engine.limits import BUSY, LOOP, SLEEP, Alarm, Spent, TookTooLong
from albert_course.checks.engine.running import ask

needs_alarms = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no alarms")


def compute():
    while True:
        pass


def sleep():
    time.sleep(1000)


def sleep_in_small_parts():
    while True:
        time.sleep(0.001)


def wait_for_a_lock():
    lock = threading.Lock()
    lock.acquire()
    lock.acquire()


@needs_alarms
@pytest.mark.parametrize(
    ("answer", "reason"),
    [(compute, LOOP), (sleep, SLEEP), (sleep_in_small_parts, SLEEP), (wait_for_a_lock, SLEEP)],
)
def test_what_never_ends_is_stopped_and_it_is_said_whether_it_computed_or_slept(
    answer, reason, monkeypatch
):
    monkeypatch.setattr(limits, "COMPUTING", 0.5)
    monkeypatch.setattr(limits, "ASLEEP", 0.5)
    monkeypatch.setattr(limits, "NET", 0.5)
    monkeypatch.setattr(limits, "TICK", 0.1)
    outcome = ask(lambda answer: answer(), answer, (), seed=0)
    assert isinstance(outcome.error, TookTooLong)
    assert outcome.error.reason == reason or BUSY in outcome.error.reason


@pytest.fixture
def clock(monkeypatch):
    """What a process has spent, for a test to move."""
    now = {"spent": Spent(computing=100.0, asleep=1000.0, exact=True)}
    monkeypatch.setattr(limits, "spent", lambda: now["spent"])
    return now


def test_seconds_of_others_do_not_count_and_each_limit_has_its_own(clock):
    alarm = Alarm(computing=10, asleep=20)
    for computed, slept in ((9.9, 0.0), (0.0, 19.9), (9.9, 19.9)):
        clock["spent"] = Spent(100.0 + computed, 1000.0 + slept, exact=True)
        alarm()
    clock["spent"] = Spent(100.0, 1020.0, exact=True)
    with pytest.raises(TookTooLong, match="sleeping for 20 s"):
        alarm()


def test_where_sleep_cannot_be_told_from_a_busy_machine_the_limit_is_long_and_says_so(clock):
    clock["spent"] = Spent(0.0, 0.0, exact=False)
    alarm = Alarm(computing=10, asleep=20)
    clock["spent"] = Spent(0.0, 299.0, exact=False)
    alarm()
    clock["spent"] = Spent(0.0, 300.0, exact=False)
    with pytest.raises(TookTooLong, match=BUSY) as caught:
        alarm()
    assert BUSY in caught.value.reason


def test_who_catches_the_alarm_gets_it_again_and_the_outer_limit_holds_inside_the_inner(clock):
    outer = Alarm(computing=30, asleep=30)
    inner = Alarm(computing=10, asleep=10, outer=outer)
    raised = []
    for computed in range(60):
        clock["spent"] = Spent(100.0 + computed, 1000.0, exact=True)
        try:
            inner()
        except TookTooLong as error:
            raised.append((computed, str(error)))
    seconds = [second for second, _ in raised]
    assert seconds[0] == 10 and 20 <= seconds[1] <= 21
    assert any("for 30 s" in text for _, text in raised)
    assert all(later - earlier >= 1 for earlier, later in itertools.pairwise(seconds))


@needs_alarms
def test_an_inner_limit_gives_the_alarm_back_to_the_outer_one(monkeypatch):
    outer = Alarm(computing=100, asleep=100)
    before = signal.signal(signal.SIGALRM, outer)
    try:
        signal.setitimer(signal.ITIMER_REAL, 50, 50)
        with limits.limits():
            assert signal.getsignal(signal.SIGALRM).outer is outer
        assert signal.getsignal(signal.SIGALRM) is outer
        assert signal.getitimer(signal.ITIMER_REAL)[1] == 50
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_memory_is_limited_while_an_answer_runs_and_as_before_afterwards():
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_AS)
    with limits.limits():
        soft, _ = resource.getrlimit(resource.RLIMIT_AS)
        held = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        assert resource.RLIM_INFINITY != soft <= held + limits.BYTES
    assert resource.getrlimit(resource.RLIMIT_AS) == before
