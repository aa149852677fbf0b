"""Answers to the exercise of notebook 11 on the best pair of places, right and wrong."""

import torch

from albert_edu.checks import check_best_span
from tests.bug_zoo.zoo import right, wrong


@right(check_best_span)
def span_by_loops(start, end, context, none):
    found = []
    for row in range(len(start)):
        S = len(start[row])
        pairs = [(float(start[row][i] + end[row][j]), i, j) for i in range(S) for j in range(i, min(i + 30, S))
                 if context[row][i] and context[row][j]]  # fmt: skip
        found.append([-100, -100] if none[row] > 0 else max(pairs)[1:])
    return found


@right(check_best_span)
def span_by_matrix(start, end, context, none):
    return spans(start, end, context, none)


@right(check_best_span)
def span_by_lengths(start, end, context, none):
    best, found = torch.full(none.shape, float("-inf")), torch.full((len(start), 2), -100)
    for length in range(min(30, start.shape[1])):  # all answers of one length at once
        both = context[:, : context.shape[1] - length] & context[:, length:]
        score = (start[:, : start.shape[1] - length] + end[:, length:]).masked_fill(~both, float("-inf"))
        most, at = score.max(1)
        found[most > best] = torch.stack([at, at + length], 1)[most > best]
        best = torch.maximum(best, most)
    found[none > 0] = -100
    return found.numpy()


def spans(start, end, context, none, shortest=0, longest=30, outside=float("-inf"), forbidden=float("-inf"), nothing=-100):
    """What most wrong answers below have in common."""
    start, end = start.masked_fill(~context, outside), end.masked_fill(~context, outside)
    S = start.shape[1]
    allowed = torch.ones(S, S, dtype=torch.bool).triu(shortest).tril(longest - 1)
    best = (start[:, :, None] + end[:, None]).masked_fill(~allowed, forbidden).flatten(1).argmax(1)
    return torch.stack([best // S, best % S], 1).masked_fill(none[:, None] > 0, nothing)


@wrong(check_best_span, "taking the best of each alone")
def each_alone(start, end, context, none):
    return spans(start, end, context, none, shortest=-1000, longest=1000)


@wrong(check_best_span, "turning the two round")
def turned_round(start, end, context, none):
    return each_alone(start, end, context, none).sort(1).values


@wrong(check_best_span, "best start first")
def greedy(start, end, context, none):
    start, end = (scores.masked_fill(~context, float("-inf")) for scores in (start, end))
    first = start.argmax(1, keepdim=True)
    end = end.masked_fill(torch.arange(end.shape[1]) < first, float("-inf"))
    return torch.cat([first, end.argmax(1, keepdim=True)], 1).masked_fill(none[:, None] > 0, -100)


@wrong(check_best_span, "adding probabilities")
def probabilities_added(start, end, context, none):
    return spans(start.softmax(1), end.softmax(1), context, none)


@wrong(check_best_span, "no answer of one piece")
def two_pieces_at_least(start, end, context, none):
    return spans(start, end, context, none, shortest=1)


@wrong(check_best_span, "one past the last place")
def end_of_a_slice(start, end, context, none):
    return spans(start, end, context, none) + torch.tensor([0, 1]) * (none[:, None] <= 0)


@wrong(check_best_span, "exchanging start and end")
def exchanged(start, end, context, none):
    return spans(end, start, context, none)


@wrong(check_best_span, "padding answer")
def anything_answers(start, end, context, none):
    return spans(start, end, context | True, none)


@wrong(check_best_span, "the starts and not the ends")
def ends_not_masked(start, end, context, none):
    return spans(start.masked_fill(~context, float("-inf")), end, context | True, none)


@wrong(check_best_span, "setting scores outside to 0")
def zero_outside(start, end, context, none):
    return spans(start, end, context, none, outside=0.0)


@wrong(check_best_span, "setting forbidden pairs to 0")
def zero_where_forbidden(start, end, context, none):
    return spans(start, end, context, none, forbidden=0.0)


@wrong(check_best_span, "upside down")
def context_upside_down(start, end, context, none):
    return spans(start, end, ~context if not context.all() else context, none)


@wrong(check_best_span, "of any length")
def any_length(start, end, context, none):
    return spans(start, end, context, none, longest=1000)


@wrong(check_best_span, "allowing 31 pieces")
def thirty_one(start, end, context, none):
    return spans(start, end, context, none, longest=31)


@wrong(check_best_span, "answering every question")
def always_an_answer(start, end, context, none):
    return spans(start, end, context, torch.full_like(none, -1))


@wrong(check_best_span, "and only there")
def sign_turned(start, end, context, none):
    return spans(start, end, context, -none)


@wrong(check_best_span, "place 0")
def cls_where_none(start, end, context, none):
    return spans(start, end, context, none, nothing=0)


@wrong(check_best_span, "though it is a logit")
def compared_with_a_half(start, end, context, none):
    return spans(start, end, context, none - 0.5)


@wrong(check_best_span, "it is judged alone")
def compared_with_the_span(start, end, context, none):
    found = spans(start, end, context, torch.full_like(none, -1))
    score = start.gather(1, found[:, :1]) + end.gather(1, found[:, 1:])
    return found.masked_fill(none[:, None] > score, -100)


@wrong(check_best_span, "is the return missing?")
def first_place_only(start, end, context, none):
    return spans(start, end, context, none)[:, 0]
