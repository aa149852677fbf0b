"""Task heads: the numbers of transformers' heads, from our folder, and losses that mean what they say."""

import re
from functools import partial

import pytest
import torch
import torch.nn.functional as F
import transformers

from albert_edu.batch import IGNORE, TaskData
from albert_edu.config import AlbertConfig
from albert_edu.model.albert import Albert
from albert_edu.model.interchange import save_pretrained
from albert_edu.model.task_heads import LONGEST_ANSWER, AlbertForClassification, AlbertForSpan

V, B, C, S = 60, 3, 4, 11
HEADS = {  # the end of transformers' class: our head, and the shape of a batch
    "SequenceClassification": (partial(AlbertForClassification, num_labels=3), (B,)),
    "MultipleChoice": (partial(AlbertForClassification, num_labels=1), (B, C)),
    "QuestionAnswering": (AlbertForSpan, (B,)),
}
each_head = pytest.mark.parametrize(("head", "shape"), HEADS.values(), ids=HEADS)


def encoder_of(**changes) -> Albert:
    sizes = dict(embedding_size=8, hidden_size=16, num_layers=4, num_heads=2, max_positions=16)
    return Albert(AlbertConfig(V, init_std=0.3, **(sizes | changes)))


encoder = pytest.fixture(encoder_of)


def data(*shape: int, labels) -> TaskData:
    """Two segments and padding."""
    mask = (torch.arange(S) < torch.randint(8, S + 1, (*shape, 1))).long()
    ids, segments = torch.randint(1, V, (*shape, S)), (torch.arange(S) >= 4).long()
    return TaskData(ids * mask, segments * mask, mask, torch.as_tensor(labels))


@pytest.mark.parametrize("kind", HEADS)
@pytest.mark.parametrize(
    "changes", [{}, {"num_groups": 2}, {"embedding_size": 16, "share": "none"}], ids=str
)
def test_transformers_class_for_the_task_gives_the_same_numbers_from_our_folder(
    kind, changes, tmp_path
):
    head, shape = HEADS[kind]
    ours = head(encoder_of(**changes), dropout=0.2).eval().double()
    batch = data(*shape, labels=[0, 2, 1])
    names = "abc" if kind.startswith("Seq") else ()
    assert save_pretrained(ours, None, tmp_path, names) == f"For{kind}"
    load = getattr(transformers, f"AutoModelFor{kind}").from_pretrained
    theirs, report = load(tmp_path, dtype=torch.float64, output_loading_info=True)
    spans = kind == "QuestionAnswering"
    in_ours_alone = r"no_answer\.|\w+\.pooler\." if spans else "-"  # the score of "no answer"
    assert all(re.match(in_ours_alone, name) for name in report.pop("unexpected_keys"))
    assert not any(report.values())
    inputs = dict(token_type_ids=batch.segment_ids, attention_mask=batch.attention_mask)
    inputs |= {} if spans else {"labels": batch.labels}
    output = theirs.eval()(batch.token_ids, **inputs)
    if not spans:
        assert theirs.dropout.p == 0.2
        loss = ours.loss(batch.rows(slice(None)))  # rows() cuts the padding
        torch.testing.assert_close(loss.double(), output.loss, atol=1e-6, rtol=1e-6)
        return torch.testing.assert_close(output.logits, ours(batch), atol=1e-10, rtol=1e-10)
    for logits, mine in zip((output.start_logits, output.end_logits), ours(batch), strict=False):
        context = mine.isfinite()  # only tokens of the context can answer
        assert context.any()
        torch.testing.assert_close(logits[context], mine[context], atol=1e-10, rtol=1e-10)


def test_transformers_knows_the_names_of_the_classes_and_a_wrong_number_is_refused(
    encoder, tmp_path
):
    model, names = AlbertForClassification(encoder, 3), ["bad", "fair", "good"]
    save_pretrained(model, None, str(tmp_path), names)
    config = transformers.AutoConfig.from_pretrained(tmp_path)
    assert config.id2label == dict(enumerate(names)) and config.num_labels == 3
    assert config.label2id == {"bad": 0, "fair": 1, "good": 2}
    with pytest.raises(ValueError, match="2 label names for a head of 3 outputs"):
        save_pretrained(model, None, tmp_path, names[:2])


def test_only_the_context_can_answer_and_answers_are_in_order(encoder):
    model = AlbertForSpan(encoder).eval()
    torch.nn.init.constant_(model.head["none"].bias, -100.0)
    batch = data(64, labels=[[5, 6]] * 64)
    first, last = model.predict(batch)[:, :2].T
    final_separator = batch.attention_mask.sum(1) - 1
    assert (first >= 4).all() and (first <= last).all() and (last < final_separator).all()
    assert torch.equal(model.predict(batch.rows(slice(0, 1)))[:, :2], model.predict(batch)[:1, :2])


@each_head
def test_a_head_starts_as_the_rest_of_the_model_does_and_drops_a_tenth_unless_told_otherwise(
    encoder, head, shape
):
    model = head(encoder)
    assert model.dropout.p == 0.1 and head(encoder, dropout=0.4).dropout.p == 0.4
    for name, parameter in model.head.named_parameters():
        if name.endswith("bias"):
            assert (parameter == 0).all(), name
        else:  # PyTorch's own start ends at 1/sqrt(H)
            assert 0.25 < parameter.abs().max() <= 2 * 0.3, name


@each_head
def test_what_a_head_sees_is_dropped_in_training_and_only_there(encoder, head, shape):
    model, batch = head(encoder.eval(), dropout=0.5), data(*shape, labels=[0] * B)
    for training in (True, False):
        model.dropout.train(training)
        once, again = model(batch), model(batch)
        pairs = zip(once, again, strict=True)  # of rows, or of the outputs of a span model
        assert all(torch.equal(a, b) != training for a, b in pairs)


def test_the_class_or_choice_of_the_highest_score_is_predicted(encoder):
    for model, shape in (
        (AlbertForClassification(encoder, 3), (8,)),
        (AlbertForClassification(encoder, 1), (8, C)),
    ):
        batch = data(*shape, labels=[0] * 8)
        scores = model.eval()(batch).tolist()
        assert {len(row) for row in scores} == {C if len(shape) > 1 else 3}
        assert model.predict(batch).tolist() == [row.index(max(row)) for row in scores]


def test_the_loss_of_a_span_by_hand(encoder):
    """First and last token at a quarter each over the questions with an answer, the question whether there is one at a half."""
    model = AlbertForSpan(encoder).eval()
    batch = data(3, labels=[[5, 6], [IGNORE, IGNORE], [4, 6]])
    start, end, none = model(batch)
    first, last = start.log_softmax(-1), end.log_softmax(-1)
    spans = -(first[0, 5] + last[0, 6] + first[2, 4] + last[2, 6]) / 2
    there = -(F.logsigmoid(-none[0]) + F.logsigmoid(none[1]) + F.logsigmoid(-none[2])) / 3
    assert model.loss(batch).isfinite() and model.head["none"].out_features == 1
    torch.testing.assert_close(model.loss(batch), spans / 2 + there / 2)


def test_the_predicted_span_is_the_best_that_a_slow_search_finds(encoder):
    model = AlbertForSpan(encoder)
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


def test_a_position_above_256_is_that_position_in_bfloat16_too(encoder):
    model = AlbertForSpan(encoder)
    scores = torch.zeros(1, 400, dtype=torch.bfloat16)
    scores[0, 301] = 90
    model.forward = lambda batch: (scores, scores, torch.zeros(1, dtype=torch.bfloat16))
    assert model.predict(data(1, labels=[0]))[0, :2].tolist() == [301, 301]
