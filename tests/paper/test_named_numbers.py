"""Numbers of the records are what their names say."""

from types import SimpleNamespace

import pytest
import torch
import torch.nn.functional as F

from albert_edu.model.albert import AlbertForPretraining
from albert_paper import few_labels as few_labels_file
from albert_paper.few_labels import few_labels
from albert_paper.layer_steps import layer_steps
from albert_paper.order_cross import features, head_curve
from albert_paper.text_scores import living_parts
from albert_paper.training_run import Run
from tests.support import randomised, same_bits, tiny, weights

SHORT = {"steps": 4, "batch_size": 4, "sequence_length": 32}


class Knows(torch.nn.Linear):
    """A model that is right about every pair."""

    def forward(self, batch):
        right = F.one_hot(batch.order_labels, 2).float()
        return SimpleNamespace(sentence_order_logits=2 * right - 1)


@pytest.mark.usefixtures("small_measures")
def test_who_is_right_about_every_pair_has_all_of_the_area():
    run = Run("a", **SHORT)
    stream = run.stream(run.text(), held_out=True)
    assert head_curve(Knows(1, 1), stream) == {
        "auc": 1.0,
        "recall_in_order": 1.0,
        "recall_other": 1.0,
    }


@pytest.mark.usefixtures("small_measures")
def test_a_probe_reads_the_mean_of_a_row_s_tokens_without_padding():
    run = Run("a", **SHORT)
    stream = run.stream(run.text(), short_probability=1.0)
    model = randomised(tiny())
    batch = stream.batch(0)
    found = features(model, stream).mean[:4]
    hidden = model.albert(*batch.unmasked()).last_hidden
    for row, states, mask in zip(found, hidden, batch.attention_mask.bool(), strict=True):
        torch.testing.assert_close(row, states[mask].mean(0))
    assert not batch.attention_mask.all()


@pytest.mark.usefixtures("small_measures")
def test_numbers_of_a_record_are_what_their_names_say():
    run = Run("a", **SHORT, config=(("num_layers", 5),), vocabulary="stories")
    text = run.text()
    model = randomised(AlbertForPretraining(run.model_config(len(text.tokenizer))))
    health = living_parts(model, text, run)
    assert health["ffn_worth"] == health["without_ffn"] - health["loss"]
    assert health["attention_worth"] == health["without_attention"] - health["loss"]
    assert health["least_open"] == min(health["open_units"])
    found = layer_steps(model, text, run)
    before = sum(found["untrained"]["angle_degrees"][1:5]) / 4
    assert found["added"]["mean_angle"] == pytest.approx(found["mean_angle"] - before)


@pytest.mark.usefixtures("small_measures")
def test_few_labels_leave_the_model_alone_and_are_scored_on_stories_that_were_held_out(
    monkeypatch,
):
    scored = []
    real = few_labels_file.task_scores
    monkeypatch.setattr(
        few_labels_file, "task_scores", lambda task, on: scored.append(len(on)) or real(task, on)
    )
    run = Run("a", **SHORT, corpus="stories")
    model = AlbertForPretraining(run.model_config(190))
    before = weights(model)
    few_labels(model, run.text(), run)
    assert same_bits(before, model)
    assert scored == [100, 100], "a quarter of the 400 examples"
