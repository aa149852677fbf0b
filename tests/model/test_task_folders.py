"""Fine-tuned models come back from their folder, and transformers gets the same numbers from it."""

import dataclasses
import json
import re
from functools import partial

import pytest
import torch
import transformers

from albert_edu.config import AlbertConfig
from albert_edu.model.albert import Albert
from albert_edu.model.formats import InterchangeError
from albert_edu.model.interchange import load_task_model, save_task_model
from albert_edu.model.task_heads import AlbertForChoice, AlbertForClassification, AlbertForSpan
from albert_edu.text.stories import stories
from albert_edu.text.tasks import TaskData
from albert_edu.text.tokenizer import AlbertTokenizer
from tests.support import same_bits

V, S = 150, 11
ENCODERS = {
    "ALBERT": dict(embedding_size=8),
    "groups": dict(embedding_size=8, num_groups=2),
    "BERT": dict(embedding_size=16, share="none"),
}
HEADS = {
    "SequenceClassification": partial(AlbertForClassification, num_labels=3, dropout=0.2),
    "MultipleChoice": AlbertForChoice,
    "QuestionAnswering": AlbertForSpan,
}


def encoder(**changes) -> Albert:
    shape = dict(
        vocab_size=V, hidden_size=16, num_layers=4, num_heads=2, max_positions=16, init_std=0.3
    )
    return Albert(AlbertConfig(**(shape | changes)))


def their_model(kind: str, **settings):
    sizes = dict(
        vocab_size=V,
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=16,
    ) | ({"embedding_size": 8} if kind.startswith("Albert") else {})
    return getattr(transformers, kind)(
        getattr(transformers, kind).config_class(**sizes, **settings)
    )


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
    kwargs = dict(dtype=torch.float64, output_loading_info=True)
    theirs, report = getattr(transformers, f"AutoModelFor{kind}").from_pretrained(
        tmp_path, **kwargs
    )
    in_ours_alone = (
        r"no_answer\.|\w+\.pooler\." if kind == "QuestionAnswering" else "-"
    )  # the score of "no answer"
    assert all(re.match(in_ours_alone, name) for name in report.pop("unexpected_keys")) and not any(
        report.values()
    )
    batch = batch_of(2, 3) if kind == "MultipleChoice" else batch_of(2)
    labels = torch.tensor([0, 2])
    batch = dataclasses.replace(batch, labels=labels)
    arguments = dict(
        input_ids=batch.token_ids,
        token_type_ids=batch.segment_ids,
        attention_mask=batch.attention_mask,
    )
    output = theirs.eval()(
        **arguments, **({} if kind == "QuestionAnswering" else {"labels": labels})
    )
    if kind != "QuestionAnswering":
        loss = ours.loss(batch.rows(slice(None)))  # rows() cuts the padding
        torch.testing.assert_close(loss.double(), output.loss, atol=1e-6, rtol=1e-6)
        return torch.testing.assert_close(output.logits, ours(batch), atol=1e-10, rtol=1e-10)
    for logits, mine in zip((output.start_logits, output.end_logits), ours(batch), strict=False):
        context = mine.isfinite()  # only tokens of the context can answer
        assert context.any()
        torch.testing.assert_close(logits[context], mine[context], atol=1e-10, rtol=1e-10)


@pytest.mark.parametrize("kind", HEADS)
@pytest.mark.parametrize(
    "changes",
    [*ENCODERS.values(), dict(embedding_size=8, share="ffn")],
    ids=[*ENCODERS, "ffn shared"],
)
def test_a_saved_task_model_comes_back_with_tokenizer_labels_and_dropout(kind, changes, tmp_path):
    tokenizer = AlbertTokenizer.train(
        (line for story in stories(40)["sentences"] for line in story), V
    )
    model = HEADS[kind](encoder(**changes))
    labels = ["bad", "fair", "good"] if kind == "SequenceClassification" else None
    save_task_model(model, tokenizer, tmp_path, labels)
    loaded, its_tokenizer, its_labels = load_task_model(tmp_path)
    assert type(loaded) is type(model) and loaded.albert.config == model.albert.config
    assert its_labels == labels and loaded.dropout.p == model.dropout.p
    assert its_tokenizer.fingerprint == tokenizer.fingerprint
    assert same_bits(loaded, model)


