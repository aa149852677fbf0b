"""Exercise 1: a wrong word costs more, and so does another order of the same tokens."""

import random
from itertools import pairwise

from albert_course.checks.cards.nb05 import surprises


def cost(ids):
    """Return what the true tokens of a row cost together, in nats."""
    with torch.no_grad():
        return sum(surprises(laptop, [tokenizer.cls_id, *ids, tokenizer.sep_id]))


wrong = cost(tokenizer.encode("we has no choice"))
right = cost(tokenizer.encode("we have no choice"))
assert abs(wrong - 24) < 1 and abs(right - 13) < 1, (wrong, right)

random.seed(0)
bounds = text.held_out.sentence_offsets
rows = [text.held_out.tokens[a:b].tolist() for a, b in pairwise(bounds)]
won = 0
for row in random.sample([row for row in rows if 8 <= len(row) <= 25], 40):
    place = random.choice([i for i in range(len(row) - 1) if row[i] != row[i + 1]])
    other = [*row[:place], row[place + 1], row[place], *row[place + 2 :]]
    won += cost(row) < cost(other)
assert won >= 32, won
