"""The story world teaches what it plants: sentence order is learnt, on new stories and on scripts never seen."""

import pytest
import torch

from albert_edu.config import AlbertConfig
from albert_edu.model.albert import AlbertForPretraining
from albert_edu.text.batches import PretrainingStream
from albert_edu.text.corpora import hold_out
from albert_edu.text.stories import spelling_lesson, stories
from albert_edu.text.tokenized import TokenizedCorpus
from albert_edu.text.tokenizer import AlbertTokenizer
from albert_edu.training.evaluate import evaluate
from albert_edu.training.pretrain import pretrain
from albert_edu.training.settings import PretrainSettings


@pytest.mark.slow
def test_a_two_layer_model_learns_sentence_order_on_new_stories_and_on_new_scripts():
    rest, new_scripts = hold_out(stories(), 0.2, by="script")
    train, new_stories = hold_out(rest, 0.1)
    texts = [text for texts in train["sentences"] for text in texts]
    tokenizer = AlbertTokenizer.train(texts + spelling_lesson(), 190)

    def stream(corpus, batch_size: int, seed: int) -> PretrainingStream:
        text = TokenizedCorpus.encode(corpus, tokenizer)
        return PretrainingStream(text, tokenizer, "sop", batch_size, 64, seed=seed)

    torch.manual_seed(0)
    config = AlbertConfig.named("albert-tiny", vocab_size=len(tokenizer), max_positions=64)
    model = AlbertForPretraining(config)
    assert (config.num_layers, config.hidden_size) == (2, 64)
    pretrain(model, stream(train, 32, 0), PretrainSettings(800, 2e-3, 80), describe=None)
    for corpus in (new_stories, new_scripts):
        scores = evaluate(model, stream(corpus, 64, 1), 16)
        assert scores["sentence_order_accuracy"] >= 0.95
        assert min(scores["in_order_recall"], scores["swapped_recall"]) >= 0.9
