"""Task heads: the numbers of transformers' heads, and losses that mean what they say."""

import dataclasses

import pytest
import torch
import torch.nn.functional as F

from albert_edu.config import AlbertConfig
from albert_edu.model.albert import AlbertForPretraining
from albert_edu.model.task_heads import LONGEST_ANSWER, AlbertForClassification, AlbertForSpan
from albert_edu.text.masking import IGNORE
from albert_edu.text.tasks import TaskData

V, B, C, S = 60, 3, 4, 11


@pytest.fixture
def pretrained() -> AlbertForPretraining:
    sizes = dict(num_layers=2, num_heads=2, max_positions=16, init_std=0.3)
    return AlbertForPretraining(AlbertConfig(V, 8, 16, **sizes))


def data(*shape: int, labels) -> TaskData:
    mask = (torch.arange(S) < torch.randint(8, S + 1, (*shape, 1))).long()
    ids, segments = torch.randint(1, V, (*shape, S)), (torch.arange(S) >= 4).long()
    return TaskData(ids * mask, segments * mask, mask, torch.as_tensor(labels))


def test_only_the_context_can_answer_and_answers_are_in_order(pretrained):
    model = AlbertForSpan(pretrained.albert).eval()
    torch.nn.init.constant_(model.head["none"].bias, -100.0)
    batch = data(64, labels=[[5, 6]] * 64)
    first, last = model.predict(batch)[:, :2].T
    final_separator = batch.attention_mask.sum(1) - 1
    assert (first >= 4).all() and (first <= last).all() and (last < final_separator).all()
    assert torch.equal(model.predict(batch.rows(slice(0, 1)))[:, :2], model.predict(batch)[:1, :2])


def test_a_question_without_an_answer_moves_no_span_and_one_with_an_answer_does(pretrained):
    model = AlbertForSpan(pretrained.albert).eval()
    batch = data(2, labels=[[IGNORE, IGNORE], [5, 6]])
    model.loss(batch.rows(slice(0, 1))).backward()
    assert not model.head["span"].weight.grad.any() and model.head["none"].weight.grad.any()
    moved = dataclasses.replace(batch, labels=torch.tensor([[IGNORE, IGNORE], [5, 5]]))
    assert model.loss(moved) != model.loss(batch)
    torch.nn.init.constant_(model.head["none"].bias, 100.0)
    assert (model.predict(batch)[:, 3] > 0).all()


def test_padding_never_moves_a_prediction(pretrained):
    batch = data(B, labels=[0, 1, 2])
    ids = batch.token_ids.where(batch.attention_mask.bool(), 7)
    other = dataclasses.replace(batch, token_ids=ids)
    for model in (AlbertForClassification(pretrained.albert, 3), AlbertForSpan(pretrained.albert)):
        torch.testing.assert_close(model.eval()(batch), model(other))


# A head, its number of labels, and the shape of a batch: choices are one label for C sequences.
HEADS = [
    (AlbertForClassification, (3,), (B,)),
    (AlbertForClassification, (1,), (B, C)),
    (AlbertForSpan, (), (B,)),
]


@pytest.mark.parametrize(("head", "labels", "shape"), HEADS)
def test_a_head_starts_as_the_rest_of_the_model_does_and_drops_a_tenth_unless_told_otherwise(
    pretrained, head, labels, shape
):
    model = head(pretrained.albert, *labels)
    assert model.dropout.p == 0.1 and head(pretrained.albert, *labels, dropout=0.4).dropout.p == 0.4
    for name, parameter in model.head.named_parameters():
        if name.endswith("bias"):
            assert (parameter == 0).all(), name
        else:  # PyTorch's own start ends at 1/sqrt(H)
            assert 0.25 < parameter.abs().max() <= 2 * 0.3, name


@pytest.mark.parametrize(("head", "labels", "shape"), HEADS)
def test_what_a_head_sees_is_dropped_in_training_and_only_there(pretrained, head, labels, shape):
    model = head(pretrained.albert.eval(), *labels, dropout=0.5)
    batch = data(*shape, labels=[0] * B)
    for training in (True, False):
        model.dropout.train(training)
        once, again = model(batch), model(batch)
        pairs = zip(once, again, strict=True)  # of rows, or of the outputs of a span model
        assert all(torch.equal(a, b) != training for a, b in pairs)


def test_the_class_or_choice_of_the_highest_score_is_predicted(pretrained):
    for model, shape in (
        (AlbertForClassification(pretrained.albert, 3), (8,)),
        (AlbertForClassification(pretrained.albert, 1), (8, C)),
    ):
        batch = data(*shape, labels=[0] * 8)
        scores = model.eval()(batch).tolist()
        assert {len(row) for row in scores} == {C if len(shape) > 1 else 3}
        assert model.predict(batch).tolist() == [row.index(max(row)) for row in scores]
        of_label_0 = torch.tensor(scores).log_softmax(-1)[:, 0]
        torch.testing.assert_close(model.loss(batch), -of_label_0.mean())


def test_the_loss_of_a_span_by_hand(pretrained):
    """First and last token at a quarter each over the questions with an answer, the question whether there is one at a half."""
    model = AlbertForSpan(pretrained.albert).eval()
    batch = data(3, labels=[[5, 6], [IGNORE, IGNORE], [4, 6]])
    start, end, none = model(batch)
    first, last = start.log_softmax(-1), end.log_softmax(-1)
    spans = -(first[0, 5] + last[0, 6] + first[2, 4] + last[2, 6]) / 2
    there = -(F.logsigmoid(-none[0]) + F.logsigmoid(none[1]) + F.logsigmoid(-none[2])) / 3
    assert model.loss(batch).isfinite() and model.head["none"].out_features == 1
    torch.testing.assert_close(model.loss(batch), spans / 2 + there / 2)


def test_the_predicted_span_is_the_best_that_a_slow_search_finds(pretrained):
    model = AlbertForSpan(pretrained.albert)
    start, end = 3 * torch.randn(2, 20, 50)
    start[0, 3] = end[0, 33] = 90  # 31 tokens: one too many
    start[1, 3] = end[1, 32] = 90  # 30 tokens
    start[2, 20] = end[2, 10] = 90  # backwards
    none = torch.zeros(20)  # at 0 an answer is as likely as none, and it is given
    none[19] = 0.1
    model.forward = lambda batch: (start, end, none)
    spans = [[i, j] for i in range(50) for j in range(i, min(i + LONGEST_ANSWER, 50))]
    first, last = start.log_softmax(-1), end.log_softmax(-1)
    expected = [max(spans, key=lambda s: first[b, s[0]] + last[b, s[1]]) for b in range(20)]
    span, score, no_answer = model.predict(data(1, labels=[0])).split((2, 1, 1), 1)
    best = torch.stack([first[b, i] + last[b, j] for b, (i, j) in enumerate(expected)])
    torch.testing.assert_close(score[:, 0], best + F.logsigmoid(-none))
    assert torch.equal(no_answer[:, 0], none)
    assert span.tolist() == expected and expected[1] == [3, 32] and LONGEST_ANSWER == 30
