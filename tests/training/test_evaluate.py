"""Scores by hand, evaluation that repeats itself and disturbs nothing, and the baselines."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from albert_edu.config import AlbertConfig
from albert_edu.model.albert import AlbertForPretraining, PretrainingOutput, loss_sum
from albert_edu.text.batches import PretrainingBatch, PretrainingStream
from albert_edu.text.masking import IGNORE
from albert_edu.text.tokenized import TokenizedCorpus
from albert_edu.training.evaluate import MARGIN, Baselines, baselines, evaluate, scores, tally

quick = settings(max_examples=25, deadline=None, derandomize=True)


def judged(masked_labels, masked_logits, order_labels, order_logits) -> tuple[PretrainingBatch, PretrainingOutput]:
    """A batch of these labels, and the output of a model that said this."""
    labels, order = torch.tensor(masked_labels), torch.tensor(order_labels)
    logits, order_logits = torch.as_tensor(masked_logits).float(), torch.as_tensor(order_logits).float()
    blank = torch.zeros(len(labels), 5, dtype=torch.long)
    batch = PretrainingBatch(blank, blank, blank, torch.zeros_like(labels), labels, order)
    return batch, PretrainingOutput(logits, order_logits, *loss_sum(logits, labels), *loss_sum(order_logits, order))


def sure_of(classes: int, *answers) -> torch.Tensor:
    return 9.0 * torch.nn.functional.one_hot(torch.tensor(answers), classes)


def corpus(*tokens: int) -> TokenizedCorpus:
    return TokenizedCorpus(np.array(tokens, dtype=np.uint16), np.array([0, len(tokens)]), np.array([0, 1]), np.array([-1]))


def small(story_text, batch_size=6, **config) -> tuple[AlbertForPretraining, PretrainingStream]:
    model = AlbertForPretraining(AlbertConfig.named("albert-tiny", vocab_size=200, hidden_size=32, num_heads=2, **config))
    return model, PretrainingStream(story_text.held_out, story_text.tokenizer, "sop", batch_size, 32)


def test_scores_by_hand():
    # Three sequences of two slots, one of them unused. Even scores over 4 tokens cost ln 4 each, chance ln 2.
    logits = torch.zeros(3, 2, 4)
    logits[..., 1] = 1e-3  # the guess is token 1: right in two slots of five; the unused slot must not count
    batch, output = judged([[1, 2], [1, IGNORE], [0, 3]], logits, [0, 1, 1], [[0.0, 1e-3], [0.0, 1e-3], [1e-3, 0.0]])
    assert tally(batch, output)[[1, 2, 4, 5, 6, 7]].tolist() == [2, 5, 0, 1, 1, 2]
    assert scores(tally(batch, output)) == pytest.approx({
        "masked_token_loss": math.log(4), "masked_token_accuracy": 2 / 5, "sentence_order_loss": math.log(2),
        "sentence_order_accuracy": 1 / 3, "in_order_recall": 0.0, "swapped_recall": 1 / 2,
    }, abs=1e-3)  # fmt: skip


def test_a_model_that_always_says_in_order_has_recalls_one_and_nought():
    batch, output = judged([[1]] * 4, sure_of(4, 1, 1, 1, 1)[:, None], [0, 0, 0, 1], sure_of(2, 0, 0, 0, 0))
    measured = scores(tally(batch, output))
    assert (measured["in_order_recall"], measured["swapped_recall"]) == (1.0, 0.0)
    assert measured["sentence_order_accuracy"] == 0.75 and measured["masked_token_accuracy"] == 1.0


def test_without_pairs_there_are_no_order_scores():
    batch, output = judged([[1], [2]], sure_of(4, 1, 1)[:, None], [IGNORE, IGNORE], sure_of(2, 0, 1))
    assert set(scores(tally(batch, output))) == {"masked_token_loss", "masked_token_accuracy"}


def test_without_masked_tokens_the_scores_are_numbers():
    batch, output = judged([[IGNORE]], sure_of(4, 1)[:, None], [0], sure_of(2, 0))
    assert all(math.isfinite(value) for value in scores(tally(batch, output)).values())


@quick
@given(st.integers(1, 5), st.integers(0, 1000))
def test_tallies_of_parts_add_up_to_the_tally_of_the_whole(cut, seed):
    rng = torch.Generator().manual_seed(seed)
    labels = torch.randint(0, 4, (6, 3), generator=rng)
    labels[torch.rand(6, 3, generator=rng) < 0.5] = IGNORE
    order = torch.randint(0, 2, (6,), generator=rng)
    said = torch.randn(6, 3, 4, generator=rng), torch.randn(6, 2, generator=rng)

    def part(rows: slice) -> torch.Tensor:
        return tally(*judged(labels[rows].tolist(), said[0][rows], order[rows].tolist(), said[1][rows]))

    torch.testing.assert_close(part(slice(cut)) + part(slice(cut, None)), part(slice(None)), rtol=1e-6, atol=1e-6)


def test_evaluation_repeats_itself_and_leaves_the_model_and_the_random_state_as_they_were(story_text):
    model, stream = small(story_text, hidden_dropout=0.5, attention_dropout=0.5)
    before = [p.clone() for p in model.parameters()]
    state = torch.get_rng_state()
    for training in (True, False):
        model.train(training)
        assert evaluate(model, stream, 3) == evaluate(model, stream, 3)
        assert all(module.training == training for module in model.modules())
    assert torch.equal(torch.get_rng_state(), state)
    assert all(torch.equal(a, b) and b.grad is None for a, b in zip(before, model.parameters(), strict=True))


def test_evaluation_is_a_mean_over_tokens_not_over_batches(story_text):
    model, stream = small(story_text)
    model.masked_token_head.decoder.bias.data.normal_(std=2)  # some tokens are far easier than others
    batches = [stream.batch(step) for step in range(3)]
    batches[1].masked_labels[:, 1:] = IGNORE  # and this batch has few of them
    stream.batch = batches.__getitem__
    losses = torch.cat([
        torch.nn.functional.cross_entropy(model(b).masked_token_logits.flatten(0, 1), b.masked_labels.flatten(), reduction="none")
        for b in batches
    ])  # fmt: skip
    used = torch.cat([b.masked_labels.flatten() for b in batches]) != IGNORE
    assert evaluate(model, stream, 3)["masked_token_loss"] == pytest.approx(losses[used].mean().item(), rel=1e-6)
    mean_of_means = np.mean([model(b).masked_token_loss.item() for b in batches])
    assert abs(mean_of_means - losses[used].mean().item()) > 1e-3


def test_the_baselines_by_hand():
    # Of 8 tokens, training text has 5 twice and 6 once; one added to each count makes 3/11, 2/11, and 1/11 for the rest.
    known = baselines(corpus(5, 6, 5), corpus(5, 6, 6, 7), 8)
    expected = -(math.log(3 / 11) + 2 * math.log(2 / 11) + math.log(1 / 11)) / 4
    assert (known.uniform, known.unigram, known.chance) == pytest.approx((math.log(8), expected, math.log(2)))


def test_the_copy_baseline_is_what_bayes_reaches_who_sees_only_the_slot():
    # Every way a slot can come about, with its probability, and the posterior of someone who knows these probabilities.
    draw, V = np.random.default_rng(0), 60
    train, held_out = (corpus(*np.minimum(5 + draw.geometric(0.1, n), V - 1).tolist()) for n in (2000, 500))
    counts = np.bincount(train.tokens, minlength=V) + 1
    q, f, ordinary = counts / counts.sum(), np.bincount(held_out.tokens, minlength=V) / 500, range(5, V)
    loss = 0.0
    for label in range(V):
        loss -= 0.8 * f[label] * math.log(q[label])
        for seen in ordinary:
            chance = 0.1 * f[label] / len(ordinary) + 0.1 * f[label] * (seen == label)
            believed = {y: 0.1 * q[y] / len(ordinary) + 0.1 * q[y] * (y == seen) for y in range(V)}
            if chance:
                loss -= chance * math.log(believed[label] / sum(believed.values()))
    # Ours leaves out that a random token may happen to be the label: one in 55 here, one in thousands on real text.
    known = baselines(train, held_out, V)
    assert known.copy == pytest.approx(loss, abs=0.01) and known.copy < known.unigram - 0.1


def test_an_untrained_model_is_as_bad_at_mask_tokens_as_anywhere(story_text):
    found = evaluate(*small(story_text), 2)
    assert found["mask_token_loss"] == pytest.approx(found["masked_token_loss"], rel=0.05)


def test_a_model_that_only_copies_is_good_where_it_sees_and_bad_at_mask_tokens(story_text):
    class Copier(AlbertForPretraining):
        def forward(self, batch):
            seen = batch.token_ids.gather(1, batch.masked_positions)
            logits = 20 * torch.nn.functional.one_hot(seen, self.config.vocab_size).float()
            sums = loss_sum(logits, batch.masked_labels)
            return PretrainingOutput(logits, torch.zeros(len(batch), 2), *sums, *sums)

    model, stream = small(story_text)
    found = evaluate(Copier(model.config), stream, 4)
    assert found["mask_token_accuracy"] == 0 and 0.05 < found["masked_token_accuracy"] < 0.15


@quick
@given(st.lists(st.integers(0, 19), min_size=1, max_size=50), st.lists(st.integers(0, 19), min_size=1, max_size=50))
def test_no_frequencies_beat_those_of_the_text_itself(train, held_out):
    known = baselines(corpus(*train), corpus(*held_out), 20)
    shares = [held_out.count(token) / len(held_out) for token in set(held_out)]
    assert -sum(p * math.log(p) for p in shares) - 1e-9 <= known.unigram < math.inf


def test_the_unigram_baseline_lies_well_below_ln_V_on_real_text(story_text):
    known = baselines(story_text.train, story_text.held_out, len(story_text.tokenizer))
    assert known.uniform == pytest.approx(math.log(len(story_text.tokenizer))) and known.unigram < known.uniform - 0.5


def test_the_verdict_flips_at_the_margin_below_the_unigram_baseline():
    known = Baselines(8.29, 6.34, 5.78)
    edge = 6.34 - MARGIN
    assert known.verdict(edge - 1e-6).startswith("below the unigram baseline")
    assert known.verdict(edge + 1e-6).startswith("not below the unigram baseline")
    assert "6.24" in known.verdict(edge) and "6.34" in known.verdict(edge)
    assert "but not below the copy baseline" in known.verdict(5.78 - MARGIN + 1e-6)
    assert known.verdict(5.78 - MARGIN - 1e-6).startswith("below the copy baseline")


def test_evaluation_that_is_interrupted_leaves_the_model_in_training_mode(story_text):
    model, stream = small(story_text)
    stream.batch = lambda step: {}[step]
    with pytest.raises(KeyError):
        evaluate(model.train(), stream, 1)
    assert model.training and torch.is_grad_enabled()
