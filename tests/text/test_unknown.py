"""Text that a tokenizer does not know: the same limits for ours and for the Hub's."""

import pytest
import tokenizers

from albert_edu.text.hub_tokenizer import HubTokenizer
from albert_edu.text.tokenizer import TokenizerError
from albert_edu.text.unknown import check_known

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "barn", "was", "old", "."]
HUB = tokenizers.BertWordPieceTokenizer({word: i for i, word in enumerate(WORDS)})._tokenizer
KNOWN = "The barn was old."


@pytest.fixture(params=["ours", "the Hub's"])
def tokenizer(request, story_text):
    return story_text.tokenizer if request.param == "ours" else HubTokenizer(HUB)


@pytest.mark.parametrize("text", ["Съешь ещё этих булок", "我们去学校", "नमस्ते दुनिया", "日"])
def test_another_script_is_refused_with_what_is_not_known(tokenizer, text):
    with pytest.raises(TokenizerError, match=r"of the task are unknown; most often '.*other text"):
        check_known(tokenizer, [text], "the task")


def test_a_few_unknown_tokens_are_warned_of_with_the_commonest(tokenizer):
    check_known(tokenizer, [KNOWN] * 9)
    check_known(tokenizer, [KNOWN] * 200 + ["日"])
    check_known(tokenizer, [])
    with pytest.warns(UserWarning, match=r"of the text are unknown; most often '日' 2, '本' 1\."):
        check_known(tokenizer, [KNOWN] * 9 + ["The 日 barn was 日 old 本."])
    many = " . ".join("日一二三四五六七八" * 2)
    with pytest.warns(UserWarning, match=r"often '日' 2, .*, '七' 2\. Clean"):  # eight of nine
        check_known(tokenizer, [KNOWN] * 40 + [many])


def test_both_kinds_of_tokenizer_say_which_characters_a_token_stands_for(tokenizer):
    ids, offsets = tokenizer.encode_with_offsets(KNOWN)
    assert ids == tokenizer.encode(KNOWN) and len(offsets) == len(ids)
    assert "".join(KNOWN[start:end] for start, end in offsets) == KNOWN.replace(" ", "")