def test_transformers_knows_the_names_of_the_classes(tmp_path):
    save_task_model(
        HEADS["SequenceClassification"](encoder()), None, str(tmp_path), ["bad", "fair", "good"]
    )
    config = transformers.AutoConfig.from_pretrained(tmp_path)
    assert config.id2label == {0: "bad", 1: "fair", 2: "good"} and config.num_labels == 3
    assert (
        config.label2id == {"bad": 0, "fair": 1, "good": 2}
        and config.problem_type == "single_label_classification"
    )


def test_a_wrong_number_of_label_names_is_refused(tmp_path):
    with pytest.raises(ValueError, match="2 label names for a head with 3 outputs"):
        save_task_model(HEADS["SequenceClassification"](encoder()), None, tmp_path, ["bad", "good"])


@pytest.mark.parametrize(
    ("kind", "dropout"),
    [
        ("AlbertForSequenceClassification", "classifier_dropout_prob"),
        ("BertForSequenceClassification", "classifier_dropout"),
    ],
)
@pytest.mark.parametrize("outputs", [2, 4])
def test_a_classifier_that_transformers_fine_tuned_is_read(kind, dropout, outputs, tmp_path):
    theirs = (
        their_model(kind, num_labels=outputs, **({dropout: 0.3} if outputs == 4 else {}))
        .eval()
        .double()
    )
    theirs.save_pretrained(tmp_path)
    told = 0.3 if outputs == 4 else 0.1  # transformers' own
    ours, _, labels = load_task_model(str(tmp_path))
    batch = batch_of(2)
    logits = theirs(batch.token_ids, batch.attention_mask, batch.segment_ids).logits
    torch.testing.assert_close(ours.eval().double()(batch), logits, atol=1e-10, rtol=1e-10)
    assert labels == [f"LABEL_{i}" for i in range(outputs)] and ours.dropout.p == told


def test_an_answering_model_of_transformers_has_no_score_for_no_answer_yet(tmp_path):
    their_model("AlbertForQuestionAnswering").save_pretrained(tmp_path)
    with pytest.warns(
        UserWarning,
        match=r"has no albert\.pooler\.bias, .*, head\.none\.weight: these start untrained",
    ):
        load_task_model(tmp_path)


def test_a_file_whose_head_has_another_size_than_its_labels_is_refused(tmp_path):
    save_task_model(HEADS["SequenceClassification"](encoder()), None, tmp_path)
    settings = json.loads((tmp_path / "config.json").read_text()) | {
        "id2label": {"0": "no", "1": "yes"}
    }
    (tmp_path / "config.json").write_text(json.dumps(settings))
    with pytest.raises(
        InterchangeError, match=r"classifier\.weight has shape \(3, 16\).*\(2, 16\)"
    ):
        load_task_model(tmp_path)


def edit(folder, **changes):
    path = folder / "config.json"
    settings = json.loads(path.read_text()) | changes
    path.write_text(
        json.dumps({key: value for key, value in settings.items() if value is not None})
    )


def test_a_number_of_labels_without_names_gets_the_names_of_transformers(tmp_path):
    save_task_model(HEADS["SequenceClassification"](encoder()), None, tmp_path)
    edit(tmp_path, id2label=None, label2id=None, num_labels=3)
    assert load_task_model(tmp_path)[2] == ["LABEL_0", "LABEL_1", "LABEL_2"]


@pytest.mark.parametrize(
    ("labels", "problem"),
    [(3, "multi_label_classification"), (3, "regression"), (1, "single_label_classification")],
)
def test_a_problem_that_the_head_has_no_loss_for_is_refused(labels, problem, tmp_path):
    save_task_model(AlbertForClassification(encoder(), labels), None, tmp_path)
    edit(tmp_path, problem_type=problem)
    with pytest.raises(
        InterchangeError, match=rf"problem_type '{problem}' with {labels} labels is"
    ):
        load_task_model(tmp_path)
