"""The page on mutants says what the results say, and every survivor has a reason."""

import json

from tests.mutation.record import HERE, RESULTS, record


def test_the_page_is_the_one_that_the_results_give():
    assert (HERE / "README.md").read_text() == record()


def test_every_survivor_is_explained_and_nothing_that_was_killed_since():
    results = json.loads(RESULTS.read_text())
    survivors = {f"{name}: {key}" for name, result in results.items()
                 for key in result["survivors"]}  # fmt: skip
    assert set(json.loads((HERE / "survivors.json").read_text())) == survivors
