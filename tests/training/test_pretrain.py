"""The training loop: what a step is, what it may depend on, what it writes down, and how it stops."""

import copy
import json
import math

import pytest
import torch

from albert_edu.config import AlbertConfig
from albert_edu.model.albert import AlbertForPretraining
from albert_edu.text.batches import PretrainingStream
from albert_edu.text.masking import IGNORE
from albert_edu.training import pretrain as module
from albert_edu.training.evaluate import MARGIN, Baselines, evaluate, tally
from albert_edu.training.history import History
from albert_edu.training.pretrain import NonFiniteLoss, pick_device, pretrain
from albert_edu.training.settings import PretrainSettings, learning_rate

DROPOUT = {"hidden_dropout": 0.1, "attention_dropout": 0.1}


def tiny(**changes) -> AlbertForPretraining:
    torch.manual_seed(0)
    sizes = dict(vocab_size=200, embedding_size=16, hidden_size=32, num_heads=2, max_positions=64)
    return AlbertForPretraining(AlbertConfig.named("albert-tiny", **{**sizes, **changes}))


def weights(model: AlbertForPretraining) -> dict[str, torch.Tensor]:
    return {name: p.detach().clone() for name, p in model.named_parameters()}


def distance(one: dict, other: dict) -> float:
    return max((one[name] - other[name]).abs().max().item() for name in one)


@pytest.fixture
def stream(story_text) -> PretrainingStream:
    return PretrainingStream(story_text.train, story_text.tokenizer, "sop", batch_size=8, sequence_length=32)


@pytest.fixture
def lopsided(stream) -> PretrainingStream:
    """Every other sequence has one masked token left, so the parts of a batch differ in how many they have."""
    whole = stream.batch

    def batch(step: int):
        made = whole(step)
        made.masked_labels[1::2, 1:] = IGNORE
        return made

    stream.batch = batch
    return stream


def trained(stream, model=None, held_out=None, metrics_file=None, **settings) -> tuple[dict, History]:
    model = model or tiny()
    run = PretrainSettings(**{"steps": 4, "learning_rate": 1e-3, "log_every": 2, **settings})
    history = pretrain(model, stream, run, held_out=held_out, metrics_file=metrics_file, device="cpu")
    return weights(model), history


def mean_of_means(model, batch, settings, step, workers):
    """What many loops do instead: average the parts' means."""
    total, parts = torch.zeros(8, dtype=torch.float64), workers.micro_batches(settings.accumulate)
    for rows in parts:
        output = model(batch.rows(rows))
        (output.loss / len(parts)).backward()
        total += tally(batch.rows(rows), output)
    return total


@pytest.mark.parametrize("optimizer", ["adamw", "lamb"])
def test_cutting_a_batch_into_parts_changes_no_weight(lopsided, optimizer, monkeypatch):
    # In float64, because Adam's m / sqrt(v) blows the rounding of a tiny gradient up to some 1e-6 of float32.
    whole, history = trained(lopsided, tiny().double(), optimizer=optimizer)
    for parts in (2, 4, 11):  # with 11 some have no sequence
        cut, cut_history = trained(lopsided, tiny().double(), optimizer=optimizer, accumulate=parts)
        assert distance(whole, cut) < 1e-6
        for a, b in zip(history.records, cut_history.records, strict=True):
            assert {**a, "tokens_per_second": 0} == pytest.approx({**b, "tokens_per_second": 0}, rel=1e-5)
    monkeypatch.setattr(module, "forward_backward", mean_of_means)
    mistaken = trained(lopsided, tiny().double(), optimizer=optimizer, accumulate=2)[0]
    assert distance(whole, mistaken) > 1e-4  # the mistake would be seen


