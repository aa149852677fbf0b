"""Tokenizers of others: WordPiece and tokenizer.json, and settings that contradict them."""

import json
import re
from pathlib import Path

import pytest
import tokenizers
import transformers

from albert_edu.errors import FileError
from albert_edu.model.interchange import load_pretrained, model_folder, save_pretrained
from albert_edu.model.task_heads import AlbertForClassification
from albert_edu.text.hub_tokenizer import HubTokenizer, load_tokenizer
from albert_edu.text.tasks import Example, SpanExample, encode_pairs, encode_spans
from albert_edu.text.tokenizer import TokenizerError

WORDS = "[PAD] [UNK] [CLS] [SEP] [MASK] four score and seven year ##s ago .".split()


def write_bert(folder: Path, words: list[str], rows: int | None = None):
    """Write a folder as transformers writes it: random weights, tokenizer.json and its settings."""
    layers = {"num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64}
    sizes = {"vocab_size": rows or len(words), "hidden_size": 16, "max_position_embeddings": 16}
    config = transformers.BertConfig(**sizes, **layers)
    transformers.BertForPreTraining(config).save_pretrained(folder)
    vocabulary = {word: number for number, word in enumerate(words)}
    transformers.BertTokenizer(vocabulary, do_lower_case=True).save_pretrained(folder)


@pytest.fixture
def bert(tmp_path) -> Path:
    """A BERT with a WordPiece vocabulary, as on the Hub, in which [CLS] is not 2."""
    write_bert(tmp_path, ["[PAD]", "the", "of", *WORDS[1:]])
    return tmp_path


def test_a_wordpiece_bert_is_loaded_with_its_tokenizer(bert, tmp_path):
    _, tokenizer = load_pretrained(bert)
    theirs = transformers.BertTokenizer.from_pretrained(bert)
    text = "Four score and SEVEN years ago. Lincoln"
    assert tokenizer.encode(text) == theirs.encode(text, add_special_tokens=False)
    special = [getattr(tokenizer, f"{name}_id") for name in "pad unk cls sep mask".split()]
    assert special == [0, 3, 4, 5, 6] and len(tokenizer) == len(WORDS) + 2


def test_a_wordpiece_bert_is_fine_tuned_on_pairs_and_spans_with_its_own_special_tokens(bert):
    model, tokenizer = load_pretrained(bert)
    examples = [Example("four score", "years ago", 0), Example("seven", None, 1)]
    data = encode_pairs(examples, tokenizer, 12)
    assert data.token_ids[0].tolist() == [4, 7, 8, 5, 11, 12, 13, 5]
    assert AlbertForClassification(model.albert, 2).loss(data).isfinite()
    context = "Four score and seven years ago."
    example = SpanExample("and seven?", context, ("seven years",), 15)
    with pytest.warns(UserWarning, match=r"the rows are unknown; most often '\?' 1"):
        spans = encode_spans([example], tokenizer, 16)
    start, end = spans.data.labels[0].tolist()
    answer = spans.data.token_ids[0][start : end + 1].tolist()
    assert tokenizer.pieces(answer) == ["seven", "year", "##s"]


def test_a_wordpiece_tokenizer_is_saved_so_that_we_and_transformers_read_it_again(bert, tmp_path):
    model, tokenizer = load_pretrained(bert)
    save_pretrained(model, tokenizer, tmp_path / "again")
    _, again = load_pretrained(tmp_path / "again")
    theirs = transformers.AutoTokenizer.from_pretrained(tmp_path / "again")
    assert again.fingerprint == tokenizer.fingerprint and theirs.model_max_length == 16
    assert theirs.encode("four years", add_special_tokens=False) == tokenizer.encode("four years")
    HubTokenizer(tokenizer.tokenizer).save(tmp_path / "bare")  # without settings of its own
    theirs = transformers.AutoTokenizer.from_pretrained(tmp_path / "bare")
    assert (theirs.pad_token, theirs.mask_token_id) == ("[PAD]", tokenizer.mask_id)


def test_a_folder_that_transformers_saved_from_ours_keeps_its_tokenizer(tmp_path):
    model, tokenizer = load_pretrained("laptop")
    theirs = transformers.AutoTokenizer.from_pretrained(model_folder("laptop"))
    save_pretrained(model, None, tmp_path)
    theirs.save_pretrained(tmp_path)
    assert not (tmp_path / "spiece.model").exists()
    _, read = load_pretrained(tmp_path)
    assert isinstance(read, HubTokenizer)
    text = "Four score and seven years ago, our fathers brought forth"
    assert read.encode(text) == tokenizer.encode(text)
    assert read.mask_id == 4


def test_a_tokenizer_without_the_special_tokens_is_refused():
    with pytest.raises(TokenizerError, match=r"this tokenizer lacks one of \[PAD\], "):
        HubTokenizer(tokenizers.Tokenizer(tokenizers.models.BPE({"a": 0}, [])))


def test_a_tokenizer_with_fewer_tokens_than_the_table_is_loaded_with_a_warning(bert):
    write_bert(bert, WORDS[:-3], rows=len(WORDS))
    with pytest.warns(UserWarning, match=f"has {len(WORDS) - 3} tokens, its model 13 rows"):
        model, tokenizer = load_pretrained(bert)
    assert (len(tokenizer), model.config.vocab_size) == (len(WORDS) - 3, 13)


def test_a_tokenizer_with_more_tokens_than_the_table_is_refused(bert):
    write_bert(bert, [*WORDS, *"xyz"], rows=len(WORDS))
    with pytest.raises(TokenizerError, match=f"has {len(WORDS) + 3} tokens, its model 13 rows"):
        load_pretrained(bert)


def test_a_vocabulary_alone_is_refused_with_the_lines_that_convert_it(bert):
    (bert / "tokenizer.json").unlink()
    (bert / "vocab.txt").write_text("\n".join(["[PAD]", "the", "of", *WORDS[1:]]) + "\n")
    with pytest.raises(TokenizerError, match=r"but a vocab\.txt\. .* AutoTokenizer\.from_pre"):
        load_pretrained(bert)
    transformers.AutoTokenizer.from_pretrained(bert).save_pretrained(bert)
    assert load_pretrained(bert)[1].pieces([1, 5]) == ["the", "[SEP]"]


def settings(file: Path, **changes):
    file.write_text(json.dumps((json.loads(file.read_text()) if file.exists() else {}) | changes))


@pytest.mark.parametrize("field", ["do_lower_case", "strip_accents", "tokenize_chinese_chars"])
def test_settings_that_a_wordpiece_does_not_follow_are_refused_until_transformers_wrote_it_anew(
    tmp_path, field
):
    write_bert(tmp_path, [*WORDS, "cafe", "café", "Cafe", "Café", "年", "年年"])
    settings(tmp_path / "tokenizer_config.json", **{field: False})
    theirs = transformers.AutoTokenizer.from_pretrained(tmp_path)
    said = f"has {field} False, tokenizer.json True. Two lines of transformers"
    with pytest.raises(TokenizerError, match=said):
        load_pretrained(tmp_path)
    theirs.save_pretrained(tmp_path)
    text = "Café four FOUR 年年"
    ids = theirs.encode(text, add_special_tokens=False)
    assert load_pretrained(tmp_path)[1].encode(text) == ids


def test_a_bert_tokenizer_that_keeps_capitals_has_to_say_so(tmp_path):
    """Without a word of it, some releases of transformers keep capitals and others do not."""
    write_bert(tmp_path, [*WORDS, "Four"])
    file, config = tmp_path / "tokenizer.json", tmp_path / "tokenizer_config.json"
    whole, known = file.read_text(), json.loads(config.read_text())
    del known["do_lower_case"]
    config.write_text(json.dumps(known))
    ids = load_pretrained(tmp_path)[1].encode("four FOUR")
    assert ids[0] == ids[1]  # both files say so
    file.write_text(whole.replace('"lowercase": true', '"lowercase": false'))
    with pytest.raises(TokenizerError, match=r"has do_lower_case True, tokenizer\.json False"):
        load_pretrained(tmp_path)
    config.write_text(json.dumps(known | {"do_lower_case": False}))
    ids = load_pretrained(tmp_path)[1].encode("four FOUR")
    assert ids[0] != ids[1]


@pytest.mark.parametrize("file", ["spiece.model", "tokenizer.json"])
def test_settings_that_an_alberts_tokenizer_does_not_follow_are_refused(tmp_path, file):
    model, tokenizer = load_pretrained("laptop")
    save_pretrained(model, tokenizer, tmp_path)
    if file == "tokenizer.json":
        transformers.AutoTokenizer.from_pretrained(tmp_path).save_pretrained(tmp_path)
        (tmp_path / "spiece.model").unlink()
        load_pretrained(tmp_path)
    config = tmp_path / "tokenizer_config.json"
    whole = config.read_text()
    wrong = {"do_lower_case": False, "keep_accents": True, "strip_accents": False}
    for field, value in wrong.items():
        config.write_text(whole)
        settings(config, **{field: value})
        said = f"tokenizer_config.json has {field} {value}, {file} {not value}"
        with pytest.raises(TokenizerError, match=said):
            load_tokenizer(tmp_path, rows=len(tokenizer))


@pytest.mark.parametrize(
    ("file", "fields"),
    [
        ("added_tokens.json", {"<new>": 14}),
        ("tokenizer_config.json", {"added_tokens_decoder": {"14": {"content": "<new>"}}}),
        ("tokenizer_config.json", {"mask_token": "<new>"}),
        ("tokenizer_config.json", {"cls_token": {"content": "<new>"}}),
        ("tokenizer_config.json", {"additional_special_tokens": ["<new>"]}),
        ("tokenizer_config.json", {"extra_special_tokens": {"image": "<new>"}}),
    ],
)
def test_a_token_that_the_vocabulary_has_not_is_refused(bert, file, fields):
    known = {"added_tokens_decoder": {"6": {"content": "[MASK]"}}, "cls_token": "[CLS]"}
    settings(bert / "tokenizer_config.json", **known)
    settings(bert / "added_tokens.json", **{"[MASK]": 6})
    load_pretrained(bert)
    settings(bert / file, **fields)
    with pytest.raises(TokenizerError, match="adds <new>, which its vocabulary has not"):
        load_pretrained(bert)


@pytest.mark.parametrize("bad", ["tokenizer_config.json", "tokenizer.json", "added_tokens.json"])
def test_the_file_that_cannot_be_read_is_blamed_and_not_its_neighbour(bert, bad):
    (bert / bad).write_text('{"a')
    with pytest.raises(FileError, match=rf"/{re.escape(bad)} cannot be used"):
        load_pretrained(bert)
