"""Figure 1 from folders in the layout of the released checkpoints, and one sentence without them."""

import PIL.Image
import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file

from albert_edu.model.interchange import load_pretrained
from albert_edu.text.corpora import newest_address
from tests.support import main

SIZES = {"hidden_size": 32, "num_attention_heads": 2, "intermediate_size": 64}
SIZES |= {"num_hidden_layers": 3, "max_position_embeddings": 24}


@pytest.fixture
def released(tmp_path) -> list[str]:
    """ALBERT with spiece.model and without order head; BERT in shards with gamma and beta."""
    torch.manual_seed(0)
    albert, bert = tmp_path / "albert-small", tmp_path / "bert-small"
    config = transformers.AlbertConfig(vocab_size=4000, embedding_size=16, **SIZES)
    transformers.AlbertForMaskedLM(config).save_pretrained(albert)
    load_pretrained("laptop")[1].save(albert)

    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "of", "america", "nation"]
    config = transformers.BertConfig(vocab_size=len(words), **SIZES)
    transformers.BertForPreTraining(config).save_pretrained(bert, max_shard_size="20KB")
    transformers.BertTokenizer({word: i for i, word in enumerate(words)}).save_pretrained(bert)
    index = bert / "model.safetensors.index.json"
    old = {"LayerNorm.weight": "LayerNorm.gamma", "LayerNorm.bias": "LayerNorm.beta"}
    for new, name in old.items():
        index.write_text(index.read_text().replace(new, name))
        for shard in bert.glob("model-*.safetensors"):
            tensors = {key.replace(new, name): value for key, value in load_file(shard).items()}
            save_file(tensors, shard, metadata={"format": "pt"})
    return [str(albert), str(bert)]


@pytest.mark.filterwarnings("ignore:.*start untrained")
def test_two_models_in_the_released_layout_are_drawn_each_with_its_own_tokenizer(
    released, tmp_path, capsys
):
    (tmp_path / "text.txt").write_text("the nation of america " * 40)
    words = ["--text", str(tmp_path / "text.txt"), "--out", str(tmp_path / "out")]
    assert main(["figure1", *released, *words]) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[-1] == f"drawn: {tmp_path / 'out' / 'figure1.png'}"
    picture = PIL.Image.open(tmp_path / "out" / "figure1.png")
    alt = picture.text["Description"]
    assert "albert-small ends at" in alt and said[-2][:-1] in alt


def test_the_text_of_the_course_is_an_address_that_is_long_enough():
    assert len(newest_address().split()) > 3_000


def test_without_a_network_one_sentence_says_what_is_missing(capsys):
    names = ["albert/albert-large-v2", "google-bert/bert-large-uncased"]
    assert main(["figure1", *names]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and "none came from the Hub: " in said


def test_a_folder_without_tokenizer_is_refused(released, tmp_path, capsys):
    (tmp_path / "albert-small" / "spiece.model").unlink()
    with pytest.warns(UserWarning, match="start untrained"):
        assert main(["figure1", *released]) == 2
    assert "has no tokenizer" in capsys.readouterr().err