@pytest.mark.parametrize("accumulate", [1, 2])
def test_clipping_shortens_the_gradient_of_all_parameters_together(stream, monkeypatch, accumulate):
    # With plain gradient descent and rate 1 the step is the gradient.
    monkeypatch.setattr(module, "make_optimizer", lambda model, settings: torch.optim.SGD(model.parameters(), lr=1.0))
    start = weights(tiny())

    def gradient(clip: float) -> tuple[torch.Tensor, float]:
        after, history = trained(stream, steps=1, learning_rate=1.0, clip_norm=clip, accumulate=accumulate)
        return torch.cat([(start[name] - after[name]).flatten() for name in start]), history.last("gradient_norm")

    full, norm = gradient(1e9)
    clipped, norm_again = gradient(0.01)
    assert norm == norm_again == pytest.approx(full.norm().item(), rel=1e-4) and norm > 0.1  # the record has it before clipping
    torch.testing.assert_close(clipped, full * (0.01 / norm), rtol=1e-3, atol=1e-7)  # one factor for all: same direction


def test_a_clip_norm_of_0_never_clips(stream):
    assert distance(trained(stream, clip_norm=0.0)[0], trained(stream, clip_norm=1e9)[0]) == 0


def test_a_run_of_no_steps_has_a_verdict_too(stream):
    before = weights(tiny())
    after, history = trained(stream, steps=0)
    assert distance(before, after) == 0 and history.verdict().startswith("not trained")


def test_the_gradient_is_that_of_the_loss_the_model_reports(stream, monkeypatch):
    monkeypatch.setattr(module, "make_optimizer", lambda model, settings: torch.optim.SGD(model.parameters(), lr=1.0))
    model = tiny()
    model(stream.batch(0)).loss.backward()
    expected = {name: p.detach() - p.grad for name, p in model.named_parameters()}
    assert distance(expected, trained(stream, steps=1, learning_rate=1.0, clip_norm=1e9)[0]) < 1e-7


def test_bfloat16_stays_finite_keeps_float32_weights_and_stays_near_float32(stream):
    (exact, history), (rounded, half) = trained(stream), trained(stream, precision="bfloat16")
    assert all(w.dtype == torch.float32 and w.isfinite().all() for w in rounded.values())
    assert half.last("masked_token_loss") == pytest.approx(history.last("masked_token_loss"), abs=0.05)
    assert 0 < distance(exact, rounded)  # it did use it


@pytest.mark.slow
@pytest.mark.parametrize("optimizer, rate", [("adamw", 5e-3), ("lamb", 2e-2)])
@pytest.mark.parametrize("objective", ["sop", "none"])
def test_sixty_steps_learn_something(story_text, optimizer, rate, objective):
    stream = PretrainingStream(story_text.train, story_text.tokenizer, objective, 8, 32)
    history = trained(stream, steps=60, learning_rate=rate, warmup_steps=6, optimizer=optimizer, log_every=10)[1]
    losses = history.column("masked_token_loss")[1]
    assert losses[-1] < min(losses[0] - 0.4, 4.5) and all(map(math.isfinite, losses))  # ln 200 is 5.3


@pytest.mark.parametrize("optimizer", ["adamw", "lamb"])
def test_without_an_order_objective_the_pooler_and_the_order_head_stay_as_they_were(story_text, optimizer):
    # A gradient of zeros is not no gradient: LAMB would shrink these matrices by the whole rate at every step.
    stream = PretrainingStream(story_text.train, story_text.tokenizer, "none", 8, 32)
    before, after = weights(tiny()), trained(stream, optimizer=optimizer)[0]
    untouched = {name for name in before if torch.equal(before[name], after[name])}
    assert untouched == {name for name in before if name.startswith(("albert.pooler", "sentence_order_head"))}


def test_the_seed_decides_dropout_and_the_callers_random_state_neither_decides_nor_changes(stream):
    def run(seed: int, callers: int) -> dict:
        model = tiny(**DROPOUT)
        torch.manual_seed(callers)
        state = torch.get_rng_state()
        after = trained(stream, model, seed=seed)[0]
        assert torch.equal(torch.get_rng_state(), state)
        return after

    assert distance(run(0, callers=1), run(0, callers=2)) == 0
    assert distance(run(0, callers=1), run(1, callers=1)) > 0


