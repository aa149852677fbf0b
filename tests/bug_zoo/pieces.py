"""Answers to the exercises of notebook 01, right and wrong."""

import re
import unicodedata

import numpy as np
import torch

from albert_edu.checks import check_normalise, check_sequence_layout
from tests.bug_zoo.zoo import right, wrong


@right(check_normalise)
def clean_by_regular_expressions(text):
    text = unicodedata.normalize("NFKD", re.sub("``|''", '"', text)).lower()
    return re.sub(r"\s+", " ", re.sub("[\u0300-\u036f]", "", text)).strip()


@right(check_normalise)
def clean_letter_by_letter(raw):
    text, letters = raw.replace("''", '"').replace("``", '"'), []
    for whole in text:
        for letter in unicodedata.normalize("NFKD", whole).lower():
            if letter.isspace():
                if letters and letters[-1] != " ":
                    letters.append(" ")
            elif not unicodedata.combining(letter):
                letters.append(letter)
    return "".join(letters).strip()


def bare(text, form="NFKD", lower=str.lower):
    text = unicodedata.normalize(form, text.replace("``", '"').replace("''", '"'))
    return lower("".join(c for c in text if not unicodedata.combining(c)))


@right(check_normalise)
def cleaned(text, form="NFKD", lower=str.lower):
    return " ".join(bare(text, form, lower).split())


@wrong(check_normalise, "leaving the capitals")
def capitals_left(text):
    return cleaned(text, lower=str)


@wrong(check_normalise, "keeping the accents")
def composed(text):
    return cleaned(text, "NFKC")


@wrong(check_normalise, "beside their letters")
def marks_left(text):
    return " ".join(unicodedata.normalize("NFKD", text.replace("``", '"').replace("''", '"')).lower().split())


@wrong(check_normalise, "the letters together with their accents")
def only_ascii(text):
    return cleaned(text.encode("ascii", "ignore").decode())


@wrong(check_normalise, "all that is not ASCII")
def only_ascii_after_taking_apart(text):
    return " ".join(cleaned(text).encode("ascii", "ignore").decode().split())


@wrong(check_normalise, "dropping punctuation")
def words_only(text):
    return re.sub(r"[^\w\s\"]", "", cleaned(text))


@wrong(check_normalise, "casefold")
def folded(text):
    return cleaned(text, lower=str.casefold)


@wrong(check_normalise, "writing o and l")
def transcribed(text):
    return cleaned(text.translate(str.maketrans("øØłŁ", "oOlL")))


@wrong(check_normalise, "using NFD")
def canonical_only(text):
    return cleaned(text, "NFD")


@wrong(check_normalise, "can bring capitals back")
def lowered_too_early(text):
    return cleaned(text.lower(), lower=str)


@wrong(check_normalise, "joining blanks before NFKD")
def split_too_early(text):
    return bare(" ".join(text.split()))


@wrong(check_normalise, "leaving the pairs")
def quotes_forgotten(text):
    return " ".join(re.sub("[\u0300-\u036f]", "", unicodedata.normalize("NFKD", text)).lower().split())


@wrong(check_normalise, "single apostrophes too")
def all_quotes(text):
    return cleaned(text).replace("'", '"')


@wrong(check_normalise, "not tabs and line ends")
def spaces_only(text):
    return re.sub(" +", " ", bare(text)).strip()


@wrong(check_normalise, "leaving runs of blanks")
def only_stripped(text):
    return bare(text).strip()


@wrong(check_normalise, "blanks at the ends")
def not_stripped(text):
    return re.sub(r"\s+", " ", bare(text))


@wrong(check_normalise, "you return list, not a string")
def words_returned(text):
    return cleaned(text).split()


@wrong(check_normalise, "still to do")
def not_begun(text):
    raise NotImplementedError("Exercise 01.3")


@right(check_sequence_layout)
def rows_of_lists(a, b, length):
    ids = [2, *a, 3, *b, 3]
    if len(ids) > length:
        raise ValueError(f"{len(ids)} pieces do not fit into {length}")
    padding = [0] * (length - len(ids))
    return ids + padding, [0] * (len(a) + 2) + [1] * (len(b) + 1) + padding, [1] * len(ids) + padding


