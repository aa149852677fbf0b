"""What ``fill`` and ``inspect`` say about a model."""

import pytest
import tokenizers
import torch
import transformers

from albert_edu.analysis.counting import count_parameters
from albert_edu.analysis.health import health
from albert_edu.analysis.inspect import fill, inspect, masked_rows, rows_of_text
from albert_edu.analysis.similarity import layer_similarity
from albert_edu.batch import IGNORE
from albert_edu.errors import InputError
from albert_edu.model.interchange import load_pretrained, model_folder, save_pretrained
from albert_edu.text.batches import PretrainingStream
from albert_edu.text.hub_tokenizer import HubTokenizer
from albert_edu.text.prepare import prepare
from albert_edu.text.task_rows import TaskRows
from albert_edu.text.tasks import Example
from albert_edu.text.tokenizer import TokenizerError
from albert_edu.training.finetune import set_up_task
from tests.support import main, randomised, tiny


@pytest.fixture(scope="module")
def laptop():
    return load_pretrained("laptop")


def test_every_mask_of_a_text_gets_its_own_answers_in_falling_order(laptop):
    answers = fill(*laptop, "the [MASK] of the united [MASK]", top=4)
    assert len(answers) == 2 and all(len(answer) == 4 for answer in answers)
    for answer in answers:
        probabilities = [probability for _, probability in answer]
        assert (
            probabilities == sorted(probabilities, reverse=True) and sum(probabilities) <= 1 + 1e-6
        )


def test_filling_leaves_the_model_in_its_mode(laptop):
    model, tokenizer = laptop
    model.train()
    fill(model, tokenizer, "fellow [MASK]")
    assert model.training


def test_fill_refuses_a_bare_encoder_whose_guesses_would_be_noise(laptop, tmp_path, capsys):
    transformers.AlbertModel.from_pretrained(model_folder("laptop")).save_pretrained(tmp_path)
    laptop[1].save(tmp_path)
    assert main(["fill", "the united [MASK]", "--model", str(tmp_path)]) == 2
    said = capsys.readouterr()
    assert said.out == "" and said.err.startswith(
        f"InterchangeError: {tmp_path} lacks predictions.bias. Is it another kind of model"
    )


def test_a_text_becomes_whole_rows_and_loses_no_token(laptop):
    _, tokenizer = laptop
    text = "the people of the united states " * 10
    rows = rows_of_text(tokenizer, text, 16)
    inner = []
    for row, mask in zip(rows.token_ids, rows.attention_mask, strict=True):
        tokens = row[mask.bool()].tolist()
        assert (tokens[0], tokens[-1]) == (tokenizer.cls_id, tokenizer.sep_id)
        inner += tokens[1:-1]
    assert inner == tokenizer.encode(text)
    assert rows.token_ids.shape[1] == 16 and rows.segment_ids.sum() == 0
    assert (rows.token_ids[rows.attention_mask == 0] == tokenizer.pad_id).all()
    assert all(
        torch.equal(part, whole[:2]) for part, whole in zip(rows.first(2), rows, strict=True)
    )