def test_dropout_differs_from_step_to_step(stream):
    rate, seen = PretrainSettings(steps=2, learning_rate=0.0, log_every=1), []
    first = stream.batch(0)
    stream.batch = lambda step: first
    model = tiny(hidden_dropout=0.5)
    model.albert.embeddings.dropout.register_forward_hook(lambda layer, given, output: seen.append(output == 0))
    pretrain(model, stream, rate, device="cpu")
    assert 0.4 < seen[0].float().mean() < 0.6 and not torch.equal(*seen)


def test_watching_more_closely_changes_no_weight(stream, story_text, tmp_path):
    held_out = PretrainingStream(story_text.held_out, story_text.tokenizer, "sop", 4, 32)
    model = tiny(**DROPOUT)
    run = PretrainSettings(4, 1e-3, checkpoint_every=1, log_every=1, evaluate_every=1, evaluate_batches=2)
    pretrain(model, stream, run, tmp_path, "cpu", held_out, tmp_path / "metrics.jsonl")
    assert distance(weights(model), trained(stream, tiny(**DROPOUT))[0]) == 0


@pytest.mark.parametrize("accumulate", [1, 3])
def test_a_record_is_the_mean_over_all_tokens_since_the_last_record(lopsided, accumulate):
    # At rate 0 the weights stand still, so evaluation of the same batches must give the same numbers.
    model = tiny()
    history = trained(lopsided, model, learning_rate=0.0, steps=5, log_every=3, accumulate=accumulate)[1]
    assert [record["step"] for record in history.records] == [3, 5]
    later = copy.copy(lopsided)
    later.batch = lambda step: lopsided.batch(step + 3)
    for record, stream, batches in zip(history.records, (lopsided, later), (3, 2), strict=True):
        expected = evaluate(model, stream, batches)
        both = expected.keys() & record.keys()
        assert "masked_token_loss" in both and "swapped_recall" in both
        assert {name: record[name] for name in both} == pytest.approx({name: expected[name] for name in both}, rel=1e-5)


def test_metrics_are_one_line_a_record_with_the_rate_of_that_step(stream, story_text, tmp_path):
    held_out = PretrainingStream(story_text.held_out, story_text.tokenizer, "sop", 4, 32)
    file, model = tmp_path / "new" / "metrics.jsonl", tiny()
    settings = dict(steps=7, log_every=3, warmup_steps=2, evaluate_every=4, evaluate_batches=2)
    history = trained(stream, model, held_out, file, **settings)[1]
    assert [json.loads(line) for line in file.read_text().splitlines()] == history.records
    assert history.column("masked_token_loss")[0] == [3, 6, 7]
    assert history.column("held_out_masked_token_loss")[0] == [4, 7]
    run = PretrainSettings(learning_rate=1e-3, **settings)
    assert history.column("learning_rate")[1] == [learning_rate(step, run) for step in (2, 5, 6)]
    after = evaluate(model, held_out, 2)
    assert {name: history.records[-1][f"held_out_{name}"] for name in after} == after  # measured on the weights it returns
    assert all(tokens > 0 for tokens in history.column("tokens_per_second")[1]) and model.training


def test_the_verdict_reads_the_held_out_loss_if_there_is_one():
    history = History(Baselines(5.3, 4.3, 4.0), [{"step": 1, "masked_token_loss": 4.0}])
    assert history.verdict().startswith("below the unigram baseline")
    history.add({"step": 2, "held_out_masked_token_loss": 4.3 - MARGIN / 2})
    assert history.verdict().startswith("not below the unigram baseline") and history.last("held_out_masked_token_loss") < 4.3
    assert history.column("masked_token_loss") == ([1], [4.0])


def test_rewriting_the_metrics_drops_lines_of_steps_that_were_lost(tmp_path):
    file = tmp_path / "metrics.jsonl"
    file.write_text('{"step": 10}\n{"step": 20}\n{"step": 3')  # killed while it wrote
    history = History(Baselines(5.3, 4.3, 4.0), [{"step": 10}])
    history.rewrite(file)
    history.add({"step": 11}, file)
    assert file.read_text() == '{"step": 10}\n{"step": 11}\n'