@right(check_sequence_layout)
def one_array(a, b, length):
    rows, used = np.zeros((3, length), dtype=np.int64), len(a) + len(b) + 3
    rows[0, :used] = np.concatenate([[2], a, [3], b, [3]])  # NumPy itself raises ValueError when this does not fit
    rows[1, len(a) + 2 : used] = 1
    rows[2] = np.arange(length) < used
    return rows


@right(check_sequence_layout)
def three_tensors(a, b, length):
    ids, row = torch.zeros(length, dtype=torch.int32), torch.tensor([2, *a, 3, *b, 3])
    if len(row) > length:
        raise ValueError("too long")
    ids[: len(row)] = row
    return [ids, (torch.arange(length) > len(a) + 1) & (ids != 0), ids != 0]


def laid_out(parts, length, padding=0):
    """Rows of (id, segment) parts, filled up."""
    if len(parts) > length:
        raise ValueError("too long")
    ids, segments = (list(row) for row in zip(*parts, strict=True))
    fill = length - len(parts)
    return ids + [0] * fill, segments + [padding] * fill, [1] * len(parts) + [0] * fill


def pair(a, b, specials=(2, 3, 3), first=0, last=1):
    """[CLS] A [SEP] B [SEP] as (id, segment); ``first`` and ``last`` are the segments of the separators."""
    opening, middle, end = specials
    return [(opening, 0), *((i, 0) for i in a), (middle, first), *((i, 1) for i in b), (end, last)]


@wrong(check_sequence_layout, "leaving out the [SEP] between")
def no_separator(a, b, length):
    return laid_out([(2, 0), *((i, 0) for i in a), *((i, 1) for i in b), (3, 1)], length)


@wrong(check_sequence_layout, "leaving out the [SEP] at the end")
def no_last_separator(a, b, length):
    return laid_out(pair(a, b)[:-1], length)


@wrong(check_sequence_layout, "101 and 102")
def ids_of_bert(a, b, length):
    return laid_out(pair(a, b, (101, 102, 102)), length)


@wrong(check_sequence_layout, "the first [SEP] to B")
def separator_begins_b(a, b, length):
    return laid_out(pair(a, b, first=1), length)


@wrong(check_sequence_layout, "the last [SEP] to A")
def specials_in_segment_0(a, b, length):
    return laid_out(pair(a, b, last=0), length)


@wrong(check_sequence_layout, "padding segment 1")
def padding_belongs_to_b(a, b, length):
    return laid_out(pair(a, b), length, padding=1)


@wrong(check_sequence_layout, "the mask before the segments")
def mask_second(a, b, length):
    return [rows_of_lists(a, b, length)[row] for row in (0, 2, 1)]


@wrong(check_sequence_layout, "a 'mask' that hides")
def mask_hides(a, b, length):
    ids, segments, mask = rows_of_lists(a, b, length)
    return ids, segments, [1 - kept for kept in mask]


@wrong(check_sequence_layout, "hiding [CLS] and [SEP] too")
def specials_hidden(a, b, length):
    ids, segments, _ = rows_of_lists(a, b, length)
    return ids, segments, [int(i > 4) for i in ids]


@wrong(check_sequence_layout, "counting only A and B")
def specials_not_counted(a, b, length):
    ids, segments, _ = rows_of_lists(a, b, length)
    return ids, segments, [int(place < len(a) + len(b)) for place in range(length)]


@wrong(check_sequence_layout, "in front of the row")
def padded_in_front(a, b, length):
    ids, segments, mask = rows_of_lists(a, b, length)
    used = sum(mask)
    return tuple(row[used:] + row[:used] for row in (ids, segments, mask))


@wrong(check_sequence_layout, "row[-0:] is the whole row")
def minus_nothing(a, b, length):
    rows, used = np.ones((3, length), dtype=int), len(a) + len(b) + 3
    rows[0] = rows_of_lists(a, b, length)[0]
    rows[1, : len(a) + 2] = 0
    rows[1:, -(length - used) :] = 0
    return rows


@wrong(check_sequence_layout, "cut silently")
def cut_at_the_end(a, b, length):
    return [row[:length] for row in rows_of_lists(a, b, max(length, len(a) + len(b) + 3))]


@wrong(check_sequence_layout, "three things are asked for")
def ids_alone(a, b, length):
    return rows_of_lists(a, b, length)[0]
