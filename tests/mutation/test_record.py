"""The page on mutants says what the results say, and every survivor has a reason."""

import json

from tests.mutation.record import HERE, RESULTS, record


def test_the_page_is_the_one_that_the_results_give():
    assert (HERE / "README.md").read_text() == record(), (
        "python -m tests.mutation.record marks what has changed since"
    )


def test_every_survivor_has_a_reason_and_nothing_that_was_killed_has_one():
    survivors = {
        f"{name}: {key}"
        for name, result in json.loads(RESULTS.read_text()).items()
        for key in result["survivors"]
    }
    assert set(json.loads((HERE / "survivors.json").read_text())) == survivors