def test_a_device_is_the_cpu_unless_there_is_a_card_or_one_is_named(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)
    assert {str(pick_device(name)) for name in (None, "auto", "cpu", torch.device("cpu"))} == {"cpu"}
    assert str(pick_device("mps")) == "mps"  # only when asked for
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 4)
    monkeypatch.setenv("LOCAL_RANK", "3")
    assert str(pick_device("auto")) == "cuda:3"
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    with pytest.raises(ValueError, match="worker 3 has no card: there are 1"):
        pick_device("auto")


@pytest.mark.parametrize(("start", "stop"), [(0, 0), (3, 5), (0, 30), (25, 30)])
def test_batches_built_ahead_for_a_card_are_each_step_once_and_in_order(stream, start, stop):
    """No card here, so they go to "meta", which keeps shapes; what is asked of the stream is looked at instead."""
    asked, whole = [], stream.batch
    stream.batch = lambda step: asked.append(step) or whole(step)
    steps = [step for step, batch in module._batches(stream, range(start, stop), torch.device("meta")) if batch.token_ids.is_meta]
    assert steps == sorted(asked) == list(range(start, stop))


def test_a_sequence_longer_than_the_position_table_is_refused_by_name(stream):
    with pytest.raises(ValueError, match=r"sequence of 32 tokens.*max_positions is 16"):
        trained(stream, tiny(max_positions=16))


def test_a_vocabulary_smaller_than_the_tokenizers_is_refused_by_name(stream):
    with pytest.raises(ValueError, match=r"150.*190|190.*150"):
        trained(stream, tiny(vocab_size=150))


def poison(stream, at: int, tensor: torch.Tensor, value: float = math.nan):
    """Ruin one number just before step ``at`` computes."""
    whole = stream.batch

    def batch(step: int):
        if step == at:
            tensor.data.view(-1)[0] = value
        return whole(step)

    stream.batch = batch


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_weight_that_is_not_finite_stops_the_run_and_is_named(stream, value):
    model = tiny()
    poison(stream, 3, model.albert.encoder.ffn[0].down.weight, value)
    with pytest.raises(NonFiniteLoss, match=r"step 3\b.*weights of albert\.encoder\.ffn\.0\.down\.weight "):
        trained(stream, model, steps=6)


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_gradient_that_is_not_finite_stops_the_run_before_the_step_and_is_named(stream, value):
    model, calls = tiny(), []

    def ruin(gradient):
        calls.append(1)
        return torch.full_like(gradient, value) if len(calls) == 4 else gradient

    model.masked_token_head.dense.bias.register_hook(ruin)
    with pytest.raises(NonFiniteLoss, match=r"step 3\b.*gradient of masked_token_head\.dense\.bias "):
        trained(stream, model, steps=6)
    assert all(w.isfinite().all() for w in weights(model).values())


@pytest.mark.parametrize("optimizer", ["adamw", "lamb"])
def test_an_absurd_learning_rate_ends_in_an_error_and_not_in_silence(stream, optimizer):
    with pytest.raises(NonFiniteLoss, match="learning rate too high"):
        trained(stream, optimizer=optimizer, learning_rate=1e36, steps=10)


def test_weights_ruined_by_the_last_step_are_not_handed_back_as_a_result(stream, tmp_path, monkeypatch):
    model, make = tiny(), module.make_optimizer

    def ruinous(model, settings):
        optimizer = make(model, settings)
        optimizer.register_step_post_hook(lambda *_: model.albert.pooler.bias.data.fill_(math.inf))
        return optimizer

    monkeypatch.setattr(module, "make_optimizer", ruinous)
    with pytest.raises(NonFiniteLoss, match=r"albert\.pooler\.bias"):
        pretrain(model, stream, PretrainSettings(1), tmp_path, "cpu")
    assert not list(tmp_path.glob("step-*"))  # nor kept as a good checkpoint
