"""The order of the rows in fine-tuning: mixed anew in each pass, or as they come."""

import torch

from albert_edu.batch import TaskData
from albert_edu.config import AlbertConfig
from albert_edu.model.albert import Albert
from albert_edu.model.task_heads import AlbertForClassification
from albert_edu.text.tasks import Example, encode_pairs
from albert_edu.training.finetune import finetune
from albert_edu.training.settings import TrainSettings


def test_rows_in_order_are_seen_as_they_come_and_begin_again_at_the_end(story_text, monkeypatch):
    seen = []
    rows = TaskData.rows
    monkeypatch.setattr(
        TaskData,
        "rows",
        lambda data, at: seen.append(torch.as_tensor(at).tolist()) or rows(data, at),
    )
    words = ("kate", "ben", "leo", "ida", "anna")
    examples = [Example(f"{word} opened the box.", None, 0) for word in words]
    few = encode_pairs(examples, story_text.tokenizer, 32)
    encoder = Albert(AlbertConfig.named("albert-tiny", vocab_size=len(story_text.tokenizer)))
    model = AlbertForClassification(encoder, 2)
    finetune(model, few, TrainSettings(steps=3), batch_size=2, in_order=True)
    assert seen == [[0, 1], [2, 3], [4, 0]]