def foreign_tokenizer(extra: list[str]) -> HubTokenizer:
    """A WordPiece vocabulary of letters, in which the special tokens have ids of their own."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    words = [*letters, *(f"##{letter}" for letter in letters), *",.'-:;0123456789", *extra]
    words += ["[MASK]", "[SEP]", "[CLS]", "[UNK]", "[PAD]"]
    vocabulary = {word: number for number, word in enumerate(words)}
    return HubTokenizer(tokenizers.BertWordPieceTokenizer(vocabulary)._tokenizer)


def test_rows_are_masked_with_the_ids_of_their_own_tokenizer():
    tokenizer = foreign_tokenizer(["the", "nation"])
    rows = rows_of_text(tokenizer, "the nation is ours and the nation is free. " * 9, 30)
    batch = masked_rows(tokenizer, rows)
    assert torch.equal(batch.unmasked_ids(), rows.token_ids)
    at_mask = batch.token_ids == tokenizer.mask_id
    assert torch.equal(at_mask, batch.token_ids != rows.token_ids)
    assert int(at_mask.sum()) == batch.num_masked > 0.1 * int(rows.attention_mask.sum())
    hidden = rows.token_ids[at_mask].tolist()
    assert not {tokenizer.cls_id, tokenizer.sep_id, tokenizer.pad_id} & set(hidden)
    assert (batch.order_labels == IGNORE).all()
    assert torch.equal(masked_rows(tokenizer, rows).token_ids, batch.token_ids)


def test_a_tokenizer_of_another_model_is_refused_wherever_its_ids_would_mean_other_tokens(
    laptop, tmp_path
):
    model, _ = laptop
    other = prepare("stories").tokenizer
    examples = [Example("the barn.", None, 0), Example("the boat.", None, 1)]
    rows = TaskRows(examples, ["a", "b"], "text")
    for use in (
        lambda: fill(model, other, "the [MASK]"),
        lambda: inspect(model, other),
        lambda: set_up_task(model, other, rows, rows, 16),
        lambda: save_pretrained(model, other, tmp_path / "model"),
    ):
        with pytest.raises(InputError, match=r"this is another tokenizer .* than the model's"):
            use()
    assert not (tmp_path / "model").exists()


def test_a_row_of_the_table_that_is_no_token_is_no_guess(story_text):
    model = randomised(tiny(vocab_size=200))
    model.masked_token_head.decoder.bias.data[190:] = 99.0
    (guesses,) = fill(model, story_text.tokenizer, "the [MASK] was old.", top=190)
    assert sum(probability for _, probability in guesses) == pytest.approx(1)
    with pytest.raises(InputError, match="top must be a whole number from 1 to 190"):
        fill(model, story_text.tokenizer, "the [MASK] was old.", top=191)


def test_a_folder_that_is_written_over_keeps_no_tokenizer_of_another_kind(tmp_path, story_text):
    foreign = foreign_tokenizer(["the", "nation"])
    bert = tiny(share="none", embedding_size=16, vocab_size=len(foreign))
    for model, tokenizer in ((tiny(), story_text.tokenizer), (bert, foreign)):
        save_pretrained(model, tokenizer, tmp_path)
        assert load_pretrained(tmp_path)[1].fingerprint == tokenizer.fingerprint
    with pytest.raises(InputError, match="has the tokenizer of a model"):
        save_pretrained(tiny(), None, tmp_path)
    assert load_pretrained(tmp_path)[1].fingerprint == foreign.fingerprint


def test_an_id_behind_a_gap_of_the_vocabulary_can_be_guessed():
    vocabulary = {"[PAD]": 0, "[UNK]": 1, "[CLS]": 2, "[SEP]": 3, "[MASK]": 4, "the": 5, "sea": 7}
    tokenizer = HubTokenizer(tokenizers.BertWordPieceTokenizer(vocabulary)._tokenizer)
    model = tiny(vocab_size=8)
    model.masked_token_head.decoder.bias.data[7] = 99.0
    assert fill(model, tokenizer, "the [MASK]", top=1)[0][0][0] == "sea"


@pytest.fixture(scope="module")
def storyteller():
    return randomised(tiny(share="none"), std=0.3)


def test_inspect_names_sizes_counts_plan_figure_1_and_health(storyteller, story_text):
    said = inspect(storyteller, story_text.tokenizer)
    stream = PretrainingStream(story_text.held_out, story_text.tokenizer, "sop", 32, 32)
    found = health(storyteller, stream, batches=2)
    for part in (
        " 16 hidden size\n",
        " 2 num layers\n",
        " none share\n",
        " parameters of the whole",
        "\nMeasured on 64 rows of held-out text of stories:\n",
        "degrees\nlayer 2: attention 1, ffn 1 ",
        f"\nHealth: {found.verdict()}\n",
        f"{found.without_attention_at[1]:.2f} without attention",
        f"{found.without_ffn_at[0]:.2f} without ffn",
        f"Order head: {found.order_accuracy:.0%} of 64 pairs right",
    ):
        assert part in said
    alone = inspect(storyteller, None)
    assert "degrees" not in alone and alone.endswith("nor health can be measured.")


def test_a_head_that_was_never_trained_is_said_and_not_measured(story_text):
    said = inspect(tiny(), story_text.tokenizer)
    assert "Health: no trained masked-token head" in said
    assert "without ffn" not in said and "Order head" not in said
    with_a_masked_head = tiny()
    torch.nn.init.normal_(with_a_masked_head.masked_token_head.decoder.bias)
    said = inspect(with_a_masked_head, story_text.tokenizer)
    assert "without ffn" in said and "Order head" not in said


@pytest.mark.filterwarnings("ignore:.*are unknown")
def test_a_model_with_a_vocabulary_of_others_is_measured_on_text_that_is_named():
    tokenizer = foreign_tokenizer(["the", "of", "and", "to"])
    model = randomised(tiny(vocab_size=len(tokenizer)), std=0.3)
    said = inspect(model, tokenizer)
    assert "\nMeasured on 32 rows of the newest State of the Union address:\n" in said
    assert "\nHealth: " in said and "without ffn" in said and "Order head" not in said
    assert "rows of held-out text of stories:num_documents=90:\n" in inspect(
        model, tokenizer, "stories:num_documents=90"
    )


def test_the_command_line_fills_and_inspects(capsys, tmp_path, storyteller, story_text):
    assert main(["fill", "the united [MASK] of america", "--model", "laptop", "--top", "1"]) == 0
    assert "states" in capsys.readouterr().out
    save_pretrained(storyteller, story_text.tokenizer, tmp_path)
    assert main(["inspect", str(tmp_path)]) == 0
    assert "layer 2: attention 1, ffn 1" in capsys.readouterr().out
    assert main(["inspect", str(tmp_path), "--corpus", "nowhere"]) == 2
    assert "nowhere" in capsys.readouterr().err


def test_a_text_in_a_script_that_the_tokenizer_does_not_know_is_refused(laptop):
    model, tokenizer = laptop
    with pytest.raises(TokenizerError, match="learnt for other text"):
        fill(model, tokenizer, "президент [MASK] здесь")
    with pytest.raises(TokenizerError, match="learnt for other text"):
        rows_of_text(tokenizer, "президент здесь", 32)


def test_inspect_prints_the_numbers_of_what_it_names(story_text):
    model = randomised(tiny(share="none"), std=0.3)
    said = inspect(model, story_text.tokenizer)
    stream = PretrainingStream(story_text.held_out, story_text.tokenizer, "sop", 32, 32)
    found = health(model, stream, batches=2)
    moved = layer_similarity(model, *stream.batch(0).unmasked())
    for part in (
        f"{moved.l2[1]:8.2f} {moved.angle_degrees[1]:6.1f} degrees",
        f"{found.recall_in_order:.0%} of those in order and {found.recall_swapped:.0%} of the swap",
        f"{count_parameters(model.config).with_heads:>13,} parameters of the whole model",
    ):
        assert part in said


def test_two_vocabularies_of_one_size_have_two_fingerprints():
    one, again, other = (foreign_tokenizer([word]) for word in ("the", "the", "sea"))
    assert len(one) == len(other) and one.fingerprint == again.fingerprint != other.fingerprint
