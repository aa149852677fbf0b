"""A wrong reading of an exercise fails for its own reason, and unusual right answers pass.

The readings that have names stand in mistakes/*.txt, and the zoo asks for each of them.
"""

import numpy as np
import pytest
import torch

from albert_course import checks
from albert_course.checks.engine.card import card_of

early_stop = card_of(checks.check_early_stop).reference
interval = card_of(checks.check_interval).reference
span_loss = card_of(checks.check_span_loss).reference
order_pairs = card_of(checks.check_order_pairs).reference
replace_masked = card_of(checks.check_replace_masked).reference


def test_a_loss_that_is_a_mere_number_fails_because_nothing_can_learn_from_it():
    report = checks.check_span_loss(lambda *parts: span_loss(*parts).item())
    assert report.reasons == ["you return float, which has no gradient"]
    assert [one.name for one in report.properties if not one.passed] == ["lets start and end learn"]


def test_a_loss_may_be_computed_in_other_ways():
    def by_hand(start, end, context, first, last):
        total = 0.0
        for scores, labels in ((start, first), (end, last)):
            asked = labels >= 0
            weights = scores.exp() * context
            if scores.max() < -99:  # so low that exp gives 0
                weights = (scores - scores.max()).exp() * context
            shares = weights / weights.sum(1, keepdim=True)
            right = shares[asked].gather(1, labels[asked, None])
            total = total - right.log().mean() / 2
        return total

    for seed in (None, 7):
        assert checks.check_span_loss(by_hand, seed).passed, checks.check_span_loss(by_hand, seed)


def joined(sentences):
    return [token for sentence in sentences for token in sentence]


def test_pairs_may_be_drawn_in_other_ways():
    def with_choice(documents, length, n, rng):
        documents = [document for document in documents if len(document) > 1]
        runs = []
        for document in documents:
            sizes = [len(sentence) for sentence in document]
            for start in range(len(document)):
                for count in range(2, len(document) - start + 1):
                    if sum(sizes[start : start + count]) <= length - 3:
                        runs.append((document, start, count))
        if not runs:
            raise ValueError("nothing fits")
        labels = [0] * (n // 2) + [1] * (n // 2)
        rng.shuffle(labels)
        for label in labels:
            document, start, count = runs[int(rng.choice(len(runs)))]
            cut = start + 1 + int(rng.random() * (count - 1))
            run = document[start : start + count]
            halves = [joined(run[: cut - start]), joined(run[cut - start :])]
            first, second = halves[::-1] if label else halves
            ids = np.array([2, *first, 3, *second, 3])
            yield ids, np.arange(len(ids)) > len(first) + 1, label

    for seed in (None, 7):
        report = checks.check_order_pairs(with_choice, seed)
        assert report.passed, report


@pytest.mark.parametrize("own", [np.random, np.random.default_rng(3), "a copy of rng"])
def test_pairs_that_are_not_drawn_with_rng_fail_for_that_reason(own):
    def pairs(documents, length, n, rng):
        chance = np.random.default_rng(5) if isinstance(own, str) else own
        labels = rng.permutation(np.arange(n) % 2)
        if isinstance(own, type(np.random)):
            chance = np.random.default_rng(np.random.randint(1 << 30))
        drawn = order_pairs(documents, length, n, chance)
        rows = []
        for label, (ids, _, turned) in zip(labels.tolist(), drawn, strict=True):
            cut = ids.index(3)
            first, second = ids[1:cut], ids[cut + 1 : -1]
            if label != turned:
                first, second = second, first
            ids = [2, *first, 3, *second, 3]
            rows.append((ids, [int(k > len(first) + 1) for k in range(len(ids))], label))
        return rows

    report = checks.check_order_pairs(pairs)
    assert not report.passed
    assert any("rng" in reason for reason in report.reasons), report


def test_dice_may_be_thrown_for_masked_tokens_alone():
    def few(rng, token_ids, masked, vocab_size):
        seen = token_ids.copy()
        for row, place in zip(*np.nonzero(masked), strict=True):
            die = rng.integers(10)
            if die < 8:
                seen[row, place] = 4
            elif die == 8:
                seen[row, place] = 5 + rng.integers(vocab_size - 5)
        return seen, np.where(masked, token_ids, -100)

    report = checks.check_replace_masked(few)
    assert report.passed, report


def test_sentences_may_be_dropped_without_a_loop_over_pops():
    def fit(A, B, room):
        a, b = 0, len(B)  # what stays: A[a:] and B[:b]
        while True:
            left, right = sum(map(len, A[a:])), sum(map(len, B[:b]))
            if left + right <= room:
                return A[a:], B[:b]
            may_a, may_b = a < len(A) - 1, b > 1
            if not may_a and not may_b:
                raise ValueError(room)
            if may_a and (left > right or not may_b):
                a += 1
            else:
                b -= 1

    assert checks.check_fit_sentences(fit).passed


def test_rest_may_be_looked_for_in_double_precision():
    def patient(f, x, tolerance, limit):
        z = torch.zeros_like(x)
        for _ in range(limit):
            moved = f(z, x)
            steps = [
                float((a - b).double().square().sum().sqrt()) for a, b in zip(moved, z, strict=True)
            ]
            z = moved
            if all(step < tolerance for step in steps):
                return z
        return None

    assert checks.check_equilibrium(patient).passed


@pytest.mark.parametrize(
    ("check", "answer", "reason"),
    [
        (
            checks.check_attention,
            lambda q, k, v, mask: card_of(checks.check_attention).reference(q, k, v, ~mask),
            "is the mask upside down?",
        ),
        (
            checks.check_attention,
            lambda q, k, v, mask: card_of(checks.check_attention).reference(
                q * (6 / 2) ** 0.5, k, v, mask
            ),
            "dividing by √A",
        ),
        (
            checks.check_sentence_order_head,
            lambda H: torch.nn.Sequential(
                FirstOf(),
                torch.nn.Linear(H, H),
                torch.nn.Tanh(),
                torch.nn.Dropout(0.3),
                torch.nn.Linear(H, 2),
            ),
            "without dropout",
        ),
    ],
)
def test_the_classics_are_named_in_whatever_way_they_are_written(check, answer, reason):
    assert reason in " ".join(check(answer).reasons), check(answer)


class FirstOf(torch.nn.Module):
    """The vector of [CLS]."""

    def forward(self, hidden):
        return hidden[:, 0]


def test_stopping_at_the_last_decided_number_of_seeds_is_not_stopping_early():
    def last_decided(differences):
        found = None
        for n in range(3, len(differences) + 1):
            mean, half = interval(differences[:n])
            if abs(mean) > half:
                found = n
        return found

    assert not checks.check_early_stop(last_decided).passed
    assert checks.check_early_stop(early_stop).passed


def test_a_quotient_of_two_costs_is_another_criterion_than_their_difference():
    def by_quotient(none, ffn, all_shared):
        drops = [a - z for a, z in zip(all_shared, none, strict=True)]
        mean, half = interval(drops)
        if mean <= half:
            return "void"
        costs = [f - z for f, z in zip(ffn, none, strict=True)]
        mean, half = interval([cost / d - 0.5 for cost, d in zip(costs, drops, strict=True)])
        if abs(mean) <= half:
            return "undecided"
        return "agrees" if mean > 0 else "opposes"

    assert not checks.check_most_of_the_drop(by_quotient).passed
