"""Answers to the exercise of notebook 11 on the places of an answer, right and wrong."""

import numpy as np
import torch

from albert_edu.checks import check_span_labels
from tests.bug_zoo.zoo import right, wrong


@right(check_span_labels)
def labels_by_overlap(question, characters, start, text, S):
    if not text:
        return -100, -100
    before, end = len(question) + 2, start + len(text)
    inside = [i for i, (b, e) in enumerate(characters) if b < end and e > start]
    return (before + inside[0], before + inside[-1]) if before + inside[-1] < S - 1 else None


@right(check_span_labels)
def labels_by_a_map_of_characters(question, characters, start, text, S):
    if start < 0:
        return torch.tensor([-100, -100])
    pieces_at = {}
    for place, (b, e) in enumerate(characters, start=len(question) + 2):
        for character in range(b, e):
            pieces_at.setdefault(character, []).append(place)
    first = min(min(pieces_at.get(character, [S])) for character in range(start, start + len(text)))
    last = max(max(pieces_at.get(character, [0])) for character in range(start, start + len(text)))
    return None if last > S - 2 else torch.tensor([first, last])


@right(check_span_labels)
def labels_in_numpy(question, characters, start, text, S):
    row = np.full((max(S, 200), 2), -1)  # the whole row, with -1 on what is not context
    row[len(question) + 2 :][: len(characters)] = characters
    found = np.flatnonzero((row[:, 0] < start + len(text)) & (row[:, 1] > start) & (row[:, 0] >= 0)) if text else [-100]
    return None if found[-1] + 2 > S else np.array([found[0], found[-1]])


def labels(question, characters, start, text, S, before=2, past=0, behind=0, ahead=0, none=(-100, -100), room=1):
    """What most wrong answers below have in common."""
    if not text:
        return none
    end, offset = start + len(text) + behind, len(question) + before
    inside = [offset + i for i, (b, e) in enumerate(characters) if b < end and e > start - ahead]
    return (inside[0], inside[-1] + past) if inside[-1] < S - room else None


@wrong(check_span_labels, "counting from the context's first piece")
def question_forgotten(question, *rest):
    return labels([], *rest, before=0)


@wrong(check_span_labels, "without [CLS] and [SEP]")
def special_pieces_forgotten(*asked):
    return labels(*asked, before=0)


@wrong(check_span_labels, "but not the [SEP] between")
def separator_forgotten(*asked):
    return labels(*asked, before=1)


@wrong(check_span_labels, "one past the last piece")
def end_as_in_slices(*asked):
    return labels(*asked, past=1)


@wrong(check_span_labels, "the piece behind the answer")
def end_included(*asked):
    return labels(*asked, behind=1)


@wrong(check_span_labels, "the pieces before and behind")
def both_neighbours(*asked):
    return labels(*asked, behind=1, ahead=1)


@wrong(check_span_labels, "one character early")
def end_minus_one(*asked):
    return labels(*asked, behind=-1)


@wrong(check_span_labels, "characters instead of pieces")
def characters_given(question, characters, start, text, S):
    return (start, start + len(text) - 1) if text else (-100, -100)


@wrong(check_span_labels, "the number of pieces")
def length_given(*asked):
    found = labels(*asked)
    return (found[0], found[1] - found[0] + 1) if found and found[0] > 0 else found


@wrong(check_span_labels, "wholly within the answer")
def whole_pieces_only(question, characters, start, text, S):
    if not text:
        return -100, -100
    inside = [i for i, (b, e) in enumerate(characters) if b >= start and e <= start + len(text)] or [0]
    last = len(question) + 2 + inside[-1]
    return (len(question) + 2 + inside[0], last) if last < S - 1 else None


@wrong(check_span_labels, "all stand for the whole word")
def first_piece_that_ends_there(question, characters, start, text, S):
    if not text:
        return -100, -100
    first = next(i for i, (b, e) in enumerate(characters) if b <= start < e)
    last = next(i for i, (b, e) in enumerate(characters) if b < start + len(text) <= e)
    before = len(question) + 2
    return (before + first, before + last) if before + last < S - 1 else None


@wrong(check_span_labels, "pointing at [CLS]")
def cls_for_none(*asked):
    return labels(*asked, none=(0, 0))


@wrong(check_span_labels, "returning None, as for")
def nothing_for_none(*asked):
    return labels(*asked, none=None)


@wrong(check_span_labels, "giving -1")
def minus_one(*asked):
    return labels(*asked, none=(-1, -1))


@wrong(check_span_labels, "at the edge")
def cut_answer_kept(question, characters, start, text, S):
    first, last = labels(question, characters, start, text, 1000)
    return first, min(last, S - 2)


@wrong(check_span_labels, "ending an answer at the edge")
def cut_before_looking(question, characters, start, text, S):
    left = characters[: S - 3 - len(question)]
    return labels(question, left, start, text, 1000) if not text or left[-1][1] > start else None


@wrong(check_span_labels, "taking an answer that was cut off for none")
def cut_answer_as_none(*asked):
    return labels(*asked) or (-100, -100)


@wrong(check_span_labels, "behind the end of the row")
def window_forgotten(*asked):
    return labels(*asked, room=-1000)


@wrong(check_span_labels, "the last [SEP] needs a place")
def no_place_for_separator(*asked):
    return labels(*asked, room=0)


@wrong(check_span_labels, "one place too many")
def a_place_wasted(*asked):
    return labels(*asked, room=2)


@wrong(check_span_labels, "is the return missing?")
def nothing_returned(*asked):
    labels(*asked)
