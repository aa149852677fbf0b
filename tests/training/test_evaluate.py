"""Scores by hand, evaluation that repeats itself and disturbs nothing, and the baselines."""

import math

import numpy as np
import pytest
import torch

from albert_edu.batch import IGNORE, PretrainingBatch
from albert_edu.model.albert import AlbertForPretraining, PretrainingOutput, loss_sum
from albert_edu.text.batches import PretrainingStream
from albert_edu.text.prepare import prepare
from albert_edu.text.tokenized import TokenizedCorpus
from albert_edu.training.evaluate import baselines, evaluate, score_sums, scores
from albert_edu.training.pretrain import pretrain
from albert_edu.training.settings import TrainSettings
from tests.support import same_bits, tiny, weights


def sums_of(masked_labels, masked_logits, order_labels, order_logits) -> torch.Tensor:
    """The score sums of a batch with these labels, of a model that said this."""
    labels, order = torch.tensor(masked_labels), torch.tensor(order_labels)
    blank = torch.zeros(len(labels), 5, dtype=torch.long)
    batch = PretrainingBatch(blank, blank, blank, torch.zeros_like(labels), labels, order)
    pairs = torch.tensor(order_logits)
    output = PretrainingOutput(
        masked_token_logits=masked_logits,
        sentence_order_logits=pairs,
        masked_token_loss_sum=loss_sum(masked_logits, labels),
        masked_count=batch.masked_count,
        sentence_order_loss_sum=loss_sum(pairs, order),
        pair_count=batch.pair_count,
    )
    return score_sums(batch, output)


def corpus(*tokens: int) -> TokenizedCorpus:
    offsets = np.array([0, len(tokens)]), np.array([0, 1])
    return TokenizedCorpus(np.array(tokens, dtype=np.uint16), *offsets, np.array([-1]))


def small(story_text, **config) -> tuple[AlbertForPretraining, PretrainingStream]:
    stream = PretrainingStream(story_text.held_out, story_text.tokenizer, "sop", 6, 32)
    return tiny(**config), stream


def test_scores_by_hand():
    # Three sequences, K = 2, and one masked position is unused. Even scores over 4 tokens cost ln 4
    # each, chance ln 2. The guess is token 1: right in two of five; the unused one must not count.
    logits = torch.zeros(3, 2, 4)
    logits[..., 1] = 1e-3
    sums = sums_of([[1, 2], [1, IGNORE], [0, 3]], logits, [0, 1, 1], [[0.0, 1e-3]] * 3)
    # Right answers and labels: of masked tokens, of pairs.
    assert sums[:, 1:].tolist() == [[2, 5], [2, 3]]
    assert scores(sums) == pytest.approx(
        {
            "masked_token_loss": math.log(4),
            "masked_token_accuracy": 2 / 5,
            "sentence_order_loss": math.log(2),
            "sentence_order_accuracy": 2 / 3,
        },
        abs=1e-3,
    )


def test_without_pairs_there_are_no_order_scores():
    means = scores(sums_of([[1], [2]], torch.zeros(2, 1, 4), [IGNORE, IGNORE], [[1.0, 0.0]] * 2))
    assert set(means) == {"masked_token_loss", "masked_token_accuracy"}


def test_without_masked_tokens_the_scores_are_numbers():
    means = scores(sums_of([[IGNORE]], torch.zeros(1, 1, 4), [0], [[1.0, 0.0]]))
    assert all(map(math.isfinite, means.values()))


def test_evaluation_repeats_itself_and_disturbs_neither_model_nor_random_state(story_text):
    model, stream = small(story_text, hidden_dropout=0.5, attention_dropout=0.5)
    before, state = weights(model), torch.get_rng_state()
    for training in (True, False):
        model.train(training)
        assert evaluate(model, stream, 3) == evaluate(model, stream, 3)
        assert all(module.training == training for module in model.modules())
    assert torch.equal(torch.get_rng_state(), state)
    assert same_bits(model, before) and all(p.grad is None for p in model.parameters())


def test_evaluation_is_a_mean_over_tokens_not_over_batches(story_text):
    model, stream = small(story_text)
    model.masked_token_head.decoder.bias.data.normal_(std=2)  # some tokens are far easier
    batches = [stream.batch(step) for step in range(3)]
    batches[1].masked_labels[:, 1:] = IGNORE  # and this batch has few of them
    stream.batch = batches.__getitem__
    outputs = [(model(batch).masked_token_logits, batch.masked_labels) for batch in batches]
    logits, labels = (torch.cat(parts).flatten(0, 1) for parts in zip(*outputs, strict=True))
    loss = torch.nn.functional.cross_entropy(logits, labels).item()
    assert evaluate(model, stream, 3)["masked_token_loss"] == pytest.approx(loss, rel=1e-6)
    assert abs(np.mean([model(batch).masked_token_loss.item() for batch in batches]) - loss) > 1e-3


