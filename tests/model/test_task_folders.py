"""From the folder of a fine-tuned model transformers gets the same numbers."""

import dataclasses
import re
from functools import partial

import pytest
import torch
import transformers

from albert_edu.config import AlbertConfig
from albert_edu.model.albert import Albert
from albert_edu.model.formats import InterchangeError
from albert_edu.model.interchange import save_task_model
from albert_edu.model.task_heads import AlbertForClassification, AlbertForSpan
from albert_edu.text.tasks import TaskData

V, S = 150, 11
ENCODERS = {
    "ALBERT": dict(embedding_size=8),
    "groups": dict(embedding_size=8, num_groups=2),
    "BERT": dict(embedding_size=16, share="none"),
}
HEADS = {
    "SequenceClassification": partial(AlbertForClassification, num_labels=3, dropout=0.2),
    "MultipleChoice": partial(AlbertForClassification, num_labels=1),
    "QuestionAnswering": AlbertForSpan,
}


def encoder(**changes) -> Albert:
    sizes = dict(hidden_size=16, num_layers=4, num_heads=2, max_positions=16, init_std=0.3)
    return Albert(AlbertConfig(V, **(sizes | changes)))


def batch_of(*shape: int) -> TaskData:
    """Two segments and padding."""
    mask = (torch.arange(S) < torch.randint(8, S + 1, (*shape, 1))).long()
    ids = torch.randint(5, V, (*shape, S)) * mask
    return TaskData(ids, (torch.arange(S) >= 4).long() * mask, mask, torch.zeros(shape[0]).long())


@pytest.mark.parametrize("kind", HEADS)
@pytest.mark.parametrize("changes", ENCODERS.values(), ids=ENCODERS)
def test_transformers_class_for_the_task_gives_the_same_numbers_from_our_folder(
    kind, changes, tmp_path
):
    ours = HEADS[kind](encoder(**changes)).eval().double()
    save_task_model(ours, None, tmp_path)
    load = getattr(transformers, f"AutoModelFor{kind}").from_pretrained
    theirs, report = load(tmp_path, dtype=torch.float64, output_loading_info=True)
    spans = kind == "QuestionAnswering"
    in_ours_alone = r"no_answer\.|\w+\.pooler\." if spans else "-"  # the score of "no answer"
    assert all(re.match(in_ours_alone, name) for name in report.pop("unexpected_keys"))
    assert not any(report.values())
    batch = batch_of(2, 3) if kind == "MultipleChoice" else batch_of(2)
    batch = dataclasses.replace(batch, labels=torch.tensor([0, 2]))
    inputs = dict(token_type_ids=batch.segment_ids, attention_mask=batch.attention_mask)
    inputs |= {} if spans else {"labels": batch.labels}
    output = theirs.eval()(batch.token_ids, **inputs)
    if not spans:
        loss = ours.loss(batch.rows(slice(None)))  # rows() cuts the padding
        torch.testing.assert_close(loss.double(), output.loss, atol=1e-6, rtol=1e-6)
        return torch.testing.assert_close(output.logits, ours(batch), atol=1e-10, rtol=1e-10)
    for logits, mine in zip((output.start_logits, output.end_logits), ours(batch), strict=False):
        context = mine.isfinite()  # only tokens of the context can answer
        assert context.any()
        torch.testing.assert_close(logits[context], mine[context], atol=1e-10, rtol=1e-10)


def test_transformers_knows_the_names_of_the_classes(tmp_path):
    save_task_model(
        HEADS["SequenceClassification"](encoder()), None, str(tmp_path), ["bad", "fair", "good"]
    )
    config = transformers.AutoConfig.from_pretrained(tmp_path)
    assert config.id2label == {0: "bad", 1: "fair", 2: "good"} and config.num_labels == 3
    assert config.label2id == {"bad": 0, "fair": 1, "good": 2}


def test_a_wrong_number_of_label_names_is_refused(tmp_path):
    with pytest.raises(ValueError, match="2 label names for a head with 3 outputs"):
        save_task_model(HEADS["SequenceClassification"](encoder()), None, tmp_path, ["bad", "good"])


def test_an_encoder_that_transformers_has_not_is_refused_before_anything_is_written(tmp_path):
    with pytest.raises(InterchangeError, match="only the ffn blocks are shared"):
        save_task_model(AlbertForSpan(encoder(share="ffn")), None, tmp_path / "new")
    assert not list(tmp_path.iterdir())
