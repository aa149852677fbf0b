"""Progress is a line per tenth where nobody watches a terminal."""

import pytest

from albert_edu.training.progress import progress_bar


@pytest.mark.parametrize("total", [10, 37, 1000])
def test_a_log_file_gets_one_line_per_tenth_and_the_last_one(capsys, total):
    with progress_bar(total, "steps", disable=False) as bar:
        for _ in range(total):
            bar.update()
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 10 and lines[-1].startswith(f"steps: {total:,} of {total:,}")


def test_a_run_that_goes_on_does_not_repeat_the_tenths_before(capsys):
    with progress_bar(100, "steps", initial=95, disable=False) as bar:
        for _ in range(5):
            bar.update()
    lines = capsys.readouterr().err.splitlines()
    assert lines[-1].startswith("steps: 100 of 100")
    assert len(lines) <= 2


def test_tqdm_disable_silences_it(capsys, monkeypatch):
    monkeypatch.setenv("TQDM_DISABLE", "1")
    with progress_bar(10, "steps") as bar:
        bar.update(10)
    assert capsys.readouterr().err == ""
