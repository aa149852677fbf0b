"""What ``fill`` and ``inspect`` say about a model."""

import pytest
import torch
import transformers

from albert_edu.analysis.inspect import fill, inspect, rows_of_text
from albert_edu.model.interchange import load_pretrained, model_folder
from albert_edu.text.tokenizer import TokenizerError
from tests.support import main


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


def test_inspect_names_sizes_counts_plan_and_figure_1(laptop):
    model, tokenizer = laptop
    said = inspect(model, tokenizer)
    for part in (
        " 128 hidden size\n",
        " 12 num layers\n",
        " all share\n",
        "500,194 parameters of the whole",
        "layer 12: attention 0, ffn 0",
    ):
        assert part in said
    assert said.splitlines()[-1].startswith("layer 12:") and said.endswith("degrees")
    assert "Figure 1: " not in inspect(model, None)


def test_the_command_line_fills_and_inspects(capsys):
    assert main(["fill", "the united [MASK] of america", "--model", "laptop", "--top", "1"]) == 0
    assert "states" in capsys.readouterr().out
    assert main(["inspect", "laptop-unshared"]) == 0
    assert "layer 12: attention 11, ffn 11" in capsys.readouterr().out


@pytest.mark.parametrize("text", ("президент [MASK] здесь", "大統領は [MASK] です"))
def test_a_text_in_a_script_that_the_tokenizer_does_not_know_is_refused(laptop, text):
    alone = text.replace("[MASK]", "")
    for ask in (lambda: fill(*laptop, text), lambda: rows_of_text(laptop[1], alone, 32)):
        with pytest.raises(TokenizerError, match="learnt for other text"):
            ask()