def test_the_baselines_by_hand():
    # Of 8 tokens, training text has 5 twice and 6 once; one added to each count makes 3/11, 2/11,
    # and 1/11 for the rest.
    known = baselines(corpus(5, 6, 5), corpus(5, 6, 6, 7), 8)
    unigram = -(math.log(3 / 11) + 2 * math.log(2 / 11) + math.log(1 / 11)) / 4
    assert known[:2] == pytest.approx((math.log(8), unigram))


def test_the_copy_baseline_is_what_bayes_reaches_who_sees_only_the_position():
    # Every way a masked position can come about, with its probability, and the posterior of someone who knows
    # these probabilities.
    draw, V, loss = np.random.default_rng(0), 60, 0.0
    train, held_out = (corpus(*np.minimum(5 + draw.geometric(0.1, n), V - 1)) for n in (2000, 500))
    counts, ordinary = np.bincount(train.tokens, minlength=V) + 1, range(5, V)
    q, f = counts / counts.sum(), np.bincount(held_out.tokens, minlength=V) / 500
    for label in range(V):
        loss -= 0.8 * f[label] * math.log(q[label])
        for seen in ordinary:
            chance = 0.1 * f[label] / len(ordinary) + 0.1 * f[label] * (seen == label)
            believed = {y: 0.1 * q[y] / len(ordinary) + 0.1 * q[y] * (y == seen) for y in range(V)}
            if chance:
                loss -= chance * math.log(believed[label] / sum(believed.values()))
    # Ours leaves out that a random token may happen to be the label: one in 55 here, one in
    # thousands on real text.
    known = baselines(train, held_out, V)
    assert known.copy == pytest.approx(loss, abs=0.01) and known.copy < known.unigram - 0.1


def test_a_model_that_only_copies_is_good_where_it_sees_and_bad_at_mask_tokens(story_text):
    class Copier(AlbertForPretraining):
        def forward(self, batch):
            seen = batch.token_ids.gather(1, batch.masked_positions)
            logits = 20 * torch.nn.functional.one_hot(seen, self.config.vocab_size).float()
            pairs = torch.zeros(len(batch), 2)
            return PretrainingOutput(
                masked_token_logits=logits,
                sentence_order_logits=pairs,
                masked_token_loss_sum=loss_sum(logits, batch.masked_labels),
                masked_count=batch.masked_count,
                sentence_order_loss_sum=loss_sum(pairs, batch.order_labels),
                pair_count=batch.pair_count,
            )

    model, stream = small(story_text)
    found = evaluate(Copier(model.config), stream, 4)
    assert found["mask_token_accuracy"] == 0 and 0.05 < found["masked_token_accuracy"] < 0.15


def test_evaluation_that_is_interrupted_leaves_the_model_in_training_mode(story_text):
    model, stream = small(story_text)
    stream.batch = lambda step: {}[step]
    with pytest.raises(KeyError):
        evaluate(model.train(), stream, 1)
    assert model.training and torch.is_grad_enabled()


@pytest.mark.parametrize(
    "use", [evaluate, lambda model, stream: pretrain(model, stream, TrainSettings(steps=1))]
)
def test_a_model_refuses_ids_of_another_vocabulary_of_the_same_size(use, story_text):
    known = PretrainingStream(story_text.train, story_text.tokenizer, "sop", 2, 32)
    foreign = prepare("stories:topic_nouns=3,order_strength=0.5")
    assert len(foreign.tokenizer) == len(story_text.tokenizer)
    model = tiny()
    pretrain(model, known, TrainSettings(steps=1), describe=None)
    use(model, known)
    with pytest.raises(ValueError, match="the same ids mean other tokens"):
        use(model, PretrainingStream(foreign.train, foreign.tokenizer, "sop", 2, 32))


def test_held_out_text_of_another_vocabulary_is_refused_before_the_first_step(story_text, tmp_path):
    own = PretrainingStream(story_text.train, story_text.tokenizer, "sop", 2, 32)
    foreign = prepare("stories:topic_nouns=3,order_strength=0.5")
    held_out = PretrainingStream(foreign.held_out, foreign.tokenizer, "sop", 2, 32)
    model = tiny()
    before = weights(model)
    with pytest.raises(ValueError, match="the same ids mean other tokens"):
        pretrain(model, own, TrainSettings(steps=1), tmp_path, "cpu", held_out, describe=None)
    assert same_bits(weights(model), before) and not list(tmp_path.iterdir())
