"""What counts as a part of a test: assertions, also within a loop, and checks; what only prepares for them does not."""

import pytest

from albert_edu.assignments.judge import _run_test
from albert_edu.checks.trial import limits

PREPARED = "def each(n):\n    assert n < 3\n    return n\nfull = answer(1)\nassert full == 1, 'one'\nassert each(full) == 1"
LOOP = "for n in range(3):\n    assert answer(n) == n"


@pytest.mark.parametrize("answer, test, scores", [
    (lambda n: n, PREPARED, [1, 1]),
    (lambda n: n + 1, PREPARED, [0, 0]),
    (lambda n: n / 0, PREPARED, [0, 0]),
    (lambda n: n, LOOP, [1]),
    (lambda n: n % 2, LOOP, [0]),
    (lambda n: n / 0, "answer(1)", []),
    (lambda n: n / 0, "check_schedule(answer)", [0]),
])  # fmt: skip
def test_the_parts_of_a_test(answer, test, scores):
    parts = _run_test({"source": test, "name": "t", "key": 0}, {"answer": answer}, limits, 5)
    assert [part["score"] for part in parts] == scores


def test_an_assertion_says_what_failed_before_it():
    def answer(n):
        raise KeyError("seven")

    first, _ = _run_test({"source": PREPARED, "name": "t", "key": 0}, {"answer": answer}, limits, 5)
    assert "KeyError: 'seven'" in first["says"] and "full == 1" in first["says"]
