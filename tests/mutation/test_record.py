"""The page on mutants says what the results say, and every survivor has a reason."""

from tests.mutation.record import HERE, record


def test_the_page_is_the_one_that_the_results_give():
    assert (HERE / "README.md").read_text() == record()


def test_every_survivor_is_explained():
    assert "Not explained yet" not in record()
