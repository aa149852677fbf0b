"""Answers to the exercises of notebook 01, right and wrong."""

import re
import unicodedata

import numpy as np
import torch

from albert_edu.checks import check_normalise, check_sequence_layout
from tests.bug_zoo.zoo import right


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
