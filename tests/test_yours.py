"""A lesson with an empty cell goes on with the reader's function, or lends its own."""

import pytest

from albert_course.checks import check_order_pairs, check_swap_pair
from albert_course.yours import yours_or_ours
from albert_edu.errors import InputError


def right(token_ids):
    cut = token_ids.index(3)
    first = token_ids[1:cut]
    second = token_ids[cut + 1 : -1]
    return [2, *second, 3, *first, 3], [0] * (len(second) + 2) + [1] * (len(first) + 1)


def wrong(token_ids):
    return token_ids, [0] * len(token_ids)


def unanswered(token_ids):
    raise NotImplementedError("write your answer here")


def test_a_right_answer_of_the_readers_runs(capsys):
    assert yours_or_ours(right, check_swap_pair) is right
    assert capsys.readouterr().out == "swap_pair: yours runs\n"


@pytest.mark.parametrize("answer", [wrong, unanswered])
def test_ours_runs_until_the_readers_answer_passes(answer, capsys):
    lent = yours_or_ours(answer, check_swap_pair)
    assert lent is not answer and check_swap_pair(lent).passed
    assert "until yours passes" in capsys.readouterr().out


def test_no_answer_of_an_assignment_is_lent():
    with pytest.raises(InputError, match="only exercises of the notebooks"):
        yours_or_ours(unanswered, check_order_pairs)
