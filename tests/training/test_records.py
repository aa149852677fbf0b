"""What the training loop writes down, and that watching a run does not change it."""

import copy

import pytest

from albert_edu.text.batches import PretrainingStream
from albert_edu.training.evaluate import MARGIN, Baselines, baselines, evaluate
from albert_edu.training.history import History
from albert_edu.training.pretrain import pretrain
from albert_edu.training.settings import TrainSettings, learning_rate
from tests.support import same_bits, tiny
from tests.training.runs import DROPOUT, lopsided_stream, small_stream, trained

stream = pytest.fixture(small_stream)
lopsided = pytest.fixture(lopsided_stream)


def test_watching_more_closely_changes_no_weight(stream, story_text, tmp_path):
    held_out = PretrainingStream(story_text.held_out, story_text.tokenizer, "sop", 4, 32)
    model = tiny(**DROPOUT)
    often = dict(checkpoint_every=1, log_every=1, evaluate_every=1)
    run = TrainSettings(4, 1e-3, **often)
    pretrain(model, stream, run, tmp_path, "cpu", held_out)
    assert same_bits(model, trained(stream, tiny(**DROPOUT))[0])


@pytest.mark.parametrize("accumulate", [1, 3])
def test_a_record_is_the_mean_over_all_tokens_since_the_last_record(lopsided, accumulate):
    # At rate 0 the weights stand still, so evaluation of these batches gives the same numbers.
    model, run = tiny(), dict(learning_rate=0.0, steps=5, log_every=3, accumulate=accumulate)
    history = trained(lopsided, model, **run)[1]
    assert [record["step"] for record in history.records] == [3, 5]
    later = copy.copy(lopsided)
    later.batch = lambda step: lopsided.batch(step + 3)
    for record, stream, batches in zip(history.records, (lopsided, later), (3, 2), strict=True):
        expected = evaluate(model, stream, batches)
        both = expected.keys() & record.keys()
        assert {"masked_token_loss", "sentence_order_accuracy"} <= both
        for name in both:
            assert record[name] == pytest.approx(expected[name], rel=1e-5), name


def test_a_record_has_the_rate_of_its_step_and_the_scores_of_its_weights(stream, story_text):
    held_out = PretrainingStream(story_text.held_out, story_text.tokenizer, "sop", 4, 32)
    model = tiny()
    settings = dict(steps=7, log_every=3, warmup_steps=2, evaluate_every=4)
    history = trained(stream, model, held_out, **settings)[1]
    assert history.column("masked_token_loss")[0] == [3, 6, 7]
    assert history.column("held_out_masked_token_loss")[0] == [4, 7]
    run = TrainSettings(learning_rate=1e-3, **settings)
    assert history.column("learning_rate")[1] == [learning_rate(step, run) for step in (2, 5, 6)]
    after = evaluate(model, held_out)
    last = history.records[-1]  # measured on the weights that it returns
    assert {name: last[f"held_out_{name}"] for name in after} == after
    assert min(history.column("seconds")[1]) > 0 and model.training


def test_the_verdict_reads_the_held_out_loss_if_there_is_one_and_knows_a_run_of_no_steps(stream):
    assert trained(stream, steps=0)[1].verdict().startswith("not trained")
    history = History(Baselines(5.3, 4.3, 4.0), [{"step": 1, "masked_token_loss": 4.0}])
    assert history.verdict().startswith("below the unigram baseline")
    history.records.append({"step": 2, "held_out_masked_token_loss": 4.3 - MARGIN / 2})
    assert history.verdict().startswith("not below the unigram baseline")
    assert history.column("masked_token_loss") == ([1], [4.0])


def test_what_is_observed_goes_into_the_records_and_changes_no_bit(stream):
    seen = []

    def observe(model) -> dict:
        seen.append(model.training)
        return {"norm": model.sentence_order_head.weight.norm().item()}

    plain, watched = tiny(), tiny()
    settings = TrainSettings(steps=5, log_every=5, evaluate_every=2)
    pretrain(plain, stream, settings, describe=None)
    history = pretrain(watched, stream, settings, describe=None, observe=observe)
    assert history.column("norm")[0] == [2, 4, 5] and seen == [True] * 3
    assert same_bits(plain, watched)


def test_the_baselines_are_learnt_from_the_training_text_and_are_of_the_held_out(
    stream, story_text
):
    tokenizer, train, unseen = story_text
    held_out = PretrainingStream(unseen, tokenizer, "sop", 4, 32)
    for given, measured in ((held_out, unseen), (None, train)):
        history = trained(stream, held_out=given, steps=0)[1]
        assert history.baselines == baselines(train, measured, len(tokenizer))
