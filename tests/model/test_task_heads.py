"""Task heads: the numbers of transformers' heads, and losses that mean what they say."""

import dataclasses

import pytest
import torch
import torch.nn.functional as F
import transformers

from albert_edu.config import AlbertConfig
from albert_edu.model.albert import AlbertForPretraining
from albert_edu.model.interchange import save_pretrained
from albert_edu.model.task_heads import LONGEST_ANSWER, AlbertForChoice, AlbertForClassification, AlbertForSpan
from albert_edu.text.masking import IGNORE
from albert_edu.text.tasks import TaskData

V, B, C, S = 60, 3, 4, 11


@pytest.fixture
def pretrained() -> AlbertForPretraining:
    return AlbertForPretraining(AlbertConfig(V, 8, 16, num_layers=2, num_heads=2, max_positions=16, init_std=0.3))


def data(*shape: int, labels) -> TaskData:
    mask = (torch.arange(S) < torch.randint(8, S + 1, (*shape, 1))).long()
    return TaskData(torch.randint(1, V, (*shape, S)) * mask, (torch.arange(S) >= 4).long() * mask, mask, torch.as_tensor(labels))


@pytest.mark.parametrize("kind", ["SequenceClassification", "MultipleChoice"])
def test_logits_are_those_of_transformers(pretrained, tmp_path, kind):
    save_pretrained(pretrained, None, tmp_path)
    choice = kind == "MultipleChoice"
    ours = AlbertForChoice(pretrained.albert) if choice else AlbertForClassification(pretrained.albert, 3)
    extra = {} if choice else {"num_labels": 3}
    theirs = getattr(transformers, f"AlbertFor{kind}").from_pretrained(tmp_path, **extra)
    theirs.classifier.load_state_dict(ours.head.state_dict())
    batch = data(*((B, C) if choice else (B,)), labels=[0, 1, 2])
    arguments = dict(input_ids=batch.token_ids, token_type_ids=batch.segment_ids, attention_mask=batch.attention_mask)
    output = theirs.eval()(**arguments, labels=batch.labels)
    torch.testing.assert_close(ours.eval()(batch), output.logits)
    torch.testing.assert_close(ours.loss(batch), output.loss)


def test_one_label_is_a_regression(pretrained):
    model = AlbertForClassification(pretrained.albert, 1).eval()
    batch = data(B, labels=[0.5, 2.0, 5.0])
    torch.testing.assert_close(model.loss(batch), F.mse_loss(model.predict(batch), batch.labels))


def test_only_the_context_can_answer_and_answers_are_in_order(pretrained):
    model = AlbertForSpan(pretrained.albert).eval()
    torch.nn.init.constant_(model.head["none"].bias, -100.0)
    batch = data(64, labels=[[5, 6]] * 64)
    first, last = model.predict(batch).T
    final_separator = batch.attention_mask.sum(1) - 1
    assert (first >= 4).all() and (first <= last).all() and (last < final_separator).all()
    assert (last - first < LONGEST_ANSWER).all()


def test_a_question_without_an_answer_moves_no_span_and_one_with_an_answer_does(pretrained):
    model = AlbertForSpan(pretrained.albert).eval()
    batch = data(2, labels=[[IGNORE, IGNORE], [5, 6]])
    model.loss(batch.rows(slice(0, 1))).backward()
    assert not model.head["span"].weight.grad.any() and model.head["none"].weight.grad.any()
    moved = dataclasses.replace(batch, labels=torch.tensor([[IGNORE, IGNORE], [5, 5]]))
    assert model.loss(moved) != model.loss(batch)
    torch.nn.init.constant_(model.head["none"].bias, 100.0)
    assert (model.predict(batch) == IGNORE).all()


def test_padding_never_moves_a_prediction(pretrained):
    batch = data(B, labels=[0, 1, 2])
    other = dataclasses.replace(batch, token_ids=batch.token_ids.where(batch.attention_mask.bool(), 7))
    for model in (AlbertForClassification(pretrained.albert, 3), AlbertForSpan(pretrained.albert)):
        torch.testing.assert_close(model.eval()(batch), model(other))
